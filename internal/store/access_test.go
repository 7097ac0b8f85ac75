package store_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// at makes a path of names, [] being the step to elements.
func at(names ...string) access.Path {
	var path access.Path
	for _, name := range names {
		path = append(path, access.Step{Name: strings.TrimSuffix(name, "[]"), Element: name == "[]"})
	}
	return path
}

func value(text string) doc.Value {
	if text == "" {
		return doc.Value{}
	}
	v, err := doc.ValueFromJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

// closedAt and openAt make bounds of JSON values, typed the bound of a type.
func closedAt(text string) *access.Bound { return &access.Bound{Value: value(text)} }
func openAt(text string) *access.Bound   { return &access.Bound{Value: value(text), Open: true} }
func typed(text string) *access.Bound    { return &access.Bound{Value: value(text), Type: true} }

func is(text string, path ...string) access.Set {
	return &access.Range{Path: at(path...), Low: closedAt(text), High: closedAt(text)}
}

// passing makes the set of documents with a string at a path that has a part. Of strings that begin with b, this is not
// certain.
func passing(part string, path ...string) access.Set {
	in := access.Range{Path: at(path...), Low: typed(`""`), High: typed(`""`)}
	return &access.Tested{Range: in, Test: func(v doc.Value) (passes, certain bool) {
		text, ok := doc.AsString(v)
		if !ok {
			panic("a test of another type")
		}
		passes = strings.Contains(text, part)
		return passes, !passes || !strings.HasPrefix(text, "b")
	}}
}

func all(sets ...access.Set) access.Set    { return access.Intersection(sets) }
func some(sets ...access.Set) access.Set   { return access.Union(sets) }
func only(set access.Set) access.Access    { return access.Access{Of: &access.Filter{Set: set}} }
func along(walk access.Walk) access.Access { return access.Access{Of: &walk} }
func lookupOf(ids ...string) access.Access { return access.Access{Of: &access.Lookup{IDs: ids}} }

// in limits an access to a part of the container.
func in(scope access.Scope, a access.Access) access.Access {
	switch of := a.Of.(type) {
	case nil:
		a.Of = scope
	case *access.Lookup:
		a.Of = &access.Lookup{Partition: scope.(access.Partition), IDs: of.IDs}
	case *access.Filter:
		a.Of = &access.Filter{Scope: scope, Set: of.Set}
	case *access.Walk:
		walk := *of
		walk.Scope = scope
		a.Of = &walk
	}
	return a
}

// walkIn is the walk of an access, nil if it is of another kind.
func walkIn(a access.Access) *access.Walk {
	walk, _ := a.Of.(*access.Walk)
	return walk
}

// A row is a document that a test keeps.
type row struct {
	access.Document
	id string
}

// rows collects a scan; positions and bodies are copied.
func (w *world) rows(a access.Access, limit int) []row {
	w.t.Helper()
	var list []row
	for d, err := range w.store.Scan(context.Background(), w.view(), a) {
		w.ok(err)
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		d.Body, d.Position = bytes.Clone(d.Body), bytes.Clone(d.Position)
		list = append(list, row{d, strings.Clone(id)})
		if len(list) == limit {
			break
		}
	}
	return list
}

func idsOfRows(list []row) string {
	var ids []string
	for _, r := range list {
		ids = append(ids, r.id)
	}
	return strings.Join(ids, " ")
}

// The reference: what access says of a document, without any index.

type reference struct {
	composite [][]catalog.CompositePath
}

// valuesAt gives every value that a document has at a path.
func valuesAt(r row, path access.Path) []doc.Value {
	if len(path) == 1 && path[0].Name == "_ts" {
		return []doc.Value{doc.Int(r.Stamp)}
	}
	values := []doc.Value{doc.Object(r.Body)}
	for _, step := range path {
		var next []doc.Value
		for _, v := range values {
			if step.Element {
				next = slices.AppendSeq(next, doc.Elements(v))
			} else if d, ok := doc.AsDoc(v); ok {
				if v := doc.Lookup(d, step.Name); !doc.IsUndefined(v) {
					next = append(next, v)
				}
			}
		}
		values = next
	}
	return values
}

func one(r row, path access.Path) doc.Value {
	if values := valuesAt(r, path); len(values) > 0 {
		return values[0]
	}
	return doc.Value{}
}

// kindOfRank makes one of the two truth values, which are one type to a Bound.
func kindOfRank(v doc.Value) doc.Rank {
	if rank := doc.RankOf(v); rank != doc.RankTrue {
		return rank
	}
	return doc.RankFalse
}

func (ref reference) within(v doc.Value, x *access.Range) bool {
	if b := x.Low; b != nil {
		if b.Type && kindOfRank(v) < kindOfRank(b.Value) {
			return false
		}
		if c := doc.Compare(v, b.Value); !b.Type && (c < 0 || c == 0 && b.Open) {
			return false
		}
	}
	if b := x.High; b != nil {
		if b.Type && kindOfRank(v) > kindOfRank(b.Value) {
			return false
		}
		if c := doc.Compare(v, b.Value); !b.Type && (c > 0 || c == 0 && b.Open) {
			return false
		}
	}
	return true
}

func (ref reference) columns(x *access.Range) []access.Column {
	if x.Composite == 0 {
		return []access.Column{{Path: x.Path}}
	}
	var columns []access.Column
	for _, c := range ref.composite[x.Composite-1] {
		columns = append(columns, access.Column{Path: at(strings.Split(c.Path[1:], "/")...), Descending: c.Descending})
	}
	return columns
}

func (ref reference) inRange(r row, x *access.Range) bool {
	if x.Composite == 0 {
		return slices.ContainsFunc(valuesAt(r, x.Path), func(v doc.Value) bool { return ref.within(v, x) })
	}
	columns := ref.columns(x)
	for i, v := range x.Equal {
		if doc.Compare(v, one(r, columns[i].Path)) != 0 {
			return false
		}
	}
	return len(x.Equal) == len(columns) || ref.within(one(r, columns[len(x.Equal)].Path), x)
}

func (ref reference) inSet(r row, set access.Set) bool {
	member := func(s access.Set) bool { return ref.inSet(r, s) }
	switch set := set.(type) {
	case *access.Range:
		return ref.inRange(r, set)
	case *access.Tested:
		if v := one(r, set.Range.Path); v.Type == bsoncore.TypeString {
			passes, _ := set.Test(v)
			return passes
		}
		return false
	case access.Union:
		return slices.ContainsFunc(set, member)
	case access.Intersection:
		return !slices.ContainsFunc(set, func(s access.Set) bool { return !member(s) })
	}
	return true
}

// inScope reports whether a document is in the part of the container that an access is limited to.
func (ref reference) inScope(st *catalog.State, r row, a access.Access) bool {
	var partition []doc.Value
	for _, path := range st.PartitionPaths() {
		partition = append(partition, path.Lookup(r.Body))
	}
	switch scope := access.ScopeOf(a.Of).(type) {
	case access.Partition:
		for i, v := range scope {
			if doc.Compare(v, partition[i]) != 0 {
				return false
			}
		}
	case *access.Span:
		epk := store.EffectivePartitionKey(st, partition)
		if bytes.Compare(epk, scope.Low) < 0 || len(scope.High) > 0 && bytes.Compare(epk, scope.High) >= 0 {
			return false
		}
	}
	return true
}

// selects reports whether an access selects a document.
func (ref reference) selects(st *catalog.State, r row, a access.Access) bool {
	if !ref.inScope(st, r, a) {
		return false
	}
	switch of := a.Of.(type) {
	case *access.Lookup:
		return slices.Contains(of.IDs, r.id)
	case *access.Filter:
		return ref.inSet(r, of.Set)
	case *access.Walk:
		return ref.inSet(r, of.Set) &&
			(ref.inRange(r, &of.Range) || of.Absent && doc.IsUndefined(one(r, of.Range.Path)))
	}
	return true
}

// A place is where a document comes in an order.
type place struct {
	values []doc.Value
	number uint64
}

func (ref reference) placeOf(r row, w *access.Walk) place {
	if w == nil {
		return place{number: r.Number}
	}
	p := place{number: r.Number}
	for _, c := range ref.columns(&w.Range) {
		p.values = append(p.values, one(r, c.Path))
	}
	if len(w.Range.Path) == 1 && w.Range.Path[0].Name == "_ts" {
		p.number = r.Sequence
	}
	return p
}

func (ref reference) compare(a, b place, w *access.Walk) int {
	order := 0
	if w != nil {
		for i, c := range ref.columns(&w.Range) {
			if order = access.Compare(a.values[i], b.values[i]); order != 0 {
				if c.Descending {
					order = -order
				}
				break
			}
		}
	}
	if order == 0 {
		order = cmp.Compare(a.number, b.number)
	}
	if w != nil && w.Reverse {
		order = -order
	}
	return order
}

// expect gives what a scan and the filter beside it must give, in order.
func (ref reference) expect(w *world, a access.Access) []row {
	w.t.Helper()
	var list []row
	st, walk := w.c.State(), walkIn(a)
	for _, r := range w.rows(access.Access{}, -1) {
		if !ref.selects(st, r, a) {
			continue
		}
		if a.After != nil {
			var after place
			var ok bool
			if walk == nil {
				after.number, ok = a.After.Number()
			} else {
				after.values, after.number, ok = a.After.Values()
			}
			if !ok {
				w.t.Fatalf("position %x", a.After)
			}
			if ref.compare(ref.placeOf(r, walk), after, walk) <= 0 {
				continue
			}
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(x, y row) int {
		return ref.compare(ref.placeOf(x, walk), ref.placeOf(y, walk), walk)
	})
	return list
}

// check compares a page of a scan, filtered as a language does, with the reference, and
// gives it back.
func (ref reference) check(w *world, a access.Access, limit int, what string) []row {
	w.t.Helper()
	var got []row
	st, walk := w.c.State(), walkIn(a)
	var last *place
	for d, err := range w.store.Scan(context.Background(), w.view(), a) {
		if err == access.ErrLong && a.First > 0 {
			a.First = 0
			return ref.check(w, a, limit, what)
		}
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		d.Body, d.Position = bytes.Clone(d.Body), bytes.Clone(d.Position)
		r := row{d, strings.Clone(id)}
		here := ref.placeOf(r, walk)
		if last != nil && ref.compare(*last, here, walk) >= 0 {
			w.t.Fatalf("%s: %s comes out of order", what, id)
		}
		last = &here
		if !ref.inScope(st, r, a) {
			w.t.Fatalf("%s: %s is of another part of the container", what, id)
		}
		if !ref.selects(st, r, a) {
			continue
		}
		if got = append(got, r); len(got) == limit {
			break
		}
	}
	want := ref.expect(w, a)
	if limit > 0 && len(want) > limit {
		want = want[:limit]
	}
	if idsOfRows(got) != idsOfRows(want) {
		w.t.Fatalf("%s: %q, want %q", what, idsOfRows(got), idsOfRows(want))
	}
	return got
}

// checkUnordered compares a walk in any order with the same walk in order. Either may visit documents that are not in
// its Set, and not the same ones each time.
func (ref reference) checkUnordered(w *world, a access.Access, what string) {
	w.t.Helper()
	if walkIn(a) == nil {
		return
	}
	ids := func(a access.Access) string {
		list := slices.DeleteFunc(w.rows(a, -1), func(r row) bool { return !ref.selects(w.c.State(), r, a) })
		slices.SortFunc(list, func(x, y row) int { return cmp.Compare(x.Number, y.Number) })
		return idsOfRows(list)
	}
	want := ids(a)
	a.Unordered = true
	if got := ids(a); got != want {
		w.t.Fatalf("%s: in any order %q, in order %q", what, got, want)
	}
}

// count compares a count with the reference.
func (ref reference) count(w *world, a access.Access, must bool, what string) {
	w.t.Helper()
	n, ok, err := w.store.Count(context.Background(), w.view(), a)
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	if want := len(ref.expect(w, a)); ok && n != uint64(want) || must && !ok {
		w.t.Fatalf("%s: counted %d, %v, want %d", what, n, ok, want)
	}
}

// accessDefinition has a hierarchical partition key and composite indexes, one of which
// ends with a system member.
func accessDefinition(ttl expiry.TTL) catalog.Definition {
	def := definition(ttl)
	def.Partition = catalog.PartitionKey{Paths: []string{"/pk", "/sub"}, Version: 2, Multi: true}
	def.Indexing.Composite = [][]catalog.CompositePath{
		{{Path: "/a"}, {Path: "/b", Descending: true}},
		{{Path: "/n/x", Descending: true}, {Path: "/a", Descending: true}, {Path: "/b"}},
		{{Path: "/pk"}, {Path: "/sub", Descending: true}, {Path: "/a"}},
	}
	return def
}

// A wanderer writes, expires, reclaims and changes policies, and in between holds
// random selections against the reference.
type wanderer struct {
	*world
	ref     reference
	rng     *rand.Rand
	next    int
	lasting bool // nothing expires, so that tables come from entries
}

var long = strings.Repeat("x", access.MaxSortBytes-1)

// values are JSON texts; "" leaves the member away.
var domain = []string{"", "", "null", "true", "false", "0", "1", "1.5", "2", "-3", "9007199254740993",
	"9007199254740992", `""`, `"a"`, `"b"`, `"b\u0000"`,
	`"` + long + `"`, `"` + long + `y"`, `"` + long + `yz"`, `"` + long + `yy"`, `[]`, `[1]`, `{}`, `{"x":1}`}

func (p *wanderer) text() string { return domain[p.rng.IntN(len(domain))] }

// small gives one of few values, so that many documents share it.
func (p *wanderer) small() string { return domain[p.rng.IntN(9)] }

func (p *wanderer) op() store.Op {
	id := fmt.Sprint("d", p.rng.IntN(p.next+1))
	if p.rng.IntN(2) == 0 {
		p.next++
		id = fmt.Sprint("d", p.next)
	}
	pk, sub := fmt.Sprint("p", len(id)%2), fmt.Sprint("s", len(id)*7%3+len(id)%2)
	k := store.Key{Partition: []doc.Value{doc.String(pk), doc.String(sub)}, ID: id}
	if p.rng.IntN(8) == 0 {
		return store.Op{Verb: store.Delete, Key: k}
	}
	text := fmt.Sprintf(`{"id":%q,"pk":%q,"sub":%q`, id, pk, sub)
	member := func(name, v string) {
		if v != "" {
			text += fmt.Sprintf(`,%q:%s`, name, v)
		}
	}
	member("a", p.text())
	member("b", p.small())
	if p.rng.IntN(4) > 0 {
		member("n", fmt.Sprintf(`{"x":%s,"y":{"z":%d}}`, cmp.Or(p.text(), "7"), p.rng.IntN(3)))
	}
	if p.rng.IntN(3) > 0 {
		var list []string
		for range p.rng.IntN(4) {
			list = append(list, cmp.Or(p.small(), "4"))
		}
		member("tags", "["+strings.Join(list, ",")+"]")
		member("off", p.small())
	}
	if p.rng.IntN(4) == 0 && !p.lasting {
		member("ttl", fmt.Sprint(1+p.rng.IntN(6)))
	}
	return store.Op{Verb: store.Upsert, Key: k, Body: p.body(text + "}")}
}

func (p *wanderer) disturb() {
	switch n := p.rng.IntN(40); {
	case n < 22:
		_, err := p.write(p.op())
		if kind := kindOf(err); kind != 0 && kind != fault.NotFound {
			p.ok(err)
		}
	case n < 28:
		p.now += expiry.Stamp(p.rng.IntN(3))
	case n < 33:
		_, err := p.store.Reclaim(context.Background(), p.c, p.now, 1+p.rng.IntN(20))
		p.ok(err)
	case n < 37:
		_, err := p.store.Sweep(context.Background(), p.c, 1+p.rng.IntN(60))
		p.ok(err)
	case n < 38:
		if ttl := []expiry.TTL{expiry.Unset, expiry.Never, expiry.Never, 5, 9}[p.rng.IntN(5)]; ttl <= 0 || !p.lasting {
			p.setTTL(ttl)
		}
	case n < 39:
		p.indexing()
	}
}

// indexing leaves a path out or takes it in again; the composite indexes stay.
func (p *wanderer) indexing() {
	excluded := [][]string{nil, {"/off/?"}, {"/off/?", "/tags/*"}}[p.rng.IntN(3)]
	_, err := p.catalog.ReplaceContainer(context.Background(), p.now, p.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.Indexing.Excluded = excluded
			return def, nil
		})
	p.ok(err)
}

var walkPaths = []access.Path{at("a"), at("b"), at("n", "x"), at("n", "y", "z"), at("id"), at("none"), at("_ts")}

func (p *wanderer) path() access.Path {
	paths := append([]access.Path{at("tags"), at("tags", "[]"), at("off")}, walkPaths...)
	return paths[p.rng.IntN(len(paths))]
}

func (p *wanderer) bound(stamp bool) *access.Bound {
	text := p.text()
	if stamp && p.rng.IntN(4) > 0 {
		text = fmt.Sprint(float64(p.now) - float64(p.rng.IntN(30))/2)
	}
	return []*access.Bound{nil, closedAt(text), openAt(text), typed(text)}[p.rng.IntN(4)]
}

func (p *wanderer) span() access.Range {
	x := access.Range{}
	if p.rng.IntN(4) == 0 {
		x.Composite = 1 + p.rng.IntN(len(p.ref.composite))
		for range p.rng.IntN(len(p.ref.composite[x.Composite-1]) + 1) {
			x.Equal = append(x.Equal, value(p.small()))
		}
		if len(x.Equal) == len(p.ref.composite[x.Composite-1]) {
			return x
		}
	} else {
		x.Path = p.path()
	}
	if p.rng.IntN(2) == 0 {
		text := p.small()
		x.Low, x.High = closedAt(text), closedAt(text)
		return x
	}
	stamp := len(x.Path) == 1 && x.Path[0].Name == "_ts"
	x.Low, x.High = p.bound(stamp), p.bound(stamp)
	return x
}

func (p *wanderer) set(depth int) access.Set {
	n := p.rng.IntN(6)
	if depth == 0 || n < 3 {
		if p.rng.IntN(4) == 0 {
			path := [][]string{{"a"}, {"b"}, {"n", "x"}, {"off"}}[p.rng.IntN(4)]
			return passing([]string{"", "x", "y", "yz", "a", "b", "\x00", "none"}[p.rng.IntN(8)], path...)
		}
		x := p.span()
		return &x
	}
	var sets []access.Set
	for range 1 + p.rng.IntN(4) {
		sets = append(sets, p.set(depth-1))
	}
	if n == 3 {
		return access.Union(sets)
	}
	return access.Intersection(sets)
}

func (p *wanderer) selection() (a access.Access) {
	var scope access.Scope
	switch p.rng.IntN(6) {
	case 0:
		scope = access.Partition{doc.String(fmt.Sprint("p", p.rng.IntN(2)))}
	case 1, 2:
		n := p.rng.IntN(4)
		k := fmt.Sprint("d", []int{1, 12, 123, 5}[n])
		partition := access.Partition{doc.String(fmt.Sprint("p", len(k)%2)),
			doc.String(fmt.Sprint("s", len(k)*7%3+len(k)%2))}
		if p.rng.IntN(3) == 0 {
			var ids []string
			for range p.rng.IntN(20) {
				ids = append(ids, fmt.Sprint("d", p.rng.IntN(p.next+3)))
			}
			if ids != nil {
				return in(partition, lookupOf(ids...))
			}
		}
		scope = partition
	case 3:
		scope = &access.Span{Low: []byte{byte(p.rng.IntN(32))}, High: []byte{byte(32 + p.rng.IntN(32))}}
	}
	if p.rng.IntN(2) == 1 {
		return access.Access{Of: &access.Filter{Scope: scope, Set: p.set(3)}}
	}
	w := access.Walk{Scope: scope, Range: p.span(), Reverse: p.rng.IntN(2) == 0}
	if partition, ok := scope.(access.Partition); ok && p.rng.IntN(2) == 0 {
		w.Range = access.Range{Composite: len(p.ref.composite), Equal: partition}
		if len(partition) == 2 {
			w.Range.Low, w.Range.High = p.bound(false), p.bound(false)
		}
	}
	if w.Range.Composite == 0 {
		w.Range.Path = walkPaths[p.rng.IntN(len(walkPaths))]
		if p.rng.IntN(3) > 0 {
			w.Absent, w.Range.Low = true, nil
			if p.rng.IntN(2) == 0 {
				w.Range.High = nil
			}
		}
	}
	if p.rng.IntN(3) == 0 {
		w.Set = p.set(3)
	}
	return along(w)
}

func (p *wanderer) describe(a access.Access) string {
	var show func(set access.Set) string
	bound := func(b *access.Bound) string {
		if b == nil {
			return "nil"
		}
		return fmt.Sprintf("%.40s open=%v type=%v", doc.AppendJSONValue(nil, b.Value), b.Open, b.Type)
	}
	span := func(x access.Range) string {
		return fmt.Sprintf("{%v #%d %v: %s .. %s}", x.Path, x.Composite, x.Equal, bound(x.Low), bound(x.High))
	}
	show = func(set access.Set) string {
		text, sets := "ALL(", []access.Set(nil)
		switch set := set.(type) {
		case nil:
			return ""
		case *access.Range:
			return span(*set)
		case *access.Tested:
			return "TEST" + span(set.Range)
		case access.Union:
			text, sets = "ANY(", set
		case access.Intersection:
			sets = set
		}
		for _, s := range sets {
			text += show(s) + " "
		}
		return text + ")"
	}
	text := fmt.Sprintf("%T %v", a.Of, access.ScopeOf(a.Of))
	switch of := a.Of.(type) {
	case *access.Lookup:
		text += fmt.Sprintf(" ids %q", of.IDs)
	case *access.Filter:
		text += " set " + show(of.Set)
	case *access.Walk:
		text += fmt.Sprintf(" set %s walk %s reverse=%v absent=%v", show(of.Set), span(of.Range), of.Reverse, of.Absent)
	}
	return fmt.Sprintf("%s after %x", text, a.After)
}

// TestScanAgainstReference replays with -seed.
func TestScanAgainstReference(t *testing.T) {
	for range times(*runs) {
		s := *seed
		if s == 0 {
			s = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			if n := []int{0, 1, 3, 8}[s%4]; n > 0 {
				defer store.Frugal(n)()
			}
			wander(t, s)
		})
		if *seed != 0 {
			return
		}
	}
}

func wander(t *testing.T, seed uint64) {
	def := accessDefinition(expiry.Never)
	p := &wanderer{world: newWorld(t, def), rng: rand.New(rand.NewPCG(seed, 1)), lasting: seed&4 == 0}
	p.ref = reference{def.Indexing.Composite}
	for range 60 + p.rng.IntN(120) {
		_, err := p.write(p.op())
		if kind := kindOf(err); kind != 0 && kind != fault.NotFound {
			p.ok(err)
		}
		if p.rng.IntN(4) == 0 {
			p.now++
		}
	}
	for range *steps / 4 {
		a := p.selection()
		quiet := p.rng.IntN(2) == 0
		p.ref.count(p.world, a, false, p.describe(a))
		p.ref.checkUnordered(p.world, a, p.describe(a))
		p.table()
		p.ends()
		p.values()
		limit := 1 + p.rng.IntN(12)
		a.First, a.All = p.rng.IntN(2)*limit, p.rng.IntN(2) == 0
		for pages := 0; ; pages++ {
			page := p.ref.check(p.world, a, limit, p.describe(a))
			if len(page) < limit {
				break
			}
			a.After = page[limit-1].Position
			for range p.rng.IntN(6) {
				if !quiet && pages < 100 { // else short pages may never reach the end of what is written meanwhile
					p.disturb()
				}
			}
		}
		for range p.rng.IntN(4) {
			p.disturb()
		}
	}
	p.consistent()
}
