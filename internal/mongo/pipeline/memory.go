package pipeline

import (
	"context"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// maxTogether is how many bytes all stages of one run may hold at the same time, sub-pipelines included. One stage's
// limit does not suffice, because the branches of a $facet fill up in parallel.
const maxTogether = 4 * MaxMemory

// A Memory grants memory to stages before they use it. It counts what many runs hold together, whose cursors may stay
// open for a long time. One goroutine uses it at a time.
type Memory interface {
	// Take grants n more bytes. It may block; its error ends the run.
	Take(n int64) error
	Give(n int64)
}

// A memoryUse is what the stages of a run hold now, in bytes.
type memoryUse struct{ used int }

// A budget counts the bytes that a stage holds.
type budget struct {
	stage string
	used  int
	run   *run // nil for a sort outside of a pipeline
}

// budget returns the budget of a stage. What it counts is released when the stage ends.
func (r *run) budget(stage string) budget { return budget{stage: stage, run: r} }

// holds counts n bytes for the stage of this run.
func (r *run) holds(n int) error {
	if r == nil {
		return nil
	}
	if m := r.env.Memory; m != nil {
		if n < 0 {
			m.Give(int64(-n))
		} else if err := m.Take(int64(n)); err != nil {
			return err
		}
	}
	r.own += n
	r.together.used += n
	return nil
}

// counted yields the rows of a stage and releases what it held when they end.
func (r *run) counted(s flow, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		own := *r
		own.own = 0
		defer func() { _ = own.holds(-own.own) }()
		s.rows(&own, own.metered(in))(yield)
	}
}

// metered spends the cost of each document that passes.
func (r *run) metered(in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		for d, err := range in {
			if err == nil {
				err = r.passing(d)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// take counts n more bytes; a negative n releases them.
func (b *budget) take(n int) error {
	if err := b.run.holds(n); err != nil {
		return err
	}
	b.used += n
	together := b.run != nil && b.run.together.used > maxTogether
	if n <= 0 || b.used <= MaxMemory && !together {
		return nil
	}
	if b.used <= MaxMemory {
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed,
			"The stages of a pipeline hold more than %d bytes together, "+
				"%s the last of them, and mayfly uses no disk for them", maxTogether, b.stage)
	}
	if b.stage == "$sort" {
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed,
			"Sort exceeded memory limit of %d bytes, but did not opt "+
				"in to external sorting. Aborting operation. mayfly sorts in memory only: add a $limit or an index",
			MaxMemory)
	}
	return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed,
		"Exceeded memory limit for %s, but didn't allow external sort. "+
			"%s used too much memory: its limit is %d bytes, and mayfly uses no disk for it", b.stage, b.stage,
		MaxMemory)
}

// A store holds copies of documents in a few large pieces of memory.
type store struct{ chunk []byte }

const chunkBytes = 256 << 10

// keep returns a copy of b, which lives as long as the store.
func (s *store) keep(b []byte) []byte {
	if len(b) > chunkBytes/4 {
		return append(make([]byte, 0, len(b)), b...)
	}
	if len(s.chunk)+len(b) > cap(s.chunk) {
		s.chunk = make([]byte, 0, chunkBytes)
	}
	at := len(s.chunk)
	s.chunk = append(s.chunk, b...)
	return s.chunk[at:len(s.chunk):len(s.chunk)]
}

// RowsWithin is Rows with its memory taken from m until the rows end, and its work spent from w.
func (s *Sort) RowsWithin(m Memory, w *work.Meter, in Rows, limit int64) Rows {
	return func(yield func(doc.Doc, error) bool) {
		r := &run{ctx: context.Background(), env: &Env{Memory: m}, meter: w, together: &memoryUse{}}
		defer func() { _ = r.holds(-r.own) }()
		s.rows(r, in, limit)(yield)
	}
}
