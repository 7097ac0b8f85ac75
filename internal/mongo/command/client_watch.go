package command

import (
	"time"

	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// stops fails when the request that runs has to stop.
func (c *connection) stops() error {
	c.mu.Lock()
	r := c.running
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.Stopped()
}

// holds counts what expressions of the request that runs hold. Its end gives back the rest.
func (c *connection) holds(n int64) error {
	if n < 0 {
		c.memory.Give(-n)
		return nil
	}
	return session.MemoryError(c.memory.Take(n))
}

// patience is how long a request runs before its client is watched, so that short ones pay nothing.
const patience = 50 * time.Millisecond

// Watch ends a request that has run for a while when its client leaves. Like MongoDB it lets writes come to their end.
// mongodb/mongo: src/mongo/db/operation_context.h, markKillOnClientDisconnect
func (r *request) Watch() {
	if r.watched != nil || r.c == nil || r.cancel == nil || r.command.needs&account.Write != 0 || r.Transaction != nil || r.Since.Elapsed()-r.Waited < patience {
		return
	}
	r.watched = r.c.watch(r.cancel)
}

// unwatch ends the watch before anybody else reads from the connection.
func (r *request) unwatch() {
	if r.watched != nil {
		r.watched()
		r.watched = nil
	}
}
