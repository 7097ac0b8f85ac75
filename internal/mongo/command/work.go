package command

import (
	"time"

	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// work is the meter of the request's work: expressions, filters, updates and stages spend from it while they are
// compiled and while they run. It asks from time to time whether the request has to stop.
func (r *request) work() *work.Meter {
	if r.meter.Stop == nil {
		r.meter.Stop = r.stopped
		if r.c != nil && r.c.stopped != nil {
			r.meter.Stop, r.meter.Hold = r.c.stopped, r.c.hold // without an allocation for each request
		}
	}
	return &r.meter
}

// stops fails if the running request has to stop.
func (c *connection) stops() error {
	c.mu.Lock()
	r := c.running
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.stopped()
}

// holds counts the memory that expressions of the running request hold. The end of the request gives back the rest.
func (c *connection) holds(n int64) error {
	if n < 0 {
		c.memory.Give(-n)
		return nil
	}
	return memoryErr(c.memory.Take(n))
}

// meter counts the work of a cursor for the request that reads it at the moment.
func (p *piping) meter() *work.Meter {
	return &work.Meter{
		Stop: func() error { return p.now.stopped() },
		Hold: func(n int64) error {
			if n < 0 {
				p.holding.Give(-n)
				return nil
			}
			return p.holding.Take(n)
		},
	}
}

// patience is how long a request runs before its client is watched, so that watching costs short requests nothing.
const patience = 50 * time.Millisecond

// watch ends a request that has run for a while if its client leaves. As in MongoDB, writes are not ended.
// mongodb/mongo: src/mongo/db/operation_context.h, markKillOnClientDisconnect
func (r *request) watch() {
	if r.watched != nil || r.c == nil || r.cancel == nil || r.command.needs&account.Write != 0 || r.tx != nil ||
		r.since.Elapsed()-r.waited < patience {
		return
	}
	r.watched = r.c.watch(r.cancel)
}

// unwatch stops watching before anything else reads from the connection.
func (r *request) unwatch() {
	if r.watched != nil {
		r.watched()
		r.watched = nil
	}
}
