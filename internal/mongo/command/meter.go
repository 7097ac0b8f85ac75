package command

import (
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A Meter counts the requests of a Server. Its methods are safe for concurrent use.
type Meter interface {
	// Operation gives the function that counts a request of one command when it is done. label gives the name of a
	// status.
	Operation(name string, label func(status int) string) (done func(status int, took time.Duration))
	// ExpiredByPolicy counts documents that expired because the time to live of their container was changed.
	ExpiredByPolicy(documents uint64)
}

// unmetered is a Meter that counts nothing.
type unmetered struct{}

func (unmetered) Operation(string, func(int) string) func(int, time.Duration) {
	return func(int, time.Duration) {}
}
func (unmetered) ExpiredByPolicy(uint64) {}

// counted are the counters of one command.
type counted struct {
	begun atomic.Int64
	done  func(status int, took time.Duration)
}

// openCounts makes the counters of all commands.
func (s *Server) openCounts() {
	if s.o.Meter == nil {
		s.o.Meter = unmetered{}
	}
	open := func(name string) *counted { return &counted{done: s.o.Meter.Operation(name, statusName)} }
	s.unknown = open("unknown")
	for name := range s.commands {
		s.counts[name] = open(name)
	}
}

// statusName is the name of the error that a request ended with, or of the first error among its statements.
func statusName(status int) string {
	if status == 0 {
		return "OK"
	}
	return code.Code(status).Name()
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
