package store

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/pdpb"
)

// collect frees what no read at or after the cluster's safe point can see,
// until the context ends. The safe point moves only if a client moves it.
func (s *server) collect(ctx context.Context) {
	done := uint64(0)
	tick := time.NewTicker(collecting)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		resp, err := s.placement.pd.GetGCSafePoint(ctx, &pdpb.GetGCSafePointRequest{Header: s.placement.header()})
		if err != nil || resp.SafePoint <= done {
			continue // the placement driver may be down, and is asked again
		}
		if err := s.free(resp.SafePoint); err != nil {
			panic(err) // the disk is broken
		}
		done = resp.SafePoint
	}
}

// free deletes versions that are older than another one at or before the safe
// point, and deleted keys; tikv: src/storage/mvcc/txn.rs, gc.
func (s *server) free(safePoint uint64) error {
	snapshot := s.disk.at(0)
	defer snapshot.Close()
	it, err := space(snapshot, writeSpace, nil, nil)
	if err != nil {
		return err
	}
	defer it.Close()
	var last string // the key whose newest visible version has been seen
	seen := false
	return s.disk.write(func(b *pebble.Batch, _ uint64) error {
		for ok := it.First(); ok; ok = it.Next() {
			key, ts, err := userKey(it.Key())
			if err != nil {
				return err
			}
			if string(key) != last {
				last, seen = string(key), false
			}
			if ts > safePoint {
				continue
			}
			v, err := versionAt(it)
			if err != nil {
				return err
			}
			if v.op == kvrpcpb.Op_Put && !seen {
				seen = true
				continue
			}
			if v.op != kvrpcpb.Op_Lock {
				seen = true
			}
			if err := b.Delete(it.Key(), nil); err != nil {
				return err
			}
		}
		return it.Error()
	})
}
