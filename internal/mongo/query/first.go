package query

import (
	"bytes"
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A shortcut is tried if it is expected to read an eighth of what would be sorted, and given up at a quarter. Less than
// leastSorted documents are sorted at once.
const (
	expectedShare = 8
	largestShare  = 4
	leastSorted   = 512
)

// Documents that sort like the last one that is wanted are held, too, up to heldShare times those that are wanted and
// leastHeld.
const (
	heldShare = 4
	leastHeld = 16
)

// firstRows are the first documents of a selection that would have to be sorted. They are held, as the sort would hold
// them, until it is known that all of them were found.
type firstRows struct {
	list   []heldRow
	memory pipeline.Memory
	taken  int64
}

// A heldRow is a document with its number, and where the scans of the plan come to it if another one has an equal key.
type heldRow struct {
	number uint64
	body   doc.Doc
	place  []byte
}

// first finds the documents that are wanted of a selection with a limit, before skip, by the shortcut of its plan. It
// is not ok if there is none, or if these documents are too far from its start.
func (q *Selection) first(o *session.Operation, v catalog.View, p *plan.Plan) (x *firstRows, ok bool, err error) {
	wanted := int(q.wanted())
	if p.Shortcut == nil || o.Transaction != nil || wanted == 0 {
		return nil, false, nil
	}
	documents, ok, err := o.Node.Store.Count(o.Context, v, access.Access{})
	if !ok || err != nil {
		return nil, false, err
	}
	// If so many are sorted, and lie evenly in the order, those that are wanted are among the first of that share.
	enough := max(leastSorted, int(math.Sqrt(float64(wanted)*float64(documents)*expectedShare)))
	scans, n := p.Scans(), 0
	if len(scans) == 0 {
		n = int(documents)
	}
	for i := 0; i < len(scans) && n < enough; i++ {
		more, err := o.Node.Store.CountEntries(o.Context, v, &scans[i], enough-n)
		if n += more; err != nil {
			return nil, false, err
		}
	}
	if n < enough {
		return nil, false, nil
	}
	place, err := o.Node.Store.Places(v, scans)
	if err != nil {
		return nil, false, err
	}
	x = &firstRows{memory: q.memoryOf(o)}
	if ok, err = x.find(o, q, v, p.Shortcut, wanted, enough/largestShare, place); !ok {
		x.memory.Give(x.taken)
		return nil, false, err
	}
	return x, true, nil
}

// find walks over so many documents at most, and reports whether as many as are wanted, or all, are selected.
func (x *firstRows) find(
	o *session.Operation, q *Selection, v catalog.View, p *plan.Plan, wanted, most int,
	place func(number uint64, body doc.Doc) []byte,
) (ok bool, err error) {
	s, a, by := q.Scope(o), p.Access, q.Sort.First(p.SortedBy)
	if o.Trace.On {
		a.Stats = &o.Trace.Stats
	}
	for d, err := range o.Scan(v, a) {
		if err != nil {
			return false, err
		}
		// Those that sort like the last one that is wanted are found, too, as they may come before it.
		if len(x.list) >= wanted && by.Compare(x.list[wanted-1].body, d.Body) != 0 {
			break
		}
		if most--; most < 0 {
			return false, nil
		}
		if err := o.Pass(len(d.Body)); err != nil {
			return false, err
		}
		match, err := q.Matches(d.Body, s)
		if err != nil {
			return false, err
		}
		if !match {
			continue
		}
		// An entry may have only a part of a long value, so an index does not tell their order. A sort refuses a
		// document with two arrays that are parallel.
		if !q.Sort.IsPlain(d.Body, plan.MaxExact) {
			return false, nil
		}
		if err := x.memory.Take(int64(len(d.Body))); err != nil {
			return false, nil // a sort does not hold more than are wanted
		}
		x.taken += int64(len(d.Body))
		if x.taken > pipeline.MaxMemory || len(x.list) > heldShare*(wanted+leastHeld) {
			return false, nil
		}
		x.list = append(x.list, heldRow{number: d.Number, body: bytes.Clone(d.Body)})
	}
	if by != q.Sort {
		slices.SortStableFunc(x.list, func(a, b heldRow) int { return q.Sort.Compare(a.body, b.body) })
	}
	x.order(q.Sort, place)
	x.list = x.list[:min(wanted, len(x.list))]
	o.TracePlan(p, &a)
	o.Node.Used(v.Container, p)
	return true, nil
}

// order puts documents of equal keys in the order of their places, in which a sort finds and keeps them. Otherwise
// pages by skip and limit, of which later ones are sorted, would not fit together.
func (x *firstRows) order(by *pipeline.Sort, place func(number uint64, body doc.Doc) []byte) {
	for from := 0; from < len(x.list); {
		to := from + 1
		for to < len(x.list) && by.Compare(x.list[from].body, x.list[to].body) == 0 {
			to++
		}
		if equal := x.list[from:to]; len(equal) > 1 {
			for i := range equal {
				equal[i].place = place(equal[i].number, equal[i].body)
			}
			slices.SortFunc(equal, func(a, b heldRow) int { return bytes.Compare(a.place, b.place) })
		}
		from = to
	}
}

// rows gives the documents, and then the memory back.
func (x *firstRows) rows(yield func(doc.Doc, error) bool) {
	defer func() { x.memory.Give(x.taken) }()
	for i := range x.list {
		if !yield(x.list[i].body, nil) {
			return
		}
	}
}
