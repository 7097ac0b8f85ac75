// Package pebble keeps the contract of package kv on one machine, in a folder
// or in memory, with the Pebble log-structured tree. It adds what Pebble does
// not have: optimistic preconditions and counters that batches pass one at a
// time. DESIGN.md argues why those are right. It never interprets a key.
package pebble

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

var (
	_ kv.Engine       = (*Engine)(nil)
	_ kv.RangeDeleter = (*Engine)(nil)
	_ kv.Compacter    = (*Engine)(nil)
	_ kv.Sizer        = (*Engine)(nil)
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
	// Logger receives failures and stalls; nil is silent.
	Logger *slog.Logger

	memTableBytes uint64 // for tests that want rotation; 0 is the default
}

// An Engine is a kv.Engine on Pebble. It is also a kv.RangeDeleter, a
// kv.Compacter and a kv.Sizer.
type Engine struct {
	db   *pebble.DB
	log  *slog.Logger
	sync bool // batches wait for the disk unless they say otherwise
	fs   vfs.FS
	dir  string

	calls  *local.Gate
	open   atomic.Int64  // iterators and snapshots not yet closed
	newest atomic.Uint64 // number of the newest visible batch: the present Mark

	mu      sync.Mutex // held from the check of preconditions until the batch is visible
	changes *local.Changes
	orders  local.Orders
	failed  error // set once a batch could not be made durable
	wedged  bool  // Pebble's commit pipeline broke off halfway
}

// Open opens the engine and takes the data folder for this process. It fails
// with fault.Unavailable when another process has it, fault.Corrupt when stored
// bytes are damaged, fault.Internal otherwise.
func Open(o Options) (*Engine, error) {
	tidyMalloc()
	e := &Engine{log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), calls: local.NewGate(), changes: local.NewChanges()}
	memory := o.FS == nil && (o.Memory || o.Dir == "")
	if memory {
		o.FS = vfs.NewMem()
	}
	e.sync = !memory && !o.NoSync
	dir, err := folder(o)
	if err != nil {
		return nil, err
	}
	options := tune(o, memory, e.log)
	db, err := open(dir, options)
	if err != nil {
		return nil, openFault(err, dir, cmp.Or(o.FS, vfs.Default))
	}
	e.db, e.fs, e.dir = db, cmp.Or(o.FS, vfs.Default), dir
	return e, nil
}

// folder gives the name of the data folder. On disk it is absolute, because
// within one process Pebble's lock knows a folder by its name.
func folder(o Options) (string, error) {
	if o.FS != nil {
		return cmp.Or(o.Dir, "mayfly"), nil
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "cannot find data folder %q", o.Dir)
	}
	return dir, nil
}

// open turns Pebble's fatal errors into ordinary ones: at this point nobody has
// been promised anything.
func open(dir string, options *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			if f, ok := r.(fatal); ok {
				db, err = nil, f
				return
			}
			panic(r)
		}
	}()
	return pebble.Open(dir, options)
}

// openFault says why the folder did not open. Pebble does not mark a taken lock
// apart, so it is tried once more.
func openFault(err error, dir string, fs vfs.FS) error {
	if pebble.IsCorruptionError(err) {
		return fault.Wrap(fault.Corrupt, err, "data folder %q is damaged", dir)
	}
	if _, statErr := fs.Stat(dir); statErr == nil {
		lock, lockErr := pebble.LockDirectory(dir, fs)
		if lockErr != nil {
			return fault.Wrap(fault.Unavailable, lockErr,
				"data folder %q is in use: stop the other mayfly that has it open, or choose another folder", dir)
		}
		if closeErr := lock.Close(); closeErr != nil {
			return fault.Wrap(fault.Internal, closeErr, "cannot release data folder %q", dir)
		}
	}
	return fault.Wrap(fault.Internal, err, "cannot open data folder %q", dir)
}

// Mark returns the present moment.
func (e *Engine) Mark() kv.Mark { return kv.Mark(e.newest.Load()) }

// Close waits for running calls and releases the folder. It flushes nothing:
// the log already holds what memory holds.
func (e *Engine) Close() error {
	if !e.calls.Shut() {
		return nil
	}
	if n := e.open.Load(); n > 0 {
		return local.Unclosed(n)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wedged {
		return e.failed // Pebble would wait forever for its commit pipeline
	}
	if err := e.db.Close(); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot close the data folder")
	}
	return nil
}

// fail makes the engine refuse writes from now on. e.mu is held.
func (e *Engine) fail(cause error) error {
	if e.failed == nil {
		e.failed = fault.Wrap(fault.Internal, cause, "the disk failed; nothing more is written until mayfly restarts")
		e.log.Error("storage refuses writes until restart", "error", cause)
	}
	return e.failed
}

func readFault(err error) error {
	if pebble.IsCorruptionError(err) {
		return fault.Wrap(fault.Corrupt, err, "stored data is damaged")
	}
	return fault.Wrap(fault.Internal, err, "cannot read stored data")
}

// fatal is what Pebble says when it cannot go on.
type fatal string

func (f fatal) Error() string { return string(f) }

// logger hears Pebble's own words. Its information is not shown; its errors
// come with their events, see listener.
type logger struct{ log *slog.Logger }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.log.Error("storage reports a failure", "error", fmt.Sprintf(format, args...))
}

// Fatalf panics, because Pebble may not go on. In a batch's own goroutine Apply
// recovers and refuses further writes. Elsewhere, with a table of contents that
// could not be written, the process ends here; starting again recovers from the log.
func (l logger) Fatalf(format string, args ...any) {
	f := fatal(fmt.Sprintf(format, args...))
	l.log.Error("storage cannot go on", "error", string(f))
	panic(f)
}
