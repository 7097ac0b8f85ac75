// Package monitor is what an operator looks at: counts and times of requests, the newest lines of the log, running
// operations, the sizes of containers and indexes, and the passes of the TTL monitor. It counts as the requests go by,
// so that none of the commands that show it has to read more than it shows. It answers no command by itself, and ends
// no operation.
package monitor

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/slow"
)

// A Monitor observes the requests of one server. Its methods are safe for concurrent use, unless they say otherwise.
type Monitor struct {
	Node    *session.Node
	Started time.Time

	Requests Requests
	Usage    Usage
	Log      RecentLog
	TTL      TTL
	Writes   Writes
	Profiler Profiler
	Failures Failures
	Traffic  Traffic // of connections that are over

	SlowLog *slow.Log // from which duration on a request is logged, and those that were; not nil
}

// Slow is how long a request takes that is logged with its plan; 0 logs none.
func (m *Monitor) Slow() time.Duration { return m.SlowLog.Mongo.Get() }

// SetSlow changes what Slow gives.
func (m *Monitor) SetSlow(d time.Duration) { m.SlowLog.Mongo.Set(d) }

// Writes count documents inserted, and statements of updates and deletes, since the start.
type Writes struct{ Insert, Update, Delete atomic.Int64 }

// Keep makes a logger that also keeps its lines for clients.
func (m *Monitor) Keep(log *slog.Logger) *slog.Logger { return m.Log.keep(log) }
