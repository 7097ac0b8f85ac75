package store

import (
	"bytes"
	"cmp"
	"container/heap"
	"iter"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A reading works in one range at a time: its lists, entries and records are those of reading.rng. This file is what
// makes readings of a container of them: each visits the ranges one after the other, merged puts what they hand out in
// one order. Neither touches a range that the selection has no document in.
//
// A document keeps its number when its range is split, so the numbers of ranges that were split from one are mixed. In
// the order of numbers, such ranges are merged, too.

// touch finds the ranges that the selection has documents in, in the order of its walk.
func (r *reading) touch() {
	r.rng = r.v.Container.KeysOf(0)
	r.ranges = r.layout.Ranges()
	if span, ok := r.scope.(*access.Span); ok {
		r.ranges = r.layout.RangesIn(span.Low, span.High)
	}
	switch _, byPartition := r.of.(access.Scope); {
	case len(r.partition) > 0: // whole, or a prefix, which no range ends within
		r.ranges = r.layout.RangesOfForm(r.partition)
	case !byPartition:
		r.ranges = byNumber(r.ranges)
	case r.after != nil:
		ahead := func(x catalog.Range) bool { return bytes.Compare(x.High, r.after) > 0 }
		r.ranges = r.ranges[max(0, slices.IndexFunc(r.ranges, ahead)):]
	}
	if len(r.ranges) > 0 {
		r.rng = r.v.Container.KeysOf(r.ranges[0].Number)
	}
}

// byNumber gives ranges in the order of their numbers. Until a range is split, that is the order of their keys, and of
// the numbers of their documents.
func byNumber(ranges []catalog.Range) []catalog.Range {
	order := func(a, b catalog.Range) int { return cmp.Compare(a.Number, b.Number) }
	if slices.IsSortedFunc(ranges, order) {
		return ranges
	}
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, order)
	return ranges
}

// each does something in one range after the other, with the iterators of one range open at a time.
func (r *reading) each(do func() error) error {
	for i := range r.ranges {
		if i > 0 {
			r.leave()
		}
		r.rng = r.v.Container.KeysOf(r.ranges[i].Number)
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// leave closes what is open of a range.
func (r *reading) leave() {
	for _, it := range r.open {
		it.Close()
	}
	r.open, r.records, r.shared, r.here, r.based = r.open[:0], nil, nil, false, false
	r.ahead.drop()
}

// in is a reading of one range with the snapshot of r, which stays open until r is closed.
func (r *reading) in(x catalog.Range) *reading {
	one := *r
	one.rng, one.ranges, one.borrowed = r.v.Container.KeysOf(x.Number), []catalog.Range{x}, true
	one.open, one.records, one.shared, one.walked, one.here, one.key = nil, nil, nil, nil, false, nil
	one.position, one.rank, one.ahead = nil, nil, newFetcher(r.snapshot)
	return &one
}

// merged hands out the documents of all ranges in the order of a walk. In each range, scanOrdered hands them out in the
// order of their ranks, which it sets; ranks of all ranges compare.
func (r *reading) merged(of *access.Walk) error {
	if len(r.ranges) == 1 {
		return r.scanOrdered(of)
	}
	heads := heads{reverse: of.Reverse}
	for _, x := range r.ranges {
		heads.list = append(heads.list, &head{
			reading: r.in(x), walk: func(r *reading) error { return r.scanOrdered(of) },
		})
	}
	return r.drain(&heads)
}

// inNumbers hands out the documents of all ranges in the order of their numbers. A range that was split from others has
// documents that were created in those, and so lower numbers than its own. Such ranges are merged like the walks of
// merged. The walk of a range begins when all documents before its first number have been handed out.
func (r *reading) inNumbers() error {
	if !slices.ContainsFunc(r.ranges, func(x catalog.Range) bool { return len(x.Parents) > 0 }) {
		return r.each(r.inNumbersOfRange)
	}
	heads := heads{}
	for _, x := range r.ranges {
		h := &head{reading: r.in(x), walk: (*reading).inNumbersOfRange}
		h.rank = keys.AppendNumber(nil, keys.NumberOf(x.First(), 0))
		heads.list = append(heads.list, h)
	}
	return r.drain(&heads)
}

// drain hands out the documents of heads in the order of their ranks. Heads without a rank begin at once. A head has up
// to two iterators open, one over entries and one over records, and the document at which it stands. The memory for
// that comes from the share of the context.
func (r *reading) drain(heads *heads) error {
	share, taken := budget.Of(r.ctx), int64(len(heads.list))*headBytes
	if err := share.Take(r.ctx, taken); err != nil {
		return err
	}
	defer share.Give(taken)
	for _, h := range heads.list {
		h.share = share
	}
	defer func() {
		for _, h := range heads.list {
			h.end()
		}
	}()
	heap.Init(heads)
	for len(heads.list) > 0 {
		h := heads.list[0]
		if h.begun && !r.yield(h.at, nil) {
			return errStopped
		}
		if h.move() {
			heap.Fix(heads, 0)
			continue
		}
		heap.Pop(heads)
		if h.end(); h.err != nil {
			return h.err
		}
	}
	return nil
}

// headBytes is what a head takes: two iterators of the engine and a stack, see BenchmarkMergedWalk.
const headBytes = 42 << 10

// A head is the walk of one range, at a document.
type head struct {
	*reading
	walk  func(*reading) error
	begun bool
	at    access.Document
	next  func() (access.Document, bool)
	stop  func()
	err   error

	share *budget.Share
	pages int64 // of share, for what its iterators have fetched
}

// documents is the walk as a sequence.
func (h *head) documents() iter.Seq[access.Document] {
	return func(yield func(access.Document) bool) {
		defer h.close()
		h.yield = func(d access.Document, _ error) bool { return yield(d) }
		if err := h.walk(h.reading); err != errStopped {
			h.err = err
		}
	}
}

// move goes on to the next document, at first to the first one, and reports whether there is one. If not, err says
// whether it has failed.
func (h *head) move() (ok bool) {
	if !h.begun {
		h.next, h.stop = iter.Pull(h.documents())
		h.begun = true
	}
	if h.at, ok = h.next(); ok {
		h.err = h.holdPages()
	}
	return ok && h.err == nil
}

// holdPages takes the memory of what the iterators and the lookahead have fetched, where an engine on other machines
// does that, and gives back that of what they had before.
func (h *head) holdPages() error {
	pages := pageBytes(h.walked) + h.ahead.bytes
	for _, it := range h.open {
		pages += pageBytes(it)
	}
	if pages > h.pages {
		if err := h.share.Take(h.ctx, pages-h.pages); err != nil {
			return err
		}
	} else {
		h.share.Give(h.pages - pages)
	}
	h.pages = pages
	return nil
}

// pageBytes is what an iterator keeps in memory of what it has fetched.
func pageBytes(it kv.Iterator) int64 {
	if p, ok := it.(kv.Pager); ok {
		return int64(p.PageBytes())
	}
	return 0
}

// end ends the walk, if it has begun.
func (h *head) end() {
	if h.begun {
		h.stop()
		h.share.Give(h.pages)
		h.pages = 0
	}
}

// heads is a heap, with the head that comes first on top.
type heads struct {
	list    []*head
	reverse bool
}

func (x *heads) Len() int { return len(x.list) }

func (x *heads) Less(i, j int) bool {
	a, b := x.list[i], x.list[j]
	if len(a.rank) == 0 || len(b.rank) == 0 { // one of them has not begun: it has no rank until it does
		return len(a.rank) == 0 && len(b.rank) > 0
	}
	order := bytes.Compare(a.rank, b.rank)
	if x.reverse {
		return order > 0
	}
	return order < 0
}

func (x *heads) Swap(i, j int) { x.list[i], x.list[j] = x.list[j], x.list[i] }

func (x *heads) Push(h any) { x.list = append(x.list, h.(*head)) }

func (x *heads) Pop() any {
	last := x.list[len(x.list)-1]
	x.list[len(x.list)-1] = nil
	x.list = x.list[:len(x.list)-1]
	return last
}
