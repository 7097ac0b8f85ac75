package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// NoSQLOperations are the names of the operations of OpenNoSQLSuite.
var NoSQLOperations = []string{
	"point read", "create", "upsert", "order in partition", "equality", "count", "sum of range", "group by"}

// loadClients is how many clients write the documents of a suite before it is measured.
const loadClients = 8

// A nosqlSuite has a container with documents, and one that creates write to, so that queries keep their size.
type nosqlSuite struct {
	*nosqlClient
	container, created string // their links
	count              int
}

// OpenNoSQLSuite makes two containers in a database, which it makes if it is not there, and writes count documents. It
// sends plain requests: the work of an SDK would hide differences between servers on the same machine.
func OpenNoSQLSuite(ctx context.Context, url, key string, authority []byte, db, container string, count int) (
	*Suite, error) {
	client, err := newNoSQLClient(url, key, authority)
	if err != nil {
		return nil, err
	}
	colls := "dbs/" + db + "/colls"
	s := &nosqlSuite{nosqlClient: client, container: colls + "/" + container, created: colls + "/" + container + "-new",
		count: count}
	_, err = s.send(ctx,
		nosqlRequest{method: "POST", path: "dbs", kind: "dbs", body: fmt.Appendf(nil, `{"id":%q}`, db)})
	if err != nil && status(err) != http.StatusConflict {
		return nil, err
	}
	suite := &Suite{Close: s.close}
	for _, name := range []string{container, container + "-new"} {
		definition := fmt.Appendf(nil, `{"id":%q,"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},`+
			`"indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],`+
			`"excludedPaths":[{"path":"/note/?"},{"path":"/text/?"}]}}`, name)
		_, err := s.send(ctx, nosqlRequest{method: "POST", path: colls, kind: "colls", resource: "dbs/" + db,
			body: definition})
		if err != nil {
			return nil, errors.Join(err, s.close(context.WithoutCancel(ctx)))
		}
	}
	if err := s.load(ctx); err != nil {
		return nil, errors.Join(err, s.close(context.WithoutCancel(ctx)))
	}
	suite.Operations = s.operations()
	return suite, nil
}

// load writes the documents. It fails with the first error.
func (s *nosqlSuite) load(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	for c := range loadClients {
		wait.Go(func() {
			for i := c; i < s.count && ctx.Err() == nil; i += loadClients {
				if err := s.write(ctx, s.container, i, false); err != nil {
					cancel(err)
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

func (s *nosqlSuite) close(ctx context.Context) error {
	var failed error
	for _, link := range []string{s.container, s.created} {
		_, err := s.send(ctx, nosqlRequest{method: "DELETE", path: link, kind: "colls", resource: link})
		if status(err) != http.StatusNotFound {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func (s *nosqlSuite) operations() []*Operation {
	operation := func(name string, do func(context.Context, int) error) *Operation {
		return &Operation{Name: name, check: do, do: do, kind: nosqlKind}
	}
	query := func(q nosqlQuery) *Operation {
		return &Operation{Name: q.name, kind: nosqlKind,
			check: func(ctx context.Context, n int) error { return s.checkQuery(ctx, q, n) },
			do:    func(ctx context.Context, n int) error { return s.query(ctx, q, n, nil) }}
	}
	create := func(ctx context.Context, n int) error { return s.write(ctx, s.created, n, false) }
	upsert := func(ctx context.Context, n int) error { return s.write(ctx, s.container, s.spread(n), true) }
	sets, sum := s.count/together, 0.0
	for i := range s.count {
		sum += makeAmount(i)
	}
	return []*Operation{
		operation("point read", s.read),
		operation("create", create),
		operation("upsert", upsert),
		query(nosqlQuery{name: "order in partition", text: "SELECT TOP 20 * FROM c WHERE c.pk = @v ORDER BY c.score",
			value: func(n int) any { return orderPartition(n, s.count) }, partition: true, rows: 20}),
		query(nosqlQuery{name: "equality", text: `SELECT * FROM c WHERE c["group"] = @v`,
			value: func(n int) any { return n % sets }, rows: together}),
		query(nosqlQuery{name: "count", text: `SELECT VALUE COUNT(1) FROM c WHERE c["group"] = @v`,
			value: func(n int) any { return n % sets }, rows: 1, number: together}),
		query(nosqlQuery{name: "sum of range", text: "SELECT VALUE SUM(c.amount) FROM c WHERE c.score > 0.1",
			value: func(int) any { return 0 }, rows: 1, number: sum}),
		query(nosqlQuery{name: "group by",
			text:  "SELECT c.kind, COUNT(1) AS n, SUM(c.amount) AS total FROM c GROUP BY c.kind",
			value: func(int) any { return 0 }, rows: orderKinds}),
	}
}

// spread is a document that is there, far from that of n-1.
func (s *nosqlSuite) spread(n int) int { return n * 6151 % s.count }

func (s *nosqlSuite) read(ctx context.Context, n int) error {
	i := s.spread(n)
	link := s.container + "/docs/" + orderID(i)
	_, err := s.send(ctx, nosqlRequest{method: "GET", path: link, kind: "docs", resource: link,
		headers: []string{partitionHeader, partitionValue(orderPartition(i, s.count))}})
	return err
}

// write creates document i, or writes it whether it is there or not.
func (s *nosqlSuite) write(ctx context.Context, container string, i int, upsert bool) error {
	o := makeOrder(i, s.count)
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = s.send(ctx, nosqlRequest{method: "POST", path: container + "/docs", kind: "docs", resource: container,
		body: body, headers: []string{"Content-Type", "application/json", partitionHeader, partitionValue(o.Partition),
			"x-ms-documentdb-is-upsert", strconv.FormatBool(upsert)}})
	return err
}

// A nosqlQuery is a query with a parameter @v.
type nosqlQuery struct {
	name, text string
	value      func(n int) any
	partition  bool    // the value is the partition key
	rows       int     // of a correct answer
	number     float64 // which the only row is, unless it is 0
}

// query runs a query to its end. It passes the text of each page to page, unless that is nil.
func (s *nosqlSuite) query(ctx context.Context, q nosqlQuery, n int, page func([]byte) error) error {
	v := q.value(n)
	body, err := json.Marshal(map[string]any{"query": q.text,
		"parameters": []map[string]any{{"name": "@v", "value": v}}})
	if err != nil {
		return err
	}
	headers := []string{"Content-Type", "application/query+json", "x-ms-documentdb-isquery", "true",
		"x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-max-item-count", "1000"}
	if q.partition {
		headers = append(headers, partitionHeader, partitionValue(v.(string)))
	}
	for continuation := ""; ; {
		more := slices.Clone(headers)
		if continuation != "" {
			more = append(more, continuationHeader, continuation)
		}
		answer, err := s.send(ctx, nosqlRequest{method: "POST", path: s.container + "/docs", kind: "docs",
			resource: s.container, body: body, headers: more, text: page != nil})
		if err != nil {
			return err
		}
		if page != nil {
			if err := page(answer.body); err != nil {
				return err
			}
		}
		if continuation = answer.continuation; continuation == "" {
			return nil
		}
	}
}

// checkQuery fails if a query does not return what it should.
func (s *nosqlSuite) checkQuery(ctx context.Context, q nosqlQuery, n int) error {
	var rows []any
	err := s.query(ctx, q, n, func(page []byte) error {
		var answer struct{ Documents []any }
		err := json.Unmarshal(page, &answer)
		rows = append(rows, answer.Documents...)
		return err
	})
	if err != nil {
		return err
	}
	if len(rows) != q.rows {
		return fmt.Errorf("%s returned %d rows, and %d are correct", q.text, len(rows), q.rows)
	}
	if number, ok := rows[0].(float64); q.number != 0 && (!ok || math.Abs(number-q.number) > 0.5) {
		return fmt.Errorf("%s returned %v, and %v is correct", q.text, rows[0], q.number)
	}
	return nil
}

const (
	partitionHeader    = "x-ms-documentdb-partitionkey"
	continuationHeader = "x-ms-continuation"
)

func partitionValue(key string) string { return fmt.Sprintf("[%q]", key) }
