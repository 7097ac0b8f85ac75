package monitor

import (
	"iter"
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

// A Counter counts the requests of one command.
type Counter struct {
	Begun atomic.Int64
	// Done counts a request that is over, with the code of its error or 0.
	Done func(status int, took time.Duration)
}

// Requests are the counters of all commands.
type Requests struct {
	Meter    Meter
	Unknown  *Counter // of requests that name no command
	commands map[string]*Counter
}

// Open makes the counters of commands. A nil meter counts nothing.
func (x *Requests) Open(meter Meter, names iter.Seq[string]) {
	if x.Meter = meter; meter == nil {
		x.Meter = unmetered{}
	}
	open := func(name string) *Counter { return &Counter{Done: x.Meter.Operation(name, statusName)} }
	x.Unknown, x.commands = open("unknown"), map[string]*Counter{}
	for name := range names {
		x.commands[name] = open(name)
	}
}

// Of gives the counter of a command, nil if there is no such command.
func (x *Requests) Of(name string) *Counter { return x.commands[name] }

// begun is how many requests of a command there were.
func (x *Requests) begun(name string) int64 {
	if n := x.commands[name]; n != nil {
		return n.Begun.Load()
	}
	return 0
}

// statusName is the name of the error that a request ended with, or of the first error among its statements.
func statusName(status int) string {
	if status == 0 {
		return "OK"
	}
	return code.Code(status).Name()
}
