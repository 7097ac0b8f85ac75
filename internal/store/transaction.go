package store

import (
	"context"
	"iter"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Transaction is a group of operations that its user decides one by one,
// seeing what the ones before have made. Nobody else sees any of it before
// Commit, which does all or nothing.
//
// Commit fails with fault.Conflict when a document that Do or Scan has handed
// out, or has found missing under its key, is another one by then, or has
// expired: the user begins anew with another Transaction. What a Scan has not
// found is not watched: a document that someone else creates in the scanned
// partition meanwhile is no conflict, even if it had been selected (a phantom).
//
// It keeps its documents in memory and is used by one goroutine. It ends with
// Commit or Rollback.
type Transaction struct {
	t       *txn
	results []*Result
	fresh   []*slot             // documents that it has created, by stand-in number
	looked  map[uint64]struct{} // numbers of the documents that scans gave out
	steps   uint64              // versions that it has made
}

// Limits of one Transaction, beside maxTransactionBytes.
const (
	maxTransactionOps   = 10_000
	maxTransactionLooks = 100_000
)

// StandIn is the lowest number, and the lowest sequence, that a Transaction shows
// for what gets its own only at the commit. No document or write ever has one as high.
const StandIn = 1 << 56

var (
	errEnded     = fault.New(fault.Internal, "The transaction has ended.")
	errManySteps = fault.New(fault.TooLarge, "One transaction has at most %d operations. Do the rest in another one.", maxTransactionOps)
	errManyLooks = fault.New(fault.TooLarge, "One transaction looks at no more than %d documents. Narrow its queries by an index, or do the rest in another one.", maxTransactionLooks)
	errOverlay   = fault.New(fault.Internal, "A transaction that has written scans whole partitions in order of creation only.")
)

// Begin starts a transaction as v sees the container.
func (s *Store) Begin(v catalog.View) *Transaction {
	return &Transaction{t: s.begin(v), looked: map[uint64]struct{}{}}
}

// Do does one operation as far as the transaction has come. An operation that
// fails changes nothing, and the transaction goes on.
//
// Before the commit, the result of a write has a Sequence, and that of a new
// document a Number, of StandIn or above, which later operations and scans of the same
// transaction know it by; its Stamp is the instant of the view. Commit gives the real ones.
func (x *Transaction) Do(op Op) (Result, error) {
	t := x.t
	if err := x.mayDo(&op); err != nil {
		return Result{}, err
	}
	touched, loaded, reads, claims := len(t.slots), t.loaded, len(t.b.Reads), len(t.claims)
	t.given = t.given[:0]
	result := new(Result)
	if err := t.do(&op, result); err != nil {
		t.undoClaims(claims)
		return Result{}, err
	}
	kept := op.Verb == Read || result.Skipped
	if kept && touched == len(t.slots) {
		t.loaded = loaded // it is in memory already
	}
	if !kept {
		t.loaded += len(op.Body)
	}
	x.results = append(x.results, result)
	sl, err := t.touch(op.Key)
	if err != nil {
		return Result{}, err
	}
	if !kept {
		if err := x.wrote(sl, reads); err != nil {
			return Result{}, err
		}
	}
	return x.preview(sl, op.Verb, result.Skipped), nil
}

// mayDo holds an operation against the limits.
func (x *Transaction) mayDo(op *Op) error {
	switch t := x.t; {
	case t == nil:
		return errEnded
	case t.group != nil:
		return t.group.mayDo(op)
	case len(x.results) >= maxTransactionOps:
		return errManySteps
	case t.loaded+len(op.Body) > maxTransactionBytes:
		return errManyBytes
	}
	return nil
}

// wrote notes that an operation has changed sl. What the commit has come to depend on is
// in the reads of the batch from there on.
func (x *Transaction) wrote(sl *slot, reads int) error {
	if sl.since == 0 {
		sl.since = uint64(len(x.results))
	}
	if x.t.group == nil {
		return nil
	}
	return x.t.group.wrote(x.t, sl, reads)
}

// preview is the result of an operation on sl as far as it is known.
func (x *Transaction) preview(sl *slot, verb Verb, skipped bool) Result {
	if verb == Read || skipped {
		return Result{Document: x.document(sl), Skipped: skipped}
	}
	p := &sl.results[len(sl.results)-1]
	if verb == Delete {
		gone := *p.gone
		if gone.Number == 0 {
			gone.Number = sl.standIn
		}
		return Result{Document: gone}
	}
	x.steps++
	sl.shown = Version{Sequence: StandIn + x.steps, Stamp: x.t.v.Now}
	if p.created && sl.fresh() {
		x.fresh = append(x.fresh, sl)
		sl.standIn = StandIn + uint64(len(x.fresh))
	}
	return Result{Document: x.document(sl), Created: p.created}
}

// document is the living document of a slot as far as the transaction has come.
func (x *Transaction) document(sl *slot) Document {
	if !sl.written {
		return document(x.t.v, sl.number, sl.header, sl.body)
	}
	h := keys.Header{Sequence: sl.shown.Sequence, Stamp: sl.shown.Stamp, TTL: int32(sl.ttl)}
	number := sl.number
	if sl.fresh() {
		number = sl.standIn
	}
	return document(x.t.v, number, h, sl.record[keys.HeaderBytes:])
}

// Wrote reports whether the transaction has changed anything so far.
func (x *Transaction) Wrote() bool { return x.t != nil && x.t.writes() }

// Lives reports whether all documents that the transaction has been shown, or has found
// where it writes, are alive at an instant not before its view.
func (x *Transaction) Lives(now expiry.Stamp) bool { return x.t != nil && !x.t.died(now) }

// Full reports that the transaction nears one of its limits.
func (x *Transaction) Full() bool {
	if x.t != nil && x.t.group != nil {
		return x.t.group.full()
	}
	return x.t == nil || len(x.results) >= maxTransactionOps*9/10 || x.t.loaded >= maxTransactionBytes*9/10 ||
		len(x.looked) >= maxTransactionLooks*9/10
}

// Scan is Store.Scan as the transaction sees it, within one whole partition.
// Once the transaction has written, a may have nothing but the partition and a
// position: documents come in order of creation, its own new ones last.
func (x *Transaction) Scan(ctx context.Context, a access.Access) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		switch t := x.t; {
		case t == nil:
			yield(Document{}, errEnded)
		case t.group != nil:
			x.scanGroup(ctx, a, yield)
		case !a.HasPartition || len(a.Partition) != len(t.v.Partition.Paths),
			t.writes() && (a.Set != nil || a.Walk != nil || a.IDs != nil):
			yield(Document{}, errOverlay)
		default:
			x.scan(ctx, a, yield)
		}
	}
}

func (x *Transaction) scan(ctx context.Context, a access.Access, yield func(Document, error) bool) {
	changed := x.changed()
	for d, err := range x.t.s.Scan(ctx, x.t.v, a) {
		if err == nil {
			err = x.look(&d)
		}
		if err != nil {
			yield(Document{}, err)
			return
		}
		if sl := changed[d.Number]; sl != nil {
			if sl.record == nil || sl.renewed {
				continue
			}
			at := d.Position
			d = x.document(sl)
			d.Position = at
		}
		if !yield(d, nil) {
			return
		}
	}
	x.scanFresh(a, yield)
}

// scanFresh walks the documents that only the transaction has.
func (x *Transaction) scanFresh(a access.Access, yield func(Document, error) bool) {
	after, _ := a.After.Number()
	partition := x.t.v.Identity().AppendPartition(nil, a.Partition)
	for i, sl := range x.fresh {
		number := StandIn + uint64(i) + 1
		if number <= after || sl.standIn != number || sl.record == nil || string(sl.partition) != string(partition) {
			continue
		}
		d := x.document(sl)
		d.Position = access.NumberPosition(nil, number)
		if !yield(d, nil) {
			return
		}
	}
}

// changed finds the documents that were there before and are not as they were.
func (x *Transaction) changed() map[uint64]*slot {
	var changed map[uint64]*slot
	for _, sl := range x.t.slots {
		if sl.written && sl.found {
			if changed == nil {
				changed = map[uint64]*slot{}
			}
			changed[sl.number] = sl
		}
	}
	return changed
}

// look makes the commit depend on a document that a scan gives out.
func (x *Transaction) look(d *Document) error {
	if _, again := x.looked[d.Number]; again {
		return nil
	}
	if len(x.looked) >= maxTransactionLooks {
		return errManyLooks
	}
	x.looked[d.Number] = struct{}{}
	t := x.t
	t.b.Read(t.key(func(dst []byte) []byte { return t.v.Container.Keys().Record(dst, d.Number) }))
	if d.Deadline != 0 && (t.soonest == 0 || d.Deadline < t.soonest) {
		t.soonest = d.Deadline
	}
	return nil
}

// Commit makes what the transaction has done visible and durable, or nothing of
// it, and gives the results of the operations that Do did, in their order. The
// transaction has ended, whatever becomes of it. fault.Conflict: begin anew.
func (x *Transaction) Commit(ctx context.Context) ([]Result, error) {
	if x.t == nil {
		return nil, errEnded
	}
	if x.t.group != nil {
		return nil, errOfGroup
	}
	defer x.Rollback()
	commit := x.t.commit
	if !x.t.writes() {
		commit = x.t.stands
	}
	if err := commit(ctx); err != nil {
		return nil, err
	}
	results := make([]Result, len(x.results))
	for i, r := range x.results {
		results[i] = *r
	}
	return results, nil
}

// Confirm fails with fault.Conflict when Commit would, but writes nothing: for
// users who give up because of what they have read. The transaction goes on.
func (x *Transaction) Confirm(ctx context.Context) error {
	if x.t == nil {
		return errEnded
	}
	if x.t.group != nil {
		return errOfGroup
	}
	return x.t.stands(ctx)
}

// stands reports whether what the transaction has read is still so.
func (t *txn) stands(ctx context.Context) error {
	if err := t.s.engine.Apply(ctx, &kv.Batch{Since: t.b.Since, Reads: t.b.Reads, NoSync: true}); err != nil {
		return err
	}
	now, err := t.v.Refresh()
	if err == nil && t.died(now) {
		err = errLate
	}
	return err
}

// Rollback ends the transaction; nothing of it remains. After Commit it does nothing.
func (x *Transaction) Rollback() {
	if x.t != nil && x.t.group == nil {
		x.t.end()
		x.t = nil
	}
}
