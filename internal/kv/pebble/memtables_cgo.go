//go:build cgo

package pebble

// returnMemTables does nothing: C returns so much memory to the system when it is freed.
func returnMemTables() {}
