//go:build cgo

package pebble

// mappedBytes is the size from which the GNU allocator gives what is freed to the system at once.
const mappedBytes = 32 << 20

// returnMemTables returns the memory of memtables that are gone to the system.
func (e *Engine) returnMemTables() {
	if e.pauses.size() < mappedBytes {
		e.trim()
	}
}
