package pebble

import (
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A logDisk is a disk whose logs are synced by a syncer.
type logDisk struct {
	vfs.FS
	syncer *syncer
	direct bool // logs are written past the cache of the operating system, where that is safe
}

// Create creates a file.
func (d logDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, category)
	return d.wrap(f, err, name)
}

// ReuseForWrite turns a log that is no longer needed into a new one.
func (d logDisk) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(from, to, category)
	return d.wrap(f, err, to)
}

// Unwrap returns the file system below.
func (d logDisk) Unwrap() vfs.FS { return d.FS }

func (d logDisk) wrap(f vfs.File, err error, name string) (vfs.File, error) {
	if err != nil || kindOf(name) != logs {
		return f, err
	}
	if d.direct && writesDurably(f.Fd()) {
		direct, err := newDirectLog(f, d.syncer)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return direct, nil
	}
	return syncedLog{f, d.syncer}, nil
}

// A syncedLog is a log on a logDisk that is written to the cache of the operating system.
type syncedLog struct {
	vfs.File
	syncer *syncer
}

func (f syncedLog) SyncData() error {
	if done, err := f.syncer.syncData(f.File.Fd()); done {
		return err
	}
	return f.File.SyncData()
}
