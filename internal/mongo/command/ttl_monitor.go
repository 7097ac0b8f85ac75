package command

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A monitor gives the figures of MongoDB's TTL monitor. Nothing expires by it: every read leaves out documents that are
// dead, and the reaper frees their space. A pass begins ttlMonitorSleepSecs after the last one began. It ends, and is
// counted, when all documents that were dead at its beginning have been reclaimed, or after
// ttlMonitorSubPassTargetSecs.
// https://www.mongodb.com/docs/v7.0/core/index-ttl/
type monitor struct {
	s    *Server
	stop func()

	mu      sync.Mutex   // held also while behind looks
	last    expiry.Stamp // when the last pass began
	running bool         // it has not ended yet

	passes, subPasses atomic.Int64
}

// monitorEvery is how often the monitor looks at the clock.
const monitorEvery = time.Second

func (m *monitor) init(s *Server) {
	m.s, m.last = s, s.started.Unix()
	m.stop = s.o.Clock.Every(monitorEvery, func(now time.Time) { m.tick(now.Unix()) })
}

// tick continues the pass that is running, or begins one if it is time.
func (m *monitor) tick(now expiry.Stamp) {
	m.mu.Lock()
	due := m.running || now >= m.last+m.s.parameters.number(sleepSecs)
	m.mu.Unlock()
	if due {
		m.pass(m.s.Running, now)
	}
}

// pass begins a pass unless one is running, and ends it if nothing is left to reclaim.
func (m *monitor) pass(ctx context.Context, now expiry.Stamp) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.s.o.Catalog.DatesOn() {
		m.running, m.last = false, now
		return
	}
	if !m.running {
		m.running, m.last = true, now
		m.subPasses.Add(1)
	}
	if m.behind(ctx) && now < m.last+m.s.parameters.number(subPassTargetSecs) {
		return
	}
	m.running = false
	m.passes.Add(1)
}

// behind reports whether documents that were dead when the pass began are still on disk.
func (m *monitor) behind(ctx context.Context) bool {
	for _, c := range m.s.o.Catalog.AllContainers() {
		if c.State().Dialect != catalog.Mongo {
			continue
		}
		if waiting, err := m.s.o.Store.Waiting(ctx, c, m.last); err == nil && waiting {
			return true
		}
	}
	return false
}

// counts gives the numbers of passes and of subpasses.
func (m *monitor) counts() (passes, subPasses int64) {
	return m.passes.Load(), m.subPasses.Load()
}

// deleted is how many documents the reaper has reclaimed since the start.
func (s *Server) deleted() int64 {
	if s.o.Reclaimed == nil {
		return 0
	}
	return int64(s.o.Reclaimed())
}
