package command

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A monitor keeps the account that MongoDB's TTL monitor gives. Nothing expires through it:
// every read knows by itself what is dead, and the reaper frees the space. A pass begins when
// ttlMonitorSleepSecs have gone, and is over, and counted, when what was dead at its
// beginning is reclaimed, or after ttlMonitorSubPassTargetSecs.
// https://www.mongodb.com/docs/v7.0/core/index-ttl/
type monitor struct {
	s    *Server
	stop func()

	mu    sync.Mutex   // held through a look for what is left
	last  expiry.Stamp // when the last pass began
	under bool         // one is under way

	passes, subPasses atomic.Int64
}

// monitorEvery is how often the monitor looks at the clock.
const monitorEvery = time.Second

func (m *monitor) init(s *Server) {
	m.s, m.last = s, s.started.Unix()
	m.stop = s.o.Clock.Every(monitorEvery, func(now time.Time) { m.tick(now.Unix()) })
}

// tick goes on with the pass that is under way, or begins one when it is time.
func (m *monitor) tick(now expiry.Stamp) {
	m.mu.Lock()
	due := m.under || now >= m.last+m.s.parameters.number(sleepSecs)
	m.mu.Unlock()
	if due {
		m.pass(m.s.running, now)
	}
}

// pass begins a pass unless one is under way, and counts it if nothing is left to do.
func (m *monitor) pass(ctx context.Context, now expiry.Stamp) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.s.o.Catalog.DatesOn() {
		m.under, m.last = false, now
		return
	}
	if !m.under {
		m.under, m.last = true, now
		m.subPasses.Add(1)
	}
	if m.behind(ctx) && now < m.last+m.s.parameters.number(subPassTargetSecs) {
		return
	}
	m.under = false
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

// counts are how many passes and parts of passes there were.
func (m *monitor) counts() (passes, subPasses int64) {
	return m.passes.Load(), m.subPasses.Load()
}

// deleted is how many documents the reaper has reclaimed.
func (s *Server) deleted() int64 {
	if s.o.Reclaimed == nil {
		return 0
	}
	return int64(s.o.Reclaimed())
}
