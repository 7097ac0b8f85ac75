package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A client that has lost the answer to a write sends it again, perhaps to another process. So where several processes
// share the data, such a write leaves a receipt, in its own batch: who finds the receipt does not write again. The key
// of a receipt is its owner's, not that of the write. So there are as many as there are clients, and an attempt that
// runs in another process at the same time meets this one at the key.

// A Receipt goes with what one call of WriteAll or Commit writes, see WithReceipt. A client numbers its writes and
// transactions, upwards; one number may need several calls.
type Receipt struct {
	Owner  keys.SessionOwner
	Number int64
	// Transaction says that the number is that of a transaction, which is committed by one call.
	Transaction bool
	// Parts is how many calls have left a receipt under the number before, as far as the caller knows.
	Parts int
	// Body says what has become of the operations. It is called when they have been done, before the commit, perhaps
	// more than once. Nil is for nothing.
	Body func() []byte
	// Left is set by the store: whether the call, if it has succeeded, has left a receipt. One that changes nothing
	// leaves none.
	Left bool

	doubts int // attempts whose end was unknown
}

// What the holder of a Receipt may be told. Nothing was written then.
var (
	// ErrReceipted says that there are more receipts under the number than Receipt.Parts, so that the operations may
	// have been done. See Receipts.
	ErrReceipted = fault.New(fault.Precondition, "The write has been done before.")
	// ErrGivenUp says that the transaction must not be committed any more.
	ErrGivenUp = fault.New(fault.Precondition, "The transaction has been aborted.")
)

// An OutnumberedError says that the owner has gone on to another number.
type OutnumberedError struct {
	Number      int64 // the newest
	Transaction bool  // it is that of a transaction
}

func (e *OutnumberedError) Error() string { return "A newer number of the same session is in use." }

type receiptKey struct{}

// WithReceipt returns a context for one call that writes. Its write depends on the receipt of its owner that is there,
// and replaces it. It is for data that several processes share; elsewhere it has no effect.
func WithReceipt(ctx context.Context, r *Receipt) context.Context {
	return context.WithValue(ctx, receiptKey{}, r)
}

// receiptOf is the receipt that goes with a call, nil for none.
func (s *Store) receiptOf(ctx context.Context) *Receipt {
	if !s.catalog.Shared() {
		return nil
	}
	r, _ := ctx.Value(receiptKey{}).(*Receipt)
	return r
}

// retries reports whether an attempt that has failed is to be followed by another one. With a receipt, that may be also
// if nobody knows whether it has been committed: the next one finds out.
func (r *Receipt) retries(err error) bool {
	switch fault.KindOf(err) {
	case fault.Conflict:
		return true
	case fault.Undetermined:
		if r == nil || r.doubts == maxDoubts {
			return false
		}
		r.doubts++
		return true
	}
	return false
}

// maxDoubts bounds how often a write is tried again because its end was unknown. Each time the engine has waited for as
// long as it waits.
const maxDoubts = 2

// A receipting is a receipt in one attempt.
type receipting struct {
	*Receipt
	head keys.SessionRecord // as the attempt has found it; the zero value for none
}

// begin looks whether the number is free.
func (r *Receipt) begin(ctx context.Context, in kv.Reader) (*receipting, error) {
	if r == nil {
		return nil, nil
	}
	r.Left = false
	head, err := sessionHead(ctx, in, r.Owner)
	switch {
	case err != nil:
		return nil, err
	case head.State == 0 || head.Number < r.Number:
		if r.Parts > 0 {
			return nil, ErrReceipted
		}
		return &receipting{Receipt: r}, nil
	case head.Number > r.Number || r.Transaction != (head.State != keys.SessionWrite):
		return nil, &OutnumberedError{Number: head.Number, Transaction: head.State != keys.SessionWrite}
	case head.State == keys.SessionAborted:
		return nil, ErrGivenUp
	case int(head.Parts) != r.Parts:
		return nil, ErrReceipted
	}
	return &receipting{Receipt: r, head: head}, nil
}

// end writes the receipt with a batch. The batch depends on what begin has found.
func (r *receipting) end(b *kv.Batch, now expiry.Stamp) {
	if r == nil {
		return
	}
	head := r.head
	if head.State == 0 {
		head = keys.SessionRecord{State: keys.SessionWrite, Number: r.Number}
		if r.Transaction {
			head.State = keys.SessionCommitted
		}
	}
	var body []byte
	if r.Body != nil {
		body = r.Body()
	}
	if head.Parts == 0 {
		head.Body = body
	} else {
		part := keys.SessionRecord{State: head.State, Number: r.Number, Stamp: now, Body: body}
		b.Set(keys.SessionKey(r.Owner, head.Parts), part.Append(nil))
	}
	r.Left = true
	head.Parts++
	head.Stamp = now
	key := keys.SessionKey(r.Owner, 0)
	b.Read(key)
	b.Set(key, head.Append(nil))
}

// sessionHead reads the head of an owner's receipts, the zero value if there is none.
func sessionHead(ctx context.Context, in kv.Reader, owner keys.SessionOwner) (head keys.SessionRecord, err error) {
	_, err = in.Get(ctx, keys.SessionKey(owner, 0), func(value []byte) (err error) {
		head, err = decodeSession(bytes.Clone(value))
		return err
	})
	return head, err
}

func decodeSession(value []byte) (keys.SessionRecord, error) {
	r, err := keys.DecodeSession(value)
	if err != nil {
		err = corrupt(err, "record of a session")
	}
	return r, err
}

// Receipts gives the bodies of the receipts of an owner under a number, in the order of the calls. committed says that
// the number is that of a transaction that has been committed. An *OutnumberedError if the owner uses a newer number.
func (s *Store) Receipts(
	ctx context.Context, owner keys.SessionOwner, number int64,
) (bodies [][]byte, committed bool, err error) {
	view, err := s.engine.View(ctx)
	if err != nil {
		return nil, false, err
	}
	head, err := sessionHead(ctx, view.Reader, owner)
	switch {
	case err != nil || head.State == 0 || head.Number < number:
		return nil, false, err
	case head.Number > number:
		return nil, false, &OutnumberedError{Number: head.Number, Transaction: head.State != keys.SessionWrite}
	case head.State != keys.SessionWrite:
		return nil, head.State == keys.SessionCommitted, nil
	}
	bodies = append(bodies, head.Body)
	if head.Parts == 1 {
		return bodies, false, nil
	}
	it, err := view.Iterate(ctx, keys.SessionKey(owner, 1), keys.SessionKey(owner, head.Parts))
	if err != nil {
		return nil, false, err
	}
	for it.Next() {
		var part keys.SessionRecord
		if part, err = decodeSession(bytes.Clone(it.Value())); err != nil {
			break
		}
		bodies = append(bodies, part.Body)
	}
	if err = errors.Join(err, it.Close()); err == nil && len(bodies) != int(head.Parts) {
		err = corrupt(keys.ErrCorrupt, "records of a session")
	}
	return bodies, false, err
}

// GiveUp says what has become of the transaction of a number, in whichever process it is open or was: whether it has
// been committed. If it has not, it cannot be committed any more. An *OutnumberedError if the owner has gone on to a
// newer number.
func (s *Store) GiveUp(ctx context.Context, owner keys.SessionOwner, number int64) (committed bool, err error) {
	for range maxAttempts {
		view, err := s.engine.View(ctx)
		if err != nil {
			return false, err
		}
		head, err := sessionHead(ctx, view.Reader, owner)
		switch {
		case err != nil:
			return false, err
		case head.State != 0 && (head.Number > number || head.Number == number && head.State == keys.SessionWrite):
			return false, &OutnumberedError{Number: head.Number, Transaction: head.State != keys.SessionWrite}
		case head.State != 0 && head.Number == number:
			return head.State == keys.SessionCommitted, nil
		}
		b := &kv.Batch{Since: view.Mark}
		key := keys.SessionKey(owner, 0)
		b.Read(key)
		record := keys.SessionRecord{State: keys.SessionAborted, Number: number, Stamp: view.Time.Unix(), Parts: 1}
		b.Set(key, record.Append(nil))
		if err := s.apply(ctx, b); err == nil || fault.KindOf(err) != fault.Conflict {
			return false, err
		}
	}
	return false, errManyWrites
}

// sweptReceipts bounds one step of SweepReceipts.
const sweptReceipts = 1_000

// SweepReceipts deletes the receipts that were written before an instant, unless a process has looked for them at or
// after it. It tells how many there were.
func (s *Store) SweepReceipts(ctx context.Context, before expiry.Stamp) (n int, err error) {
	mine, err := s.claimSweep(ctx, before)
	if err != nil || !mine {
		return 0, err
	}
	from, end := keys.SessionBounds()
	for from != nil {
		deleted, next, err := s.sweepReceipts(ctx, from, end, before)
		n += deleted
		if fault.KindOf(err) == fault.Conflict { // one of them was renewed
			continue
		}
		if err != nil {
			return n, err
		}
		from = next
	}
	return n, nil
}

// claimSweep reports whether this process is to look now. Of several that ask at the same time, one is.
func (s *Store) claimSweep(ctx context.Context, before expiry.Stamp) (mine bool, err error) {
	view, err := s.engine.View(ctx)
	if err != nil {
		return false, err
	}
	var swept uint64
	key := keys.SessionSweptKey()
	_, err = view.Get(ctx, key, func(value []byte) (err error) {
		swept, err = keys.DecodeNumber(value)
		return err
	})
	if err != nil || expiry.Stamp(swept) >= before {
		return false, err
	}
	b := &kv.Batch{Since: view.Mark, Frees: true}
	b.Read(key)
	b.Set(key, keys.AppendNumber(nil, uint64(view.Time.Unix())))
	err = s.apply(ctx, b)
	if fault.KindOf(err) == fault.Conflict {
		return false, nil
	}
	return err == nil, err
}

// sweepReceipts looks at some records. next is where to go on, nil at the end.
func (s *Store) sweepReceipts(
	ctx context.Context, from, end []byte, before expiry.Stamp,
) (n int, next []byte, err error) {
	view, err := s.engine.View(ctx)
	if err != nil {
		return 0, nil, err
	}
	it, err := view.Iterate(ctx, from, end)
	if err != nil {
		return 0, nil, err
	}
	b := &kv.Batch{Since: view.Mark, Frees: true}
	for seen := 0; it.Next(); seen++ {
		if seen == sweptReceipts {
			next = bytes.Clone(it.Key())
			break
		}
		r, err := decodeSession(it.Value())
		if err != nil {
			return 0, nil, errors.Join(err, it.Close())
		}
		if r.Stamp < before {
			key := bytes.Clone(it.Key())
			b.Read(key)
			b.Delete(key)
		}
	}
	if err := it.Close(); err != nil || len(b.Ops) == 0 {
		return 0, next, err
	}
	return len(b.Ops), next, s.apply(ctx, b)
}
