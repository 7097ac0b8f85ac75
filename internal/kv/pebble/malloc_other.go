//go:build !cgo || !linux

package pebble

func tidyMalloc() {}
