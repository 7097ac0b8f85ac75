//go:build !cgo || !linux

package pebble

func tidyMalloc() {}

func trimMalloc() {}
