//go:build cgo && !linux

package pebble

// offHeap tells that Pebble keeps its cache outside of Go's heap.
const offHeap = true

func tidyMalloc() {}
