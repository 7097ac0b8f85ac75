package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// writeCost is how many copies of a document are in memory while it is written: the prepared document, the record, the
// log entry and the engine's batch.
const writeCost = 4

// reserve takes the memory for an insert before it begins, so that it is never refused after a part of it is done. An
// insert is written in chunks, so it needs memory for one chunk only.
func (r *request) reserve(documents []doc.Doc) error {
	if r.tx != nil {
		return nil // a refusal ends the transaction, so nothing remains half done
	}
	all, largest := 0, 0
	for _, d := range documents {
		all += len(d)
		largest = max(largest, len(d))
	}
	need := writeCost * min(all, chunkBytes+largest)
	return r.reserveMore(need)
}

// reserveMore takes n more bytes for the next writes.
func (r *request) reserveMore(n int) error {
	err := r.take(n)
	if err == nil {
		r.reserved += n
	}
	return err
}

// unreserve gives back what was reserved.
func (r *request) unreserve() {
	r.give(r.reserved)
	r.reserved = 0
}

// cost is the memory that operations need, in addition to what is reserved already. The size of edited documents is
// known only when the edits run: see editing.
func (r *request) cost(ops []store.Op) (n int) {
	for i := range ops {
		n += len(ops[i].Body)
	}
	return max(writeCost*n-r.reserved, 0)
}

// written gives back the memory of a write. In a transaction it stays in use until the transaction ends.
func (r *request) written(cost int) {
	cost += r.edited
	r.edited = 0
	if r.tx == nil {
		r.give(cost)
		return
	}
	r.c.memory.share.Pass(&r.tx.share, int64(cost))
}

// editing takes the memory for editing a document, before the edit. written gives it back.
func (r *request) editing(bytes int) error {
	err := r.take(writeCost * bytes)
	if err == nil {
		r.edited += writeCost * bytes
	}
	return err
}

// editsAnew gives back the memory of an edit that is repeated because another write has changed the document first.
func (r *request) editsAnew(bytes int) {
	bytes = min(bytes, r.edited)
	r.give(bytes)
	r.edited -= bytes
}
