package pipeline

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Rows sorts documents; equal ones stay in the order of input. With a limit above 0 it yields only the first limit
// documents, and keeps no more than those in memory. It fails with QueryExceededMemoryLimitNoDiskUseAllowed if it would
// need more than MaxMemory.
func (s *Sort) Rows(in Rows, limit int64) Rows { return s.rows(nil, in, limit) }

// rows is Rows within a run, which counts its memory and its work; r may be nil.
func (s *Sort) rows(r *run, in Rows, limit int64) Rows {
	return func(yield func(doc.Doc, error) bool) {
		var sorted []entry
		var err error
		if limit > 0 {
			sorted, err = s.top(r, in, limit)
		} else {
			sorted, err = s.all(r, in)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range sorted {
			if !yield(e.d, nil) {
				return
			}
		}
	}
}

// An entry is a document in memory with its sort keys.
type entry struct {
	d    doc.Doc
	keys []doc.Value
	seq  int
}

const entryBytes = 64 // in addition to the document and its keys, which take 40 bytes each

func (e entry) bytes() int { return len(e.d) + entryBytes + 40*len(e.keys) }

func (s *Sort) compare(m *work.Meter, a, b entry) int {
	if c := s.compareKeys(m, a.keys, b.keys); c != 0 {
		return c
	}
	return cmp.Compare(a.seq, b.seq)
}

func (s *Sort) all(r *run, in Rows) ([]entry, error) {
	held, m := r.budget("$sort"), r.work()
	var docs store
	var entries []entry
	var keys []doc.Value // memory for the keys of the next entries
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		if cap(keys)-len(keys) < len(s.parts) {
			keys = make([]doc.Value, 0, 256*len(s.parts))
		}
		e := entry{d: docs.keep(d), seq: len(entries)}
		start := len(keys)
		if keys, err = s.keys(m, keys, e.d); err != nil {
			return nil, err
		}
		e.keys = keys[start:len(keys):len(keys)]
		if err := held.take(e.bytes()); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return s.compare(m, a, b) })
	return entries, m.Err()
}

// top keeps the first limit documents in a heap, the last of them at its root.
func (s *Sort) top(r *run, in Rows, limit int64) ([]entry, error) {
	held := r.budget("$sort")
	h := topHeap{sort: s, meter: r.work()}
	var keys []doc.Value
	seq := 0
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		seq++
		if int64(len(h.entries)) < limit {
			e := entry{d: slices.Clone(d), seq: seq}
			if e.keys, err = s.keys(h.meter, make([]doc.Value, 0, len(s.parts)), e.d); err != nil {
				return nil, err
			}
			if err := held.take(e.bytes()); err != nil {
				return nil, err
			}
			h.entries = append(h.entries, e) // heap.Push would allocate each entry once more
			heap.Fix(&h, len(h.entries)-1)
			continue
		}
		if keys, err = s.keys(h.meter, keys[:0], d); err != nil {
			return nil, err
		}
		last := &h.entries[0]
		if s.compareKeys(h.meter, keys, last.keys) >= 0 {
			continue
		}
		if err := held.take(len(d) - len(last.d)); err != nil {
			return nil, err
		}
		last.d, last.seq = append(last.d[:0], d...), seq // in the memory of the document that leaves
		if last.keys, err = s.keys(h.meter, last.keys[:0], last.d); err != nil {
			return nil, err
		}
		heap.Fix(&h, 0)
	}
	slices.SortFunc(h.entries, func(a, b entry) int { return s.compare(h.meter, a, b) })
	return h.entries, h.meter.Err()
}

// A topHeap is a heap of entries for package container/heap. Its root is the entry that sorts last.
type topHeap struct {
	sort    *Sort
	meter   *work.Meter
	entries []entry
}

func (h *topHeap) Len() int { return len(h.entries) }

func (h *topHeap) Less(i, j int) bool { return h.sort.compare(h.meter, h.entries[i], h.entries[j]) > 0 }

func (h *topHeap) Swap(i, j int) { h.entries[i], h.entries[j] = h.entries[j], h.entries[i] }

// Push and Pop complete heap.Interface. Nothing calls them: entries come by append, and leave when all are sorted.
func (h *topHeap) Push(e any) { h.entries = append(h.entries, e.(entry)) }

func (h *topHeap) Pop() any {
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries = h.entries[:last]
	return e
}

// A sortStage is $sort. limit is above 0 if the stages behind it need only that many documents.
type sortStage struct {
	sort  *Sort
	limit int64
}

func (s *sortStage) name() string { return "$sort" }

func (s *sortStage) rows(r *run, in Rows) Rows { return s.sort.rows(r, in, s.limit) }

func parseSort(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(15973, "the $sort key specification must be an object")
	}
	s, err := CompileSort(arg.Data)
	if err != nil {
		return nil, err
	}
	return &sortStage{sort: s}, nil
}

// bindLimits sets the limit of each $sort to the number of documents that the stages after it let through.
func bindLimits(stages []stage) {
	for i, s := range stages {
		if s, ok := s.(*sortStage); ok {
			stages[i] = &sortStage{s.sort, limitOf(stages[i+1:])}
		}
	}
}

// limitOf is how many documents $skip and $limit at the start of stages want, 0 for all.
func limitOf(stages []stage) (limit int64) {
	skipped := int64(0)
	for _, s := range stages {
		switch s := s.(type) {
		case *skip:
			skipped = addCapped(skipped, s.n)
		case *limitStage:
			return addCapped(skipped, s.n)
		default:
			return 0
		}
	}
	return 0
}

// addCapped is a+b, or the largest int64 if the sum overflows. Neither is negative.
func addCapped(a, b int64) int64 {
	if a+b < a {
		return 1<<63 - 1
	}
	return a + b
}
