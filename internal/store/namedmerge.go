package store

import (
	"bytes"
	"container/heap"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A mergedScan is one of several scans of named indexes whose documents come in one order. It stands at an entry. What
// follows the columns that the scan skips is the rank of the entry: ranks of all scans compare.
type mergedScan struct {
	*namedScan
	ordinal int
	skipped int // bytes of an entry before its rank
	it      kv.Iterator
	rank    []byte // valid until the next move
	pages   int64  // of the share, for what the iterator has fetched
	apart   []bool // the scans, by ordinal, that have no document of this one
}

// scanMerged hands out the documents of scans in the order of their ranks. A position is the ordinal of a scan and a
// rank. A document that several scans meet is handed out where its rank comes first.
func (r *reading) scanMerged(scans access.IndexScans) error {
	walks, err := r.newNamedScans(scans)
	if err != nil {
		return err
	}
	list := make([]*mergedScan, len(walks))
	for i, w := range walks {
		if list[i], err = w.merging(i); err != nil {
			return err
		}
	}
	for _, m := range list {
		for _, other := range list {
			m.apart = append(m.apart, m.isApart(other))
		}
	}
	share := budget.Of(r.ctx)
	taken := int64(len(list)) * mergedBytes
	if err := share.Take(r.ctx, taken); err != nil {
		return err
	}
	defer func() {
		for _, m := range list {
			taken += m.pages
		}
		share.Give(taken)
	}()
	standing := mergedScans{reverse: scans[0].Reverse}
	for _, m := range list {
		ok, err := m.begin(share)
		if err != nil {
			return err
		}
		if ok {
			standing.list = append(standing.list, m)
		}
	}
	return r.followMerged(&standing, list, share)
}

// mergedBytes is what the iterator of a scan takes.
const mergedBytes = headBytes / 2

func (r *reading) followMerged(h *mergedScans, all []*mergedScan, share *budget.Share) error {
	heap.Init(h)
	ahead := r.lookAhead(func(at []byte, number uint64) error { return all[at[0]].giveMerged(at, number, all) })
	var at []byte
	for len(h.list) > 0 {
		m := h.list[0]
		if err := r.tick(); err != nil {
			return err
		}
		number, err := m.leads()(m.it)
		if err != nil {
			return corrupt(err, "index entry")
		}
		at = append(append(at[:0], byte(m.ordinal)), m.rank...)
		if err := ahead.see(at, number); err != nil {
			return err
		}
		switch ok, err := m.move(share); {
		case err != nil:
			return err
		case ok:
			heap.Fix(h, 0)
		default:
			heap.Pop(h)
		}
	}
	return ahead.rest()
}

// merging makes a scan one of several.
func (w *namedScan) merging(ordinal int) (*mergedScan, error) {
	if len(w.of.Intervals) != 1 || w.multikey || w.n == nil || w.of.Fixed > len(w.of.Intervals[0].Equal) {
		return nil, fault.New(fault.Internal, "scans that cannot be merged")
	}
	key := bytes.Clone(w.prefix)
	for i, v := range w.of.Intervals[0].Equal[:w.of.Fixed] {
		key, _ = w.append(key, v, i)
	}
	return &mergedScan{namedScan: w, ordinal: ordinal, skipped: len(key)}, nil
}

// isApart reports whether the scans are of the same index, in which a document has one entry, and share none.
func (m *mergedScan) isApart(other *mergedScan) bool {
	a, b := m.intervals[0], other.intervals[0]
	ends := func(a, b interval) bool { return a.upper != nil && bytes.Compare(a.upper, b.lower) <= 0 }
	return m.of.Index == other.of.Index && (ends(a, b) || ends(b, a))
}

// begin moves to the first entry, that behind the position where there is one.
func (m *mergedScan) begin(share *budget.Share) (ok bool, err error) {
	over := m.intervals[0]
	if m.after != nil {
		if len(m.after) < 2 {
			return false, ErrPosition
		}
		over = over.behind(append(bytes.Clone(over.lower[:m.skipped]), m.after[1:]...), m.of.Reverse)
	}
	if over.empty() {
		return false, nil
	}
	if m.it, err = m.keep(m.over(over)); err != nil {
		return false, err
	}
	return m.move(share)
}

// move goes on to the next entry, and takes the memory of what the iterator has fetched for that.
func (m *mergedScan) move(share *budget.Share) (ok bool, err error) {
	for {
		if !move(m.it, m.of.Reverse) {
			return false, m.it.Err()
		}
		passes, _, _, err := m.passes(m.it.Key())
		if err != nil {
			return false, err
		}
		if passes {
			break
		}
		m.stats.Keys++
		if err := m.tick(); err != nil {
			return false, err
		}
	}
	m.rank = m.it.Key()[m.skipped:]
	pages := pageBytes(m.it)
	if pages > m.pages {
		err = share.Take(m.ctx, pages-m.pages)
	} else {
		share.Give(m.pages - pages)
	}
	if err == nil {
		m.pages = pages
	}
	return err == nil, err
}

// giveMerged hands out the document that an entry leads to, unless another scan meets it before. at is a position.
func (m *mergedScan) giveMerged(at []byte, number uint64, all []*mergedScan) error {
	m.stats.Keys++
	h, body, alive, err := m.record(number)
	if err != nil || !alive {
		return err
	}
	for i, other := range all {
		if i == m.ordinal || m.apart[i] {
			continue
		}
		key := other.entry(number, body)
		if key == nil {
			continue
		}
		order := bytes.Compare(key[other.skipped:], at[1:])
		if m.of.Reverse {
			order = -order
		}
		if order < 0 || order == 0 && i < m.ordinal {
			return nil
		}
	}
	m.position = append(m.position[:0], at...)
	return m.give(number, h, body)
}

// mergedScans is a heap, with the scan on top whose entry comes first.
type mergedScans struct {
	list    []*mergedScan
	reverse bool
}

func (x *mergedScans) Len() int { return len(x.list) }

func (x *mergedScans) Less(i, j int) bool {
	order := bytes.Compare(x.list[i].rank, x.list[j].rank)
	if x.reverse {
		order = -order
	}
	return order < 0 || order == 0 && x.list[i].ordinal < x.list[j].ordinal
}

func (x *mergedScans) Swap(i, j int) { x.list[i], x.list[j] = x.list[j], x.list[i] }

func (x *mergedScans) Push(m any) { x.list = append(x.list, m.(*mergedScan)) }

func (x *mergedScans) Pop() any {
	last := x.list[len(x.list)-1]
	x.list = x.list[:len(x.list)-1]
	return last
}
