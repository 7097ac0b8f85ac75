package monitor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A TTL gives the figures of MongoDB's TTL monitor. Nothing expires by it: every read leaves out documents that are
// dead, and the reaper frees their space. A pass begins ttlMonitorSleepSecs after the last one began. It ends, and is
// counted, when all documents that were dead at its beginning have been reclaimed, or after
// ttlMonitorSubPassTargetSecs.
// https://www.mongodb.com/docs/v7.0/core/index-ttl/
type TTL struct {
	n     *session.Node
	gate  Gate
	pause func() int64 // seconds from the beginning of a pass to that of the next one
	limit func() int64 // seconds that a pass may take
	stop  func()

	mu      sync.Mutex   // held also while behind looks
	last    expiry.Stamp // when the last pass began
	running bool         // it has not ended yet

	passes, subPasses atomic.Int64
}

// monitorEvery is how often the monitor looks at the clock.
const monitorEvery = time.Second

// A Gate is passed by what uses the data of a server: while it is closed, the data may be replaced.
type Gate interface {
	Enter()
	Leave()
}

// Start begins the passes of a server. pause is how many seconds after the beginning of a pass the next one begins, and
// limit how many a pass may take. Both may change.
func (m *TTL) Start(n *session.Node, started expiry.Stamp, gate Gate, pause, limit func() int64) {
	m.n, m.last, m.gate, m.pause, m.limit = n, started, gate, pause, limit
	m.stop = n.Clock.Every(monitorEvery, func(now time.Time) { m.tick(now.Unix()) })
}

// Stop ends them.
func (m *TTL) Stop() { m.stop() }

// tick continues the pass that is running, or begins one if it is time.
func (m *TTL) tick(now expiry.Stamp) {
	m.gate.Enter()
	defer m.gate.Leave()
	m.mu.Lock()
	due := m.running || now >= m.last+m.pause()
	m.mu.Unlock()
	if due {
		m.Pass(m.n.Running, now)
	}
}

// Reset begins at an instant that may be before the last one.
func (m *TTL) Reset(now expiry.Stamp) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.running = now, false
}

// Pass begins a pass unless one is running, and ends it if nothing is left to reclaim.
func (m *TTL) Pass(ctx context.Context, now expiry.Stamp) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.n.Catalog.DatesOn() {
		m.running, m.last = false, now
		return
	}
	if !m.running {
		m.running, m.last = true, now
		m.subPasses.Add(1)
	}
	if m.behind(ctx) && now < m.last+m.limit() {
		return
	}
	m.running = false
	m.passes.Add(1)
}

// behind reports whether documents that were dead when the pass began are still on disk.
func (m *TTL) behind(ctx context.Context) bool {
	for _, c := range m.n.Catalog.AllContainers() {
		if c.State().Dialect != catalog.Mongo {
			continue
		}
		if waiting, err := m.n.Store.Waiting(ctx, c, m.last); err == nil && waiting {
			return true
		}
	}
	return false
}

// counts gives the numbers of passes and of subpasses.
func (m *TTL) counts() (passes, subPasses int64) {
	return m.passes.Load(), m.subPasses.Load()
}
