package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// maxTogether is how many bytes the stages of one run may hold at the same time, those of
// sub-pipelines among them: branches of a $facet fill side by side.
const maxTogether = 4 * MaxMemory

// A holding is what the stages of a run hold at the moment.
type holding struct{ used int }

// A budget counts the bytes that a stage holds.
type budget struct {
	stage string
	used  int
	run   *run // nil for a sort on its own
}

// budget is for what a stage holds. It is given back when the stage ends.
func (r *run) budget(stage string) budget { return budget{stage: stage, run: r} }

// holds counts n bytes for the stage that the run is of, and reports whether there is room.
func (r *run) holds(n int) bool {
	if r == nil {
		return true
	}
	r.own += n
	r.together.used += n
	return n <= 0 || r.together.used <= maxTogether
}

// counted gives the rows of a stage, and gives back what it held when they end.
func (r *run) counted(s flow, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		own := *r
		own.own = 0
		defer func() { own.together.used -= own.own }()
		s.rows(&own, in)(yield)
	}
}

// take holds n bytes more; a negative n gives them back.
func (b *budget) take(n int) error {
	b.used += n
	room := b.run.holds(n)
	if b.used <= MaxMemory && room {
		return nil
	}
	if b.used <= MaxMemory {
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed, "The stages of a pipeline hold more than %d bytes together, "+
			"%s the last of them, and mayfly uses no disk for them", maxTogether, b.stage)
	}
	if b.stage == "$sort" {
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed, "Sort exceeded memory limit of %d bytes, but did not opt "+
			"in to external sorting. Aborting operation. mayfly sorts in memory only: add a $limit or an index", MaxMemory)
	}
	return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed, "Exceeded memory limit for %s, but didn't allow external sort. "+
		"%s used too much memory: its limit is %d bytes, and mayfly uses no disk for it", b.stage, b.stage, MaxMemory)
}

// A store holds copies of documents in a few large pieces of memory.
type store struct{ chunk []byte }

const chunkBytes = 256 << 10

// keep copies b. The copy stays until the store is forgotten.
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
