// Package pebble keeps the contract of package kv on one machine, in a folder
// or in memory, with the Pebble log-structured tree. It adds what Pebble does
// not have: optimistic preconditions and counters that batches pass one at a
// time. DESIGN.md argues why those are right. It never interprets a key.
package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

var (
	_ kv.Engine       = (*Engine)(nil)
	_ kv.RangeDeleter = (*Engine)(nil)
	_ kv.Compacter    = (*Engine)(nil)
	_ kv.Refuser      = (*Engine)(nil)
	_ kv.Failer       = (*Engine)(nil)
	_ kv.Sizer        = (*Engine)(nil)
	_ kv.Spacer       = (*Engine)(nil)
	_ kv.Shrinker     = (*Engine)(nil)
)

// Options says where an engine keeps its keys and how careful it is.
type Options struct {
	// Dir is the data folder, created when absent. With Dir empty and FS nil the
	// engine lives in memory.
	Dir string
	// FS is the file system of Dir; nil is the disk, or a fresh memory file
	// system when Memory is set.
	FS vfs.FS
	// Memory keeps everything in memory; nothing outlives Close.
	Memory bool
	// NoSync acknowledges batches before they are durable: a crash may undo the
	// newest ones, still in order and each as a whole.
	NoSync bool
	// CacheBytes bounds block cache and memtables together; 0 is 160 MiB on disk, 48 MiB
	// in memory and in a program that was built without cgo.
	CacheBytes int64
	// SeparateValues keeps values of at least this many bytes in files apart
	// from the keys, so that compactions move them less often; 0 keeps all values
	// with their keys.
	SeparateValues int
	// Reserve is room on the disk, in bytes, that ordinary writes leave to deletes and to
	// maintenance: they fail with fault.OutOfSpace before they use it. 0 keeps none. On a small file
	// system it is an eighth of that.
	Reserve int64
	// Logger receives failures and stalls; nil is silent.
	Logger *slog.Logger

	// MemTableBytes is how much is written to memory before it goes to a table, up to three times that while
	// the disk is behind. What is deleted before that is never written to a table. 0 is a fifth of
	// CacheBytes, 64 MiB at most; on a small file system it is less.
	MemTableBytes int64
}

// An Engine is a kv.Engine on Pebble. It is also a kv.RangeDeleter, a
// kv.Compacter, a kv.Refuser, a kv.Failer, a kv.Sizer, a kv.Spacer and a kv.Shrinker.
type Engine struct {
	db   *pebble.DB
	lock *pebble.Lock // nil in memory
	log  *slog.Logger
	sync bool // batches wait for the disk unless they say otherwise

	room     *room   // nil in memory
	upkeep   *upkeep // what Pebble does by itself
	stopLook func()

	calls  *local.Gate
	open   atomic.Int64  // iterators and snapshots not yet closed
	newest atomic.Uint64 // number of the newest visible batch: the present Mark

	mu      sync.Mutex // held from the check of preconditions until the batch is visible
	changes *local.Changes
	orders  local.Orders
	wedged  atomic.Bool // Pebble has broken off halfway and would wait for ever

	failure atomic.Pointer[refusal] // the log, or the table of contents, could not be written
	failed  chan struct{}           // closed then
	failing sync.Once

	garbage garbageWatch
	cache   *pebble.Cache
	shrunk  atomic.Uint64 // newest when Shrink ended last
	spent   sync.Mutex    // held while a log that is no longer needed is used again, or emptied

	opened    atomic.Bool
	closing   context.Context // ends with Close
	close     context.CancelFunc
	tidying   atomic.Bool // room is being won back
	tidyMu    sync.Mutex
	tidied    clock.Stopwatch // since that began last
	tidyPause time.Duration   // until it may begin again
}

// Mark returns the present moment.
func (e *Engine) Mark() kv.Mark { return kv.Mark(e.newest.Load()) }

// Refuses tells why batches are refused at present, nil while they are taken. Those that
// free room may still be taken when the kind is fault.OutOfSpace.
func (e *Engine) Refuses() error {
	if err := e.broken(); err != nil {
		return err
	}
	return e.refuses(false)
}

// Failed is closed when nothing is read or written any more until the folder is opened again.
func (e *Engine) Failed() <-chan struct{} { return e.failed }

// refuses tells why a batch that passes its preconditions may not be written.
func (e *Engine) refuses(frees bool) error {
	if why := e.upkeep.why.Load(); why != nil {
		return why.err
	}
	if e.room == nil {
		return nil
	}
	why := e.room.refuses()
	if frees && fault.KindOf(why) == fault.OutOfSpace {
		return nil
	}
	return why
}

// broken is the error of every call after the log has failed.
func (e *Engine) broken() error {
	if why := e.failure.Load(); why != nil {
		return why.err
	}
	return nil
}

// enter begins a call, which calls.Leave ends.
func (e *Engine) enter() error {
	if !e.calls.Enter() {
		return local.Closed()
	}
	if err := e.broken(); err != nil {
		e.calls.Leave()
		return err
	}
	return nil
}

// Close waits for running calls and releases the folder. It flushes nothing:
// the log already holds what memory holds.
func (e *Engine) Close() error {
	if e.wedged.Load() { // calls may be waiting for ever
		e.calls.Bar()
		return e.broken()
	}
	e.close()
	e.stopLook()
	if !e.calls.Shut() {
		return nil
	}
	if n := e.open.Load(); n > 0 {
		return local.Unclosed(n)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wedged.Load() {
		return e.broken()
	}
	e.upkeep.close()
	err := e.db.Close()
	if err == nil {
		e.cache.Unref()
	}
	if e.lock != nil {
		if err == nil && e.broken() == nil {
			if unsealed := seal(e.room.fs, e.room.dir); unsealed != nil { // the next opening has less to go by, and lacks nothing
				e.log.Warn("the sizes of the files were not written down", "error", plain(unsealed))
			}
		}
		err = errors.Join(err, e.lock.Close())
	}
	if broken := e.broken(); broken != nil {
		return broken
	}
	if err != nil {
		return fault.Wrap(fault.Internal, err, "cannot close the data folder")
	}
	return nil
}

// fail ends reading and writing. What is visible may not be durable, and another attempt to sync
// could succeed without it: only what is on the disk counts, and only opening it anew finds that out.
func (e *Engine) fail(cause error) error {
	e.failing.Do(func() {
		e.failure.Store(&refusal{fault.Wrap(fault.Unavailable, cause,
			"The disk failed, so nothing is read or written any more. Restart mayfly: what it has acknowledged is on the disk.")})
		close(e.failed)
		if !e.opened.Load() {
			return // the opening fails with it
		}
		e.log.Error("the disk failed: nothing is read or written until mayfly restarts", "error", plain(cause))
	})
	return e.broken()
}

func readFault(err error) error {
	if pebble.IsCorruptionError(err) {
		return fault.Wrap(fault.Corrupt, err, "stored data is damaged")
	}
	return fault.Wrap(fault.Internal, err, "cannot read stored data")
}

// fatal is what Pebble says when it cannot go on, and the error that it says it about.
type fatal struct {
	text  string
	cause error
}

func (f fatal) Error() string { return f.text }
func (f fatal) Unwrap() error { return f.cause }

// logger hears Pebble's own words. Its information is not shown; its errors
// come with their events, see upkeep.
type logger struct{ engine *Engine }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.engine.log.Error("storage reports a failure", "error", fmt.Sprintf(format, args...))
}

// Fatalf does not return, because Pebble may not go on. In a goroutine of ours it panics, and
// is recovered. Elsewhere, with a table of contents that could not be written, nobody would recover: that
// goroutine stays, the engine has failed, and starting again recovers from the log.
func (l logger) Fatalf(format string, args ...any) {
	f := fatal{text: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			f.cause = err
		}
	}
	if ours() {
		panic(f)
	}
	l.engine.wedged.Store(true)
	l.engine.fail(f)
	select {}
}

// ours reports whether the calling goroutine is one that recovers.
func ours() bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "/kv/pebble.(*Engine).publish") || strings.HasSuffix(frame.Function, "/kv/pebble.open") {
			return true
		}
		if !more {
			return false
		}
	}
}
