package store

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// noWait is a WaitTimeout; client-go: kv/kv.go, LockNoWait.
const noWait = -1

// acquire locks keys for a transaction that writes them later. It waits for
// other locks, at most longestWait; tikv: src/storage/txn/actions/
// acquire_pessimistic_lock.rs.
func (s *server) acquire(ctx context.Context, req *kvrpcpb.PessimisticLockRequest) (
	*kvrpcpb.PessimisticLockResponse, error,
) {
	patience := longestWait
	if asked := time.Duration(req.WaitTimeout) * time.Millisecond; req.WaitTimeout > 0 {
		patience = min(patience, asked)
	}
	var tickets []<-chan struct{}
	for _, m := range req.Mutations { // before the look, so that none is missed
		tickets = append(tickets, s.waiters.ticket(m.Key))
	}
	resp, inTheWay, at, err := s.tryAcquire(req)
	if inTheWay == nil || req.WaitTimeout == noWait {
		return resp, err
	}
	called, failure := s.waiters.wait(ctx, tickets[at], req.StartVersion, inTheWay, patience)
	if failure != nil {
		return nil, failure
	}
	if !called {
		return nil, err
	}
	// A waiter is not given the lock: it is told to try again, at a later
	// timestamp; tikv: src/storage/lock_manager/lock_waiting_queue.rs.
	return nil, conflict(req.ForUpdateTs, &version{startTS: inTheWay.LockVersion, commitTS: s.disk.seenTS()},
		inTheWay.Key, req.PrimaryLock, kvrpcpb.WriteConflict_PessimisticRetry)
}

// tryAcquire fails with the lock in the way, and which mutation it is in the
// way of, if there is one.
func (s *server) tryAcquire(req *kvrpcpb.PessimisticLockRequest) (
	resp *kvrpcpb.PessimisticLockResponse, inTheWay *lock, at int, err error,
) {
	keys := make([][]byte, len(req.Mutations))
	for i, m := range req.Mutations {
		keys[i] = m.Key
	}
	defer s.latches.hold(keys...)()
	resp = new(kvrpcpb.PessimisticLockResponse)
	var todo []*lock
	for i, m := range req.Mutations {
		old, err := s.mayAcquire(req, m)
		if err != nil {
			if r := (*refusal)(nil); errors.As(err, &r) && r.Locked != nil {
				return nil, &lock{LockInfo: *r.Locked}, i, err
			}
			return nil, nil, i, err
		}
		value, exists, err := valueAt(s.disk.db, m.Key, math.MaxUint64)
		if err != nil {
			return nil, nil, i, err
		}
		if m.Assertion == kvrpcpb.Assertion_NotExist && exists {
			return nil, nil, i, refuse(kvrpcpb.KeyError{AlreadyExist: &kvrpcpb.AlreadyExist{Key: m.Key}})
		}
		if req.ReturnValues {
			resp.Values = append(resp.Values, value)
		}
		if req.ReturnValues || req.CheckExistence {
			resp.NotFounds = append(resp.NotFounds, !exists)
		}
		if req.LockOnlyIfExists && !exists || old != nil && old.LockForUpdateTs >= req.ForUpdateTs {
			continue
		}
		l := &lock{LockInfo: kvrpcpb.LockInfo{
			PrimaryLock: req.PrimaryLock, LockVersion: req.StartVersion, Key: m.Key, LockTtl: req.LockTtl,
			LockType: kvrpcpb.Op_PessimisticLock, LockForUpdateTs: req.ForUpdateTs, MinCommitTs: req.MinCommitTs,
		}}
		if old != nil {
			l.LockTtl, l.MinCommitTs = max(l.LockTtl, old.LockTtl), max(l.MinCommitTs, old.MinCommitTs)
		}
		todo = append(todo, l)
	}
	s.disk.sawTS(req.ForUpdateTs)
	return resp, nil, 0, s.disk.write(func(b *pebble.Batch, _ uint64) error {
		for _, l := range todo {
			if err := putLock(b, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// mayAcquire says why a key may not be locked, or returns the lock that the
// transaction has on it already.
func (s *server) mayAcquire(req *kvrpcpb.PessimisticLockRequest, m *kvrpcpb.Mutation) (*lock, error) {
	l, err := lockOf(s.disk.db, m.Key)
	if err != nil {
		return nil, err
	}
	if l != nil && l.LockVersion != req.StartVersion {
		return nil, locked(l)
	}
	if l != nil && !l.pessimistic() {
		return nil, abort("LockTypeNotMatch: %x", m.Key)
	}
	gone, err := rolledBack(s.disk.db, m.Key, req.StartVersion)
	if err != nil {
		return nil, err
	}
	if gone {
		return nil, abort("PessimisticLockRolledBack: %x", m.Key)
	}
	last, err := newest(s.disk.db, m.Key)
	if err != nil {
		return nil, err
	}
	if last != nil && last.startTS == req.StartVersion {
		return nil, again("Committed: %x", m.Key)
	}
	if last != nil && last.commitTS > req.ForUpdateTs {
		return nil, conflict(req.ForUpdateTs, last, m.Key, req.PrimaryLock, kvrpcpb.WriteConflict_PessimisticRetry)
	}
	return l, nil
}

// giveBack drops pessimistic locks of a transaction.
func (s *server) giveBack(req *kvrpcpb.PessimisticRollbackRequest) error {
	defer s.latches.hold(req.Keys...)()
	err := s.disk.write(func(b *pebble.Batch, _ uint64) error {
		for _, key := range req.Keys {
			l, err := lockOf(s.disk.db, key)
			if err != nil {
				return err
			}
			ours := l != nil && l.LockVersion == req.StartVersion && l.pessimistic()
			if !ours || l.LockForUpdateTs > req.ForUpdateTs {
				continue
			}
			if err := dropLock(b, key); err != nil {
				return err
			}
		}
		return nil
	})
	s.waiters.free(req.Keys...)
	return err
}

// heartbeat lengthens the life of a transaction and returns it, in
// milliseconds from its start.
func (s *server) heartbeat(req *kvrpcpb.TxnHeartBeatRequest) (ttl uint64, err error) {
	defer s.latches.hold(req.PrimaryLock)()
	l, err := lockOf(s.disk.db, req.PrimaryLock)
	if err != nil {
		return 0, err
	}
	if l == nil || l.LockVersion != req.StartVersion {
		return 0, again("TxnLockNotFound: %x", req.PrimaryLock)
	}
	if l.LockTtl >= req.AdviseLockTtl {
		return l.LockTtl, nil
	}
	l.LockTtl = req.AdviseLockTtl
	return l.LockTtl, s.disk.write(func(b *pebble.Batch, _ uint64) error { return putLock(b, l) })
}
