package store

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// latches put the commands that write in order, key by key.
type latches [1024]sync.Mutex

func hash(key []byte) uint64 {
	h := fnv.New64a()
	h.Write(key)
	return h.Sum64()
}

// hold waits until no other command has any of the keys. The caller calls
// release.
func (l *latches) hold(keys ...[]byte) (release func()) {
	slots := make([]int, 0, len(keys))
	for _, k := range keys {
		slots = append(slots, int(hash(k)%uint64(len(l))))
	}
	slices.Sort(slots)
	slots = slices.Compact(slots)
	for _, s := range slots {
		l[s].Lock()
	}
	return func() {
		for _, s := range slots {
			l[s].Unlock()
		}
	}
}

// longestWait is how long a request waits for a lock before its client looks
// who has it; tikv: wait-for-lock-timeout.
const longestWait = time.Second

// waiters wait for pessimistic locks.
type waiters struct {
	mu     sync.Mutex
	freed  map[string]chan struct{}               // by key; closed when its lock goes
	behind map[uint64]map[uint64]kvrpcpb.LockInfo // transaction, whom it waits for: the lock
}

func newWaiters() *waiters {
	return &waiters{freed: map[string]chan struct{}{}, behind: map[uint64]map[uint64]kvrpcpb.LockInfo{}}
}

// ticket is closed when a lock on key goes after this call.
func (w *waiters) ticket(key []byte) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.freed[string(key)]
	if c == nil {
		c = make(chan struct{})
		w.freed[string(key)] = c
	}
	return c
}

// free wakes whoever waits for any of the keys.
func (w *waiters) free(keys ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range keys {
		if c := w.freed[string(k)]; c != nil {
			close(c)
			delete(w.freed, string(k))
		}
	}
}

// wait returns when the ticket is called or the time is over, and says which;
// with an error when the two transactions wait for each other.
func (w *waiters) wait(
	ctx context.Context, ticket <-chan struct{}, txn uint64, l *lock, d time.Duration,
) (bool, error) {
	if err := w.enter(txn, l); err != nil {
		return false, err
	}
	defer w.leave(txn, l)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ticket:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (w *waiters) enter(txn uint64, l *lock) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if blocking, ok := w.path(l.LockVersion, txn, map[uint64]bool{}); ok {
		return refuse(kvrpcpb.KeyError{Deadlock: &kvrpcpb.Deadlock{
			LockTs: l.LockVersion, LockKey: l.Key, DeadlockKeyHash: hash(blocking.Key),
		}})
	}
	if w.behind[txn] == nil {
		w.behind[txn] = map[uint64]kvrpcpb.LockInfo{}
	}
	w.behind[txn][l.LockVersion] = l.LockInfo
	return nil
}

func (w *waiters) leave(txn uint64, l *lock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.behind[txn], l.LockVersion)
	if len(w.behind[txn]) == 0 {
		delete(w.behind, txn)
	}
}

// path says whether from waits, directly or not, for to, and for which lock.
func (w *waiters) path(from, to uint64, seen map[uint64]bool) (kvrpcpb.LockInfo, bool) {
	seen[from] = true
	for next, l := range w.behind[from] {
		if next == to {
			return l, true
		}
		if !seen[next] {
			if _, ok := w.path(next, to, seen); ok {
				return l, true
			}
		}
	}
	return kvrpcpb.LockInfo{}, false
}
