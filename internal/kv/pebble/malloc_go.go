//go:build !cgo

package pebble

// offHeap tells that Pebble keeps its cache outside of Go's heap.
const offHeap = false

func tidyMalloc() {}
