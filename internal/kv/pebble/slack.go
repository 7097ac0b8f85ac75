package pebble

import "context"

// Blocks leave the cache when a compaction has removed their table, or when the cache has to be smaller. Others take
// their places, unless what is read fits in less.
const (
	slackShare  = 8 // memory is returned if the cache has at least one part in so many of its limit less than before
	slackChecks = 3 // at so many checks in a row
)

// A slackWatch finds memory that the heap of C keeps and the block cache does not need any more.
type slackWatch struct {
	most  int64 // bytes in the cache since memory was last returned
	spare int   // checks in a row at which much less was there
}

// found reports whether memory is worth returning. It is called once a second, with the bytes in the cache and their
// limit.
func (w *slackWatch) found(bytes, limit int64) bool {
	w.most = max(w.most, bytes)
	if w.spare++; w.most-bytes < limit/slackShare {
		w.spare = 0
	}
	return w.spare >= slackChecks
}

// trim returns what is free in the heap of C to the system.
func (e *Engine) trim() {
	e.tidyMu.Lock()
	e.slack = slackWatch{}
	e.tidyMu.Unlock()
	trimMalloc()
}

// returnSlack is trim for tick.
func (e *Engine) returnSlack(context.Context) error {
	e.trim()
	return nil
}
