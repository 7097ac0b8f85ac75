package pebble

import (
	"errors"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A disk is the file system as Pebble gets it. The log may use all the room there is, the ballast
// included; tables leave some to it. Whoever asks for a table after a failure waits a
// while first, since Pebble itself would try again at once. The first failure of the log is told
// before Pebble knows of it.
type disk struct {
	vfs.FS // gives the ballast back when there is no room
	room   *room
	upkeep *upkeep
	spent  *sync.Mutex // the engine's, for logs that are used again
	failed func(error)
	gone   *atomic.Bool // the opening was given up: nothing may change on the disk any more
}

func newDisk(fs vfs.FS, e *Engine, gone *atomic.Bool) *disk {
	return &disk{
		FS: vfs.OnDiskFull(fs, e.room.giveBallast), room: e.room, upkeep: e.upkeep, spent: &e.spent, gone: gone,
		failed: func(err error) { e.fail(err) },
	}
}

// errGone ends what is still running of an opening that was given up.
var errGone = errors.New("the opening was given up")

// Create makes a file.
func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	kind := kindOf(name)
	if kind == tables {
		d.upkeep.wait(category)
	}
	if d.gone.Load() {
		if kind == tables {
			select {} // or Pebble would try for ever
		}
		return nil, errGone
	}
	if kind == tables {
		if why := d.room.there(); why != nil {
			return nil, why
		}
	}
	f, err := d.FS.Create(name, category)
	if err == nil && strings.HasPrefix(path.Base(name), "MANIFEST-") {
		// Pebble does not see to it that the name of a table of contents is durable before the marker that leads to it.
		if err := syncDir(d.FS, d.room.dir); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return d.wrap(f, err, kind)
}

// ReuseForWrite makes a file from one that is no longer needed: a log.
func (d *disk) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if d.gone.Load() {
		return nil, errGone
	}
	d.spent.Lock() // or emptySpent may just have taken it away
	f, err := d.FS.ReuseForWrite(from, to, category)
	d.spent.Unlock()
	return d.wrap(f, err, kindOf(to))
}

// Remove removes a file. When room was short, the ballast may come back now.
func (d *disk) Remove(name string) error {
	if d.gone.Load() {
		return errGone
	}
	err := d.FS.Remove(name)
	if kindOf(name) == tables && d.room.refuses() != nil {
		d.room.look()
	}
	return err
}

// Rename renames a file.
func (d *disk) Rename(from, to string) error {
	if d.gone.Load() {
		return errGone
	}
	return d.FS.Rename(from, to)
}

// Unwrap gives the file system below.
func (d *disk) Unwrap() vfs.FS { return d.FS }

// The kinds of file that a disk tells apart.
type fileKind uint8

const (
	others fileKind = iota
	logs
	tables
)

func kindOf(name string) fileKind {
	switch path.Ext(name) {
	case ".log":
		return logs
	case ".sst", ".blob":
		return tables
	}
	return others
}

func (d *disk) wrap(f vfs.File, err error, kind fileKind) (vfs.File, error) {
	switch {
	case err != nil && kind == logs:
		d.failed(err)
	case err != nil:
	case kind == logs:
		return &logFile{f, d}, nil
	case kind == tables:
		return &tableFile{f, d}, nil
	}
	return f, err
}

// A logFile is a log that is being written.
type logFile struct {
	vfs.File
	disk *disk
}

func (f *logFile) Write(p []byte) (int, error) {
	if f.disk.gone.Load() {
		return 0, errGone
	}
	n, err := f.File.Write(p)
	f.disk.room.spend(n)
	return n, f.note(err)
}

func (f *logFile) Sync() error     { return f.note(f.File.Sync()) }
func (f *logFile) SyncData() error { return f.note(f.File.SyncData()) }
func (f *logFile) Close() error    { return f.note(f.File.Close()) }

func (f *logFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.note(err)
}

// Preallocate takes room for what is yet to be written, if there is plenty.
func (f *logFile) Preallocate(offset, length int64) error {
	if f.disk.room.fits(int(length)) != nil {
		return nil
	}
	f.disk.room.spend(int(length))
	return f.File.Preallocate(offset, length)
}

func (f *logFile) note(err error) error {
	if err != nil {
		f.disk.failed(err)
	}
	return err
}

// A tableFile is a table that is being written.
type tableFile struct {
	vfs.File
	disk *disk
}

func (f *tableFile) Write(p []byte) (int, error) {
	if err := f.disk.room.roomForTable(len(p)); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	f.disk.room.spend(n)
	return n, err
}
