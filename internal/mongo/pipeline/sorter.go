package pipeline

import (
	"cmp"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Rows sorts documents; equal ones stay in the order in which they came. With a limit
// above 0 it gives the first of them only, and holds no more than those. It fails with
// QueryExceededMemoryLimitNoDiskUseAllowed when what it holds is beyond MaxMemory.
func (s *Sort) Rows(in Rows, limit int64) Rows { return s.rows(nil, in, limit) }

// rows is Rows in a run, nil for none, whose time may be up and whose memory is counted.
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

// An entry is a document that waits for its turn.
type entry struct {
	d    doc.Doc
	keys []doc.Value
	seq  int
}

const entryBytes = 64 // beside the document and its keys, of 40 bytes each

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
	var keys []doc.Value // room for the keys of coming entries
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

// top keeps a heap of the limit first documents, the last of them on top.
func (s *Sort) top(r *run, in Rows, limit int64) ([]entry, error) {
	held, m := r.budget("$sort"), r.work()
	var heap []entry
	var keys []doc.Value
	seq := 0
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		seq++
		if int64(len(heap)) < limit {
			e := entry{d: slices.Clone(d), seq: seq}
			if e.keys, err = s.keys(m, make([]doc.Value, 0, len(s.parts)), e.d); err != nil {
				return nil, err
			}
			if err := held.take(e.bytes()); err != nil {
				return nil, err
			}
			heap = append(heap, e)
			s.up(m, heap)
			continue
		}
		if keys, err = s.keys(m, keys[:0], d); err != nil {
			return nil, err
		}
		if s.compareKeys(m, keys, heap[0].keys) >= 0 {
			continue
		}
		if err := held.take(len(d) - len(heap[0].d)); err != nil {
			return nil, err
		}
		if err := s.replaceTop(m, heap, d, seq); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(heap, func(a, b entry) int { return s.compare(m, a, b) })
	return heap, m.Err()
}

// replaceTop puts d in the place of the last of the heap, in its memory.
func (s *Sort) replaceTop(m *work.Meter, heap []entry, d doc.Doc, seq int) (err error) {
	e := &heap[0]
	e.d, e.seq = append(e.d[:0], d...), seq
	if e.keys, err = s.keys(m, e.keys[:0], e.d); err != nil {
		return err
	}
	for i := 0; ; {
		last := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(heap); c++ {
			if s.compare(m, heap[c], heap[last]) > 0 {
				last = c
			}
		}
		if last == i {
			return nil
		}
		heap[i], heap[last] = heap[last], heap[i]
		i = last
	}
}

func (s *Sort) up(m *work.Meter, heap []entry) {
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if s.compare(m, heap[i], heap[parent]) <= 0 {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

// A sortStage is $sort. Limit is above 0 when only so many are asked for.
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

// bindLimits tells each $sort how many documents the stages after it let through.
func bindLimits(stages []stage) []stage {
	for i, s := range stages {
		sort, ok := s.(*sortStage)
		if !ok {
			continue
		}
		skipped, limit := int64(0), int64(0)
		for _, next := range stages[i+1:] {
			if n, ok := next.(*skip); ok {
				skipped = addCapped(skipped, n.n)
				continue
			}
			if n, ok := next.(*limitStage); ok {
				limit = addCapped(skipped, n.n)
			}
			break
		}
		sort.limit = limit
	}
	return stages
}

// addCapped is a+b, or the largest number when that is beyond it. Neither is negative.
func addCapped(a, b int64) int64 {
	if a+b < a {
		return 1<<63 - 1
	}
	return a + b
}
