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

// Changes walks the living documents of a part of the container, nil for all of it,
// whose last write has a sequence above after, in order of sequence. A document
// appears once, at its newest version; deleted and expired ones are not there.
func (s *Store) Changes(
	ctx context.Context, v catalog.View, scope access.Scope, after uint64,
) iter.Seq2[access.Document, error] {
	return func(yield func(access.Document, error) bool) {
		if err := s.changes(ctx, v, scope, after, yield); err != nil && err != errStopped {
			yield(access.Document{}, err)
		}
	}
}

func (s *Store) changes(
	ctx context.Context, v catalog.View, scope access.Scope, after uint64, yield func(access.Document, error) bool,
) error {
	if after+1 == 0 { // no sequence is above the highest one
		return nil
	}
	rng := v.Container.Keys()
	_, upper := rng.Bounds(keys.KindFeed)
	var prefix []byte
	if partition, ok := scope.(access.Partition); ok {
		prefix = v.Identity().AppendPartition(nil, partition)
	}
	snapshot, err := s.engine.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	return walk(ctx, snapshot, rng.Feed(nil, after+1), upper, func(it kv.Iterator) error {
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		_, err = getRecord(ctx, snapshot, rng.Record(nil, e.Number), func(h keys.Header, body doc.Doc) error {
			// A feed entry is deleted with its version, so within one snapshot it leads to exactly that version.
			if dead(v, h, body) || !selects(v.State, scope, prefix, body) {
				return nil
			}
			if !yield(document(v, e.Number, h, body), nil) {
				return errStopped
			}
			return nil
		})
		return err
	})
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

// Sequence is the newest sequence of the container, 0 before the first write.
func (s *Store) Sequence(ctx context.Context, c *catalog.Container) (uint64, error) {
	counter, err := counterOf(ctx, s.engine, c)
	return counter.Sequence, err
}

func counterOf(ctx context.Context, r kv.Reader, c *catalog.Container) (counter keys.Counter, err error) {
	var room [32]byte
	_, err = r.Get(ctx, c.Keys().Order(room[:0]), func(value []byte) (err error) {
		if counter, err = keys.DecodeCounter(value); err != nil {
			return corrupt(err, "order counter")
		}
		return nil
	})
	return counter, err
}

// SequenceAt is the newest sequence with a stamp of at most at: where a feed "after that second" begins. Stamps never
// fall as sequences rise, so it is found by halving.
func (s *Store) SequenceAt(ctx context.Context, v catalog.View, at expiry.Stamp) (uint64, error) {
	return sequenceAt(ctx, s.engine, v, at)
}

func sequenceAt(ctx context.Context, r kv.Reader, v catalog.View, at expiry.Stamp) (uint64, error) {
	counter, err := counterOf(ctx, r, v.Container)
	if err != nil || counter.Stamp <= at {
		return counter.Sequence, err
	}
	rng := v.Container.Keys()
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
