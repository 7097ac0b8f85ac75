package pebble

import (
	"errors"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A disk is the file system that Pebble uses. The log may use all space, including the ballast; tables leave some
// space to the log. After a failed flush or compaction, the creation of the next table waits, since Pebble would try
// again at once. If the log fails, the disk tells the engine before it tells Pebble.
type disk struct {
	vfs.FS // removes the ballast when the space runs out
	space  *space
	upkeep *upkeep
	spent  *sync.Mutex // the engine's, for logs that are reused
	failed func(error)
	gone   *atomic.Bool // the opening was abandoned: nothing may change on the disk any more
}

func newDisk(fs vfs.FS, e *Engine, gone *atomic.Bool) *disk {
	return &disk{
		FS: vfs.OnDiskFull(fs, e.space.giveBallast), space: e.space, upkeep: e.upkeep, spent: &e.spent, gone: gone,
		failed: e.fail,
	}
}

// errGone stops an opening that was abandoned.
var errGone = errors.New("the opening was abandoned")

// Create creates a file.
func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if d.FS.PathDir(name) != d.space.dir { // of a checkpoint, whose failure does no harm to the engine
		return d.space.fs.Create(name, category)
	}
	kind := kindOf(name)
	if kind == tables {
		d.upkeep.wait(category)
	}
	if d.gone.Load() {
		if kind == tables {
			select {} // otherwise Pebble would try again without end
		}
		return nil, errGone
	}
	if kind == tables {
		if why := d.space.there(); why != nil {
			return nil, why
		}
	}
	f, err := d.FS.Create(name, category)
	if err == nil && strings.HasPrefix(path.Base(name), "MANIFEST-") {
		// Pebble does not make the name of a table of contents durable before the marker that points to it.
		if err := syncDir(d.FS, d.space.dir); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return d.wrap(f, err, kind)
}

// ReuseForWrite turns a log that is no longer needed into a new one.
func (d *disk) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if d.gone.Load() {
		return nil, errGone
	}
	d.spent.Lock() // emptyLog must not empty it at the same time
	f, err := d.FS.ReuseForWrite(from, to, category)
	d.spent.Unlock()
	return d.wrap(f, err, kindOf(to))
}

// Remove removes a file. If space was short, there may be enough now.
func (d *disk) Remove(name string) error {
	if d.gone.Load() {
		return errGone
	}
	err := d.FS.Remove(name)
	if kindOf(name) == tables && d.space.refuses() != nil {
		d.space.look()
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

// Unwrap returns the file system below.
func (d *disk) Unwrap() vfs.FS { return d.FS }

// The kinds of files that a disk tells apart.
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
		return newLogFile(f, d), nil
	case kind == tables:
		return &tableFile{f, d}, nil
	}
	return f, err
}

// A tableFile is a table that is being written.
type tableFile struct {
	vfs.File
	disk *disk
}

func (f *tableFile) Write(p []byte) (int, error) {
	if err := f.disk.space.spaceForTable(len(p)); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	f.disk.space.spend(n)
	return n, err
}
