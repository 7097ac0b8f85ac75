package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/tikv/client-go/v2/util/codec"
)

// The first byte of every key on disk.
const (
	lockSpace     = 'L' // key: a lock
	writeSpace    = 'W' // key, commit timestamp, newest first: a version
	rollbackSpace = 'R' // key, start timestamp: the transaction shall never commit here
	metaSpace     = 'M' // what the store knows of itself
)

// A disk is the ordered map under the store, and the one place where reads and
// writes are put in order.
type disk struct {
	db *pebble.DB

	// Whoever writes holds view alone, until the write has reached the
	// operating system; whoever reads shares it while a snapshot is made.
	// Hence nothing is seen that a kill could take back, and the timestamp of
	// a read is in maxTS before any later commit chooses its own.
	view  sync.RWMutex
	maxMu sync.Mutex
	maxTS uint64 // the largest timestamp of any read
}

func openDisk(dir string) (*disk, error) {
	db, err := pebble.Open(dir, &pebble.Options{FS: written{vfs.Default}, Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	return &disk{db: db}, nil
}

// sawTS notes that a read at ts may have happened.
func (d *disk) sawTS(ts uint64) {
	if ts == math.MaxUint64 {
		return // "the newest", not a time; tikv: src/storage/mod.rs, prepare_snap_ctx
	}
	d.maxMu.Lock()
	d.maxTS = max(d.maxTS, ts)
	d.maxMu.Unlock()
}

func (d *disk) seenTS() uint64 {
	d.maxMu.Lock()
	defer d.maxMu.Unlock()
	return d.maxTS
}

// at returns what reads at ts see. The caller closes it.
func (d *disk) at(ts uint64) *pebble.Snapshot {
	d.view.RLock()
	defer d.view.RUnlock()
	d.sawTS(ts)
	return d.db.NewSnapshot()
}

// write makes durable and visible what f puts into the batch. f is given the
// largest timestamp of any read so far: no new one happens before f's writes
// are visible.
func (d *disk) write(f func(b *pebble.Batch, maxTS uint64) error) error {
	d.view.Lock()
	defer d.view.Unlock()
	b := d.db.NewBatch()
	defer b.Close()
	if err := f(b, d.seenTS()); err != nil {
		return err
	}
	if b.Empty() {
		return nil
	}
	return b.Commit(pebble.Sync)
}

func lockKey(key []byte) []byte { return codec.EncodeBytes([]byte{lockSpace}, key) }

func writeKey(key []byte, commitTS uint64) []byte {
	return binary.BigEndian.AppendUint64(codec.EncodeBytes([]byte{writeSpace}, key), ^commitTS)
}

func rollbackKey(key []byte, startTS uint64) []byte {
	return binary.BigEndian.AppendUint64(codec.EncodeBytes([]byte{rollbackSpace}, key), startTS)
}

func metaKey(name string) []byte { return append([]byte{metaSpace}, name...) }

// past is behind every version of key, and before the next key.
func past(key []byte) []byte {
	return append(codec.EncodeBytes([]byte{writeSpace}, key), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
}

// userKey takes the key out of a key on disk, and the timestamp behind it, if
// there is one.
func userKey(onDisk []byte) (key []byte, ts uint64, err error) {
	rest, key, err := codec.DecodeBytes(onDisk[1:], nil)
	if err != nil {
		return nil, 0, err
	}
	switch {
	case len(rest) == 0:
		return key, 0, nil
	case len(rest) != 8:
		return nil, 0, fmt.Errorf("key %x on disk ends in %d bytes", onDisk, len(rest))
	}
	if ts = binary.BigEndian.Uint64(rest); onDisk[0] == writeSpace {
		ts = ^ts
	}
	return key, ts, nil
}

// get returns nil for a key that does not exist.
func get(r pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte{}, value...), nil
}

// space iterates over one space of r, within bounds that are keys on disk and
// may be nil.
func space(r pebble.Reader, first byte, lower, upper []byte) (*pebble.Iterator, error) {
	if lower == nil {
		lower = []byte{first}
	}
	if upper == nil {
		upper = []byte{first + 1}
	}
	return r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
}

// written is a file system where to sync is to have written: that is all that
// a killed process needs, and it costs no disk.
type written struct{ vfs.FS }

type writtenFile struct{ vfs.File }

func (writtenFile) Sync() error                { return nil }
func (writtenFile) SyncData() error            { return nil }
func (writtenFile) SyncTo(int64) (bool, error) { return true, nil }

func (w written) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return unsynced(w.FS.Create(name, c))
}

func (w written) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return unsynced(w.FS.OpenReadWrite(name, c, o...))
}

func (w written) OpenDir(name string) (vfs.File, error) { return unsynced(w.FS.OpenDir(name)) }

func (w written) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return unsynced(w.FS.ReuseForWrite(old, name, c))
}

func (w written) Unwrap() vfs.FS { return w.FS }

func unsynced(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return writtenFile{f}, nil
}

// quiet logs nothing: pebble's news are not the tests'. Its errors end the
// process.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
