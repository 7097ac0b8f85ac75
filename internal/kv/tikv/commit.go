package tikv

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tikv/client-go/v2/oracle"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// slack is how much longer a transaction may take than those who wait for it: so that it can give its locks back.
const slack = 2 * time.Second

// maxTries bounds how often a batch that has read something is tried again because a lock was lost, or met another one:
// what it has read only gets older. A batch that rests on nothing never conflicts, and is tried until its time is over.
const maxTries = 20

// commitAll commits a group, and again what may pass the next time.
func (e *Engine) commitAll(group []*waiter) {
	for len(group) > 0 {
		group = e.commitGroup(group)
	}
}

// A round is the attempt to commit a group in one transaction. Everybody gets an answer at its end: who has met a
// conflict with the group would meet it again before, and who has only passed the counter may rely on it that whatever
// passed before is visible.
type round struct {
	*pessimistic
	in      []*waiter // their changes are in the transaction
	rest    []*waiter // not yet looked at
	again   []*waiter // belong to another transaction
	refused []refusal // fail alone
	near    bool      // the batch in the transaction has a bound that is near
	held    time.Time // all counters are locked, see kv.Batch.Time
}

type refusal struct {
	w   *waiter
	err error
}

// commitGroup commits batches in one transaction, and answers each of them but those that it returns: they are to be
// committed in the next one. A batch that fails for a reason of its own does not fail the others.
func (e *Engine) commitGroup(group []*waiter) (again []*waiter) {
	group = slices.DeleteFunc(group, func(w *waiter) bool { return w.ctx.Err() != nil })
	if len(group) == 0 {
		return nil
	}
	until := latest(group)
	ctx, cancel := context.WithDeadline(e.ctx, until.Add(slack))
	defer cancel()
	now, err := e.now(ctx)
	if err != nil {
		answerAll(group, err)
		return nil
	}
	if group = e.recent(group, now); len(group) == 0 {
		return nil
	}
	t, err := e.begin(now, until, group[0].frees)
	if err != nil {
		answerAll(group, err)
		return nil
	}
	r := &round{pessimistic: t}
	if err = r.fill(ctx, group); err == nil && len(t.written) > 0 {
		err = t.commit(ctx)
		r.finish(ctx, err)
	} else {
		r.finish(ctx, err)
		t.rollback(ctx)
	}
	t.release(ctx)
	return r.again
}

// latest is when the last one of a group stops waiting.
func latest(group []*waiter) (until time.Time) {
	for _, w := range group {
		if d, ok := w.ctx.Deadline(); ok && d.After(until) {
			until = d
		}
	}
	return until
}

// recent sorts a group by the marks that its batches rest on, and answers those whose marks are too old: a deletion
// after such a mark may have been forgotten, so that its lock would not find it.
func (e *Engine) recent(group []*waiter, now uint64) (rest []*waiter) {
	slices.SortStableFunc(group, func(a, b *waiter) int { return cmp.Compare(a.since, b.since) })
	oldest := kv.Mark(timestampFrom(timeOf(now).Add(-e.options.Retain / 2)))
	for _, w := range group {
		if w.depends && w.since < oldest {
			w.answer(local.Conflict())
			continue
		}
		rest = append(rest, w)
	}
	return rest
}

// fill puts the group into the transaction, as far as preconditions hold and there is space. An error is one of the
// whole transaction.
func (r *round) fill(ctx context.Context, group []*waiter) error {
	r.rest = group
	// One after the other, and in order, so that no two transactions wait for each other's counters.
	for _, counter := range group[0].orders {
		if err := r.pass(ctx, counter); err != nil {
			return err
		}
	}
	// A lock may have been waited for, so its timestamp may be long before it was held. The clock is asked at the same
	// time as the stores.
	held := r.e.store.GetOracle().GetTimestampAsync(ctx, &oracle.Option{TxnScope: oracle.GlobalTxnScope})
	err := r.checkTogether(ctx, group)
	ts, late := held.Wait()
	if late != nil && err == nil {
		ts, err = r.e.now(ctx) // which asks again while PD elects a leader
	}
	if err != nil {
		return err
	}
	r.held = timeOf(ts)
	for len(r.rest) > 0 {
		if r.bytes > groupBytes || r.near {
			r.again, r.rest = append(r.again, r.rest...), nil
			return nil
		}
		w := r.rest[0]
		refused, err := r.take(ctx, w)
		if err != nil {
			return err
		}
		r.rest = r.rest[1:]
		switch {
		case errors.Is(refused, errAlone):
			r.again = append(r.again, w)
		case refused != nil:
			r.refused = append(r.refused, refusal{w, refused})
		default:
			r.in = append(r.in, w)
		}
	}
	return nil
}

// checkTogether locks what all batches of a group have read, as of the first mark: one request instead of one for each
// batch. If anything has changed since, each batch is looked at for itself, in the order of marks: so a lock that the
// client gives back late, because it was taken together with one that failed, is older than the one that replaces it.
// For that, everything is locked as of the timestamp before the first mark: a mark is a timestamp that nobody else has
// got, so nothing was committed between the two.
func (r *round) checkTogether(ctx context.Context, group []*waiter) error {
	if len(group) < 2 {
		return nil
	}
	var reads [][]byte
	var first kv.Mark
	for _, w := range group {
		if len(w.reads) > 0 && len(reads) == 0 {
			first = w.since
		}
		reads = append(reads, w.reads...)
	}
	if first == 0 { // the batch will be told for itself
		return nil
	}
	err := r.check(ctx, first-1, reads)
	if fault.KindOf(err) == fault.Conflict {
		return nil
	}
	return err
}

// errAlone sends a batch to a transaction of its own.
var errAlone = errors.New("the batch needs a transaction of its own")

// take puts one batch into the transaction, or says why it is refused. err is a failure of the transaction.
func (r *round) take(ctx context.Context, w *waiter) (refused, err error) {
	if err := r.check(ctx, w.since, w.reads); err != nil {
		return ofBatch(err)
	}
	if len(w.orders) == 0 {
		if err := r.lockChanges(ctx, w); err != nil {
			return ofBatch(err)
		}
	}
	var late [][]byte
	var counters map[string][]byte
	if refused := w.use(func(b *kv.Batch) (err error) {
		b.Time = r.held
		counters, err = r.place(b, w.size)
		for _, key := range b.Reads[len(w.reads):] {
			late = append(late, r.e.space.data(key))
		}
		return err
	}); refused != nil {
		return refused, nil
	}
	if err := r.check(ctx, w.since, late); err != nil {
		return ofBatch(err)
	}
	refused = w.use(func(b *kv.Batch) error {
		if !b.Before.IsZero() {
			// A bound is one of the whole transaction. One that is near keeps others out, so that they do not fail with
			// it.
			if w.alone = w.alone || r.isNear(b.Before); w.alone && len(r.in) > 0 {
				b.Ops, b.Reads, b.Before = b.Ops[:w.ops], b.Reads[:len(w.reads)], w.before
				return errAlone
			}
			r.near = w.alone
			r.limit(b.Before)
		}
		w.begun = true
		for key, value := range counters {
			r.counters[key] = value
		}
		err = r.put(b.Ops) // of the transaction, because some of the changes may be in it
		return nil
	})
	return refused, err
}

// isNear reports whether the transaction might well be committed as late as a bound. Most bounds are deadlines of
// documents, and far: the round gives up long before, unless the cluster's clock takes a step.
func (r *round) isNear(bound time.Time) bool {
	return bound.Before(timeOf(r.start).Add(2 * (r.e.options.Timeout + slack)))
}

// ofBatch tells a fault, which concerns one batch, from an error of the client, which concerns the transaction.
func ofBatch(err error) (refused, failure error) {
	if isFault(err) {
		return err, nil
	}
	return nil, err
}

func isFault(err error) bool {
	_, ok := errors.AsType[*fault.Error](err)
	return ok
}

// lockChanges locks the keys that a batch without a counter changes: no counter keeps others away from them, and a
// write without a lock would remove the lock of another transaction and go over it.
func (r *round) lockChanges(ctx context.Context, w *waiter) error {
	var keys [][]byte
	if err := w.use(func(b *kv.Batch) error {
		for i := range b.Ops {
			full := r.e.space.data(b.Ops[i].Key)
			if _, held := r.locked[string(full)]; !held {
				keys = append(keys, full)
			}
		}
		return nil
	}); err != nil || len(keys) == 0 {
		return err
	}
	_, err := r.lockNow(ctx, false, keys)
	return err
}

// place runs the orders of a batch, in their own order, and returns the counters behind them.
func (r *round) place(b *kv.Batch, size local.Tally) (counters map[string][]byte, err error) {
	before := len(b.Ops)
	counters = map[string][]byte{}
	for i := range b.Orders {
		order := b.Orders[i]
		full := string(r.e.space.data(order.Key))
		last, ok := counters[full]
		if !ok {
			last = r.counters[full]
		}
		if last != nil {
			last = append([]byte{}, last...)
		}
		next, err := order.Place(last, b)
		if err != nil {
			return nil, err
		}
		b.Set(order.Key, next)
		counters[full] = append([]byte{}, next...)
	}
	if err := size.Add(b.Ops[before:]); err != nil {
		return nil, err
	}
	return counters, checkKeys(b.Ops[before:])
}

// finish answers a round that has ended with err, an error of the whole transaction.
func (r *round) finish(ctx context.Context, err error) {
	for _, f := range r.refused {
		f.w.answer(f.err)
	}
	if err == nil || isFault(err) && fault.KindOf(err) == fault.Undetermined {
		answerAll(r.in, err)
		return
	}
	if r.late.Load() && len(r.in) > 1 { // the bound of one of them: each for itself, then
		for _, w := range r.in {
			w.alone = true
			if err := w.reset(); err != nil {
				w.answer(err)
				continue
			}
			r.again = append(r.again, w)
		}
		answerAll(r.rest, err)
		return
	}
	if r.full.Load() {
		err = storeFull(err, r.frees)
	}
	failed := append(r.in, r.rest...)
	mayPass := lost(err) || r.aborted.Load()
	for _, w := range failed {
		w.tries++
		switch {
		case isFault(err):
			w.answer(err)
		case !mayPass:
			w.answer(unavailable(ctx, err, "the cluster cannot write; nothing is written"))
		case w.depends && w.tries >= maxTries:
			w.answer(local.Conflict())
		default:
			if err := w.reset(); err != nil {
				w.answer(err)
				continue
			}
			r.again = append(r.again, w)
		}
	}
	if mayPass && len(r.again) > 0 {
		// The others are about to finish. An error means that ctx has ended, which the next round notices.
		_ = clock.Pause(ctx, time.Duration(r.again[0].tries)*time.Millisecond)
	}
}
