package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
)

// A Build is an index build that is under way.
type Build struct {
	Number      uint64 // tells the builds of a Store apart
	Container   *catalog.Container
	Since       time.Time // zero for one that Open has resumed
	Done, Total int64     // documents; both are estimates, since some are written and removed during the build
}

// A buildMark is a Build that goes on.
type buildMark struct {
	number  uint64
	c       *catalog.Container
	since   time.Time
	last    uint64 // how many documents the ranges had numbered at the start
	total   int64
	reached atomic.Uint64 // how many of them are passed
}

// SetWall gives the store the machine's time, for operators: it decides nothing.
func (s *Store) SetWall(wall func() time.Time) { s.wall.Store(&wall) }

// markBuild makes a build known until end is called.
func (s *Store) markBuild(ctx context.Context, c *catalog.Container) (m *buildMark, end func()) {
	m = &buildMark{number: s.lastBuild.Add(1), c: c}
	if wall := s.wall.Load(); wall != nil {
		m.since = (*wall)()
	}
	for _, x := range c.State().Ranges() {
		if counter, err := counterOf(ctx, s.engine, c.KeysOf(x.Number)); err == nil {
			m.last, m.total = m.last+counter.Number, m.total+int64(counter.Documents)
		}
	}
	s.marked.Store(m, nil)
	return m, func() { s.marked.Delete(m) }
}

// Builds lists the index builds that are under way, of both kinds of indexes, in no order.
func (s *Store) Builds() (list []Build) {
	for key := range s.marked.Range {
		m := key.(*buildMark)
		b := Build{Number: m.number, Container: m.c, Since: m.since, Total: m.total}
		if m.last > 0 {
			b.Done = min(m.total, int64(float64(m.total)*float64(m.reached.Load())/float64(m.last)))
		}
		list = append(list, b)
	}
	return list
}
