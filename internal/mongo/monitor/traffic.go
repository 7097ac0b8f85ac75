package monitor

import (
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Traffic counts what a connection carries, in bytes as they travel, which may be compressed, and in a Monitor what
// those that are over have carried. Each connection has its own, so that requests of several do not wait for one
// counter.
type Traffic struct {
	In, Out  atomic.Int64
	Requests atomic.Int64
}

// Add adds what another one has counted.
func (t *Traffic) Add(of *Traffic) {
	t.In.Add(of.In.Load())
	t.Out.Add(of.Out.Load())
	t.Requests.Add(of.Requests.Load())
}

// write writes the section network.
// https://www.mongodb.com/docs/v7.0/reference/command/serverStatus/#network
func (t *Traffic) write(a *doc.Writer) {
	a.Int64("bytesIn", t.In.Load())
	a.Int64("bytesOut", t.Out.Load())
	a.Int64("numRequests", t.Requests.Load())
}

// Failures count what has gone wrong since the start.
type Failures struct {
	Requests atomic.Int64 // that ended with an error, or with one of a statement
	Defects  atomic.Int64 // of mayfly, in a request
}

// write writes the section asserts. mayfly has no warnings and no tripwires, and its counters never start again.
// https://www.mongodb.com/docs/v7.0/reference/command/serverStatus/#asserts
func (f *Failures) write(a *doc.Writer) {
	a.Int64("regular", f.Defects.Load())
	a.Int64("warning", 0)
	a.Int64("msg", 0)
	a.Int64("user", f.Requests.Load())
	a.Int64("tripwire", 0)
	a.Int64("rollovers", 0)
}
