package store

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// commit ends a transaction on keys; tikv: src/storage/txn/actions/commit.rs.
func (s *server) commit(keys [][]byte, startTS, commitTS uint64) error {
	defer s.latches.hold(keys...)()
	err := s.disk.write(func(b *pebble.Batch, _ uint64) error {
		for _, key := range keys {
			l, err := lockOf(s.disk.db, key)
			if err != nil {
				return err
			}
			if l == nil || l.LockVersion != startTS {
				v, err := committed(s.disk.db, key, startTS)
				if err != nil {
					return err
				}
				if v == nil {
					return again("TxnLockNotFound: %d on %x", startTS, key)
				}
				continue // it came before
			}
			if commitTS < l.MinCommitTs {
				return refuse(kvrpcpb.KeyError{CommitTsExpired: &kvrpcpb.CommitTsExpired{
					StartTs: startTS, AttemptedCommitTs: commitTS, Key: key, MinCommitTs: l.MinCommitTs,
				}})
			}
			if err := commitLock(b, l, commitTS); err != nil {
				return err
			}
		}
		return nil
	})
	s.waiters.free(keys...)
	return err
}

// undo ends a transaction on keys without a trace of its writes.
func (s *server) undo(keys [][]byte, startTS uint64) error {
	defer s.latches.hold(keys...)()
	err := s.disk.write(func(b *pebble.Batch, _ uint64) error {
		for _, key := range keys {
			if err := s.undoOne(b, key, startTS); err != nil {
				return err
			}
		}
		return nil
	})
	s.waiters.free(keys...)
	return err
}

func (s *server) undoOne(b *pebble.Batch, key []byte, startTS uint64) error {
	l, err := lockOf(s.disk.db, key)
	if err != nil {
		return err
	}
	if l != nil && l.LockVersion == startTS {
		if err := dropLock(b, key); err != nil {
			return err
		}
		return rollback(b, key, startTS)
	}
	v, err := committed(s.disk.db, key, startTS)
	if err != nil {
		return err
	}
	if v != nil {
		return abort("Committed: %d on %x at %d", startTS, key, v.commitTS)
	}
	return rollback(b, key, startTS)
}

// physical is a timestamp's milliseconds.
func physical(ts uint64) uint64 { return ts >> 18 }

// status says how a transaction stands by its primary key, and ends it if its
// time is over; tikv: src/storage/txn/actions/check_txn_status.rs.
func (s *server) status(req *kvrpcpb.CheckTxnStatusRequest) (*kvrpcpb.CheckTxnStatusResponse, error) {
	s.disk.sawTS(req.LockTs)
	s.disk.sawTS(req.CurrentTs)
	s.disk.sawTS(req.CallerStartTs)
	defer s.latches.hold(req.PrimaryKey)()
	resp := new(kvrpcpb.CheckTxnStatusResponse)
	err := s.disk.write(func(b *pebble.Batch, _ uint64) error {
		l, err := lockOf(s.disk.db, req.PrimaryKey)
		if err != nil {
			return err
		}
		if l == nil || l.LockVersion != req.LockTs {
			return s.statusWithoutLock(b, req, resp)
		}
		if req.VerifyIsPrimary && !bytes.Equal(l.PrimaryLock, req.PrimaryKey) {
			return refuse(kvrpcpb.KeyError{PrimaryMismatch: &kvrpcpb.PrimaryMismatch{LockInfo: &l.LockInfo}})
		}
		resp.LockTtl, resp.LockInfo = l.LockTtl, &l.LockInfo
		switch {
		case l.UseAsyncCommit && !req.ForceSyncCommit:
			return nil
		case physical(l.LockVersion)+l.LockTtl < physical(req.CurrentTs):
			resp.LockTtl, resp.LockInfo = 0, nil
			if err := dropLock(b, req.PrimaryKey); err != nil {
				return err
			}
			if l.pessimistic() && req.ResolvingPessimisticLock {
				resp.Action = kvrpcpb.Action_TTLExpirePessimisticRollback
				return nil
			}
			resp.Action = kvrpcpb.Action_TTLExpireRollback
			return rollback(b, req.PrimaryKey, req.LockTs)
		}
		newest := req.CallerStartTs == ^uint64(0)
		if l.MinCommitTs > 0 && !newest && req.CallerStartTs >= l.MinCommitTs {
			l.MinCommitTs = max(req.CallerStartTs+1, req.CurrentTs)
			if err := putLock(b, l); err != nil {
				return err
			}
		}
		if newest || req.CallerStartTs > 0 && l.MinCommitTs > req.CallerStartTs {
			resp.Action = kvrpcpb.Action_MinCommitTSPushed
		}
		return nil
	})
	if resp.LockInfo == nil {
		s.waiters.free(req.PrimaryKey)
	}
	return resp, err
}

func (s *server) statusWithoutLock(
	b *pebble.Batch, req *kvrpcpb.CheckTxnStatusRequest, resp *kvrpcpb.CheckTxnStatusResponse,
) error {
	v, err := committed(s.disk.db, req.PrimaryKey, req.LockTs)
	if err != nil {
		return err
	}
	gone, err := rolledBack(s.disk.db, req.PrimaryKey, req.LockTs)
	switch {
	case err != nil:
		return err
	case v != nil:
		resp.CommitVersion = v.commitTS
		return nil
	case gone:
		return nil
	case !req.RollbackIfNotExist:
		return refuse(kvrpcpb.KeyError{TxnNotFound: &kvrpcpb.TxnNotFound{
			StartTs: req.LockTs, PrimaryKey: req.PrimaryKey,
		}})
	case req.ResolvingPessimisticLock:
		resp.Action = kvrpcpb.Action_LockNotExistDoNothing
		return nil
	}
	resp.Action = kvrpcpb.Action_LockNotExistRollback
	return rollback(b, req.PrimaryKey, req.LockTs)
}

// secondaries says how a transaction with a deferred commit stands by its
// other keys, and ends it where one is missing.
func (s *server) secondaries(req *kvrpcpb.CheckSecondaryLocksRequest) (*kvrpcpb.CheckSecondaryLocksResponse, error) {
	s.disk.sawTS(req.StartVersion)
	defer s.latches.hold(req.Keys...)()
	resp := new(kvrpcpb.CheckSecondaryLocksResponse)
	err := s.disk.write(func(b *pebble.Batch, _ uint64) error {
		for _, key := range req.Keys {
			l, err := lockOf(s.disk.db, key)
			if err != nil {
				return err
			}
			if l != nil && l.LockVersion == req.StartVersion && !l.pessimistic() {
				resp.Locks = append(resp.Locks, &l.LockInfo)
				continue
			}
			resp.Locks = nil
			v, err := committed(s.disk.db, key, req.StartVersion)
			if err != nil {
				return err
			}
			if v != nil {
				resp.CommitTs = v.commitTS
				return nil
			}
			return s.undoOne(b, key, req.StartVersion)
		}
		return nil
	})
	s.waiters.free(req.Keys...)
	return resp, err
}

// resolve ends a transaction on the keys where it still has locks: committed
// at commitTS, or undone where that is 0.
func (s *server) resolve(keys [][]byte, startTS, commitTS uint64) error {
	defer s.latches.hold(keys...)()
	err := s.disk.write(func(b *pebble.Batch, _ uint64) error {
		for _, key := range keys {
			l, err := lockOf(s.disk.db, key)
			if err != nil {
				return err
			}
			if l == nil || l.LockVersion != startTS {
				continue
			}
			if commitTS > 0 {
				err = commitLock(b, l, commitTS)
			} else {
				err = s.undoOne(b, key, startTS)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	s.waiters.free(keys...)
	return err
}
