// Package pebble is an engine of package kv on one machine, in a folder or in memory, on the Pebble log-structured
// tree. It adds what Pebble lacks: optimistic preconditions, and counters that batches pass one at a time. DESIGN.md
// shows why they are correct. The package never interprets a key.
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
	_ kv.Syncer       = (*Engine)(nil)
	_ kv.Failer       = (*Engine)(nil)
	_ kv.Sizer        = (*Engine)(nil)
	_ kv.Spacer       = (*Engine)(nil)
	_ kv.Shrinker     = (*Engine)(nil)
	_ kv.Checkpointer = (*Engine)(nil)
)

// Options configure an engine.
type Options struct {
	// Dir is the data folder, created if absent. If Dir is empty and FS is nil, the
	// engine is in memory.
	Dir string
	// FS is the file system of Dir; nil means the disk, or a new memory file
	// system if Memory is set.
	FS vfs.FS
	// Memory keeps everything in memory; nothing outlives Close.
	Memory bool
	// NoSync acknowledges batches before they are durable: a crash may undo the
	// newest ones, still in order and each as a whole.
	NoSync bool
	// CacheBytes limits block cache, memtables and the values that are remembered, with their texts, together; 0 means
	// 160 MiB on disk, 48 MiB in memory. Filters for keys that do not exist may take a twentieth of it in addition.
	CacheBytes int64
	// SeparateValues keeps values of at least this many bytes in files apart
	// from the keys, so that compactions move them less often; 0 keeps all values
	// with their keys.
	SeparateValues int
	// Reserve is the space on the disk, in bytes, that ordinary writes leave to deletes and to
	// maintenance: before they use it, they fail with fault.OutOfSpace. 0 means no reserve. It is at
	// most an eighth of the file system.
	Reserve int64
	// Logger receives failures and stalls; nil discards them.
	Logger *slog.Logger

	// MemTableBytes is the size of a memtable. Memory holds up to three of them while the disk is slow. A key
	// that is deleted while it is in a memtable is never written to a table. 0 means a fifth of CacheBytes, at
	// most 64 MiB; on a small file system it is less.
	MemTableBytes int64
}

// An Engine is a kv.Engine on Pebble. It is also a kv.RangeDeleter, a
// kv.Compacter, a kv.Refuser, a kv.Syncer, a kv.Failer, a kv.Sizer, a kv.Spacer, a kv.Shrinker and a kv.Checkpointer.
type Engine struct {
	db     *pebble.DB
	lock   *pebble.Lock // nil in memory
	syncer *syncer      // of logs; nil in memory, and where the system has none
	log    *slog.Logger
	sync   bool // batches wait for the disk unless they say otherwise

	space    *space  // nil in memory
	upkeep   *upkeep // what Pebble does by itself
	stopLook func()

	calls  *local.Gate
	open   atomic.Int64  // iterators and snapshots not yet closed
	newest atomic.Uint64 // number of the newest visible batch: the present Mark

	begun   atomic.Uint64 // number of the newest batch that may be visible, newest or the next one
	asked   atomic.Uint64 // a sync of all batches up to this number is on its way
	durable atomic.Uint64 // all batches up to this number are durable
	syncing atomic.Bool   // a sync is to come, see syncLater
	synced  syncWatch

	mu       sync.Mutex // held from the check of preconditions until the batch is visible
	changes  *local.Changes
	orders   local.Orders
	counters counters    // that orders read
	wedged   atomic.Bool // Pebble has stopped in the middle of a write, and further calls may block forever

	failure atomic.Pointer[refusal] // set when the log, or the table of contents, could not be written
	failed  chan struct{}           // closed when failure is set
	failing sync.Once

	garbage    garbageWatch
	pauses     pauseWatch
	cache      *pebble.Cache
	remembered *remembered
	absent     absent
	shrunk     atomic.Uint64 // the value of newest at the end of the last Shrink
	spent      sync.Mutex    // held while a log that is no longer needed is reused or emptied

	opened    atomic.Bool
	closing   context.Context // ends with Close
	close     context.CancelFunc
	tidying   atomic.Bool  // space is being reclaimed
	compacts  atomic.Int64 // running calls of Compact
	tidyMu    sync.Mutex
	tidied    clock.Stopwatch // since that last began
	tidyPause time.Duration   // from tidied until it may begin again
	returned  clock.Stopwatch // since the memory of memtables was last returned; with tidying
	trimmed   clock.Stopwatch // since that of the cache was
	slack     slackWatch

	endRenewal atomic.Pointer[context.CancelFunc] // of the one that is running, nil for none
}

// Refuses returns the reason why batches are rejected at present, nil if they are accepted. If
// the kind is fault.OutOfSpace, batches that free space may still be accepted.
func (e *Engine) Refuses() error {
	if err := e.broken(); err != nil {
		return err
	}
	return e.refuses(false)
}

// Failed is closed when the engine has failed: it reads and writes nothing until the folder is opened again.
func (e *Engine) Failed() <-chan struct{} { return e.failed }

// refuses returns the reason why a batch whose preconditions hold must not be written.
func (e *Engine) refuses(frees bool) error {
	if why := e.upkeep.why.Load(); why != nil {
		return why.err
	}
	if e.space == nil {
		return nil
	}
	why := e.space.refuses()
	if frees && fault.KindOf(why) == fault.OutOfSpace {
		return nil
	}
	return why
}

// broken is the error of every call after the engine has failed, nil before.
func (e *Engine) broken() error {
	if why := e.failure.Load(); why != nil {
		return why.err
	}
	return nil
}

// enter begins a call. If it succeeds, calls.Leave ends the call.
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

// Close waits for running calls and releases the folder. It does not flush
// memtables, because the log has their content.
func (e *Engine) Close() error {
	if e.wedged.Load() { // running calls may never end
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
		e.syncer.close()
	}
	if e.lock != nil {
		if err == nil && e.broken() == nil {
			if unsealed := seal(e.space.fs, e.space.dir); unsealed != nil { // the next opening has one check less
				e.log.Warn("the sizes of the files could not be recorded", "error", plain(unsealed))
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

// fail ends reading and writing permanently. Visible batches may not be durable, and another sync could succeed without
// having written them. Only a new opening finds out what is on the disk.
func (e *Engine) fail(cause error) {
	e.failing.Do(func() {
		e.failure.Store(&refusal{fault.Wrap(fault.Unavailable, cause,
			"The disk failed, so nothing is read or written any more. Restart mayfly: "+
				"what it has acknowledged is on the disk.")})
		close(e.failed)
		if !e.opened.Load() {
			return // Open returns the error
		}
		e.log.Error("the disk failed: nothing is read or written until mayfly restarts", "error", plain(cause))
	})
}

func readFault(err error) error {
	if pebble.IsCorruptionError(err) {
		return fault.Wrap(fault.Corrupt, err, "stored data is damaged")
	}
	return fault.Wrap(fault.Internal, err, "cannot read stored data")
}

// fatal is a message of Pebble's that it cannot continue, and the error in it.
type fatal struct {
	text  string
	cause error
}

func (f fatal) Error() string { return f.text }
func (f fatal) Unwrap() error { return f.cause }

// logger receives the messages of Pebble. It drops information. Most errors also
// come as events, see upkeep.
type logger struct{ engine *Engine }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.engine.log.Error("storage reports a failure", "error", fmt.Sprintf(format, args...))
}

// Fatalf does not return, because Pebble must not continue. In a goroutine that recovers, it panics. In a goroutine of
// Pebble's, after a failed write of the table of contents, nobody would recover the panic: Fatalf blocks that goroutine
// forever and fails the engine. The next opening recovers from the log.
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

// ours reports whether the calling goroutine recovers from panics of Fatalf.
func ours() bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "/kv/pebble.(*Engine).publish") ||
			strings.HasSuffix(frame.Function, "/kv/pebble.open") {
			return true
		}
		if !more {
			return false
		}
	}
}
