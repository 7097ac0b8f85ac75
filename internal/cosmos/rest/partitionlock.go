package rest

import (
	"context"
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// partitionLocks makes scripts on the same partition run one after the other, once they have conflicted. Without it,
// many scripts that write the same document would repeat their work, and only one of them would succeed each time.
// The zero value is empty. It is safe for concurrent use.
type partitionLocks struct {
	mu     sync.Mutex
	queues map[lockKey]*queue
}

// A lockKey is a partition of a container.
type lockKey struct {
	container *catalog.Container
	partition string
}

// A queue is the lock of one partition.
type queue struct {
	free  chan struct{} // holds one value while the lock is free
	users int           // holder and waiters
}

func lockKeyOf(c *catalog.Container, partition []doc.Value) lockKey {
	var text []byte
	for _, v := range partition {
		text = doc.Query.AppendJSONValue(append(text, byte(v.Type)), v)
	}
	return lockKey{c, string(text)}
}

// locked reports whether a script holds the partition.
func (t *partitionLocks) locked(key lockKey) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queues[key] != nil
}

var errQueue = fault.New(fault.Conflict, "Other scripts are using the same documents of this partition. Try again.")

// lock waits until the partition is free, and returns the function that frees it. It fails with fault.Conflict if ctx
// ends first.
func (t *partitionLocks) lock(ctx context.Context, key lockKey) (back func(), err error) {
	q := t.join(key)
	select {
	case <-q.free:
		return func() {
			q.free <- struct{}{}
			t.leave(key, q)
		}, nil
	case <-ctx.Done():
		t.leave(key, q)
		return nil, errQueue
	}
}

func (t *partitionLocks) join(key lockKey) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[key]
	if q == nil {
		if t.queues == nil {
			t.queues = map[lockKey]*queue{}
		}
		q = &queue{free: make(chan struct{}, 1)}
		q.free <- struct{}{}
		t.queues[key] = q
	}
	q.users++
	return q
}

func (t *partitionLocks) leave(key lockKey, q *queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(t.queues, key)
	}
}
