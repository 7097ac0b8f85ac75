//go:build !linux || !(amd64 || arm64)

package pebble

import "errors"

// A syncer makes data of files durable without a thread that waits. This system has no such interface.
type syncer struct{}

func newSyncer() *syncer { return nil }

func (s *syncer) syncData(uintptr) (done bool, err error) { return false, nil }

func (s *syncer) write(uintptr, []byte, int64) (done bool, err error) { return false, nil }

func (s *syncer) close() {}

func writesDurably(uintptr) bool { return false }

func (s *syncer) bypass(uintptr, bool) error { return errors.ErrUnsupported }
