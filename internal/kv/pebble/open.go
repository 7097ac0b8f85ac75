package pebble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// Open is OpenContext without a time limit.
func Open(o Options) (*Engine, error) { return OpenContext(context.Background(), o) }

// OpenContext opens the engine and locks the data folder for this process. Errors: fault.Corrupt if stored bytes are
// damaged or missing, fault.OutOfSpace if the disk is full, and fault.Unavailable if the folder cannot be used, for a
// reason in the message. When ctx ends first, it gives up at once and returns the error of ctx; no data is lost.
func OpenContext(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{
		log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), calls: local.NewGate(), changes: local.NewChanges(),
		failed: make(chan struct{}), stopLook: func() {},
	}
	e.counters = newCounters(e)
	e.closing, e.close = context.WithCancel(context.Background())
	e.upkeep = newUpkeep(e.log)
	if o.FS == nil && (o.Memory || o.Dir == "") {
		if err := e.openMemory(o); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "cannot open an engine in memory")
		}
		return e, nil
	}
	e.sync = !o.NoSync
	dir, marker, err := folder(o)
	if err != nil {
		return nil, err
	}
	p := &opening{
		engine: e, fs: cmp.Or(o.FS, vfs.Default), dir: dir, marker: marker,
		done: make(chan error, 1), stuck: make(chan error, 1),
	}
	go p.run(o)
	select {
	case err = <-p.done:
	case <-ctx.Done():
		err = p.giveUp(ctx.Err())
	case why := <-p.stuck:
		err = p.giveUp(why)
	case <-e.failed:
		err = p.giveUp(errors.Unwrap(e.broken()))
	}
	if err != nil {
		return nil, err
	}
	e.opened.Store(true)
	e.upkeep.opened()
	e.look()
	e.watch()
	return e, nil
}

// openMemory opens an engine in memory.
func (e *Engine) openMemory(o Options) (err error) {
	p := tune(o, true, 0)
	e.takeCache(p)
	p.FS, p.Logger, p.EventListener = vfs.NewMem(), logger{e}, e.upkeep.listener()
	e.pauses.least = int64(p.MemTableSize / pauseShare)
	if e.db, err = open("mayfly", p, e.mayDefer); err != nil {
		e.cache.Unref()
		return err
	}
	e.watch()
	return nil
}

// watch starts the regular checks of free space and of deletions.
func (e *Engine) watch() {
	e.stopLook = clock.NewReal(time.Time{}).Every(lookEvery, func(time.Time) { e.tick() })
}

// folder returns the path of the data folder, and the path of a file in it that exists as long as the folder does. On a
// disk they are absolute, because within one process the lock identifies a folder by its path.
func folder(o Options) (dir, marker string, err error) {
	if o.FS != nil {
		dir = cmp.Or(o.Dir, "mayfly")
		return dir, dir, nil
	}
	if dir, err = filepath.Abs(o.Dir); err != nil {
		return "", "", fault.Wrap(fault.Internal, err, "cannot find data folder %q", o.Dir)
	}
	return dir, filepath.Join(dir, lockName), nil
}

// lockName is Pebble's name for the file that is locked.
const lockName = "LOCK"

// An opening is a running OpenContext. It has a goroutine of its own, so that it can be abandoned.
type opening struct {
	engine *Engine
	fs     vfs.FS
	dir    string
	marker string
	done   chan error
	stuck  chan error  // the error of a failed flush, which Pebble would try again without end
	ended  atomic.Bool // it has ended or was abandoned
	gone   atomic.Bool // it was abandoned
}

// run opens the engine, and closes it again if the opening was abandoned.
func (p *opening) run(o Options) {
	err := p.steps(o)
	if !p.ended.Swap(true) {
		p.done <- err
	} else if err == nil {
		p.discard()
	}
}

// discard closes an engine whose opening was abandoned.
func (p *opening) discard() {
	_ = errors.Join(p.engine.db.Close(), p.engine.lock.Close())
	p.engine.syncer.close()
	p.engine.cache.Unref()
}

func (p *opening) steps(o Options) (err error) {
	e := p.engine
	if err := p.fs.MkdirAll(p.dir, 0o700); err != nil {
		return explain(err, p.dir)
	}
	if e.lock, err = pebble.LockDirectory(p.dir, p.fs); err != nil {
		return lockFault(err, p.dir)
	}
	defer func() {
		if err != nil {
			_ = e.lock.Close()
		}
	}()
	if err := checkFormat(p.fs, p.dir); err != nil {
		return err
	}
	fresh, err := inspect(p.fs, p.dir)
	if err != nil {
		return explain(err, p.dir)
	}
	e.space = newSpace(p.fs, p.dir, p.marker, uint64(max(o.Reserve, 0)), e.upkeep.again, e.log)
	e.upkeep.stuck = func(err error) {
		select {
		case p.stuck <- err:
		default:
		}
	}
	var total uint64
	if use, err := p.fs.GetDiskUsage(p.dir); err == nil {
		total = use.TotalBytes
	}
	options := tune(o, false, total)
	e.takeCache(options)
	defer func() {
		if err != nil {
			e.cache.Unref()
			e.syncer.close()
		}
	}()
	below := p.fs
	if below == vfs.Default {
		e.syncer = newSyncer()
		// Without syncs, a process that is killed should lose nothing that it could leave in the system's cache.
		below = logDisk{FS: below, syncer: e.syncer, direct: e.sync && e.syncer != nil}
	}
	options.FS = newDisk(below, e, &p.gone)
	options.Logger, options.EventListener, options.Lock = logger{e}, e.upkeep.listener(), e.lock
	options.EventListener.WALCreated = func(pebble.WALCreateInfo) { e.pauses.begun() }
	e.pauses.least = int64(options.MemTableSize / pauseShare)
	if p.gone.Load() {
		return errGone
	}
	if err := breakSeal(p.fs, p.dir); err != nil {
		return explain(err, p.dir)
	}
	if e.db, err = open(p.dir, options, e.mayDefer); err == nil && fresh {
		// The first log of a new database does not contain how much of it was synced. The next one does.
		if err = e.db.Close(); err == nil {
			e.db, err = open(p.dir, options, e.mayDefer)
		}
	}
	if err != nil {
		return contentFault(err, p.dir)
	}
	return nil
}

// checkFormat fails if a newer Pebble has written the folder, which must not be reported as damage.
func checkFormat(disk vfs.FS, dir string) error {
	text, err := atomicfs.ReadMarker(disk, dir, "format-version")
	if err != nil {
		return explain(err, dir)
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err == nil && version > uint64(pebble.FormatNewest) {
		return fault.New(fault.Unsupported,
			"data folder %q was written by a newer mayfly (storage format %d, this one knows %d): "+
				"run that version, or restore an older backup", dir, version, uint64(pebble.FormatNewest))
	}
	return nil // Pebble checks the rest
}

// giveUp abandons the opening. It changes nothing on the disk any more, but the folder stays locked until its goroutine
// has ended.
func (p *opening) giveUp(why error) error {
	p.gone.Store(true)
	if p.ended.Swap(true) {
		if err := <-p.done; err != nil {
			return err
		}
		p.discard()
	}
	return explain(why, p.dir)
}

// open turns fatal errors of Pebble into ordinary ones. That is safe, because no write has been acknowledged yet.
func open(dir string, options *pebble.Options, mayDefer func() bool) (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			if f, ok := r.(fatal); ok {
				db, err = nil, f
				return
			}
			panic(r)
		}
	}()
	options.Experimental.CompactionScheduler = newScheduler(mayDefer)
	return pebble.Open(dir, options)
}

// lockFault explains why the folder could not be locked. An error of the file system has a path in it; the error about
// a lock of another process has none.
func lockFault(err error, dir string) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return explain(err, dir)
	}
	return fault.Wrap(fault.Unavailable, err,
		"data folder %q is in use: stop the other mayfly that has it open, or choose another folder", dir)
}

// contentFault explains why Pebble could not open a folder that was locked successfully.
func contentFault(err error, dir string) error {
	_, bySystem := errors.AsType[syscall.Errno](err)
	if pebble.IsCorruptionError(err) || !bySystem || errors.Is(err, fs.ErrNotExist) {
		return explain(damaged(plain(err)), dir)
	}
	return explain(err, dir)
}

// explain turns the error of an opening into a message about the folder, with a remedy.
func explain(err error, dir string) error {
	_, isDamaged := errors.AsType[damaged](err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("stopped while data folder %q was opened: %w", dir, err)
	case isDamaged:
		return fault.Wrap(fault.Corrupt, err,
			"data folder %q is damaged: restore a backup, or move the folder away to begin with an empty one", dir)
	case noSpace(err):
		return fault.Wrap(fault.OutOfSpace, err,
			"the disk of data folder %q is full: free some space, then start mayfly again", dir)
	case errors.Is(err, syscall.EROFS):
		return fault.Wrap(fault.Unavailable, err, "data folder %q is on a file system that is mounted read-only: "+
			"mount it for writing, or choose another folder", dir)
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(fault.Unavailable, err, "data folder %q may not be read and written by this user: "+
			"make this user its owner, or start mayfly as its owner", dir)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return fault.Wrap(fault.Unavailable, err,
			"data folder %q is a file, or is below a file: choose another folder", dir)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO),
		errors.Is(err, syscall.EIO):
		return fault.Wrap(fault.Unavailable, err, "data folder %q cannot be accessed: check that its disk is mounted "+
			"and works", dir)
	}
	return fault.Wrap(fault.Internal, err, "cannot open data folder %q", dir)
}
