//go:build !cgo

package pebble

import "runtime/debug"

// returnMemTables returns the memory of memtables that are gone to the system. They are in Go's heap.
func (e *Engine) returnMemTables() { debug.FreeOSMemory() }
