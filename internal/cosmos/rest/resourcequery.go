package rest

import (
	"context"
	"encoding/binary"
	"iter"
	"net/http"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/doc"
)

// queryResources answers a query over a feed of small resources: databases, containers, scripts, users, permissions,
// offers, ranges. list is the handler of that feed; the query runs over its rows.
func queryResources(e *exchange, list handler) (int, error) {
	q, err := e.ask()
	if err != nil {
		return 0, err
	}
	source, key, err := e.resources(list)
	if err != nil {
		return 0, err
	}
	var token []byte
	if text := e.given(hContinuation); text != "" {
		if token, err = parseContinuation(text, e.feedContainer(), nil, e.URL.Path, q.shape()); err != nil {
			return 0, err
		}
	}
	env := exec.Environment{Parameters: q.parameters, Now: e.at, NoIndex: true, Stop: e.stop(queryTime)}
	prepared, err := exec.Prepare(q.tree, env, token)
	if err != nil {
		return 0, err
	}
	compiled := e.watch.Elapsed()
	e.openFeed(source.owner, key)
	page, err := e.run(prepared, source)
	if err != nil {
		return 0, err
	}
	if page.Next != nil {
		e.set(outContinuation, continuation(e.feedContainer(), nil, page.Next, e.URL.Path, q.shape()))
	}
	e.sendMetrics(prepared.Plan(), page.Metrics, compiled)
	e.charge(queryCharge(page.Metrics))
	return http.StatusOK, nil
}

// feedContainer is the container of a feed of resources, for its continuation token. Feeds outside containers get one
// with the ID 0.
func (e *exchange) feedContainer() *catalog.Container {
	if e.container == nil {
		return new(catalog.Container)
	}
	return e.container
}

// A resourceSource gives a query the rows of a feed, each with the number of its resource, which never changes.
type resourceSource struct {
	owner   rid
	rows    []doc.Doc
	numbers []uint64
}

// resources runs the handler of a feed for all its rows, and parses what it wrote.
func (e *exchange) resources(list handler) (*resourceSource, string, error) {
	e.feed.whole = true
	if _, err := list(e); err != nil {
		return nil, "", err
	}
	e.feed.whole = false
	body, err := doc.FromJSON(nil, e.reply, doc.ParseOptions{MaxBytes: len(e.reply)})
	if err != nil {
		return nil, "", err
	}
	e.reply = e.reply[:0]
	s := &resourceSource{owner: e.feed.owner, numbers: e.feed.numbers}
	for row := range doc.Elements(doc.Lookup(body, e.feed.key)) {
		d, _ := doc.AsDoc(row)
		s.rows = append(s.rows, d)
		if len(s.numbers) < len(s.rows) { // a feed without numbers has one row
			s.numbers = append(s.numbers, uint64(len(s.rows)))
		}
	}
	return s, e.feed.key, nil
}

func (s *resourceSource) Scan(_ context.Context, a access.Access) iter.Seq2[*access.Document, error] {
	return func(yield func(*access.Document, error) bool) {
		after, _ := a.After.Number()
		for i, row := range s.rows {
			d := access.Document{Number: s.numbers[i], Body: doc.Without(row, systemMembers...)}
			d.Sequence = d.Number
			if d.Number <= after {
				continue
			}
			d.Stamp, _ = doc.AsInt(doc.Lookup(row, "_ts"))
			d.Position = binary.BigEndian.AppendUint64(nil, d.Number)
			if !yield(&d, nil) {
				return
			}
		}
	}
}

func (s *resourceSource) Count(context.Context, access.Access) (uint64, bool, error) {
	return 0, false, nil
}

func (s *resourceSource) Tabulate(context.Context, access.Access, *access.Table) (access.Tabled, bool, error) {
	return access.Tabled{}, false, nil
}

// System takes the system members out of the row itself.
func (s *resourceSource) System(dst []byte, d *access.Document) doc.Doc {
	i, ok := slices.BinarySearch(s.numbers, d.Number)
	if !ok {
		return append(dst, doc.Empty...)
	}
	at, dst := bsoncore.AppendDocumentStart(dst)
	for name, v := range doc.Members(s.rows[i]) {
		if slices.Contains(systemMembers, name) {
			dst = bsoncore.AppendValueElement(dst, name, v)
		}
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}
