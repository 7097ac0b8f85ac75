package bulk_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/bulk"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/store"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// A world is a store with the containers items (Cosmos DB) and documents (MongoDB), both with a default of 100 s.
type world struct {
	*testing.T
	now     expiry.Stamp
	catalog *catalog.Catalog
	store   *store.Store
	lines   *bulk.Lines
	db      *catalog.Database
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, now: 1_000_000}
	engine := memory.New()
	var err error
	w.catalog, err = catalog.Open(t.Context(), engine, nil)
	w.ok(err)
	w.store, err = store.Open(t.Context(), engine, w.catalog)
	w.ok(err)
	w.db, err = w.catalog.CreateDatabase(t.Context(), w.now, "d", nil)
	w.ok(err)
	w.create(catalog.Definition{
		Name: "items", TTL: 100, Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2},
		Indexing: catalog.Indexing{Included: []string{"/*"}},
	})
	w.create(catalog.Definition{Name: "documents", Dialect: catalog.Mongo, TTL: 100})
	w.lines = bulk.New(w.catalog, w.store, budget.New(budget.Options{}), func() expiry.Stamp { return w.now })
	t.Cleanup(func() {
		w.ok(w.store.Close())
		w.ok(engine.Close())
	})
	return w
}

func (w *world) create(def catalog.Definition) {
	w.Helper()
	_, err := w.catalog.CreateContainer(context.Background(), w.now, w.db, def, nil)
	w.ok(err)
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// do imports lines with parameters such as "stamps=keep".
func (w *world) do(container, lines string, parameters ...string) (transfer.Outcome, error) {
	query := map[string][]string{}
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		query[name] = append(query[name], value)
	}
	done, err := w.lines.Import(context.Background(), "d", container, query, strings.NewReader(lines))
	if done == nil {
		return transfer.Outcome{}, err
	}
	return done.(transfer.Outcome), err
}

func (w *world) export(container string, parameters ...string) (string, error) {
	query := map[string][]string{}
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		query[name] = append(query[name], value)
	}
	var out bytes.Buffer
	err := w.lines.Export(context.Background(), "d", container, query, &out)
	return out.String(), err
}

func TestItems(t *testing.T) {
	w := newWorld(t)
	in := `{"id":"dead","pk":"a","_ts":999900}
{"id":"old","pk":"a","_ts":999901,"_etag":"x","_rid":"y"}

{"id":"forever","pk":{"an":"object"},"ttl":-1,"_ts":999950}
{"id":"new","pk":"a","big":18446744073709551615,"deep":{"_ts":7},"_ts":1000000}
`
	done, err := w.do("items", in, "stamps=keep")
	w.ok(err)
	if done.Lines != 4 || done.Written != 3 || done.Overdue != 1 || done.Rejected != 0 {
		t.Errorf("%+v", done)
	}
	want := `{"id":"old","pk":"a","_ts":999901}
{"id":"forever","pk":{"an":"object"},"ttl":-1,"_ts":999950}
{"id":"new","pk":"a","big":18446744073709551615,"deep":{"_ts":7},"_ts":1000000}
`
	if got, err := w.export("items", "positions=no"); got != want || err != nil {
		t.Errorf("exported %s, want %s (%v)", got, want, err)
	}
	w.now++
	got, err := w.export("items")
	w.ok(err)
	if !strings.HasPrefix(got, `{"id":"forever"`) || !strings.Contains(got, `{"$position":"`) ||
		!strings.Contains(got, `"done":true`) {
		t.Errorf("exported %s", got)
	}
	// The export goes in again as it is.
	if done, err = w.do("items", got, "stamps=keep", "onConflict=replace"); err != nil || done.Skipped != 2 ||
		done.Lines != 2 {
		t.Errorf("%+v %v", done, err)
	}
}

func TestRejectedLines(t *testing.T) {
	w := newWorld(t)
	done, err := w.do("items", strings.Join([]string{
		`{"id":"a","pk":"a"}`, `{"id":"a","pk":"a"}`, `{"id":1}`, `{`, `[]`, `{"id":"b","ttl":0}`, ``, `{"id":"c"}`,
		`{"id":"d","t":"` + strings.Repeat("x", 2<<20) + `"}`,
	}, "\r\n"))
	w.ok(err)
	var got []string
	for _, r := range done.Rejections {
		got = append(got, fmt.Sprint(r.Line, " ", r.Reason))
	}
	want := []string{"2 A document with this id exists already.", "3 The document has no valid id.",
		"4 The JSON text ends too early",
		"5 A JSON object was expected", "6 The ttl 0 is no life span.", "9 The JSON text has 2097"}
	if len(got) != len(want) || done.Lines != 8 || done.Written != 2 || done.Rejected != 6 {
		t.Fatalf("%+v", done)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	done, err = w.do("items", "{\"id\":\"x\"}\n{\"id\":\"y\",\"_ts\":\"now\"}\n{\"id\":\"z\",\"_ts\":1000001}",
		"stamps=keep")
	w.ok(err)
	if done.Rejected != 3 {
		t.Errorf("%+v, want all stamps rejected", done)
	}
}

func TestDocuments(t *testing.T) {
	w := newWorld(t)
	in := `{"_id":{"$numberLong":"1"},"_ts":"mine","$ts":999901}
{"a":{"$date":"2024-01-01T00:00:00Z"},"_id":{"$oid":"0102030405060708090a0b0c"},"$ts":{"$numberLong":"999950"}}
{"_id":2.5,"ttl":0,"$ts":1000000}
`
	done, err := w.do("documents", in, "stamps=keep")
	w.ok(err)
	if done.Written != 3 {
		t.Fatalf("%+v", done)
	}
	want := `{"_id":{"$numberLong":"1"},"_ts":"mine","$ts":999901}
{"_id":{"$oid":"0102030405060708090a0b0c"},"a":{"$date":{"$numberLong":"1704067200000"}},"$ts":999950}
{"_id":{"$numberDouble":"2.5"},"ttl":{"$numberInt":"0"},"$ts":1000000}
`
	if got, err := w.export("documents", "positions=no"); got != want || err != nil {
		t.Errorf("exported %s, want %s (%v)", got, want, err)
	}
	relaxed := `{"_id":1,"_ts":"mine"}
{"_id":{"$oid":"0102030405060708090a0b0c"},"a":{"$date":"2024-01-01T00:00:00Z"}}
{"_id":2.5,"ttl":0}
`
	if got, err := w.export("documents", "positions=no", "format=relaxed", "stamps=no"); got != relaxed || err != nil {
		t.Errorf("exported %s, want %s (%v)", got, relaxed, err)
	}
	done, err = w.do("documents", `{"a":1}
{"_id":[1]}
{"_id":{"$oid":"1"}}
{"_id":1.0}`)
	w.ok(err)
	if done.Rejected != 4 {
		t.Errorf("%+v, want all rejected", done)
	}
}

func TestValidator(t *testing.T) {
	w := newWorld(t)
	echo, err := doc.FromJSON(nil, []byte(`{"validator":{"n":{"$gt":5}}}`), doc.ParseOptions{})
	w.ok(err)
	w.create(catalog.Definition{Name: "valid", Dialect: catalog.Mongo, Echo: echo})
	view, err := doc.FromJSON(nil, []byte(`{"viewOn":"valid","pipeline":[]}`), doc.ParseOptions{})
	w.ok(err)
	w.create(catalog.Definition{Name: "view", Dialect: catalog.Mongo, Echo: view})
	done, err := w.do("valid", "{\"_id\":1,\"n\":5}\n{\"_id\":2,\"n\":6}")
	w.ok(err)
	if done.Rejected != 1 || done.Written != 1 || done.Rejections[0].Line != 1 {
		t.Errorf("%+v", done)
	}
	if _, err := w.do("view", `{"_id":1}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("%v, want that a view is refused", err)
	}
}

func TestExportGoesOn(t *testing.T) {
	w := newWorld(t)
	var in strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&in, "{\"id\":\"%d\",\"pk\":\"%d\"}\n", i, i%7)
	}
	_, err := w.do("items", in.String())
	w.ok(err)
	all, err := w.export("items")
	w.ok(err)
	first, rest, _ := strings.Cut(all, `{"$position":"`)
	position, rest, _ := strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(rest, "\n")
	again, err := w.export("items", "after="+position)
	w.ok(err)
	clean := func(s string) string {
		var kept []string
		for _, line := range strings.SplitAfter(s, "\n") {
			if !strings.HasPrefix(line, `{"$position`) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	if clean(again) != clean(rest) || strings.Count(first, "\n") != 1000 {
		t.Errorf("after %s it goes on differently, or after %d lines", position, strings.Count(first, "\n"))
	}
	for _, c := range []struct {
		parameter string
		kind      fault.Kind
	}{{"after=x", fault.Invalid}, {"after=1.x", fault.Invalid}, {"after=99.5", fault.Precondition},
		{"format=bson", fault.Invalid}, {"after!=1", fault.Invalid}} {
		if _, err := w.export("items", c.parameter); fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v, want %v", c.parameter, err, c.kind)
		}
	}
}

// slowWriter moves the clock while the client reads.
type slowWriter struct {
	bytes.Buffer
	after func()
}

func (s *slowWriter) Write(p []byte) (int, error) {
	s.after()
	return s.Buffer.Write(p)
}

func TestExportShowsNoneThatExpiresDuringIt(t *testing.T) {
	for name, c := range map[string]struct{ items, bytes, most int }{
		"small": {5000, 100, 600}, // a part of 64 KiB
		"large": {100, 100_000, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var in strings.Builder
			for i := range c.items {
				fmt.Fprintf(&in, "{\"id\":\"%d\",\"pk\":\"%d\",\"text\":\"%0*d\"}\n", i, i%7, c.bytes, i)
			}
			_, err := w.do("items", in.String())
			w.ok(err)
			out := &slowWriter{after: func() { w.now = 1_000_100 }}
			w.ok(w.lines.Export(context.Background(), "d", "items", nil, out))
			if rows := strings.Count(out.String(), `"id"`); rows < 1 || rows > c.most {
				t.Errorf("%d rows, although all have expired at the first write", rows)
			}
		})
	}
}

func TestWhatDoesNotExist(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		db, container string
		kind          fault.Kind
	}{{"x", "items", fault.OwnerNotFound}, {"d", "x", fault.NotFound}} {
		_, err := w.lines.Import(context.Background(), c.db, c.container, nil, strings.NewReader(""))
		if fault.KindOf(err) != c.kind {
			t.Errorf("import into %s/%s: %v", c.db, c.container, err)
		}
		err = w.lines.Export(context.Background(), c.db, c.container, nil, &bytes.Buffer{})
		if fault.KindOf(err) != c.kind {
			t.Errorf("export of %s/%s: %v", c.db, c.container, err)
		}
	}
	if _, err := w.do("items", "", "stamps=old"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("stamps=old: %v", err)
	}
}

func TestMemoryOfLargeDocuments(t *testing.T) {
	w := newWorld(t)
	b := budget.New(budget.Options{Memory: 16 << 20})
	w.lines = bulk.New(w.catalog, w.store, b, func() expiry.Stamp { return w.now })
	line := func(size int) string { return `{"_id":1,"text":"` + strings.Repeat("x", size) + `"}` }
	if _, err := w.do("documents", line(8<<20)); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("8 MiB of 16: %v", err)
	}
	if done, err := w.do("documents", line(1<<20)); err != nil || done.Written != 1 {
		t.Errorf("1 MiB of 16: %+v %v", done, err)
	}
	if text, err := w.export("documents"); err != nil || len(text) < 1<<20 {
		t.Errorf("exported %d bytes, %v", len(text), err)
	}
	if used := b.Read().Used; used != 0 {
		t.Errorf("%d bytes are not given back", used)
	}
}
