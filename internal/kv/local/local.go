// Package local has what engines within one process need in addition to their trees: optimistic preconditions
// (Changes), counters that batches pass one at a time (Orders), the limits of a batch (Tally), and a Close that waits
// for running calls (Gate). It stores nothing.
package local

import "github.com/mayflydb/mayfly/internal/fault"

// Conflict is the error of a batch whose preconditions no longer hold.
func Conflict() error {
	return fault.New(fault.Conflict, "another write came first: try again")
}

// Closed is the error of a call after Close.
func Closed() error { return fault.New(fault.Unavailable, "the database is stopping") }

// Unclosed is the error of a Close while n iterators or snapshots are open.
func Unclosed(n int64) error {
	return fault.New(fault.Internal, "closed with %d iterators or snapshots open", n)
}
