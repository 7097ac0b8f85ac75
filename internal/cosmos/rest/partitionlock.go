package rest

import (
	"context"
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// turns lets scripts that were in each other's way go one after the other. Without it many
// that write the same document would run again and again, of which one each time for
// something. The zero value is empty. It is safe for concurrent use.
type turns struct {
	mu     sync.Mutex
	queues map[turnKey]*queue
}

// A turnKey is a partition of a container.
type turnKey struct {
	container *catalog.Container
	partition string
}

// A queue is those who wait for a partition, and who has it.
type queue struct {
	free  chan struct{} // holds one when nobody has it
	users int
}

func turnOf(c *catalog.Container, partition []doc.Value) turnKey {
	var text []byte
	for _, v := range partition {
		text = doc.Query.AppendJSONValue(append(text, byte(v.Type)), v)
	}
	return turnKey{c, string(text)}
}

// contended reports whether anybody has the partition.
func (t *turns) contended(key turnKey) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queues[key] != nil
}

var errQueue = fault.New(fault.Conflict, "Other scripts work on the same documents of this partition. Try again.")

// take waits until the partition is free, and gives back the function that frees it
// again. fault.Conflict when ctx ends first.
func (t *turns) take(ctx context.Context, key turnKey) (back func(), err error) {
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

func (t *turns) join(key turnKey) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[key]
	if q == nil {
		if t.queues == nil {
			t.queues = map[turnKey]*queue{}
		}
		q = &queue{free: make(chan struct{}, 1)}
		q.free <- struct{}{}
		t.queues[key] = q
	}
	q.users++
	return q
}

func (t *turns) leave(key turnKey, q *queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(t.queues, key)
	}
}
