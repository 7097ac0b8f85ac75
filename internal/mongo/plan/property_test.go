package plan

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/store"
)

var (
	seed   = flag.Uint64("seed", 1, "of the first round of random plans")
	rounds = flag.Int("rounds", 150, "of random plans")
)

// TestPlansMissNothing walks plans of random queries in a real store with random indexes and
// documents: each document that the filter accepts comes once, and in the order of the sort if
// the plan says so.
func TestPlansMissNothing(t *testing.T) {
	h := openHouse(t)
	var counts tally
	for i := range *rounds {
		r := rand.New(rand.NewPCG(*seed+uint64(i), 4))
		if !h.round(t, r, i, &counts) {
			t.Fatalf("go test -run PlansMissNothing -rounds 1 -seed %d", *seed+uint64(i))
		}
	}
	if *rounds >= 50 &&
		(counts.indexed < counts.all/4 || counts.sorted < counts.all/20 || counts.several < counts.all/400 ||
			counts.merged < counts.all/300 || counts.contests < counts.all/80 || counts.counted < counts.all/60 ||
			counts.checked < counts.all/60 || h.values[0] < counts.all/50 || h.values[1] < counts.all/60) {
		t.Errorf("the queries are too dull: %+v, %v", counts, h.values)
	}
}

type tally struct{ all, indexed, sorted, several, merged, contests, counted, checked int }

// A house is a store with a database.
type house struct {
	catalog *catalog.Catalog
	store   *store.Store
	db      *catalog.Database
	values  [2]int // how often values were read by value, of elements and of whole documents
}

const now = 1_000_000

func openHouse(t *testing.T) *house {
	ctx := context.Background()
	engine, err := pebble.Open(pebble.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{}
	h.catalog, err = catalog.Open(ctx, engine, func(d doc.Doc) (func(doc.Doc) bool, error) {
		f, err := filter.Compile(d, filter.Options{})
		if err != nil {
			return nil, err
		}
		return func(d doc.Doc) bool {
			ok, err := f.Match(d, nil)
			return ok && err == nil
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if h.store, err = store.Open(ctx, engine, h.catalog); err != nil {
		t.Fatal(err)
	}
	if h.db, err = h.catalog.CreateDatabase(ctx, now, "d", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// round makes a container, and asks it some queries.
func (h *house) round(t *testing.T, r *rand.Rand, number int, counts *tally) bool {
	ctx := context.Background()
	c, err := h.catalog.CreateContainer(ctx, now, h.db, catalog.Definition{
		Name: "c" + strconv.Itoa(number), Dialect: catalog.Mongo, Indexing: catalog.Indexing{None: true},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	_, err = h.catalog.ReplaceIndexes(ctx, now, c, func(*catalog.State) ([]catalog.NamedIndex, error) {
		list := make([]catalog.NamedIndex, 1+r.IntN(4))
		for i := range list {
			list[i] = someIndex(r, i)
			described = append(described, fmt.Sprintf("%+v", list[i]))
		}
		return list, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	arrays := r.IntN(3) > 0
	var all []doc.Doc
	for i := range 30 {
		d := someDocument(r, i, arrays)
		op := store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(d, "_id")), Body: d}
		if _, err := h.store.Write(ctx, c, now, op); err == nil {
			all = append(all, d)
		}
	}
	v, err := c.Enter(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	indexes, err := h.store.Named(ctx, v)
	if err != nil {
		t.Fatal(err)
	}
	g := generator{Rand: r, documents: all}
	for _, ix := range indexes {
		for _, column := range ix.Columns {
			g.likely = append(g.likely, column.Path)
			if i := strings.LastIndexByte(column.Path, '.'); i > 0 {
				g.likely, g.below = append(g.likely, column.Path[:i]), append(g.below, column.Path[i+1:])
			}
		}
		if len(ix.Columns) > 1 {
			g.compound = append(g.compound, ix.Columns)
		}
		if ix.Partial != nil {
			g.partial = append(g.partial, ix.Partial)
		}
	}
	whole, err := Choose(Query{}, indexes, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range whole.columns() {
		if wrong := h.checkValues(v, whole, path, all); wrong != "" {
			t.Errorf("%s\nindexes %s", wrong, strings.Join(described, "\n"))
			return false
		}
	}
	for range 60 {
		q := g.query()
		if q.Filter == nil {
			continue
		}
		some := func(*access.IndexScan, int) (int, error) { return r.IntN(50), nil }
		p, err := Choose(q, indexes, some)
		if err != nil {
			t.Errorf("%s: %v", relaxed(t, q.Text), err)
			return false
		}
		counts.count(p)
		if q.Like = p; !goesOn(p, q, indexes) {
			t.Errorf("%s has another plan when it goes on", relaxed(t, q.Text))
			return false
		}
		if wrong := h.check(v, p, all); wrong != "" {
			t.Errorf("%s sort %v\n%s\n%s\nindexes %s", relaxed(t, q.Text), q.Sort, relaxed(t, p.Explain()), wrong,
				strings.Join(described, "\n"))
			return false
		}
	}
	return true
}

// goesOn reports whether the plan of a query that goes on with p is the same.
func goesOn(p *Plan, q Query, indexes []access.NamedIndex) bool {
	again, err := Choose(q, indexes, nil)
	return err == nil && slices.EqualFunc(p.Scans(), again.Scans(), func(a, b access.IndexScan) bool {
		return reflect.DeepEqual(a, b)
	})
}

func (c *tally) count(p *Plan) {
	c.all++
	if rules, err := Choose(p.query, p.indexes, nil); err == nil && !slices.Equal(p.Indexes(), rules.Indexes()) {
		c.contests++
	}
	if _, ok := p.Counted(); ok {
		c.counted++
	}
	if len(p.legs) > 0 && p.Summary() != "IDHACK" {
		c.indexed++
	}
	if p.Sorted && len(p.query.Sort) > 0 {
		c.sorted++
	}
	if slices.ContainsFunc(p.legs, func(l leg) bool { return len(l.checked) > 0 }) {
		c.checked++
	}
	if len(p.legs) > 1 {
		c.several++
	}
	if p.Access.Merged {
		c.merged++
	}
}

// check follows a plan and tells what is wrong.
func (h *house) check(v catalog.View, p *Plan, all []doc.Doc) string {
	q := &p.query
	if wrong := inTurn(p); wrong != "" {
		return wrong
	}
	var found []doc.Doc
	var positions []access.Position
	for d, err := range h.store.Scan(context.Background(), v, p.Access) {
		if err != nil {
			return err.Error()
		}
		if ok, err := matches(q.Filter, d.Body); err != nil || !ok {
			continue
		}
		found = append(found, slices.Clone(d.Body))
		positions = append(positions, slices.Clone(d.Position))
	}
	for i := 0; i < len(positions); i += 3 {
		a, rest := p.Access, found[i+1:]
		for a.After = positions[i]; ; rest = rest[1:] {
			d, err := h.next(v, a, q.Filter)
			if err != nil {
				return err.Error()
			}
			if len(rest) == 0 && d == nil {
				break
			}
			if d == nil || len(rest) == 0 || !slices.Equal(rest[0], d.Body) {
				return fmt.Sprintf("behind document %d comes another one", i)
			}
			if a.After = d.Position; i%5 > 0 {
				break
			}
		}
	}
	want := 0
	for _, d := range all {
		if ok, err := matches(q.Filter, d); err != nil || !ok {
			continue
		}
		want++
		n := 0
		for _, f := range found {
			if slices.Equal(f, d) {
				n++
			}
		}
		if n != 1 {
			return fmt.Sprintf("%d times: %s", n, bson.Raw(d))
		}
	}
	if want != len(found) {
		return fmt.Sprintf("%d documents, want %d", len(found), want)
	}
	if a, ok := p.Counted(); ok {
		n, ok, err := h.store.Count(context.Background(), v, a)
		if err != nil || !ok || int(n) != want {
			return fmt.Sprintf("counted %d, %v, %v, want %d", n, ok, err, want)
		}
	}
	if wrong := h.checkSkipped(v, p, found); wrong != "" {
		return wrong
	}
	for _, column := range p.columns() {
		if wrong := h.checkValues(v, p, column, found); wrong != "" {
			return wrong
		}
	}
	isLong := func(d doc.Doc) bool { return strings.Contains(string(d), "longlong") }
	if !p.Sorted || slices.ContainsFunc(found, isLong) {
		return "" // an index cannot tell values apart of which it has a part only
	}
	for i := 1; i < len(found); i++ {
		if compareKeys(q.Sort, sortKey(q.Sort, found[i-1]), sortKey(q.Sort, found[i])) > 0 {
			return fmt.Sprintf("not in order: %s, %s", bson.Raw(found[i-1]), bson.Raw(found[i]))
		}
	}
	return ""
}

// checkSkipped passes over the first documents of a plan and compares the others.
func (h *house) checkSkipped(v catalog.View, p *Plan, found []doc.Doc) string {
	a, ok := p.Skipped()
	if !ok {
		return ""
	}
	for _, skip := range []int{1, 3, 40} {
		left := skip
		a.Skip = &access.Skip{Left: &left}
		var others []doc.Doc
		for d, err := range h.store.Scan(context.Background(), v, a) {
			if err != nil {
				return err.Error()
			}
			if left > 0 {
				return "a document that is not wanted"
			}
			others = append(others, slices.Clone(d.Body))
		}
		if !slices.EqualFunc(others, found[min(skip, len(found)):], slices.Equal) {
			return fmt.Sprintf("%d documents of %d without the first %d", len(others), len(found), skip)
		}
	}
	return ""
}

// next is the first document of a walk that a filter accepts, nil if there is none.
func (h *house) next(v catalog.View, a access.Access, f *filter.Filter) (*access.Document, error) {
	for d, err := range h.store.Scan(context.Background(), v, a) {
		if err != nil {
			return nil, err
		}
		if ok, err := matches(f, d.Body); err == nil && ok {
			d.Body, d.Position = slices.Clone(d.Body), slices.Clone(d.Position)
			return &d, nil
		}
	}
	return nil, nil
}

// matches is Filter.Match.
func matches(f *filter.Filter, d doc.Doc) (bool, error) {
	s := &expression.Scope{}
	s.Reset(doc.Object(d))
	return f.Match(d, s)
}

// columns are the paths of all indexes.
func (p *Plan) columns() (paths []string) {
	for i := range p.indexes {
		for _, c := range p.indexes[i].Columns {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// checkValues reads values at a path from an index and compares them with those of the documents.
func (h *house) checkValues(v catalog.View, p *Plan, path string, found []doc.Doc) string {
	parsed, err := filter.ParsePath(path)
	if err != nil {
		return err.Error()
	}
	elements := func(of map[string]uint64, d doc.Doc, _ uint64) {
		parsed.Walk(d, filter.Elements, nil, func(v doc.Value, _ int) bool {
			if v.Type != 0 {
				of[string(doc.AppendCanonicalBSON(nil, v))] = 1
			}
			return false
		})
	}
	for _, whole := range []bool{false, true} {
		_, of, ok := p.ByValue(path, whole)
		if !ok {
			continue
		}
		h.values[map[bool]int{true: 1}[whole]]++
		got, want := map[string]uint64{}, map[string]uint64{}
		note := elements
		if whole {
			note = func(of map[string]uint64, d doc.Doc, n uint64) {
				key := sortKey([]access.NamedColumn{{Path: path}}, d)[0]
				if isNull(key) {
					key = doc.Null()
				}
				of[string(doc.AppendCanonicalBSON(nil, key))] += n
			}
			of.Count = true
		}
		for _, d := range found {
			note(want, d, 1)
		}
		ok, err := h.store.EachValue(context.Background(), v, &of, func(d doc.Doc, n uint64) error {
			note(got, d, n)
			return nil
		})
		if err != nil || !ok || !maps.Equal(got, want) {
			return fmt.Sprintf("%d values at %s (whole %v), %v, %v, want %d", len(got), path, whole, ok, err, len(want))
		}
	}
	return ""
}

// inTurn checks that intervals are in the order of their index.
func inTurn(p *Plan) string {
	for i, scan := range p.Scans() {
		for j := 1; j < len(scan.Intervals); j++ {
			if !isBefore(p.legs[i].index, &scan.Intervals[j-1], &scan.Intervals[j]) {
				return fmt.Sprintf("intervals %d and %d of %s", j-1, j, p.legs[i].index.Name)
			}
		}
	}
	return ""
}

func isBefore(ix *access.NamedIndex, a, b *access.Interval) bool {
	descending := func(i int) bool { return !ix.Wildcard && ix.Columns[i].Descending }
	for i := range min(len(a.Equal), len(b.Equal)) {
		if c := doc.CompareBSON(a.Equal[i], b.Equal[i]); c != 0 {
			return c < 0 != descending(i)
		}
	}
	if len(a.Equal) != len(b.Equal) {
		return ix.Wildcard
	}
	if descending(len(a.Equal)) {
		a, b = b, a
	}
	c := doc.CompareBSON(a.High.Value, b.Low.Value)
	return c < 0 || c == 0 && (a.High.Open || b.Low.Open)
}

// sortKey is the least of the keys that an index on the columns of a sort would have.
func sortKey(sort []access.NamedColumn, d doc.Doc) (least []doc.Value) {
	ways := make([]way, len(sort))
	for i, c := range sort {
		ways[i] = way{doc.Object(d), strings.Split(c.Path, "."), false}
	}
	keysOf(ways, func(key []doc.Value) {
		if least == nil || compareKeys(sort, key, least) < 0 {
			least = key
		}
	})
	return least
}

func compareKeys(sort []access.NamedColumn, a, b []doc.Value) int {
	for i, c := range sort {
		if order := doc.CompareBSON(a[i], b[i]); order != 0 {
			if c.Descending {
				return -order
			}
			return order
		}
	}
	return 0
}

// A way leads on from a value, unless it is over.
type way struct {
	v    doc.Value
	path []string
	over bool
}

func keysOf(ways []way, use func([]doc.Value)) {
	ways = slices.Clone(ways)
	var array doc.Value
	key := make([]doc.Value, len(ways))
	for i := range ways {
		w := &ways[i]
		for !w.over && !doc.IsArray(w.v) {
			if len(w.path) == 0 {
				w.over = true
			} else if d, ok := doc.AsDoc(w.v); ok {
				w.v, w.path = doc.Lookup(d, w.path[0]), w.path[1:]
			} else {
				w.v, w.over = doc.Value{}, true
			}
		}
		if w.over && w.v.Type == 0 {
			w.v = doc.Null()
		}
		if !w.over {
			array = w.v
		}
		key[i] = w.v
	}
	if array.Type == 0 {
		use(key)
		return
	}
	elements := slices.Collect(doc.Elements(array))
	if len(elements) == 0 {
		elements = []doc.Value{undefined}
	}
	for _, e := range elements {
		inner := slices.Clone(ways)
		for i := range inner {
			if w := &inner[i]; !w.over {
				_, isDoc := doc.AsDoc(e)
				if w.v = e; len(w.path) > 0 && !isDoc {
					w.v = doc.Value{}
				}
				w.over = len(w.path) == 0 || !isDoc
				if w.v.Type == 0 {
					w.v = doc.Null()
				}
			}
		}
		keysOf(inner, use)
	}
}

var somePaths = []string{"a", "a", "b", "c", "a.b", "a.c", "b.c", "a.b.c", "a.0", "a.0.b", "_id"}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func someIndex(r *rand.Rand, i int) catalog.NamedIndex {
	x := catalog.NamedIndex{Name: "x" + strconv.Itoa(i)}
	if r.IntN(6) == 0 {
		x.Wildcard = true
		x.Columns = []catalog.NamedColumn{{Path: pick(r, "", "", "a", "a.b")}}
		if x.Columns[0].Path == "" {
			x.Projection = pick(r, nil, bsonOf(bson.D{{Key: "a", Value: 1}, {Key: "_id", Value: 1}}),
				bsonOf(bson.D{{Key: "a.b", Value: 0}, {Key: "b", Value: 0}}))
		}
		return x
	}
	for range 1 + r.IntN(3) {
		path := pick(r, somePaths...)
		if !slices.ContainsFunc(x.Columns, func(c catalog.NamedColumn) bool { return c.Path == path }) {
			x.Columns = append(x.Columns, catalog.NamedColumn{Path: path, Descending: r.IntN(3) == 0})
		}
	}
	x.Sparse = r.IntN(5) == 0
	if r.IntN(5) == 0 {
		x.Partial = bsonOf(pick(r,
			bson.D{{Key: "a", Value: bson.D{{Key: "$exists", Value: true}}}},
			bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: 1}}}},
			bson.D{{Key: "b", Value: bson.D{{Key: "$lte", Value: 2}}}},
			bson.D{{Key: "b", Value: bson.D{{Key: "$in", Value: bson.A{1, 2, nil}}}}},
			bson.D{{Key: "c", Value: 1}},
		))
	}
	return x
}

func bsonOf(d bson.D) doc.Doc {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

func someScalar(r *rand.Rand) any {
	switch r.IntN(14) {
	case 0:
		return nil
	case 1:
		return pick(r, "", "x", "xy", "y")
	case 2:
		return r.IntN(2) == 0
	case 3:
		return float64(r.IntN(8)) / 2
	case 4:
		return pick[any](r, math.NaN(), math.Inf(1), math.Inf(-1), bson.Undefined{}, bson.MinKey{}, bson.MaxKey{})
	case 5:
		return bson.DateTime(r.IntN(3))
	case 6:
		return pick[any](r, bson.Regex{Pattern: "^x"}, bson.Timestamp{T: 1, I: uint32(r.IntN(3))},
			bson.ObjectID{11: byte(r.IntN(3))},
			bson.Binary{Data: []byte("xy")[:r.IntN(3)]}, bson.Symbol("x"), bson.JavaScript("x"))
	case 7:
		if r.IntN(4) == 0 { // an entry keeps only the beginning
			return strings.Repeat("long", 300) + pick(r, "", "x", "y")
		}
	}
	return int32(r.IntN(4))
}

func someValue(r *rand.Rand, depth int, arrays bool) any {
	switch n := r.IntN(10); {
	case depth == 0 || n < 4:
		return someScalar(r)
	case n < 7 && arrays:
		list := bson.A{}
		for range r.IntN(4) {
			list = append(list, someValue(r, depth-1, true))
		}
		return list
	case n < 9:
		return someMembers(r, depth-1, arrays)
	}
	return someScalar(r)
}

func someMembers(r *rand.Rand, depth int, arrays bool) bson.D {
	d := bson.D{}
	for _, name := range []string{"a", "b", "c"} {
		if r.IntN(3) > 0 {
			d = append(d, bson.E{Key: name, Value: someValue(r, depth, arrays)})
		}
	}
	return d
}

// someRows is what compound indexes on one array are for.
func someRows(r *rand.Rand) bson.A {
	rows := bson.A{}
	for range r.IntN(4) {
		rows = append(rows,
			pick[any](r, someScalar(r), bson.D{{Key: "b", Value: r.IntN(4)}, {Key: "c", Value: r.IntN(4)}},
				bson.D{{Key: "b", Value: bson.A{r.IntN(4), r.IntN(4)}}, {Key: "c", Value: r.IntN(4)}},
				bson.D{{Key: "b", Value: r.IntN(4)}},
				bson.D{{Key: "b", Value: bson.D{{Key: "c", Value: r.IntN(4)}}}},
				bson.A{bson.D{{Key: "b", Value: r.IntN(4)}}, r.IntN(4)}))
	}
	return rows
}

func someDocument(r *rand.Rand, i int, arrays bool) doc.Doc {
	id := pick[any](r, int32(i), int32(i), float64(i)+0.5, "u"+strconv.Itoa(i), bson.D{{Key: "a", Value: int32(i)}})
	if arrays && r.IntN(2) == 0 {
		return bsonOf(append(bson.D{{Key: "_id", Value: id}, {Key: "a", Value: someRows(r)}},
			someMembers(r, 1, false)...))
	}
	return bsonOf(append(bson.D{{Key: "_id", Value: id}}, someMembers(r, 3, arrays)...))
}

// A generator makes queries that indexes may help with.
type generator struct {
	*rand.Rand
	likely    []string // paths
	below     []string // ends of paths
	partial   []doc.Doc
	compound  [][]access.NamedColumn // of indexes
	documents []doc.Doc
	target    doc.Doc // which a query is to accept, perhaps
}

// value is one that the target has at a path, or any.
func (g *generator) value(path string) any {
	p, err := filter.ParsePath(path)
	if g.target == nil || err != nil || g.IntN(4) == 0 {
		return someValue(g.Rand, 1, true)
	}
	var list []doc.Value
	p.Walk(g.target, filter.Both, nil, func(v doc.Value, _ int) bool {
		list = append(list, slices.Collect(doc.Elements(v))...) // of nested arrays too
		list = append(list, v)
		return false
	})
	if len(list) == 0 {
		return someScalar(g.Rand)
	}
	v := pick(g.Rand, list...)
	if v.Type == 0 {
		return nil
	}
	return bson.RawValue{Type: bson.Type(v.Type), Value: slices.Clone(v.Data)}
}

func (g *generator) path(inner bool) string {
	switch {
	case inner && g.IntN(4) > 0:
		return pick(g.Rand, append(g.below, "0", "0.b", "b", "c", "b", "c")...)
	case g.IntN(4) > 0:
		return pick(g.Rand, g.likely...)
	}
	return pick(g.Rand, somePaths...)
}

// query has no Filter when it is none that can be compiled.
func (g *generator) query() Query {
	if g.target = nil; len(g.documents) > 0 && g.IntN(4) > 0 {
		g.target = pick(g.Rand, g.documents...)
	}
	if len(g.compound) > 0 && g.IntN(6) == 0 {
		return g.merged()
	}
	members := g.filter(2, "")
	if len(g.partial) > 0 && g.IntN(2) == 0 {
		for name, v := range doc.Members(pick(g.Rand, g.partial...)) {
			members = append(members, bson.E{Key: name, Value: bson.RawValue{Type: bson.Type(v.Type), Value: v.Data}})
		}
	}
	q := Query{Text: bsonOf(members)}
	q.Filter, _ = filter.Compile(q.Text, filter.Options{})
	if g.IntN(2) == 0 {
		for range 1 + g.IntN(2) {
			path := g.path(false)
			if path != "" && !slices.ContainsFunc(q.Sort, func(c access.NamedColumn) bool { return c.Path == path }) {
				q.Sort = append(q.Sort, access.NamedColumn{Path: path, Descending: g.IntN(2) == 0})
			}
		}
		q.Limit = int64(g.IntN(2))
	}
	return q
}

// merged is a query of several values of the first columns of an index, in the order of the others.
func (g *generator) merged() (q Query) {
	columns := pick(g.Rand, g.compound...)
	first := 1 + g.IntN(len(columns)-1)
	values := func() bson.D {
		d := bson.D{}
		for _, c := range columns[:first] {
			list := bson.A{g.value(c.Path)}
			for range g.IntN(3) {
				list = append(list, pick(g.Rand, g.value(c.Path), any(int32(g.IntN(4)))))
			}
			d = append(d, bson.E{Key: c.Path, Value: bson.D{{Key: "$in", Value: list}}})
		}
		if g.IntN(3) == 0 {
			path := columns[first].Path
			d = append(d, bson.E{Key: path, Value: bson.D{{Key: "$gte", Value: g.value(path)}}})
		}
		return append(d, g.filter(0, "")...)
	}
	members := values()
	if g.IntN(2) == 0 {
		members = bson.D{{Key: "$or", Value: bson.A{members, values(), pick(g.Rand, members, g.filter(0, ""))}}}
	}
	q.Text = bsonOf(members)
	q.Filter, _ = filter.Compile(q.Text, filter.Options{})
	q.Sort = slices.Clone(columns[first : first+1+g.IntN(len(columns)-first)])
	if g.IntN(2) == 0 {
		for i := range q.Sort {
			q.Sort[i].Descending = !q.Sort[i].Descending
		}
	}
	q.Limit = int64(g.IntN(2))
	return q
}

// filter is about the elements of an array unless its path is "".
func (g *generator) filter(depth int, around string) bson.D {
	d := bson.D{}
	for range g.IntN(4) {
		if depth > 0 && g.IntN(5) == 0 {
			list := bson.A{}
			for range 1 + g.IntN(3) {
				list = append(list, g.filter(depth-1, around))
			}
			d = append(d, bson.E{Key: pick(g.Rand, "$or", "$or", "$and", "$nor"), Value: list})
			continue
		}
		if around == "" && g.IntN(6) == 0 {
			d = append(d, bson.E{Key: "$expr", Value: g.expression(1)})
			continue
		}
		path := g.path(around != "")
		d = append(d, bson.E{Key: path, Value: g.condition(depth, join(around, path))})
	}
	return d
}

// expression compares fields with values, and now and then with something else.
func (g *generator) expression(depth int) any {
	if depth > 0 && g.IntN(2) == 0 {
		list := bson.A{}
		for range 1 + g.IntN(3) {
			list = append(list, g.expression(depth-1))
		}
		return bson.D{{Key: pick(g.Rand, "$and", "$and", "$and", "$or"), Value: list}}
	}
	path := g.path(false)
	if path == "" {
		path = "a"
	}
	value := func() any { return bson.D{{Key: "$literal", Value: g.value(path)}} }
	op := pick(g.Rand, "$gt", "$gte", "$lt", "$lte", "$eq", "$in", "$ne")
	if op == "$in" {
		return bson.D{{Key: op, Value: bson.A{"$" + path, bson.A{value(), value()}}}}
	}
	sides := bson.A{"$" + path, value()}
	if g.IntN(8) == 0 {
		sides[1] = "$b"
	}
	if g.IntN(3) == 0 {
		slices.Reverse(sides)
	}
	comparison := bson.D{{Key: op, Value: sides}}
	if op != "$eq" && g.IntN(2) == 0 { // a range
		return bson.D{{Key: "$and", Value: bson.A{comparison,
			bson.D{{Key: pick(g.Rand, "$gte", "$lt"), Value: bson.A{"$" + path, value()}}}}}}
	}
	return comparison
}

func join(around, path string) string { return strings.TrimPrefix(around+"."+path, ".") }

func (g *generator) condition(depth int, path string) any {
	r := g.Rand
	if r.IntN(3) == 0 {
		return g.value(path)
	}
	d := bson.D{}
	for range 1 + r.IntN(2) {
		op := pick(r, "$gt", "$gte", "$gte", "$lt", "$lte", "$lte", "$eq", "$eq", "$ne", "$in", "$in", "$in", "$nin",
			"$exists", "$exists", "$all",
			"$elemMatch", "$elemMatch", "$elemMatch", "$not", "$regex", "$size", "$type")
		d = append(d, bson.E{Key: op, Value: g.operand(op, depth, path)})
	}
	return d
}

func (g *generator) operand(op string, depth int, path string) any {
	r := g.Rand
	switch op {
	case "$in", "$nin", "$all":
		list := bson.A{}
		for range r.IntN(4) {
			list = append(list, g.value(path))
		}
		return list
	case "$exists":
		return r.IntN(2) == 0
	case "$elemMatch":
		if depth == 0 {
			return bson.D{{Key: "$gte", Value: g.value(path)}}
		}
		if r.IntN(2) == 0 {
			return g.filter(depth-1, path)
		}
		return g.condition(depth-1, path)
	case "$not":
		return bson.D{{Key: "$gt", Value: g.value(path)}}
	case "$regex":
		return pick(r, "^x", "^xy$", "x", "^", "^x?y")
	case "$size":
		return r.IntN(3)
	case "$type":
		return pick(r, "string", "array", "number", "null", "int", "object", "bool", "date", "binData", "regex",
			"objectId")
	}
	return g.value(path)
}
