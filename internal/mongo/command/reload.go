package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Gate is what a request passes while it uses the catalog and the store. While it is closed, requests wait at it, and
// Server.Reload may replace both.
type Gate = monitor.Gate

// openGate is the gate of a server whose data never changes as a whole.
type openGate struct{}

func (openGate) Enter() {}
func (openGate) Leave() {}

// CutOff ends what may run for long because a client wants it: cursors, and the requests that read them, get an
// error, also change streams that wait. With all, every request that has passed the gate ends.
func (s *Server) CutOff(all bool) {
	if all {
		s.mu.Lock()
		for c := range s.connections {
			c.mu.Lock()
			if c.running != nil && !c.running.command.greets { // which has not passed the gate while it waits
				c.cancel()
			}
			c.mu.Unlock()
		}
		s.mu.Unlock()
	}
	s.Cursors.KillAll()
}

// Reload goes over to other data while the gate is closed. Connections stay, with the users that they have proved to
// be; cursors, sessions and transactions end.
func (s *Server) Reload(c *catalog.Catalog, st *store.Store) {
	s.Node.Reload(c, st)
	s.o.Catalog, s.o.Store = c, st
	s.accounts = account.New(c, s.o.Keys)
	s.monitor.Profiler.Reset()
	s.monitor.TTL.Reset(s.o.Clock.Now().Unix())
}
