package store

import (
	"math"

	"github.com/cockroachdb/pebble/v2"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// prewrite locks all keys of a request with their values to be, or commits
// them at once; tikv: src/storage/txn/commands/prewrite.rs and
// actions/prewrite.rs.
func (s *server) prewrite(req *kvrpcpb.PrewriteRequest) (*kvrpcpb.PrewriteResponse, error) {
	keys := make([][]byte, len(req.Mutations))
	for i, m := range req.Mutations {
		keys[i] = m.Key
	}
	defer s.latches.hold(keys...)()
	resp := new(kvrpcpb.PrewriteResponse)

	// The client may not have heard of its own success.
	if len(keys) > 0 && (req.TryOnePc || req.UseAsyncCommit) {
		v, err := committed(s.disk.db, keys[0], req.StartVersion)
		if err != nil {
			return nil, err
		}
		if v != nil {
			resp.MinCommitTs = v.commitTS
			if req.TryOnePc {
				resp.OnePcCommitTs = v.commitTS
			}
			return resp, nil
		}
	}

	var todo []*lock
	least := req.MinCommitTs // of the transaction's commit
	for i, m := range req.Mutations {
		action := kvrpcpb.PrewriteRequest_SKIP_PESSIMISTIC_CHECK
		if i < len(req.PessimisticActions) {
			action = req.PessimisticActions[i]
		}
		old, err := s.mayPrewrite(req, i, action)
		if err != nil {
			return nil, err
		}
		if old != nil && !old.pessimistic() { // it came before
			least = max(least, old.MinCommitTs)
			if old.UseAsyncCommit {
				resp.MinCommitTs = max(resp.MinCommitTs, old.MinCommitTs)
			}
			continue
		}
		if m.Op == kvrpcpb.Op_CheckNotExists {
			continue
		}
		l := &lock{value: m.Value, LockInfo: kvrpcpb.LockInfo{
			PrimaryLock: req.PrimaryLock, LockVersion: req.StartVersion, Key: m.Key, LockTtl: req.LockTtl,
			TxnSize: req.TxnSize, LockType: m.Op, LockForUpdateTs: req.ForUpdateTs, MinCommitTs: req.MinCommitTs,
		}}
		if l.LockType == kvrpcpb.Op_Insert {
			l.LockType = kvrpcpb.Op_Put
		}
		if old != nil {
			l.LockTtl, l.MinCommitTs = max(l.LockTtl, old.LockTtl), max(l.MinCommitTs, old.MinCommitTs)
			least = max(least, l.MinCommitTs)
		}
		if string(m.Key) == string(req.PrimaryLock) {
			l.Secondaries = req.Secondaries
		}
		todo = append(todo, l)
	}

	freed := false
	err := s.disk.write(func(b *pebble.Batch, maxTS uint64) error {
		early := req.UseAsyncCommit || req.TryOnePc
		if early {
			least = max(least, maxTS+1, req.StartVersion+1, req.ForUpdateTs+1)
			if req.MaxCommitTs > 0 && least > req.MaxCommitTs {
				early = false // too late: an ordinary commit follows
				resp.MinCommitTs = 0
			}
		}
		for _, l := range todo {
			if early && req.TryOnePc {
				if err := commitLock(b, l, least); err != nil {
					return err
				}
				freed = true
				continue
			}
			if l.UseAsyncCommit = early && req.UseAsyncCommit; l.UseAsyncCommit {
				l.MinCommitTs = max(l.MinCommitTs, least)
			} else {
				l.Secondaries = nil
			}
			if err := putLock(b, l); err != nil {
				return err
			}
		}
		switch {
		case early && req.TryOnePc:
			resp.OnePcCommitTs = least
		case early && req.UseAsyncCommit:
			resp.MinCommitTs = max(resp.MinCommitTs, least)
		}
		return nil
	})
	if freed {
		s.waiters.free(keys...)
	}
	return resp, err
}

// mayPrewrite says why mutation i may not be written, or returns the lock that
// the transaction has on its key already.
func (s *server) mayPrewrite(
	req *kvrpcpb.PrewriteRequest, i int, action kvrpcpb.PrewriteRequest_PessimisticAction,
) (*lock, error) {
	m := req.Mutations[i]
	pessimistic := req.ForUpdateTs > 0
	checked := action == kvrpcpb.PrewriteRequest_DO_PESSIMISTIC_CHECK
	r := s.disk.db
	l, err := lockOf(r, m.Key)
	if err != nil {
		return nil, err
	}
	switch {
	case l != nil && l.LockVersion != req.StartVersion && checked:
		return nil, abort("PessimisticLockNotFound: %x is locked by %d", m.Key, l.LockVersion)
	case l != nil && l.LockVersion != req.StartVersion:
		if pessimistic {
			l.LockTtl = 0 // actions/prewrite.rs, lock_info: its owner must have lost it
		}
		return nil, locked(l)
	case l != nil && l.pessimistic() && !pessimistic:
		return nil, abort("LockTypeNotMatch: %x", m.Key)
	case l != nil:
		for _, c := range req.ForUpdateTsConstraints {
			if int(c.Index) == i && l.pessimistic() && c.ExpectedForUpdateTs != l.LockForUpdateTs {
				return nil, abort("PessimisticLockNotFound: %x was locked at %d", m.Key, l.LockForUpdateTs)
			}
		}
		return l, nil
	}
	gone, err := rolledBack(r, m.Key, req.StartVersion)
	if err != nil {
		return nil, err
	}
	last, err := newest(r, m.Key)
	if err != nil {
		return nil, err
	}
	newer := last != nil && last.commitTS > req.StartVersion
	switch {
	case gone && checked:
		return nil, abort("PessimisticLockNotFound: %x was rolled back", m.Key)
	case gone:
		return nil, conflict(req.StartVersion, &version{startTS: req.StartVersion, commitTS: req.StartVersion}, m.Key,
			req.PrimaryLock, kvrpcpb.WriteConflict_SelfRolledBack)
	case checked && newer: // a lock that got lost is replaced if nobody used the gap
		return nil, abort("PessimisticLockNotFound: %x was written at %d", m.Key, last.commitTS)
	case newer && !pessimistic:
		return nil, conflict(req.StartVersion, last, m.Key, req.PrimaryLock, kvrpcpb.WriteConflict_Optimistic)
	case newer && action == kvrpcpb.PrewriteRequest_DO_CONSTRAINT_CHECK:
		return nil, conflict(req.StartVersion, last, m.Key, req.PrimaryLock, kvrpcpb.WriteConflict_LazyUniquenessCheck)
	}
	if !checked && (m.Op == kvrpcpb.Op_Insert || m.Op == kvrpcpb.Op_CheckNotExists) {
		_, exists, err := valueAt(r, m.Key, math.MaxUint64)
		if err != nil {
			return nil, err
		}
		if exists {
			return nil, refuse(kvrpcpb.KeyError{AlreadyExist: &kvrpcpb.AlreadyExist{Key: m.Key}})
		}
	}
	return nil, nil
}
