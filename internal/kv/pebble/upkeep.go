package pebble

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

const (
	firstPause = 100 * time.Millisecond // after a failure; it doubles with each further one
	longPause  = 10 * time.Second       // the longest pause
	logEvery   = time.Minute            // how often a lasting failure is logged
)

// upkeep watches what Pebble does by itself: flushes of memtables and compactions. After a failure, Pebble tries
// again at once and logs each time; upkeep adds pauses and logs less.
type upkeep struct {
	log *slog.Logger

	mu         sync.Mutex
	flush      job
	compaction job
	flushErr   error              // of the last flush
	waking     context.Context    // ends when there is a reason to try again at once
	wake       context.CancelFunc // ends waking
	closed     bool
	quiet      bool // the engine is being opened: Open returns the error, so it is not logged

	why   atomic.Pointer[refusal] // set while flushes fail
	stuck func(error)             // called for each failed flush
}

// A job is flushing or compaction.
type job struct {
	name     string
	failures int           // in a row
	pause    time.Duration // before the next one
	logged   clock.Stopwatch
}

func newUpkeep(log *slog.Logger) *upkeep {
	u := &upkeep{log: log, quiet: true, stuck: func(error) {}}
	u.flush.name, u.compaction.name = "flush", "compaction"
	u.waking, u.wake = context.WithCancel(context.Background())
	return u
}

// wait pauses before a table is created, if the last job of its kind has failed.
func (u *upkeep) wait(category vfs.DiskWriteCategory) {
	u.mu.Lock()
	j := &u.compaction
	if strings.HasSuffix(string(category), "flush") {
		j = &u.flush
	}
	pause, waking := j.pause, u.waking
	j.pause = 0 // one pause for each failure, however many tables follow
	u.mu.Unlock()
	_ = clock.Pause(waking, pause)
}

// again ends the pauses, because the next attempt may succeed.
func (u *upkeep) again() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.flush.failures+u.compaction.failures == 0 || u.closed {
		return
	}
	u.wake()
	u.waking, u.wake = context.WithCancel(context.Background())
}

// opened is called when the engine is open: from now on failures are logged.
func (u *upkeep) opened() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.quiet, u.stuck = false, func(error) {}
}

// close ends all pauses, now and later.
func (u *upkeep) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	u.wake()
}

func (u *upkeep) failed(j *job, err error) {
	j.failures++
	j.pause = min(firstPause<<min(j.failures-1, 10), longPause)
	switch {
	case u.quiet:
	case j.failures == 1:
		u.log.Error("storage maintenance failed: trying again", "what", j.name, "error", plain(err))
		j.logged = clock.Start()
	case j.logged.Elapsed() >= logEvery:
		u.log.Error("storage maintenance still fails", "what", j.name, "times", j.failures, "error", plain(err))
		j.logged = clock.Start()
	}
}

func (u *upkeep) worked(j *job) {
	if j.failures > 0 {
		u.log.Info("storage maintenance works again", "what", j.name, "failures", j.failures)
	}
	j.failures, j.pause = 0, 0
}

// listener receives the events of Pebble, and logs what an operator should know. DataCorruption must be set, because
// Pebble's default ends the process.
func (u *upkeep) listener() *pebble.EventListener {
	return &pebble.EventListener{
		FlushEnd: func(info pebble.FlushInfo) {
			u.mu.Lock()
			defer u.mu.Unlock()
			if u.flushErr = info.Err; info.Err == nil {
				u.worked(&u.flush)
				u.why.Store(nil)
			}
		},
		CompactionEnd: func(info pebble.CompactionInfo) {
			u.mu.Lock()
			defer u.mu.Unlock()
			if info.Err == nil {
				u.worked(&u.compaction)
			}
		},
		BackgroundError: u.backgroundError,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			u.log.Error("stored data is damaged", "path", info.Path, "error", plain(info.Details))
		},
		DiskSlow: func(info pebble.DiskSlowInfo) {
			u.log.Warn("the disk is slow", "path", info.Path, "took", info.Duration)
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			u.log.Warn("writes wait for compaction", "reason", info.Reason)
		},
		WriteStallEnd: func() { u.log.Info("writes no longer wait") },
	}
}

// backgroundError is called for each failure; for a failed flush, right after its FlushEnd.
func (u *upkeep) backgroundError(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err != u.flushErr {
		u.failed(&u.compaction, err)
		return
	}
	u.failed(&u.flush, err)
	u.why.Store(&refusal{errStuck(err)})
	u.stuck(err)
}

func errStuck(cause error) error {
	if noSpace(cause) {
		return fault.Wrap(fault.OutOfSpace, cause, "The disk is full, so nothing is stored, not even deletes. "+
			"Free space on the disk; writes then work again.")
	}
	return fault.Wrap(fault.Unavailable, cause, "The data folder cannot be written, so nothing is stored. "+
		"Check its disk; restart mayfly if that does not help.")
}

// plain is the text of an error in one line. Logging the error itself would show a stack.
func plain(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	return strings.ReplaceAll(text, "\n", "; ")
}
