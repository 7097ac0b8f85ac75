package tikv

import (
	"bytes"
	"slices"
)

// Limits of the batches that share a transaction. TiKV does best with transactions below 4 MiB and 5,000 keys; a larger
// batch has one of its own.
const (
	groupBatches = 64
	groupBytes   = 4 << 20
	groupKeys    = 5_000
)

// A queue is the batches of this process that wait for a counter, in the order in which they came. While there are any,
// one goroutine commits them, as many at a time as fit. That goroutine is nobody's caller, so nobody works for the
// others longer than for himself.
type queue struct{ waiting []*waiter }

// enqueue adds a batch to the queue of its first counter.
func (e *Engine) enqueue(w *waiter) {
	counter := string(w.orders[0])
	e.mu.Lock()
	defer e.mu.Unlock()
	q, running := e.queues[counter]
	if !running {
		q = &queue{}
		e.queues[counter] = q
		e.commits.Go(func() { e.serve(counter, q) })
	}
	q.waiting = append(q.waiting, w)
}

// serve commits what waits for a counter until nothing does.
func (e *Engine) serve(counter string, q *queue) {
	var again []*waiter
	for {
		e.mu.Lock()
		q.waiting = append(again, q.waiting...)
		group := q.next()
		if len(group) == 0 {
			delete(e.queues, counter)
			e.mu.Unlock()
			return
		}
		e.mu.Unlock()
		again = e.commitGroup(group)
	}
}

// next takes the batches off the queue that share the next transaction: they pass the same counters, so that none of
// them waits for a lock that the others do not need.
func (q *queue) next() (group []*waiter) {
	bytes, keys := 0, 0
	for _, w := range q.waiting {
		bytes += w.size.Bytes + w.extra
		keys += w.size.Keys
		if len(group) > 0 && (!together(group[0], w) || bytes > groupBytes || keys > groupKeys) {
			break
		}
		if group = append(group, w); len(group) == groupBatches {
			break
		}
	}
	q.waiting = slices.Clone(q.waiting[len(group):])
	return group
}

// together reports whether two batches may share a transaction.
func together(a, b *waiter) bool {
	return !a.alone && !b.alone && a.frees == b.frees && slices.EqualFunc(a.orders, b.orders, bytes.Equal)
}
