package store

import (
	"bytes"
	"context"
	"iter"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Changes walks the feed of one range: its living documents in a part of the container, nil for all of it, whose last
// write has a sequence above after, in order of sequence. A document appears once, at its newest version; deleted and
// expired ones are not there. What it tells is durable (docs/decisions/0047-statements-that-share-a-sync.md). It fails
// with ErrRangeGone if the range was split since v.
func (s *Store) Changes(
	ctx context.Context, v catalog.View, rng uint16, scope access.Scope, after uint64,
) iter.Seq2[access.Document, error] {
	return func(yield func(access.Document, error) bool) {
		if err := s.changes(ctx, v, rng, scope, after, yield); err != nil && err != errStopped {
			yield(access.Document{}, err)
		}
	}
}

func (s *Store) changes(
	ctx context.Context, v catalog.View, number uint16, scope access.Scope, after uint64,
	yield func(access.Document, error) bool,
) error {
	if after+1 == 0 { // no sequence is above the highest one
		return nil
	}
	rng := v.Container.KeysOf(number)
	_, upper := rng.Bounds(keys.KindFeed)
	var prefix []byte
	if partition, ok := scope.(access.Partition); ok {
		prefix = v.Identity().AppendPartition(nil, partition)
	}
	snapshot, layout, err := s.snapshotOf(ctx, v.Container, v.State)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	if _, there := layout.RangeNumbered(number); !there {
		return ErrRangeGone
	}
	// Only now: what became visible after a sync, and before the snapshot, would be missing in it.
	if err := s.SyncRead(ctx); err != nil {
		return err
	}
	records := newFetcher(snapshot)
	ahead := &lookahead{ctx: ctx, records: &records, rng: rng, visit: func(_ []byte, number uint64) error {
		_, err := records.record(ctx, rng, number, func(h keys.Header, body doc.Doc) error {
			// A feed entry is deleted with its version, so within one snapshot it leads to exactly that version.
			if dead(v, h, body) || !selects(v.State, scope, prefix, body) {
				return nil
			}
			if !yield(document(v, number, h, body), nil) {
				return errStopped
			}
			return nil
		})
		return err
	}}
	err = walk(ctx, snapshot, rng.Feed(nil, after+1), upper, func(it kv.Iterator) error {
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		return ahead.see(nil, e.Number)
	})
	if err != nil {
		return err
	}
	return ahead.rest()
}

// selects reports whether a document is in a part of the container. prefix is the key
// form of a partition.
func selects(st *catalog.State, scope access.Scope, prefix []byte, body doc.Doc) bool {
	if scope == nil {
		return true
	}
	var room [256]byte
	partition := st.Identity().AppendPartitionOf(room[:0], body)
	if span, ok := scope.(*access.Span); ok {
		return partitionInSpan(st, partition, span)
	}
	return bytes.HasPrefix(partition, prefix)
}

// NewestIn is the newest sequence of a range of a view, 0 before its first write. It fails with ErrRangeGone if the
// range was split since.
func (s *Store) NewestIn(ctx context.Context, v catalog.View, rng uint16) (sequence uint64, err error) {
	err = s.whileThere(ctx, v, rng, func(r kv.Reader) error {
		counter, err := counterOf(ctx, r, v.Container.KeysOf(rng))
		sequence = counter.Sequence
		return err
	})
	return sequence, err
}

// whileThere calls read with what the view reads, and fails with ErrRangeGone if the range was split before that was
// over.
func (s *Store) whileThere(ctx context.Context, v catalog.View, rng uint16, read func(kv.Reader) error) error {
	view, err := s.open(ctx, v.Read)
	if err != nil {
		return err
	}
	if err := read(view.Reader); err != nil {
		return err
	}
	now, err := v.Container.Moved(ctx, v.State)
	if err != nil || now == nil {
		return err
	}
	if _, there := now.RangeNumbered(rng); !there {
		return ErrRangeGone
	}
	return nil
}

// Sequence is the newest sequence of a range, 0 before its first write and after its split.
func (s *Store) Sequence(ctx context.Context, c *catalog.Container, rng uint16) (uint64, error) {
	counter, err := counterOf(ctx, s.engine, c.KeysOf(rng))
	return counter.Sequence, err
}

func counterOf(ctx context.Context, r kv.Reader, rng keys.Range) (counter keys.Counter, err error) {
	var room [32]byte
	_, err = r.Get(ctx, rng.Order(room[:0]), func(value []byte) (err error) {
		if counter, err = keys.DecodeCounter(value); err != nil {
			return corrupt(err, "order counter")
		}
		return nil
	})
	return counter, err
}

// SequenceAt is the newest sequence of a range with a stamp of at most at: where its feed "after that second" begins.
// Stamps never fall as sequences rise, so it is found by halving.
//
// It fails with ErrRangeGone if the range was split since v.
func (s *Store) SequenceAt(
	ctx context.Context, v catalog.View, rng uint16, at expiry.Stamp,
) (sequence uint64, err error) {
	err = s.whileThere(ctx, v, rng, func(r kv.Reader) error {
		sequence, err = sequenceAt(ctx, r, v.Container.KeysOf(rng), at)
		return err
	})
	return sequence, err
}

func sequenceAt(ctx context.Context, r kv.Reader, rng keys.Range, at expiry.Stamp) (uint64, error) {
	counter, err := counterOf(ctx, r, rng)
	if err != nil || counter.Stamp <= at {
		return counter.Sequence, err
	}
	lower, upper := rng.Bounds(keys.KindFeed)
	it, err := r.Iterate(ctx, lower, upper)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	low, high := uint64(0), counter.Sequence // the answer is in [low, high)
	// A sequence may have no entry, since an entry goes with its version. Seek then lands on the next one, which serves
	// as well.
	for high-low > 1 {
		mid := low + (high-low)/2
		if !it.Seek(rng.Feed(nil, mid)) {
			high = mid
			continue
		}
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return 0, corrupt(err, "change feed entry")
		}
		if e.Stamp > at {
			high = mid
			continue
		}
		if low, err = keys.FeedSequence(it.Key()); err != nil {
			return 0, corrupt(err, "change feed entry")
		}
	}
	return low, it.Err()
}
