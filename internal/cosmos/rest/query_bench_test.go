package rest

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var benchItems = flag.String("items", "1000,10000,100000",
	"sizes of the containers that BenchmarkQuery asks, each a multiple of 1,000")

// benchContainer indexes every path but two: a note, and the long text. With composite, it has an index of the scores
// in each partition.
func benchContainer(composite bool) string {
	text := `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1,
		"indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/note/?"},{"path":"/text/?"}]`
	if composite {
		text += `,"compositeIndexes":[[{"path":"/pk"},{"path":"/score"}]]`
	}
	return text + `}}`
}

// A queryBench is a container of items of 1 KiB, on disk under the engine's default
// options. With cgo its cache holds the records of 100,000 items, but not all of the indexes too.
type queryBench struct {
	*testAPI
	engine    *pebble.Engine
	container *catalog.Container
	count     int
	keys      int // of partitions
	random    *rand.Rand
}

// newQueryBench creates items and compacts them, as the engine would do in time.
func newQueryBench(b *testing.B, count, keys int, definition string) *queryBench {
	b.Helper()
	ctx := context.Background()
	engine, err := pebble.Open(pebble.Options{Dir: b.TempDir(), NoSync: true})
	must(b, err)
	cat, err := catalog.Open(ctx, engine, nil)
	must(b, err)
	st, err := store.Open(ctx, engine, cat)
	must(b, err)
	b.Cleanup(func() {
		must(b, st.Close())
		must(b, engine.Close())
	})
	l := &queryBench{testAPI: &testAPI{t: b, clock: clock.NewVirtual(testStart)}, engine: engine, count: count,
		keys: keys, random: rand.New(rand.NewPCG(1, 2))}
	l.api, err = New(Options{Catalog: cat, Store: st, Clock: l.clock, Keys: ringOf(b, testKey)})
	must(b, err)
	l.do("POST", "/dbs", `{"id":"d"}`).want(201)
	l.do("POST", "/dbs/d/colls", definition).want(201)
	db, err := cat.Database("d")
	must(b, err)
	l.container, err = cat.Container(db, "c")
	must(b, err)
	for i := 0; i < count; {
		var ops []store.Op
		for range 100 {
			ops = append(ops, l.item(i))
			i++
		}
		_, err := st.WriteAll(ctx, l.container, testStart.Unix(), ops)
		must(b, err)
	}
	must(b, engine.Compact(ctx, nil, nil))
	return l
}

// item is the i-th item. For each value of group, batch and note there are 100, 100 and 10 items. Those of a partition
// and of a group are spread over the whole container, those of a batch were created together. No two items have the
// same score, and neighbours have distant scores.
func (l *queryBench) item(i int) store.Op {
	pk, id := l.partition(i), fmt.Sprint("item-", i)
	text := fmt.Appendf(nil,
		`{"id":%q,"pk":%q,"kind":"kind-%d","group":%d,"batch":%d,"score":%d,"amount":%d.25,"open":%v,"note":"note %d",`,
		id, pk, i%10, i%(l.count/100), i/100, i*7919%l.count, i%1000, i%3 == 0, i%(l.count/10))
	text = fmt.Appendf(text,
		`"address":{"city":"city %d","street":"%d Main Street","zip":"%05d"},"tags":["red","t%d","u%d"],"text":"`,
		i%50, i%200, i%99_999, i%7, i%11)
	for len(text) < 1024-2 {
		text = strconv.AppendUint(text, l.random.Uint64N(1<<40), 36)
		text = append(text, ' ')
	}
	body, err := doc.FromJSON(nil, append(text, `"}`...), doc.ParseOptions{})
	must(l.t, err)
	return store.Op{Verb: store.Create, Key: store.Key{Partition: []doc.Value{doc.String(pk)}, ID: id}, Body: body}
}

func (l *queryBench) partition(i int) string { return fmt.Sprint("customer-", i%l.keys) }

// A benchQuery is a query that runs repeatedly with different parameters @v. Its values have a stride that leads from
// one end of the container to the other.
type benchQuery struct {
	name, query  string
	values, rows int
}

// benchQueries lists the queries for a container of n items.
func benchQueries(n int) []benchQuery {
	return []benchQuery{
		{"point", `SELECT * FROM c WHERE c.id = @v`, n, 1},
		{"equality", `SELECT * FROM c WHERE c["group"] = @v`, n / 100, 100},
		{"equality, made together", `SELECT * FROM c WHERE c.batch = @v`, n / 100, 100},
		{"equality, two members", `SELECT c.kind, c.score FROM c WHERE c["group"] = @v`, n / 100, 100},
		{"order", `SELECT * FROM c WHERE c.score >= @v ORDER BY c.score OFFSET 0 LIMIT 20`, n - 20, 20},
		{"order in a partition", `SELECT TOP 20 * FROM c ORDER BY c.score`, n, 20},
		{"order of 100", `SELECT TOP 20 * FROM c WHERE c["group"] = @v ORDER BY c.score DESC`, n / 100, 20},
		{"order of a tenth", `SELECT TOP 20 * FROM c WHERE c.kind = "kind-3" ORDER BY c.score DESC`, n, 20},
		{"count", `SELECT VALUE COUNT(1) FROM c`, n, 1},
		{"count of 100", `SELECT VALUE COUNT(1) FROM c WHERE c["group"] = @v`, n / 100, 1},
		{"count of a range", `SELECT VALUE COUNT(1) FROM c WHERE c.score >= @v`, n, 1},
		{"sum of a range of all", `SELECT VALUE SUM(c.amount) FROM c WHERE c.score >= -1 - @v`, n, 1},
		{"greatest", `SELECT VALUE MAX(c.score) FROM c`, n, 1},
		{"distinct", `SELECT DISTINCT VALUE c.kind FROM c`, n, 10},
		{"group", `SELECT c.kind, COUNT(1) AS n, SUM(c.amount) AS total FROM c GROUP BY c.kind`, n, 10},
		{"end of a string", `SELECT c.score FROM c WHERE ENDSWITH(c.pk, CONCAT("r-", ToString(@v)))`, n / 100, 100},
		{"count of a part", `SELECT VALUE COUNT(1) FROM c WHERE CONTAINS(c.address.street, "7 Main")`, n, 1},
		{"unindexed filter", `SELECT c.pk FROM c WHERE c.note = CONCAT("note ", ToString(@v))`, n / 10, 10},
	}
}

// BenchmarkQuery sends queries to the API, without a network and over a connection, and reads the same records from
// the bare engine. The first queries of each kind, up to one for every value, are not measured: they fill the
// engine's cache.
func BenchmarkQuery(b *testing.B) {
	for size := range strings.SplitSeq(*benchItems, ",") {
		count, err := strconv.Atoi(size)
		must(b, err)
		b.Run("items="+size, func(b *testing.B) {
			l := newQueryBench(b, count, count/100, benchContainer(false))
			for _, c := range benchQueries(count) {
				b.Run(c.name, func(b *testing.B) { l.ask(b, c, l.inProcess) })
			}
			b.Run("connected", func(b *testing.B) {
				send := l.connected(b)
				for _, c := range benchQueries(count) {
					b.Run(c.name, func(b *testing.B) { l.ask(b, c, send) })
				}
			})
			b.Run("raw", l.raw)
		})
	}
}

// BenchmarkOrderInPartition asks for the first 20 items of a partition that is a tenth of its container: sorted in
// memory, found along the index of all partitions, and in a composite index that begins with the partition key.
func BenchmarkOrderInPartition(b *testing.B) {
	for size := range strings.SplitSeq(*benchItems, ",") {
		count, err := strconv.Atoi(size)
		must(b, err)
		for _, c := range []struct {
			name, order string
			composite   bool
		}{{"sort", "ASC", false}, {"walk", "DESC", false}, {"composite", "ASC", true}} {
			b.Run(fmt.Sprintf("items=%d/%s", count/10, c.name), func(b *testing.B) {
				l := newQueryBench(b, count, 10, benchContainer(c.composite))
				query := `SELECT TOP 20 * FROM c ORDER BY c.score ` + c.order
				l.ask(b, benchQuery{"order in a partition", query, 10, 20}, l.inProcess)
			})
		}
	}
}

// warmUp is how long queries run before the measurement.
const warmUp = 3 * time.Second

func (l *queryBench) ask(b *testing.B, c benchQuery, send func(*http.Request) (status int, h http.Header)) {
	r := newRequest("POST", "/dbs/d/colls/c/docs", c.query, "Content-Type", "application/query+json",
		"x-ms-documentdb-isquery", "true", "x-ms-documentdb-query-enablecrosspartition", "true")
	signRequest(r)
	before := append(strconv.AppendQuote([]byte(`{"query":`), c.query), `,"parameters":[{"name":"@v","value":`...)
	byID := strings.Contains(c.query, "c.id")
	inPartition := byID || strings.Contains(c.name, "in a partition")
	var body []byte
	once := func(i int) {
		v := i * 6151 % c.values
		body = append(body[:0], before...)
		if byID {
			body = fmt.Appendf(body, `"item-%d"`, v)
		} else {
			body = strconv.AppendInt(body, int64(v), 10)
		}
		if inPartition {
			r.Header.Set("x-ms-documentdb-partitionkey", fmt.Sprintf("[%q]", l.partition(v)))
		}
		body = append(body, `}]}`...)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		status, h := send(r)
		rows := headerOf(h, "x-ms-item-count")
		if status != 200 || rows != strconv.Itoa(c.rows) || headerOf(h, "x-ms-continuation") != "" {
			b.Fatalf("status %d, %s rows", status, rows)
		}
	}
	i := 0
	for ; i < c.values && b.Elapsed() < warmUp; i++ {
		once(i)
	}
	b.ReportAllocs()
	used := processorTime()
	for ; b.Loop(); i++ {
		once(i)
	}
	b.ReportMetric(float64(processorTime()-used)/float64(b.N), "cpu-ns/op")
}

// headerOf reads a header that the handler has set in lower case, or a connection in the form of http.Header.
func headerOf(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return h.Get(name)
}

// processorTime is the time that the processors have spent for this process, or 0 where that is not known. Unlike the
// time on the clock, it tells what a query costs on a machine that is busy.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// inProcess calls the handler.
func (l *queryBench) inProcess(r *http.Request) (status int, h http.Header) {
	w := &benchWriter{nullWriter: nullWriter{http.Header{}}}
	l.api.ServeHTTP(w, r)
	return w.status, w.header
}

// A benchWriter receives an answer.
type benchWriter struct {
	nullWriter
	status int
}

func (a *benchWriter) WriteHeader(status int) { a.status = status }

// connected returns a client with one connection, which reads answers as bytes.
func (l *queryBench) connected(b *testing.B) func(*http.Request) (status int, h http.Header) {
	s := httptest.NewServer(l.api)
	b.Cleanup(s.Close)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	must(b, err)
	b.Cleanup(func() { c.Close() })
	in, out := bufio.NewReaderSize(c, 64<<10), bufio.NewWriter(c)
	return func(r *http.Request) (int, http.Header) {
		must(b, r.Write(out))
		must(b, out.Flush())
		answer, err := http.ReadResponse(in, r)
		must(b, err)
		_, err = io.Copy(io.Discard, answer.Body)
		must(b, err)
		return answer.StatusCode, answer.Header
	}
}

// raw reads all records from the engine, and touches each.
func (l *queryBench) raw(b *testing.B) {
	rng := l.container.KeysOf(0)
	lower, upper := rng.Record(nil, 0), rng.Record(nil, 1<<62)
	sum := 0
	once := func() {
		it, err := l.engine.Iterate(context.Background(), lower, upper)
		must(b, err)
		n := 0
		for ; it.Next(); n++ {
			sum += int(it.Value()[0])
		}
		must(b, it.Close())
		if n != l.count {
			b.Fatal(n, "records")
		}
	}
	once()
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
	if sum == 0 {
		b.Fatal("empty records")
	}
}
