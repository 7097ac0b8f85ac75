package store

import (
	"bytes"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/metapb"
)

// A look is one read: when it is as of, and the transactions that its client
// knows to be after it or before it.
type look struct {
	r         *pebble.Snapshot
	ts        uint64
	resolved  []uint64 // not committed at ts: their locks are stepped over
	committed []uint64 // committed before ts: their locks are read
}

func (s *server) look(ts uint64, c *kvrpcpb.Context) *look {
	return &look{r: s.disk.at(ts), ts: ts, resolved: c.GetResolvedLocks(), committed: c.GetCommittedLocks()}
}

func (l *look) close() { l.r.Close() }

// through says whether a lock lets the read pass, and whether the read takes
// its value; tikv: components/txn_types/src/lock.rs, check_ts_conflict_si.
func (l *look) through(k *lock) (take bool, err error) {
	writes := k.LockType == kvrpcpb.Op_Put || k.LockType == kvrpcpb.Op_Del
	primary := l.ts == math.MaxUint64 && bytes.Equal(k.Key, k.PrimaryLock) && !k.UseAsyncCommit
	switch {
	case !writes, k.LockVersion > l.ts, k.MinCommitTs > l.ts, primary, slices.Contains(l.resolved, k.LockVersion):
		return false, nil
	case slices.Contains(l.committed, k.LockVersion):
		return true, nil
	}
	return false, locked(k)
}

// value returns nil for a key that does not exist.
func (l *look) value(key []byte) ([]byte, error) {
	k, err := lockOf(l.r, key)
	if err != nil {
		return nil, err
	}
	if k != nil {
		take, err := l.through(k)
		if err != nil {
			return nil, err
		}
		if take {
			return k.value, nil
		}
	}
	v, _, err := valueAt(l.r, key, l.ts)
	return v, err
}

// scan reads at most limit keys of a region. Backwards, start is the end that
// is not included. A lock in the way takes the place of its key.
func (l *look) scan(region *metapb.Region, req *kvrpcpb.ScanRequest) ([]*kvrpcpb.KvPair, error) {
	from, to := req.StartKey, req.EndKey
	if req.Reverse {
		from, to = to, from
	}
	var sides [2]*pebble.Iterator // versions, locks
	for i, first := range []byte{writeSpace, lockSpace} {
		lower, upper := bounds(region, first)
		if at := lockKey(from); len(from) > 0 && bytes.Compare(at[1:], lower[1:]) > 0 {
			lower = append([]byte{first}, at[1:]...)
		}
		if at := lockKey(to); len(to) > 0 && (upper == nil || bytes.Compare(at[1:], upper[1:]) < 0) {
			upper = append([]byte{first}, at[1:]...)
		}
		it, err := space(l.r, first, lower, upper)
		if err != nil {
			return nil, err
		}
		defer it.Close()
		sides[i] = it
		if req.Reverse {
			it.Last()
		} else {
			it.First()
		}
	}
	var pairs []*kvrpcpb.KvPair
	for len(pairs) < int(req.Limit) {
		key, err := nextKey(sides, req.Reverse)
		if err != nil || key == nil {
			return pairs, err
		}
		value, err := l.value(key)
		if failure := keyError(err); failure != nil && failure.Locked == nil {
			return nil, err
		} else if failure != nil {
			pairs = append(pairs, &kvrpcpb.KvPair{Error: failure, Key: key})
		} else if value != nil {
			pair := &kvrpcpb.KvPair{Key: key, Value: value}
			if req.KeyOnly {
				pair.Value = nil
			}
			pairs = append(pairs, pair)
		}
	}
	return pairs, nil
}

// nextKey returns the nearer of the keys that the two iterators stand on, nil
// at their end, and moves both behind it.
func nextKey(sides [2]*pebble.Iterator, reverse bool) (next []byte, err error) {
	for _, it := range sides {
		if !it.Valid() {
			if err := it.Error(); err != nil {
				return nil, err
			}
			continue
		}
		key, _, err := userKey(it.Key())
		if err != nil {
			return nil, err
		}
		if order := bytes.Compare(key, next); next == nil || order < 0 && !reverse || order > 0 && reverse {
			next = key
		}
	}
	if next == nil {
		return nil, nil
	}
	for i, it := range sides {
		for it.Valid() {
			key, _, err := userKey(it.Key())
			if err != nil {
				return nil, err
			}
			if !bytes.Equal(key, next) {
				break
			}
			switch {
			case reverse && i == 0:
				it.SeekLT(writeKey(next, math.MaxUint64)) // before its newest version
			case reverse:
				it.Prev()
			case i == 0:
				it.SeekGE(past(next))
			default:
				it.Next()
			}
		}
	}
	return next, nil
}

// locks returns the region's locks of transactions that began at or before ts,
// at most limit of them; 0 is no limit.
func (s *server) locks(region *metapb.Region, start, end []byte, ts uint64, limit uint32) (
	found []*lock, err error,
) {
	snapshot := s.disk.at(0)
	defer snapshot.Close()
	lower, upper := bounds(region, lockSpace)
	if at := lockKey(start); len(start) > 0 && bytes.Compare(at, lower) > 0 {
		lower = at
	}
	if at := lockKey(end); len(end) > 0 && (upper == nil || bytes.Compare(at, upper) < 0) {
		upper = at
	}
	it, err := space(snapshot, lockSpace, lower, upper)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for ok := it.First(); ok && (limit == 0 || len(found) < int(limit)); ok = it.Next() {
		data, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		k, err := unmarshalLock(append([]byte{}, data...))
		if err != nil {
			return nil, err
		}
		if k.LockVersion <= ts {
			found = append(found, k)
		}
	}
	return found, it.Error()
}
