package write

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// writeCost is how many times the bytes of a document are in memory while it is written: as it is prepared,
// in the record, in the log and in the engine's batch.
const writeCost = 4

// reserveInsert holds what an insert of documents needs at any time, before it begins: it is never refused in the
// middle. They are written in chunks.
func reserveInsert(o *session.Operation, documents []doc.Doc) error {
	if o.Transaction != nil {
		return nil // which ends by a refusal
	}
	all, largest := 0, 0
	for _, d := range documents {
		all += len(d)
		largest = max(largest, len(d))
	}
	// A chunk closes when it exceeds its limit, so it may be larger by one document.
	need := writeCost * min(all, chunkBytes+largest)
	return reserveMore(o, need)
}

// reserveMore holds n bytes more for writes to come.
func reserveMore(o *session.Operation, n int) error {
	err := o.Take(n)
	if err == nil {
		o.Reserved += n
	}
	return err
}

// unreserve gives back what was held for writes that are done.
func unreserve(o *session.Operation) {
	o.Give(o.Reserved)
	o.Reserved = 0
}

// costOf is what operations need that are written together, beyond what is held for writes already. What edits
// make is known when they run.
func costOf(o *session.Operation, ops []store.Op) (n int) {
	for i := range ops {
		n += len(ops[i].Body)
	}
	return max(writeCost*n-o.Reserved, 0)
}

// noteWritten gives back what a write held. What a transaction has written stays in memory until its end.
func noteWritten(o *session.Operation, cost int) {
	cost += o.Edited
	o.Edited = 0
	if o.Transaction == nil {
		o.Give(cost)
		return
	}
	// The request ends before its transaction does.
	o.Memory.Share.Pass(&o.Transaction.Share, int64(cost))
}

// holdEdit holds what the change of a document of so many bytes needs before that is made, until it is written.
func holdEdit(o *session.Operation, bytes int) error {
	err := o.Take(writeCost * bytes)
	if err == nil {
		o.Edited += writeCost * bytes
	}
	return err
}

// releaseEdit gives back what a change held whose document another write has changed first.
func releaseEdit(o *session.Operation, bytes int) {
	// noteWritten may have given it back already, at the end of an earlier attempt.
	bytes = min(bytes, o.Edited)
	o.Give(bytes)
	o.Edited -= bytes
}
