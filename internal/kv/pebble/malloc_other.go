//go:build !cgo || !linux

package pebble

func trimMalloc() {}
