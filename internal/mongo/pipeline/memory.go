package pipeline

import "github.com/mayflydb/mayfly/internal/mongo/code"

// A budget counts the bytes that a stage holds.
type budget struct {
	stage string
	used  int
}

// take holds n bytes more; a negative n gives them back.
func (b *budget) take(n int) error {
	if b.used += n; b.used <= MaxMemory {
		return nil
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
