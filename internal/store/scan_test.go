package store_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/store"
)

// composites indexes all paths and has two composite indexes: /a ASC, /b DESC, and /pk ASC, /a ASC.
func composites() catalog.Definition {
	def := definition(expiry.Never)
	def.Indexing.Composite = [][]catalog.CompositePath{{{Path: "/a"}, {Path: "/b", Descending: true}},
		{{Path: "/pk"}, {Path: "/a"}}}
	return def
}

func inPartition(pk string, a access.Access) access.Access {
	return in(access.Partition{doc.String(pk)}, a)
}

func walkOf(path string, change func(*access.Walk)) access.Access {
	w := access.Walk{Range: access.Range{Path: at(path)}}
	if change != nil {
		change(&w)
	}
	return along(w)
}

func reversed(w *access.Walk)   { w.Reverse = true }
func withAbsent(w *access.Walk) { w.Absent = true }
func absentLast(w *access.Walk) { w.Absent, w.Reverse = true, true }

var forms = []struct {
	name  string
	a     access.Access
	want  string
	exact bool // Count must tell
}{
	{"everything", access.Access{}, "a b c d e f", true},
	{"everything from the end", access.Access{Reverse: true}, "f e d c b a", true},
	{"partition", inPartition("q", access.Access{}), "d e f", true},
	{"ids in order of creation", inPartition("p", lookupOf("c", "a", "none", "a", "d")), "a c", true},
	{"no ids", inPartition("p", lookupOf()), "", true},
	{"span of everything", access.Access{Of: &access.Span{}}, "d e f a b c", true},
	{"equality", only(is("1", "a")), "a c e", true},
	{"equality of another type of number", only(is("1.0", "a")), "a c e", true},
	{"equality nobody has", only(is("7", "a")), "", true},
	{"equality in a partition", inPartition("p", only(is("1", "a"))), "a c", true},
	{"equality of an element", only(is(`"x"`, "t", "[]")), "a b f", true},
	{"range", only(&access.Range{Path: at("a"), Low: openAt("1"), High: typed("1")}), "b d", true},
	{"range of elements, each document once",
		only(&access.Range{Path: at("t", "[]"), Low: typed(`""`), High: typed(`""`)}), "a b f", true},
	{"defined", only(&access.Range{Path: at("a")}), "a b c d e", true},
	{"all", only(all(is("1", "a"), is("2", "b"))), "c e", true},
	{"any", only(some(is("2", "a"), is(`"x"`, "t", "[]"), is("2", "b"))), "a b c e f", true},
	{"any of none", only(access.Union{}), "", true},
	{"all of none", only(access.Intersection{}), "a b c d e f", true},
	{"composite equality", only(&access.Range{Composite: 1, Equal: []doc.Value{value("1"), value("2")}}), "c e", true},
	{"composite, absent values are undefined", only(&access.Range{Composite: 1, Equal: []doc.Value{{}}}), "f", true},
	{"composite range on a falling column",
		only(&access.Range{Composite: 1, Equal: []doc.Value{value("1")}, Low: closedAt("2")}), "c e", true},
	{"stamps", only(&access.Range{Path: at("_ts"), Low: closedAt("1000003")}), "d e f", true},
	{"walk", walkOf("a", nil), "a c e b d", true},
	{"walk in reverse", walkOf("a", reversed), "d b e c a", true},
	{"walk with absent", walkOf("a", withAbsent), "f a c e b d", false},
	{"walk in reverse with absent", walkOf("a", absentLast), "d b e c a f", false},
	{"walk in a partition", inPartition("q", walkOf("a", withAbsent)), "f e d", false},
	{"walk of a range", walkOf("a", func(w *access.Walk) {
		w.Range.Low, w.Range.High = closedAt("1"), openAt("3")
	}), "a c e b", true},
	{"walk of stamps", walkOf("_ts", nil), "a b c d e f", true},
	{"walk of stamps in reverse", walkOf("_ts", reversed), "f e d c b a", true},
	{"walk of a composite index", along(access.Walk{Range: access.Range{Composite: 1}}), "f c e a b d", true},
	{"walk of a composite index in reverse", along(access.Walk{Range: access.Range{Composite: 1}, Reverse: true}),
		"d b a e c f", true},
	{"walk of a composite index in its partition", inPartition("q", along(access.Walk{
		Range: access.Range{Composite: 2, Equal: []doc.Value{doc.String("q")}}})), "f e d", true},
	{"walk of a composite index in another partition", inPartition("p", along(access.Walk{
		Range: access.Range{Composite: 2, Equal: []doc.Value{doc.String("q")}}})), "", true},
	{"walk of a composite index and a set in its partition", inPartition("q", along(access.Walk{Set: is("2", "b"),
		Range: access.Range{Composite: 2, Equal: []doc.Value{doc.String("q")}, Low: closedAt("1")}})), "e", true},
	{"walk of a set",
		along(access.Walk{Range: access.Range{Path: at("a")}, Reverse: true, Set: some(is("2", "b"), is("2", "a"))}),
		"b e c", true},
}

// writeForms writes the documents of forms, one each second, among others that die.
func (w *world) writeForms() {
	for i, text := range []string{`"a":1,"b":1,"t":["x","y"]`, `"a":2,"t":["x"]`, `"a":1,"b":2`, `"a":3,"t":[1]`,
		`"a":1.0,"b":2`, `"t":["z","x","x"]`} {
		id := string('a' + rune(i))
		_, err := w.write(w.put(store.Create, string('p'+rune(i/3)), id, text))
		w.ok(err)
		_, err = w.write(w.put(store.Create, string('p'+rune(i/3)), "dead-"+id, text+`,"ttl":60`))
		w.ok(err)
		w.now++
	}
	w.now += 100
}

func TestForms(t *testing.T) {
	w := newWorld(t, composites())
	w.writeForms()
	for _, stage := range []struct {
		name string
		do   func()
	}{
		{"expired", func() {}},
		{"reclaimed", func() {
			_, err := w.store.Reclaim(context.Background(), w.c, w.now, 100)
			w.ok(err)
		}},
		{"swept", (&indexed{world: w}).free},
		{"policy off", func() { w.setTTL(expiry.Unset) }},
	} {
		stage.do()
		for _, c := range forms {
			for _, frugal := range []int{0, 1} {
				t.Run(fmt.Sprintf("%s/%s/%d", stage.name, c.name, frugal), func(t *testing.T) {
					if frugal > 0 {
						defer store.Frugal(frugal)()
					}
					ref := reference{w.c.State().Indexing.Composite}
					var got []string
					for _, r := range w.rows(c.a, -1) {
						if ref.selects(w.c.State(), r, c.a) {
							got = append(got, r.id)
						}
					}
					if strings.Join(got, " ") != c.want {
						t.Errorf("%q, want %q", got, c.want)
					}
					n, ok, err := w.store.Count(context.Background(), w.view(), c.a)
					if want := uint64(len(strings.Fields(c.want))); err != nil || ok != c.exact || ok && n != want {
						t.Errorf("count %d, %v, %v, want %d", n, ok, err, want)
					}
				})
			}
		}
	}
}

func TestPositionsOfAnotherShape(t *testing.T) {
	w := newWorld(t, composites())
	w.writeForms()
	number := access.NumberPosition(nil, 1)
	one := access.ValuePosition(nil, []doc.Value{value("1")}, 1)
	three := access.ValuePosition(nil, []doc.Value{value("1"), {}, {}}, 1)
	equality := only(is("1", "a"))
	composite := along(access.Walk{Range: access.Range{Composite: 1}})
	for _, c := range []struct {
		name  string
		a     access.Access
		after access.Position
	}{
		{"value for numbers", access.Access{}, one},
		{"value for numbers from the end", access.Access{Reverse: true}, one},
		{"value for a set", equality, one},
		{"nothing for a set", equality, access.Position{}},
		{"the last number", equality, bytes.Repeat([]byte{0xFF}, 8)},
		{"short posting", inPartition("p", access.Access{}), access.Position("x")},
		{"number for a walk", walkOf("a", nil), number},
		{"number for stamps", walkOf("_ts", nil), number},
		{"too many values", walkOf("a", nil), three},
		{"too many values for stamps", walkOf("_ts", nil), three},
		{"too many values for a composite index", composite, three},
		{"too few values for a composite index", composite, one},
		{"cut", walkOf("a", nil), one[:len(one)-1]},
		{"no values", walkOf("a", nil), access.ValuePosition(nil, nil, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.a.After = c.after
			for d, err := range w.store.Scan(context.Background(), w.view(), c.a) {
				if fault.KindOf(err) != fault.Invalid {
					t.Fatalf("document %d, error %v", d.Number, err)
				}
			}
			if _, ok, err := w.store.Count(context.Background(), w.view(), c.a); ok || err != nil {
				t.Errorf("counted: %v, %v", ok, err)
			}
		})
	}
}

// TestResumeBehindWhatIsGone deletes the document and the value that a position names.
func TestResumeBehindWhatIsGone(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for _, n := range []int{1, 2, 2, 2, 3, 4} {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(len(w.rows(access.Access{}, -1))),
			fmt.Sprintf(`"n":%d`, n)))
		w.ok(err)
	}
	forward, back := walkOf("n", nil), walkOf("n", reversed)
	forward.After = w.rows(forward, 3)[2].Position
	back.After = w.rows(back, 4)[3].Position
	for _, id := range []string{"2", "1", "3"} {
		_, err := w.write(store.Op{Verb: store.Delete, Key: key("p", id)})
		w.ok(err)
	}
	_, err := w.write(w.put(store.Create, "p", "late", `"n":2`))
	w.ok(err)
	if got := w.scan(forward); got != "late 4 5" {
		t.Errorf("forward %q", got)
	}
	if got := w.scan(back); got != "0" {
		t.Errorf("in reverse %q", got)
	}
}

// reindex changes the indexing and waits until it is in use.
func (w *world) reindex(x catalog.Indexing) {
	w.t.Helper()
	w.setIndexing(x)
	for w.store.IndexProgress(w.c) < 100 {
		runtime.Gosched()
	}
}

// TestIndexOfAnOldView scans with a view whose index has been dropped.
func TestIndexOfAnOldView(t *testing.T) {
	def := composites()
	w := newWorld(t, def)
	w.writeForms()
	set, walk := only(is("1", "a")), walkOf("a", nil)
	compositeSet := only(&access.Range{Composite: 1, Equal: []doc.Value{value("1")}})
	compositeWalk := along(access.Walk{Range: access.Range{Composite: 1}})
	other := everything
	other.Composite = [][]catalog.CompositePath{{{Path: "/b"}, {Path: "/a"}}}
	same := paths("/*", "-/x/?")
	same.Composite = def.Indexing.Composite
	for _, c := range []struct {
		name     string
		indexing catalog.Indexing
		conflict [2]bool // of the walk, and of the one in the composite index
	}{
		{"another one has the same", same, [2]bool{}},
		{"without the composite index", everything, [2]bool{false, true}},
		{"with another composite index", other, [2]bool{false, true}},
		{"without the path", paths("-/*", "/b/?"), [2]bool{true, true}},
		{"none", catalog.Indexing{None: true}, [2]bool{true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.reindex(def.Indexing)
			old := w.view()
			w.reindex(c.indexing)
			ref := reference{def.Indexing.Composite}
			for _, a := range []access.Access{set, compositeSet} {
				var got []string
				for d, err := range w.store.Scan(context.Background(), old, a) {
					w.ok(err)
					id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
					if ref.selects(old.State, row{d, id}, a) {
						got = append(got, strings.Clone(id))
					}
				}
				if strings.Join(got, " ") != "a c e" {
					t.Errorf("%q", got)
				}
				if n, ok, err := w.store.Count(context.Background(), old, a); err != nil || ok && n != 3 {
					t.Errorf("counted %d, %v", n, err)
				}
			}
			for i, a := range []access.Access{walk, compositeWalk} {
				var got []string
				var failed error
				for d, err := range w.store.Scan(context.Background(), old, a) {
					if failed = err; err == nil {
						id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
						got = append(got, strings.Clone(id))
					}
				}
				if c.conflict[i] {
					if fault.KindOf(failed) != fault.Conflict || len(got) > 0 {
						t.Errorf("walk %d: %q, %v", i, got, failed)
					}
				} else if want := []string{"a c e b d", "f c e a b d"}[i]; failed != nil ||
					strings.Join(got, " ") != want {
					t.Errorf("walk %d: %q, %v", i, got, failed)
				}
			}
		})
	}
}

// TestIndexDroppedMeanwhile changes the indexing again and again beside scans: none
// may miss a document.
func TestIndexDroppedMeanwhile(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for i := range 50 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), `"a":1`))
		w.ok(err)
	}
	over := make(chan struct{})
	var scans sync.WaitGroup
	scans.Go(func() {
		for !closed(over) {
			v, err := w.c.Enter(context.Background(), w.now)
			if err != nil {
				t.Error(err)
				return
			}
			for _, a := range []access.Access{only(is("1", "a")), walkOf("a", nil)} {
				n := 0
				for _, err := range w.store.Scan(context.Background(), v, a) {
					if err != nil {
						t.Error(err)
						return
					}
					n++
				}
				if n != 50 {
					t.Errorf("%d documents", n)
				}
			}
		}
	})
	for i := range 40 {
		w.reindex(paths("/*", fmt.Sprintf("-/x%d/?", i)))
	}
	close(over)
	scans.Wait()
}

func TestScanOfADeletedContainer(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	w.writeForms()
	v := w.view()
	w.ok(w.catalog.DeleteContainer(context.Background(), w.c))
	for _, a := range []access.Access{{}, inPartition("p", access.Access{}), only(is("1", "a"))} {
		refused := false
		for _, err := range w.store.Scan(context.Background(), v, a) {
			if refused = err == catalog.ErrNoOwner; !refused {
				t.Errorf("error %v", err)
			}
		}
		if !refused {
			t.Errorf("%+v: an empty container", a)
		}
		if n, _, err := w.store.Count(context.Background(), v, a); err != catalog.ErrNoOwner {
			t.Errorf("count %d, %v", n, err)
		}
	}
}

func TestScanEndsWithItsContext(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for i := range 600 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), `"a":1`))
		w.ok(err)
	}
	for _, a := range []access.Access{{}, only(is("1", "a")), walkOf("a", nil), walkOf("a", withAbsent),
		walkOf("_ts", nil)} {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		var failed error
		for _, err := range w.store.Scan(ctx, w.view(), a) {
			failed = err
			if n++; n == 10 {
				cancel()
			}
		}
		if failed != context.Canceled || n > 400 {
			t.Errorf("%d steps, then %v", n, failed)
		}
		cancel()
	}
}

// TestAbsentIsRemembered holds what is remembered of a path against what is written later.
func TestAbsentIsRemembered(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	defer store.Frugal(4)()
	put := func(id, rest string) {
		t.Helper()
		_, err := w.write(w.put(store.Upsert, "p", id, rest))
		w.ok(err)
	}
	expect := func(want string) {
		t.Helper()
		for range 2 {
			if got := w.scan(walkOf("a", withAbsent)); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		var turned []string
		for _, id := range strings.Fields(want) {
			turned = append([]string{id}, turned...)
		}
		if got := w.scan(walkOf("a", absentLast)); got != strings.Join(turned, " ") {
			t.Errorf("in reverse %q, want %q", got, turned)
		}
	}
	expect("")
	put("1", `"a":1`)
	put("2", ``)
	expect("2 1")
	put("3", ``)
	put("2", `"a":0`)
	expect("3 2 1")
	put("1", `"b":1`)
	expect("1 3 2")
	for i := range 8 {
		put(fmt.Sprint("many", i), ``)
	}
	expect("1 3 many0 many1 many2 many3 many4 many5 many6 many7 2")
	for i := range 8 {
		put(fmt.Sprint("many", i), `"a":5`)
	}
	expect("1 3 2 many0 many1 many2 many3 many4 many5 many6 many7")
	put("4", `"ttl":1`)
	expect("1 3 4 2 many0 many1 many2 many3 many4 many5 many6 many7")
	w.now++
	expect("1 3 2 many0 many1 many2 many3 many4 many5 many6 many7")
}

func TestSchema(t *testing.T) {
	def := definition(expiry.Unset)
	def.Partition = catalog.PartitionKey{Paths: []string{"/pk", "/deep/sub"}, Version: 2, Multi: true}
	def.Indexing = paths("/*", "-/secret/*", "/secret/known/?", "-/list/[]/x/?")
	def.Indexing.Composite = [][]catalog.CompositePath{{{Path: "/a/b"}, {Path: "/c", Descending: true}},
		{{Path: "/a"}, {Path: "/_ts", Descending: true}}}
	w := newWorld(t, def)
	schema := w.store.Schema(w.view())
	if got := fmt.Sprint(schema.Partition, schema.Hierarchical, schema.Composite); got !=
		"[[{pk false}] [{deep false} {sub false}]] true [[{[{a false} {b false}] false} {[{c false}] true}] [{[{a "+
			"false}] false}]]" {
		t.Errorf("schema %s", got)
	}
	for _, c := range []struct {
		path access.Path
		want bool
	}{
		{at("a"), true}, {at("a", "b"), true}, {at("id"), true}, {at("_ts"), true}, {at("list", "[]"), true},
		{at("secret", "known"), true},
		{at("pk"), true}, {at("list", "[]", "y"), true},
		{at(), false}, {at("_ts", "x"), false}, {at("_etag"), false}, {at("_rid"), false}, {at("secret"), false},
		{at("secret", "x"), false},
		{at("secret", "known", "x"), false}, {at("list", "[]", "x"), false},
	} {
		if got := schema.Indexed(c.path); got != c.want {
			t.Errorf("%v: %v", c.path, got)
		}
	}
	w.reindex(paths("-/*", "/a/?"))
	schema = w.store.Schema(w.view())
	if !schema.Indexed(at("a")) || !schema.Indexed(at("id")) || schema.Indexed(at("b")) || len(schema.Composite) > 0 {
		t.Error("schema of one path")
	}
	w.reindex(catalog.Indexing{None: true})
	schema = w.store.Schema(w.view())
	if schema.Indexed(at("a")) || schema.Indexed(at("id")) || !schema.Indexed(at("_ts")) {
		t.Error("schema of no index")
	}
}

// TestCompositeIndexOfSystemMembers walks an index whose later columns no entry tells of.
func TestCompositeIndexOfSystemMembers(t *testing.T) {
	def := definition(expiry.Never)
	def.Indexing.Composite = [][]catalog.CompositePath{{{Path: "/a"}, {Path: "/_ts", Descending: true}}}
	w := newWorld(t, def)
	w.writeForms()
	for _, c := range []struct {
		name string
		a    access.Access
		want string
	}{
		{"walk", along(access.Walk{Range: access.Range{Composite: 1}}), "f a c e b d"},
		{"walk in reverse", along(access.Walk{Range: access.Range{Composite: 1}, Reverse: true}), "d b e c a f"},
		{"set", only(&access.Range{Composite: 1, Equal: []doc.Value{value("1")}}), "a c e"},
	} {
		var got []string
		for {
			page := w.rows(c.a, 2)
			for _, r := range page {
				got = append(got, r.id)
			}
			if len(page) < 2 {
				break
			}
			c.a.After = page[1].Position
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSchemaWhileBuilding tells of the index that is complete.
func TestSchemaWhileBuilding(t *testing.T) {
	def := definition(expiry.Never)
	def.Indexing = paths("-/*", "/a/?")
	w := newWorld(t, def)
	b := &builder{Engine: w.engine, stopAt: 1, stopped: make(chan struct{}), release: make(chan struct{})}
	w.through(b)
	w.writeForms()
	w.setIndexing(paths("-/*", "/b/?"))
	<-b.stopped
	schema := w.store.Schema(w.view())
	if !schema.Indexed(at("a")) || schema.Indexed(at("b")) {
		t.Error("not the schema of the complete index")
	}
	if got := w.scan(only(is("1", "a"))); got != "a c e" {
		t.Errorf("scan %q", got)
	}
	close(b.release)
	for w.store.IndexProgress(w.c) < 100 {
		runtime.Gosched()
	}
	if schema = w.store.Schema(w.view()); schema.Indexed(at("a")) || !schema.Indexed(at("b")) {
		t.Error("not the schema of the new index")
	}
}

func TestCountOfWhatEntriesDoNotTell(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	w.writeForms()
	text := `"` + strings.Repeat("x", 300) + `"`
	for _, c := range []struct {
		name string
		set  access.Set
	}{
		{"long string", is(text, "a")},
		{"array", is("[]", "a")},
		{"object in one of several", all(is("1", "a"), some(is("{}", "b"), is("2", "b")))},
		{"range from a long string", &access.Range{Path: at("a"), Low: openAt(text)}},
		{"system member", is("1", "_etag")},
		{"no such composite index", &access.Range{Composite: 3}},
	} {
		if n, ok, err := w.store.Count(context.Background(), w.view(), only(c.set)); ok || err != nil {
			t.Errorf("%s: %d, %v", c.name, n, err)
		}
	}
	undo := store.Frugal(1) // 64 numbers at most
	defer undo()
	for i := range 70 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint("n", i), `"list":[1,2]`))
		w.ok(err)
	}
	many := only(&access.Range{Path: at("list", "[]"), Low: closedAt("1"), High: closedAt("2")})
	if _, ok, err := w.store.Count(context.Background(), w.view(), many); ok || err != nil {
		t.Errorf("too many numbers to sort are counted, %v", err)
	}
}

// TestCountAlongsideBacklog counts while dead documents wait for being reclaimed, and
// while entries wait for a sweep.
func TestCountAlongsideBacklog(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	ref := reference{}
	for i := range 60 {
		rest := fmt.Sprintf(`"a":%d`, 1+i%7/6)
		if i%3 == 0 {
			rest += fmt.Sprintf(`,"ttl":%d`, 1+i)
		}
		_, err := w.write(w.put(store.Create, string('p'+rune(i%2)), fmt.Sprint(i), rest))
		w.ok(err)
	}
	for range 30 {
		for _, a := range []access.Access{{}, inPartition("p", access.Access{}), only(is("1", "a")),
			only(&access.Range{Path: at("a")}),
			only(some(&access.Range{Path: at("a"), High: openAt("1")}, &access.Range{Path: at("a"), Low: openAt("1")})),
			only(some(&access.Range{Path: at("a"), High: closedAt("1")},
				&access.Range{Path: at("a"), Low: closedAt("1")})),
			inPartition("q", only(is("1", "a"))), inPartition("p", lookupOf("0", "6", "7", "8")), walkOf("_ts", nil)} {
			ref.count(w, a, true, fmt.Sprint(w.now))
		}
		w.now += 3
		_, err := w.store.Reclaim(context.Background(), w.c, w.now, 2)
		w.ok(err)
		_, err = w.store.Sweep(context.Background(), w.c, 30)
		w.ok(err)
	}
}

// TestCountOfFew counts the documents of a small set that are in a larger one, of which it looks at few entries.
// Expired documents do not count.
func TestCountOfFew(t *testing.T) {
	w := newWorld(t, composites())
	ref := reference{composites().Indexing.Composite}
	defer store.Frugal(2)() // 64 entries at most
	for i := range 200 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), fmt.Sprintf(`"a":%d,"b":%d,"list":[%d]`, i, i/10, i)))
		w.ok(err)
	}
	_, err := w.write(w.put(store.Create, "q", "lone", `"a":7,"b":0,"ttl":5`))
	w.ok(err)
	above := func(text string) access.Set { return &access.Range{Path: at("a"), Low: openAt(text)} }
	elements := func(text string) access.Set { return &access.Range{Path: at("list", "[]"), Low: openAt(text)} }
	for range 2 {
		for _, a := range []access.Access{
			only(all(is("1", "b"), above("14"))),
			only(all(above("14"), &access.Range{Path: at("b"), Low: closedAt("1"), High: openAt("2")})),
			only(all(is("1", "b"), some(all(above("14"), above("16")), is("11", "a")))),
			only(all(is("0", "b"), &access.Range{Composite: 1, Low: closedAt("1")})),
			only(all(is("0", "b"), &access.Range{Path: at("b")})),
			inPartition("q", only(above("3"))),
			inPartition("q", only(all(above("3"), is("0", "b")))),
			only(all(is("1", "b"), elements("150"))), // as few as may be collected
		} {
			ref.count(w, a, true, fmt.Sprint(w.now))
		}
		if _, ok, err := w.store.Count(context.Background(), w.view(), only(all(is("1", "b"), elements("12")))); ok ||
			err != nil {
			t.Errorf("documents tell which of many elements they have: %v", err)
		}
		w.now += 5
	}
}

// TestOrderOfEntries holds the bytes of index entries against the order that a Walk promises.
func TestOrderOfEntries(t *testing.T) {
	full := strings.Repeat("é", access.MaxSortBytes/2)
	list := []doc.Value{{}, doc.Float(2.5), doc.Int(-1)}
	for _, s := range []string{"", "a", "a\x00", "a\x00b", "b", full, full[:len(full)-2], full + "a", full + "b",
		full + strings.Repeat("z", 9000), full[1:] + "a", "\x00", "\x00\x00"} {
		list = append(list, doc.String(s))
	}
	for _, text := range []string{"null", "true", "false", "0", "-0.0", "1", "1.0", "9007199254740992",
		"9007199254740993", "18446744073709551615",
		"-1e300", "1e300", "[]", "[1]", "[[]]", "{}", `{"a":1}`} {
		list = append(list, value(text))
	}
	for _, a := range list {
		for _, b := range list {
			order := bytes.Compare(keys.AppendValue(nil, a, false), keys.AppendValue(nil, b, false))
			falling := bytes.Compare(keys.AppendValue(nil, a, true), keys.AppendValue(nil, b, true))
			if got := access.Compare(a, b); got != order || got != -falling {
				t.Errorf("%.30s beside %.30s: %d, entries %d and %d", doc.AppendJSONValue(nil, a),
					doc.AppendJSONValue(nil, b), got, order, falling)
			}
		}
	}
	if access.MaxSortBytes != keys.MaxStringBytes {
		t.Error("entries keep another length of strings")
	}
}

// TestOrderInPartition reads as many documents of a partition as are asked for, if a composite index has the partition
// key and the order, and not those of the partition or of the container.
func TestOrderInPartition(t *testing.T) {
	w := newWorld(t, composites())
	const each, first = 400, 5
	for i := range each {
		for _, pk := range []string{"p", "q"} {
			_, err := w.write(w.put(store.Create, pk, fmt.Sprint(i), fmt.Sprintf(`"a":%d`, i*7%each)))
			w.ok(err)
		}
	}
	for _, reverse := range []bool{false, true} {
		a := inPartition("q", along(access.Walk{Reverse: reverse,
			Range: access.Range{Composite: 2, Equal: []doc.Value{doc.String("q")}}}))
		a.Stats = &access.Stats{}
		for i, r := range w.rows(a, first) {
			want := int64(i)
			if reverse {
				want = each - 1 - want
			}
			if got, _ := doc.AsInt(doc.Lookup(r.Body, "a")); got != want {
				t.Errorf("reverse %v: document %d has %d, want %d", reverse, i, got, want)
			}
		}
		if n := a.Stats.Documents; n > 2*first {
			t.Errorf("reverse %v: %d documents were read for %d", reverse, n, first)
		}
	}
}

// TestFirstOfPartition reads the first documents of a large partition along the entries of all partitions, unless those
// of the partition are too far from the start.
func TestFirstOfPartition(t *testing.T) {
	testFirst(t, func(path string) access.Access {
		if path == "_ts" {
			return inPartition("q", walkOf(path, reversed))
		}
		return inPartition("q", walkOf(path, absentLast))
	})
}

// TestFirstOfSet does the same with the documents that a filter selects, in one partition and in all of them.
func TestFirstOfSet(t *testing.T) {
	testFirst(t, func(path string) access.Access {
		return walkOf(path, func(w *access.Walk) {
			w.Set, w.Reverse, w.Absent = is(`"q"`, "b"), true, path != "_ts"
		})
	})
}

// TestFirstAscending begins with the documents that have no value, once walks could have saved as much as it takes to
// find them.
func TestFirstAscending(t *testing.T) {
	defer store.Frugal(8)()
	w := newWorld(t, composites())
	put := func(id, rest string) {
		_, err := w.write(w.put(store.Upsert, "p", id, rest))
		w.ok(err)
	}
	for i := range 200 {
		put(fmt.Sprint(i), fmt.Sprintf(`"a":%d,"b":"%c"`, i, 'p'+rune(i%2)))
	}
	put("none", `"b":"q"`)
	put("other", `"b":"p"`)
	put("brief", `"b":"q","ttl":5`)
	first := func() (ids string, long bool) {
		a := walkOf("a", func(w *access.Walk) { w.Set, w.Absent = is(`"q"`, "b"), true })
		a.First = 4
		n := 0
		for d, err := range w.store.Scan(context.Background(), w.view(), a) {
			if err == access.ErrLong {
				return "", true
			}
			w.ok(err)
			if b, _ := doc.AsString(doc.Lookup(d.Body, "b")); b != "q" {
				continue
			}
			id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
			if ids += id + " "; n == 3 {
				break
			}
			n++
		}
		return ids, false
	}
	tries := 1
	for _, long := first(); long && tries < 50; tries++ {
		_, long = first()
	}
	if tries == 1 || tries == 50 {
		t.Errorf("the first documents are found after %d times", tries)
	}
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "none brief 1 3 "},
		{func() { put("late", `"b":"q"`) }, "none brief late 1 "},
		{func() { w.now += 5 }, "none late 1 3 "},
		{func() { put("none", `"a":2,"b":"q"`) }, "late 1 none 3 "},
	} {
		c.change()
		if got, long := first(); long || got != c.want {
			t.Errorf("%q, long %v, want %q", got, long, c.want)
		}
	}
}

func testFirst(t *testing.T, of func(path string) access.Access) {
	defer store.Frugal(8)()
	for _, c := range []struct {
		name      string
		in        int  // documents of the partition
		others    int  // documents of another one
		before    bool // those come first, else they are in between
		first     int
		long      bool
		documents uint64 // that may be read
	}{
		{"few", 8, 0, false, 2, true, 0},
		{"alone", 12, 0, false, 1, false, 1},
		{"listed", 16, 48, false, 2, false, 2},
		{"listed, and rare", 60, 3_000, false, 2, true, 0},
		{"listed, behind the others", 30, 300, true, 2, true, 0},
		{"listed, and too many wanted", 60, 60, false, 40, true, 0},
		{"not listed", 100, 100, false, 2, false, 4},
		{"not listed, behind some others", 100, 40, true, 2, false, 2},
		{"not listed, behind the others", 100, 200, true, 2, true, 40},
	} {
		for _, path := range []string{"a", "_ts"} {
			t.Run(c.name+"/"+path, func(t *testing.T) {
				w := newWorld(t, composites())
				put := func(pk string, n int) {
					w.now++
					_, err := w.write(w.put(store.Create, pk, fmt.Sprint(w.now), fmt.Sprintf(`"a":%d,"b":%q`, n, pk)))
					w.ok(err)
				}
				for i := range c.in {
					put("q", i)
					for range c.others / c.in {
						if !c.before {
							put("p", i)
						}
					}
				}
				for i := range c.others {
					if c.before { // in reverse, these come first
						put("p", c.in+i)
					}
				}
				a := of(path)
				a.First, a.Stats = c.first, &access.Stats{}
				n, long := 0, false
				for d, err := range w.store.Scan(context.Background(), w.view(), a) {
					if long = err == access.ErrLong; long {
						break
					}
					w.ok(err)
					if pk, _ := doc.AsString(doc.Lookup(d.Body, "pk")); pk != "q" {
						if access.ScopeOf(a.Of) != nil {
							t.Errorf("a document of %s", pk)
						}
						continue // a set may have others
					}
					if n++; n == c.first {
						break
					}
				}
				if access.ScopeOf(a.Of) == nil && c.in <= 8 { // so few of a set are sorted
					c.long, c.documents = false, uint64(c.in+c.first)
				}
				if long != c.long || !long && n != c.first || a.Stats.Documents > c.documents {
					t.Errorf("long %v after %d, %d documents read; want %v, at most %d", long, n, a.Stats.Documents,
						c.long, c.documents)
				}
			})
		}
	}
}
