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

// A ContainerTransaction is a transaction in one container whose user decides its operations one by one, and sees what
// the ones before have done. Nobody else sees any of it before Commit, which does all or nothing.
//
// Alone it is optimistic about its reads. Commit fails with fault.Conflict if a document that Do or Scan has handed
// out, or has found missing under its key, has changed or has expired by then; the user starts another transaction.
// What a Scan has not found is not watched: a document that is created in the scanned partition is no conflict, even if
// the Scan would have selected it (a phantom). As a part of a SnapshotTransaction it follows the rules there.
//
// It keeps its documents in memory and is used by one goroutine. It ends with Commit or Rollback.
type ContainerTransaction struct {
	set     *writeSet
	results []*Result
	fresh   []*slot             // documents that it has created, by stand-in number
	looked  map[uint64]struct{} // numbers of the documents that scans gave out
	steps   uint64              // versions that it has made
}

// Limits of one ContainerTransaction, in addition to maxTransactionBytes.
const (
	maxTransactionOps   = 10_000
	maxTransactionLooks = 100_000
)

// StandIn is the lowest number, and the lowest sequence, that a transaction shows for what gets its own only at the
// commit. No document or write ever has one as high.
const StandIn = uint64(keys.MaxRanges) << 48

var (
	errEnded     = fault.New(fault.Internal, "The transaction has ended.")
	errManySteps = fault.New(fault.TooLarge, "Too many operations in one transaction (limit %d). "+
		"Do the rest in another one.", maxTransactionOps)
	errManyLooks = fault.New(fault.TooLarge, "One transaction reads too many documents (limit %d). "+
		"Narrow its queries by an index, or do the rest in another one.", maxTransactionLooks)
	errOverlay = fault.New(fault.Internal,
		"A transaction that has written scans only whole partitions, in order of creation.")
)

// Begin starts a transaction as v sees the container.
func (s *Store) Begin(ctx context.Context, v catalog.View) (*ContainerTransaction, error) {
	set, err := s.begin(ctx, v)
	if err != nil {
		return nil, err
	}
	return newContainerTransaction(set), nil
}

func newContainerTransaction(set *writeSet) *ContainerTransaction {
	return &ContainerTransaction{set: set, looked: map[uint64]struct{}{}}
}

// Do does one operation. An operation that fails changes nothing, and the transaction goes on.
//
// Before the commit, the result of a write has a Sequence, and that of a new
// document a Number, of StandIn or above, which later operations and scans of the same
// transaction know it by; its Stamp is the instant of the view. Commit gives the real ones.
func (tx *ContainerTransaction) Do(ctx context.Context, op Op) (Result, error) {
	ws := tx.set
	if err := tx.mayDo(&op); err != nil {
		return Result{}, err
	}
	// What is restored, or compared with, if the operation fails or only reads.
	touched, loaded, reads, claims := len(ws.slots), ws.loaded, len(ws.b.Reads), len(ws.claims)
	ws.claimChanges = ws.claimChanges[:0]
	result := new(Result)
	if err := ws.do(ctx, &op, result); err != nil {
		ws.undoClaims(claims)
		return Result{}, err
	}
	kept := op.Verb == Read || result.Skipped
	if kept && touched == len(ws.slots) { // a read of a document that the transaction has read before
		ws.loaded = loaded // it is in memory already
	}
	if !kept {
		ws.loaded += len(op.Body)
	}
	tx.results = append(tx.results, result)
	// The slot is there already: do has touched it.
	sl, err := ws.touch(ctx, op.Key)
	if err != nil {
		return Result{}, err
	}
	if !kept {
		if err := tx.wrote(ctx, sl, reads); err != nil {
			return Result{}, err
		}
	}
	return tx.preview(sl, op.Verb, result.Skipped), nil
}

// mayDo checks an operation against the limits.
func (tx *ContainerTransaction) mayDo(op *Op) error {
	switch ws := tx.set; {
	case ws == nil:
		return errEnded
	case ws.within != nil:
		return ws.within.mayDo(op)
	case len(tx.results) >= maxTransactionOps:
		return errManySteps
	case ws.loaded+len(op.Body) > maxTransactionBytes:
		return errManyBytes
	}
	return nil
}

// wrote notes that an operation has changed sl. The operation's own preconditions are the reads of the batch from reads
// on.
func (tx *ContainerTransaction) wrote(ctx context.Context, sl *slot, reads int) error {
	if sl.since == 0 {
		sl.since = uint64(len(tx.results))
	}
	if tx.set.within == nil {
		return nil
	}
	return tx.set.within.wrote(ctx, tx.set, sl, reads)
}

// preview is the result of an operation on sl as far as it is known before the commit.
func (tx *ContainerTransaction) preview(sl *slot, verb Verb, skipped bool) Result {
	if verb == Read || skipped {
		return Result{Document: tx.document(sl), Skipped: skipped}
	}
	p := &sl.results[len(sl.results)-1]
	if verb == Delete {
		gone := *p.gone
		// A document of the transaction's own has no real number yet.
		if gone.Number == 0 {
			gone.Number = sl.standIn
		}
		return Result{Document: gone}
	}
	tx.steps++
	sl.shown = access.Version{Sequence: StandIn + tx.steps, Stamp: tx.set.v.Now}
	if p.created && sl.fresh() {
		tx.fresh = append(tx.fresh, sl)
		sl.standIn = StandIn + uint64(len(tx.fresh))
	}
	return Result{Document: tx.document(sl), Created: p.created}
}

// document is the living document of a slot, with what the transaction has done to it.
func (tx *ContainerTransaction) document(sl *slot) access.Document {
	if !sl.written {
		return document(tx.set.v, sl.number, sl.header, sl.body)
	}
	h := keys.Header{Sequence: sl.shown.Sequence, Stamp: sl.shown.Stamp, TTL: int32(sl.ttl)}
	number := sl.number
	if sl.fresh() {
		number = sl.standIn
	}
	return document(tx.set.v, number, h, sl.record[keys.HeaderBytes:])
}

// Wrote reports whether the transaction has changed anything so far.
func (tx *ContainerTransaction) Wrote() bool { return tx.set != nil && tx.set.writes() }

// Lives reports whether all documents that the transaction has handed out, or has found where it writes, are still
// alive at now, which is not before the instant of its view.
func (tx *ContainerTransaction) Lives(now expiry.Stamp) bool {
	return tx.set != nil && !tx.set.died(now)
}

// Full reports that the transaction has used nine tenths of one of its limits.
func (tx *ContainerTransaction) Full() bool {
	if tx.set != nil && tx.set.within != nil {
		return tx.set.within.full()
	}
	return tx.set == nil || len(tx.results) >= maxTransactionOps*9/10 || tx.set.loaded >= maxTransactionBytes*9/10 ||
		len(tx.looked) >= maxTransactionLooks*9/10
}

// Scan is Store.Scan as the transaction sees it, within one whole partition.
// Once the transaction has written, a may have nothing but the partition and a
// position: documents come in order of creation, its own new ones last.
func (tx *ContainerTransaction) Scan(ctx context.Context, a access.Access) iter.Seq2[access.Document, error] {
	return func(yield func(access.Document, error) bool) {
		partition, ok := access.ScopeOf(a.Of).(access.Partition)
		_, all := a.Of.(access.Partition)
		a.Skip = nil // entries do not tell what the transaction has deleted
		switch ws := tx.set; {
		case ws == nil:
			yield(access.Document{}, errEnded)
		case ws.within != nil:
			tx.scanSnapshotTransaction(ctx, a, yield)
		// Indexes know nothing of what the transaction has written. Only the order of creation can be continued with
		// its own documents.
		case !ok || len(partition) != len(ws.v.Partition.Paths), ws.writes() && !all:
			yield(access.Document{}, errOverlay)
		default:
			tx.scan(ctx, a, partition, yield)
		}
	}
}

func (tx *ContainerTransaction) scan(
	ctx context.Context, a access.Access, partition access.Partition, yield func(access.Document, error) bool,
) {
	// The scan reads the present state. Documents that the transaction has written are replaced by its own versions,
	// and those that it has created come at the end.
	changed, rng := tx.changed(), tx.set.v.KeysFor(partition)
	for d, err := range tx.set.s.Scan(ctx, tx.set.v, a) {
		if err == nil {
			err = tx.look(&d, rng)
		}
		if err != nil {
			yield(access.Document{}, err)
			return
		}
		if sl := changed[d.Number]; sl != nil {
			// A renewed document is a new one and comes at the end, with the others that were created.
			if sl.record == nil || sl.renewed {
				continue
			}
			// The position stays that of the scan, so that the next page begins behind this document.
			at := d.Position
			d = tx.document(sl)
			d.Position = at
		}
		if !yield(d, nil) {
			return
		}
	}
	tx.scanFresh(partition, a.After, yield)
}

// scanFresh walks the documents that the transaction has created.
func (tx *ContainerTransaction) scanFresh(
	values access.Partition, from access.Position, yield func(access.Document, error) bool,
) {
	after, _ := from.Number()
	partition := tx.set.v.Identity().AppendPartition(nil, values)
	for i, sl := range tx.fresh {
		number := StandIn + uint64(i) + 1
		if number <= after || sl.standIn != number || sl.record == nil || string(sl.partition) != string(partition) {
			continue
		}
		d := tx.document(sl)
		d.Position = access.NumberPosition(nil, number)
		if !yield(d, nil) {
			return
		}
	}
}

// changed finds the documents that were there before and that the transaction has written.
func (tx *ContainerTransaction) changed() map[uint64]*slot {
	var changed map[uint64]*slot
	for _, sl := range tx.set.slots {
		if sl.written && sl.found {
			if changed == nil {
				changed = map[uint64]*slot{}
			}
			changed[sl.number] = sl
		}
	}
	return changed
}

// look makes the commit depend on a document of a range that a scan gives out.
func (tx *ContainerTransaction) look(d *access.Document, rng keys.Range) error {
	if _, again := tx.looked[d.Number]; again {
		return nil
	}
	if len(tx.looked) >= maxTransactionLooks {
		return errManyLooks
	}
	tx.looked[d.Number] = struct{}{}
	ws := tx.set
	ws.b.Read(ws.key(func(dst []byte) []byte { return rng.Record(dst, d.Number) }))
	// Its body is not kept; the deadline is enough to know whether it has expired by the commit.
	if d.Deadline != 0 && (ws.soonest == 0 || d.Deadline < ws.soonest) {
		ws.soonest = d.Deadline
	}
	return nil
}

// Commit makes what the transaction has done visible and durable, or nothing of it, and returns the results of the
// operations that Do did, in their order. The transaction has ended in either case. After fault.Conflict the user
// starts another one.
func (tx *ContainerTransaction) Commit(ctx context.Context) ([]Result, error) {
	if tx.set == nil {
		return nil, errEnded
	}
	if tx.set.within != nil {
		return nil, errNotAlone
	}
	defer tx.Rollback()
	// A script that only reads must be as exact as one that writes: all that it has seen must have been true together.
	commit := tx.set.commit
	if !tx.set.writes() {
		commit = tx.set.stands
	}
	if err := commit(ctx); err != nil {
		return nil, err
	}
	results := make([]Result, len(tx.results))
	for i, r := range tx.results {
		results[i] = *r
	}
	return results, nil
}

// Confirm fails with fault.Conflict when Commit would, and makes durable what was read, but writes nothing: for a user
// that gives up because of that. The transaction goes on, but where engines report a conflict that is none, its Commit
// may (kv.Mark).
func (tx *ContainerTransaction) Confirm(ctx context.Context) error {
	if tx.set == nil {
		return errEnded
	}
	if tx.set.within != nil {
		return errNotAlone
	}
	return tx.set.stands(ctx)
}

// stands fails with fault.Conflict if something that the transaction has read has changed or expired. Else it makes it
// durable: a script tells what it has found, and may have written nothing because of it.
func (ws *writeSet) stands(ctx context.Context) error {
	if err := ws.s.engine.Apply(ctx, &kv.Batch{Since: ws.b.Since, Reads: ws.b.Reads, NoSync: true}); err != nil {
		return err
	}
	now, err := ws.v.Refresh()
	if err == nil && ws.died(now) {
		err = errExpired
	}
	if err != nil {
		return err
	}
	return ws.s.SyncRead(ctx)
}

// Rollback ends the transaction; nothing of it remains. After Commit it does nothing.
func (tx *ContainerTransaction) Rollback() {
	if tx.set != nil && tx.set.within == nil {
		tx.set.end()
		tx.set = nil
	}
}
