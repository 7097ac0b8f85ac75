package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// writeCost is how many times the bytes of a document are in memory while it is written: as it is prepared,
// in the record, in the log and in the engine's batch.
const writeCost = 4

// reserve holds what an insert of documents needs at any time, before it begins: it is never refused in the middle.
// They are written in chunks.
func (r *request) reserve(documents []doc.Doc) error {
	if r.tx != nil {
		return nil // which ends by a refusal
	}
	all, largest := 0, 0
	for _, d := range documents {
		all += len(d)
		largest = max(largest, len(d))
	}
	need := writeCost * min(all, chunkBytes+largest)
	return r.reserveMore(need)
}

// reserveMore holds n bytes more for writes to come.
func (r *request) reserveMore(n int) error {
	err := r.take(n)
	if err == nil {
		r.reserved += n
	}
	return err
}

// unreserve gives back what was held for writes that are done.
func (r *request) unreserve() {
	r.give(r.reserved)
	r.reserved = 0
}

// cost is what operations need that are written together, beyond what is held for writes already. What edits
// make is known when they run.
func (r *request) cost(ops []store.Op) (n int) {
	for i := range ops {
		n += len(ops[i].Body)
	}
	return max(writeCost*n-r.reserved, 0)
}

// written gives back what a write held. What a transaction has written stays in memory until its end.
func (r *request) written(cost int) {
	cost += r.edited
	r.edited = 0
	if r.tx == nil {
		r.give(cost)
		return
	}
	r.c.memory.share.Pass(&r.tx.share, int64(cost))
}

// editing holds what the change of a document of so many bytes needs before that is made, until it is written.
func (r *request) editing(bytes int) error {
	err := r.take(writeCost * bytes)
	if err == nil {
		r.edited += writeCost * bytes
	}
	return err
}

// editsAnew gives back what a change held whose document another write has changed first.
func (r *request) editsAnew(bytes int) {
	bytes = min(bytes, r.edited)
	r.give(bytes)
	r.edited -= bytes
}
