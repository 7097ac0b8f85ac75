package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestRangesAnswerAlike does the same to containers of different numbers of ranges, and asks them the same: they hand
// out the same documents, in orders that agree where the order is that of values, page by page as well, and count them
// alike.
func TestRangesAnswerAlike(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d", s)
	worlds := []*world{}
	for _, n := range []int{1, 4, 7} {
		def := definition(1000)
		def.Partitions = n
		def.Indexing.Composite = [][]catalog.CompositePath{{{Path: "/a"}, {Path: "/b", Descending: true}}}
		worlds = append(worlds, newWorld(t, def))
	}
	rounds := times(6)
	for round := range rounds {
		for _, w := range worlds {
			churn(w, rand.New(rand.NewPCG(s, uint64(round))))
		}
		for name, of := range rangeSelections(worlds[1]) {
			want := worlds[0].listOf(of)
			for _, w := range worlds[1:] {
				got := w.listOf(of)
				if diff := differ(want, got); diff != "" {
					t.Errorf("round %d, %s over %d ranges: %s", round, name, len(w.ranges()), diff)
				}
				w.pagesLike(name, of, got)
			}
			for _, w := range worlds {
				n, ok, err := w.store.Count(context.Background(), w.view(), access.Access{Of: of})
				w.ok(err)
				if ok && n != uint64(len(want)) {
					t.Errorf("round %d, %s over %d ranges: counts %d, has %d",
						round, name, len(w.ranges()), n, len(want))
				}
			}
		}
		for _, w := range worlds {
			w.consistent()
			if round == rounds/2 {
				w.reopen()
			}
		}
		if t.Failed() {
			return
		}
	}
}

// churn writes, deletes and lets documents expire, many of which share values.
func churn(w *world, rng *rand.Rand) {
	values := []string{"", "1", "2", "3", "2.5", `"x"`, `"y"`, "true", "null", `[1,2]`, `{"q":1}`}
	for range 150 {
		pk, id := fmt.Sprint("p", rng.IntN(40)), fmt.Sprint("d", rng.IntN(6))
		op := store.Op{Verb: store.Delete, Key: key(pk, id)}
		members := ""
		for _, name := range []string{"a", "b"} {
			if v := values[rng.IntN(len(values))]; v != "" {
				members += fmt.Sprintf(`,%q:%s`, name, v)
			}
		}
		if rng.IntN(5) == 0 {
			members += fmt.Sprintf(`,"ttl":%d`, 1+rng.IntN(6))
		}
		if rng.IntN(6) > 0 {
			op = w.put(store.Upsert, pk, id, strings.TrimPrefix(members, ","))
		}
		if _, err := w.write(op); err != nil && !strings.Contains(err.Error(), "not exist") {
			w.ok(err)
		}
		w.now += int64(rng.IntN(8) / 7)
	}
	if rng.IntN(2) == 0 {
		for more := true; more; {
			done, err := w.store.Reclaim(context.Background(), w.c, w.now, 20)
			w.ok(err)
			more = done.More
		}
	}
}

// rangeSelections is one of each kind. Spans are cut at bounds of the ranges of w and beside them.
func rangeSelections(w *world) map[string]access.Selection {
	one := doc.Int(1)
	equal := &access.Bound{Value: one}
	a, b := access.Path{{Name: "a"}}, access.Path{{Name: "b"}}
	ts := access.Range{Path: access.Path{{Name: "_ts"}}}
	bounds := w.c.State().Ranges()
	inner := &access.Span{Low: bounds[1].Low, High: bounds[2].High}
	list := map[string]access.Selection{
		"all":       nil,
		"partition": access.Partition{doc.String("p7")},
		"ids": &access.Lookup{
			Partition: access.Partition{doc.String("p7")}, IDs: []string{"d1", "d2", "no"},
		},
		"span of ranges":   inner,
		"span within":      &access.Span{Low: []byte{0x11}, High: []byte{0x19}},
		"span over bounds": &access.Span{Low: []byte{0x08}, High: []byte{0x2A}},
		"open span":        &access.Span{},
		"empty span":       &access.Span{Low: []byte{0x30}, High: []byte{0x10}},
		"equal":            filtered(&access.Range{Path: a, Low: equal, High: equal}),
		"above":            filtered(&access.Range{Path: b, Low: &access.Bound{Value: one, Open: true}}),
		"composite":        filtered(&access.Range{Composite: 1, Equal: []doc.Value{one}}),
		"either": filtered(access.Union{
			&access.Range{Path: a, Low: equal, High: equal},
			&access.Range{Path: b, High: &access.Bound{Value: one}},
		}),
		"above in a span": &access.Filter{Scope: inner, Set: &access.Range{Path: a, Low: &access.Bound{Value: one}}},
		"since":           filtered(&access.Range{Path: ts.Path, Low: &access.Bound{Value: doc.Int(w.now - 20)}}),
	}
	for _, reverse := range []bool{false, true} {
		for _, scope := range []access.Scope{nil, inner, access.Partition{doc.String("p7")}} {
			walk := func(name string, of access.Walk) {
				of.Reverse, of.Scope = reverse, scope
				list[fmt.Sprintf("walk of %s, reverse %v, scope %T", name, reverse, scope)] = &of
			}
			walk("a path", access.Walk{Range: access.Range{Path: a}})
			walk("a path and absent", access.Walk{Range: access.Range{Path: a}, Absent: true})
			walk("a part of a path", access.Walk{Range: access.Range{Path: b, Low: &access.Bound{Value: one}}})
			walk("a composite index", access.Walk{Range: access.Range{Composite: 1}})
			walk("stamps", access.Walk{Range: ts})
			walk("stamps of a set", access.Walk{
				Range: ts, Set: &access.Range{Path: a, Low: &access.Bound{Value: one}},
			})
			walk("a path of a set", access.Walk{
				Range: access.Range{Path: b}, Set: &access.Range{Path: a, Low: &access.Bound{Value: one}},
			})
		}
	}
	return list
}

func filtered(set access.Set) access.Selection { return &access.Filter{Set: set} }

// A listed is a document as a selection hands it out.
type listed struct {
	name     string // partition and id
	by       string // what the walk orders by
	number   uint64
	position access.Position
}

func (w *world) listOf(of access.Selection) (list []listed) {
	w.t.Helper()
	return w.listAfter(of, nil, -1)
}

func (w *world) listAfter(of access.Selection, after access.Position, most int) (list []listed) {
	w.t.Helper()
	order := sortedBy(of)
	for d, err := range w.store.Scan(context.Background(), w.view(), access.Access{Of: of, After: after}) {
		w.ok(err)
		if !selectedBy(of, d.Body) {
			continue
		}
		pk, _ := doc.AsString(doc.Lookup(d.Body, "pk"))
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		list = append(list, listed{pk + "/" + id, order(&d), d.Number, slices.Clone(d.Position)})
		if len(list) == most {
			return list
		}
	}
	return list
}

// selectedBy does what a language does: a set may hand out too many documents.
func selectedBy(of access.Selection, body doc.Doc) bool {
	var set access.Set
	switch of := of.(type) {
	case *access.Filter:
		set = of.Set
	case *access.Walk:
		set = of.Set
	}
	return set == nil || inSet(set, body)
}

func inSet(set access.Set, body doc.Doc) bool {
	switch set := set.(type) {
	case access.Union:
		return slices.ContainsFunc(set, func(x access.Set) bool { return inSet(x, body) })
	case *access.Range:
		if set.Composite > 0 {
			return doc.Compare(doc.Lookup(body, "a"), set.Equal[0]) == 0
		}
		if set.Path[0].Name == "_ts" {
			return true // decided by the feed
		}
		v := doc.Lookup(body, set.Path[0].Name)
		if doc.IsUndefined(v) {
			return false
		}
		if b := set.Low; b != nil && (doc.Compare(v, b.Value) < 0 || b.Open && doc.Compare(v, b.Value) == 0) {
			return false
		}
		if b := set.High; b != nil && doc.Compare(v, b.Value) > 0 {
			return false
		}
	}
	return true
}

// sortedBy is what orders the documents of a selection, the same for all where only numbers do.
func sortedBy(of access.Selection) func(*access.Document) string {
	walk, ok := of.(*access.Walk)
	if !ok {
		return func(*access.Document) string { return "" }
	}
	return func(d *access.Document) string {
		switch {
		case walk.Range.Composite > 0:
			key := keys.AppendValue(nil, doc.Lookup(d.Body, "a"), false)
			return string(keys.AppendValue(key, doc.Lookup(d.Body, "b"), true))
		case walk.Range.Path[0].Name == "_ts":
			return fmt.Sprint(d.Stamp)
		}
		return string(keys.AppendValue(nil, doc.Lookup(d.Body, walk.Range.Path[0].Name), false))
	}
}

// differ compares two lists: the orders must agree up to documents that are equal in it.
func differ(want, got []listed) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d documents, want %d", len(got), len(want))
	}
	for from := 0; from < len(want); {
		to := from
		for to < len(want) && want[to].by == want[from].by {
			to++
		}
		names := func(list []listed) string {
			var all []string
			for _, x := range list {
				all = append(all, x.name)
			}
			slices.Sort(all)
			return strings.Join(all, " ")
		}
		if w, g := names(want[from:to]), names(got[from:to]); w != g {
			return fmt.Sprintf("at %d: %s, want %s", from, g, w)
		}
		from = to
	}
	return ""
}

// pagesLike resumes behind each document, and checks that equal ones are in order of their numbers.
func (w *world) pagesLike(name string, of access.Selection, whole []listed) {
	w.t.Helper()
	walk, reverse := of.(*access.Walk)
	reverse = reverse && walk.Reverse
	_, byPartition := of.(access.Scope)
	for i, at := range whole {
		next := w.listAfter(of, at.position, 1)
		switch {
		case i == len(whole)-1 && len(next) > 0:
			w.t.Errorf("%s: behind the last comes %s", name, next[0].name)
		case i < len(whole)-1 && (len(next) == 0 || next[0].name != whole[i+1].name):
			w.t.Errorf("%s: behind %d comes %v, want %s", name, i, next, whole[i+1].name)
		}
		if byPartition || i == 0 || whole[i-1].by != at.by || walk != nil && len(walk.Range.Path) > 0 &&
			walk.Range.Path[0].Name == "_ts" {
			continue
		}
		if (whole[i-1].number < at.number) == reverse {
			w.t.Errorf("%s: number %d comes before %d", name, whole[i-1].number, at.number)
		}
		if w.t.Failed() {
			return
		}
	}
}

// TestRestoredRangesGoOnAboveWhatWasGivenOut goes back to an earlier state, as the restoration of a backup does: no
// range gives out a number or a sequence again.
func TestRestoredRangesGoOnAboveWhatWasGivenOut(t *testing.T) {
	withRanges(t, func(t *testing.T, ranges int) {
		def := definition(1000)
		def.Partitions = ranges
		w := newWorld(t, def)
		newest := map[uint16]store.Result{}
		for i := range 60 {
			r, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "a", ""))
			w.ok(err)
			newest[keys.RangeOfNumber(r.Number)] = r
		}
		if len(newest) != ranges {
			t.Fatalf("documents are in %d of %d ranges", len(newest), ranges)
		}
		w.ok(w.catalog.Skip(context.Background()))
		for i := range 60 {
			r, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "b", ""))
			w.ok(err)
			number := keys.RangeOfNumber(r.Number)
			if number != w.rangeOf(fmt.Sprint("p", i)) {
				t.Fatalf("document %d is in range %d", r.Number, number)
			}
			// So far beyond that what was given out between the backup and its restoration lies in between.
			if was := newest[number]; r.Number < was.Number+1<<20 || r.Sequence < was.Sequence+1<<20 {
				t.Errorf("number %d and sequence %d follow %d and %d", r.Number, r.Sequence, was.Number, was.Sequence)
			}
			newest[number] = store.Result{} // the later ones follow this one
		}
		w.consistent()
		w.reopen()
		w.consistent()
		if got := len(strings.Fields(w.scan(access.Access{}))); got != 120 {
			t.Errorf("%d documents", got)
		}
	})
}
