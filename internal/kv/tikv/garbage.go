package tikv

import (
	"bytes"
	"context"
	"errors"
	"math"
	"time"

	client "github.com/tikv/client-go/v2/tikv"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// collector is PD's name for who moves the safe point. It is the one that TiDB's tools use, so that no two do.
const collector = "gc_worker"

// GC allows the cluster to forget every version that was overwritten before a time, and removes the chunks of large
// values that no key has any more. The time is at most Options.Retain ago, and moves back to what open snapshots of any
// process need, and other users of the cluster: kept is what it became. Without GC, nothing that was deleted or
// overwritten frees its space. The safe point is one of the whole cluster, and GC ends the locks below it wherever they
// are, so one process at a time calls it. Neither of the two waits for the other to succeed: with an error, kept may be
// set. It may be called again after a failure.
func (e *Engine) GC(ctx context.Context, before time.Time) (kept time.Time, err error) {
	if !e.calls.Enter() {
		return time.Time{}, local.Closed()
	}
	defer e.calls.Leave()
	kept, err = e.moveSafePoint(ctx, before)
	return kept, errors.Join(err, e.sweep(ctx))
}

func (e *Engine) moveSafePoint(ctx context.Context, before time.Time) (kept time.Time, err error) {
	now, err := e.within(ctx)
	if err != nil {
		return time.Time{}, err
	}
	safe := min(timestampFrom(before), timestampFrom(timeOf(now).Add(-e.options.Retain)))
	least, err := e.store.GetPDClient().UpdateServiceGCSafePoint(ctx, collector, math.MaxInt64, safe)
	if err != nil {
		return time.Time{}, unavailable(ctx, err, "the safe point cannot be moved")
	}
	// The locks go first: a lock below the safe point may belong to a version that is to stay.
	safe, err = e.store.GC(ctx, min(safe, least))
	if err != nil {
		return time.Time{}, unavailable(ctx, err, "the safe point cannot be moved")
	}
	return timeOf(safe), nil
}

// within is now with the time of one call.
func (e *Engine) within(ctx context.Context) (uint64, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	return e.now(ctx)
}

// sweep deletes the chunks of large values that their keys no longer have. No key can get one of them again. Each page
// of records is read as of its own moment, so that a long sweep reads nothing old.
func (e *Engine) sweep(ctx context.Context) error {
	from, to := e.space.bounds(recordKeys, nil, nil)
	for {
		now, err := e.within(ctx)
		if err != nil {
			return err
		}
		r := e.reader(now)
		records, err := r.page(ctx, from, to, false, largePage)
		if err != nil || len(records) == 0 {
			return err
		}
		if err := r.sweepPage(ctx, records); err != nil {
			return err
		}
		from = append(bytes.Clone(records[len(records)-1].key), 0)
	}
}

func (r *reader) sweepPage(ctx context.Context, records []pair) error {
	keys := make([][]byte, len(records))
	for i, record := range records {
		key, _, ok := decodeRecord(record.value)
		if !ok {
			return damaged()
		}
		keys[i] = r.e.space.data(key)
	}
	present, err := r.present(ctx, append([][]byte(nil), keys...))
	if err != nil {
		return err
	}
	for i, record := range records {
		var id identity
		copy(id[:], r.e.space.user(record.key))
		if stored := present[string(keys[i])]; len(stored) > 0 && stored[0] == chunked {
			if h, ok := decodeHeader(stored); !ok || h.id == id {
				continue
			}
		}
		if err := r.e.deleteChunks(ctx, record, id); err != nil {
			return err
		}
	}
	return nil
}

// present is batch with the time of one call.
func (r *reader) present(ctx context.Context, keys [][]byte) (map[string][]byte, error) {
	ctx, cancel := r.e.bounded(ctx)
	defer cancel()
	return r.batch(ctx, keys)
}

// deleteChunks deletes the chunks of a value that is gone, and its record, with the time of one call. Nobody else
// writes these keys, except another collector, who deletes them as well.
func (e *Engine) deleteChunks(ctx context.Context, record pair, id identity) error {
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	key, chunks, ok := decodeRecord(record.value)
	if !ok {
		return damaged()
	}
	now, err := e.now(ctx)
	if err != nil {
		return err
	}
	txn, err := e.store.Begin(client.WithStartTS(now))
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the cluster does not begin a transaction")
	}
	txn.SetVars(variables())
	freesSpace(txn)
	for i := range chunks {
		if err := txn.Delete(e.space.chunkKey(key, id, i)); err != nil {
			return fault.Wrap(fault.Internal, err, "a batch cannot be built")
		}
	}
	if err := txn.Delete(record.key); err != nil {
		return fault.Wrap(fault.Internal, err, "a batch cannot be built")
	}
	if err := txn.Commit(ctx); err != nil {
		return unavailable(ctx, err, "the chunks of an old value cannot be deleted")
	}
	return nil
}
