package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
)

func serverStatus(r *request, a *answer) error {
	s := r.s
	x := &monitor.Status{Version: serverVersion, Created: s.accepted.Load(), Awaiting: s.awaiting.Load()}
	if s.o.Reclaimed != nil {
		x.Reclaimed = int64(s.o.Reclaimed())
	}
	s.mu.Lock()
	for c := range s.connections {
		c.mu.Lock()
		if c.running != nil {
			x.Count(&c.running.Request)
		}
		c.mu.Unlock()
		if !c.inside() { // what they have sent is not kept when they end
			x.Traffic.Add(&c.traffic)
		}
	}
	x.Traffic.Add(&s.monitor.Traffic)
	x.Current = len(s.connections)
	s.mu.Unlock()
	x.Available = maxConnections - x.Current
	if s.o.ReplSet != "" {
		x.Set = func(to *doc.Writer) {
			set := answer{Writer: *to}
			r.topology(&set)
			*to = set.Writer
		}
	}
	s.monitor.Sections(&r.Request, &a.Writer, x)
	return nil
}

// Status is what is open in a Server at one moment.
type Status struct {
	Connections, InFlight int64 // InFlight leaves out requests that only wait for something to happen

	Cursors, ChangeStreams int64 // open ones; change streams are cursors too
	Sessions, Transactions int64
}

// Status counts what is open.
func (s *Server) Status() Status {
	x := Status{InFlight: -s.awaiting.Load() - s.Node.Waiting.Load()}
	s.mu.Lock()
	x.Connections = int64(len(s.connections))
	for c := range s.connections {
		c.mu.Lock()
		if c.running != nil {
			x.InFlight++
		}
		c.mu.Unlock()
	}
	s.mu.Unlock()
	x.InFlight = max(0, x.InFlight)
	cursors, streams := s.Cursors.Counts()
	x.Cursors, x.ChangeStreams = int64(cursors), int64(streams)
	sessions, transactions, _ := s.Node.Sessions.Counts()
	x.Sessions, x.Transactions = int64(sessions), int64(transactions)
	return x
}
