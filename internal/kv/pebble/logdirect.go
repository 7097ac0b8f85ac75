package pebble

import (
	"sync"
	"unsafe"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	pageBytes   = 4 << 10   // what is written past the cache begins, ends, and lies in memory at a multiple of it
	directBytes = 256 << 10 // of a log that wait for a sync
)

// A directLog is a log that is written past the cache of the operating system, if little was written since the last
// sync. Then a sync is one request, which writes the bytes and makes them durable. With the cache it takes two: the
// bytes are copied there, and fdatasync has the kernel look for them. What is more than the buffer holds goes to the
// cache, because the kernel writes it while more of it comes.
//
// Pages are written as a whole. The bytes that follow in the last one are zeros, and the page is written again when
// there are more bytes, as the cache does it. What no sync has asked for may stay in memory.
type directLog struct {
	vfs.File
	syncer   durableWriter
	buffer   []byte // what is not in the file, and before it the beginning of its first page
	start    int64  // of the buffer in the file, a multiple of pageBytes
	dirty    bool   // not all of the buffer is in the file
	unsynced bool   // the file may have something that is not durable
	direct   bool   // writes to the file bypass the cache at present
	cached   bool   // they cannot, after all
	size     int64  // of the file
}

// A durableWriter is what a directLog needs of a syncer.
type durableWriter interface {
	write(file uintptr, p []byte, at int64) (done bool, err error)
	syncData(file uintptr) (done bool, err error)
	bypass(file uintptr, on bool) error // whether writes to a file bypass the cache
}

// directBuffers are the buffers of logs that are closed.
var directBuffers = sync.Pool{New: func() any {
	b := pages(directBytes)
	return &b
}}

// pages returns zeros that begin at a multiple of pageBytes.
func pages(size int) []byte {
	b := make([]byte, size+pageBytes)
	beyond := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageBytes)
	return b[pageBytes-beyond:][:size:size]
}

func newDirectLog(f vfs.File, s durableWriter) (*directLog, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	buffer := *directBuffers.Get().(*[]byte)
	// The first sync also makes durable what happened to the file before.
	return &directLog{File: f, syncer: s, buffer: buffer[:0], unsynced: true, size: info.Size()}, nil
}

// Write notes p for the next sync. Bytes that make the file longer are written at once, so that the caller learns here
// if there is no space.
func (f *directLog) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(f.buffer) == cap(f.buffer) {
			if err := f.flush(); err != nil {
				return n, err
			}
		}
		more := min(len(p)-n, cap(f.buffer)-len(f.buffer))
		f.buffer = append(f.buffer, p[n:n+more]...)
		f.dirty = true
		if f.start+int64(len(f.buffer)) > f.size {
			if err := f.flush(); err != nil {
				f.buffer = f.buffer[:len(f.buffer)-more] // the caller may write them again
				return n, err
			}
		}
		n += more
	}
	return n, nil
}

// WriteAt writes zeros behind the end, from the next page on. It is for logFile.fill, which passes nothing else.
func (f *directLog) WriteAt(zeros []byte, end int64) (int, error) {
	gap := int(-end & (pageBytes - 1)) // is zero already
	whole := (len(zeros) - gap) &^ (pageBytes - 1)
	if whole <= 0 {
		return 0, nil
	}
	if err := f.put(zeros[:whole], end+int64(gap)); err != nil {
		return 0, err
	}
	return gap + whole, nil
}

// padded returns the buffer with zeros up to the end of its last page.
func (f *directLog) padded() []byte {
	p := f.buffer[:(len(f.buffer)+pageBytes-1)&^(pageBytes-1)]
	clear(p[len(f.buffer):])
	return p
}

// written notes that the buffer is in the file. The beginning of a page stays in the buffer.
func (f *directLog) written() {
	f.dirty = false
	whole := len(f.buffer) &^ (pageBytes - 1)
	f.start += int64(whole)
	f.buffer = f.buffer[:copy(f.buffer, f.buffer[whole:])]
}

// flush writes the buffer to the file.
func (f *directLog) flush() error {
	if !f.dirty {
		return nil
	}
	if err := f.put(f.padded(), f.start); err != nil {
		return err
	}
	f.written()
	return nil
}

// put writes to the file through the cache. It is not durable then.
func (f *directLog) put(p []byte, at int64) error {
	if err := f.bypass(false); err != nil {
		return err
	}
	f.unsynced = true
	n, err := f.File.WriteAt(p, at)
	f.size = max(f.size, at+int64(n))
	return err
}

// bypass says whether the next write bypasses the cache.
func (f *directLog) bypass(on bool) error {
	if f.direct == on {
		return nil
	}
	err := f.syncer.bypass(f.File.Fd(), on)
	if err == nil {
		f.direct = on
	}
	return err
}

// write makes the buffer durable with one request. done is false if the system does not do that.
func (f *directLog) write() (done bool, err error) {
	if f.cached {
		return false, nil
	}
	if f.bypass(true) == nil {
		done, err = f.syncer.write(f.File.Fd(), f.padded(), f.start)
	}
	f.cached = !done && err == nil
	return done, err
}

// SyncData makes durable what was written.
func (f *directLog) SyncData() error {
	if f.dirty && !f.unsynced {
		if done, err := f.write(); err != nil {
			return err
		} else if done {
			f.written()
			return nil
		}
	}
	if err := f.flush(); err != nil {
		return err
	}
	if !f.unsynced {
		return nil
	}
	done, err := f.syncer.syncData(f.File.Fd())
	if !done {
		err = f.File.SyncData()
	}
	if err == nil {
		f.unsynced = false
	}
	return err
}

// Sync makes everything durable.
func (f *directLog) Sync() error {
	if err := f.flush(); err != nil {
		return err
	}
	err := f.File.Sync()
	if err == nil {
		f.unsynced = false
	}
	return err
}

// SyncTo is Sync.
func (f *directLog) SyncTo(int64) (all bool, err error) { return true, f.Sync() }

// Close closes the file. What was not synced may be lost.
func (f *directLog) Close() error {
	if f.buffer != nil {
		whole := f.buffer[:0:cap(f.buffer)]
		f.buffer = nil
		directBuffers.Put(&whole)
	}
	return f.File.Close()
}
