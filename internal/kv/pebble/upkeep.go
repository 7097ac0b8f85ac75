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

// How long maintenance waits after a failure, twice as long after each, and how often a failure
// that lasts is worth a line.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 10 * time.Second
	tellEvery  = time.Minute
)

// Upkeep is what Pebble does by itself: flushes of memtables and compactions. It tries again at once
// when one has failed, which this slows down, and logs without end.
type upkeep struct {
	log *slog.Logger

	mu         sync.Mutex
	flush      job
	compaction job
	flushErr   error              // of the flush that ended last
	waking     context.Context    // ends when there is reason to try again at once
	wake       context.CancelFunc // ends it
	closed     bool
	quiet      bool // the engine is being opened: its error tells

	why   atomic.Pointer[refusal] // none of the memory goes to tables any more
	stuck func(error)             // hears of each flush that fails
}

// A job is a kind of upkeep.
type job struct {
	name     string
	failures int           // in a row
	pause    time.Duration // before the next one
	told     clock.Stopwatch
}

func newUpkeep(log *slog.Logger) *upkeep {
	u := &upkeep{log: log, quiet: true, stuck: func(error) {}}
	u.flush.name, u.compaction.name = "flush", "compaction"
	u.waking, u.wake = context.WithCancel(context.Background())
	return u
}

// wait pauses before a table is made if the last one of its kind has failed.
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

// again ends the pauses, because there is hope.
func (u *upkeep) again() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.flush.failures+u.compaction.failures == 0 || u.closed {
		return
	}
	u.wake()
	u.waking, u.wake = context.WithCancel(context.Background())
}

// opened begins to log.
func (u *upkeep) opened() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.quiet, u.stuck = false, func(error) {}
}

// close ends the pauses for good.
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
		u.log.Error("storage maintenance fails and is tried again", "what", j.name, "error", plain(err))
		j.told = clock.Start()
	case j.told.Elapsed() >= tellEvery:
		u.log.Error("storage maintenance still fails", "what", j.name, "times", j.failures, "error", plain(err))
		j.told = clock.Start()
	}
}

func (u *upkeep) worked(j *job) {
	if j.failures > 0 {
		u.log.Info("storage maintenance works again", "what", j.name, "failures", j.failures)
	}
	j.failures, j.pause = 0, 0
}

// listener hears of upkeep, and logs what an operator should know. DataCorruption must be set:
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
		WriteStallEnd: func() { u.log.Info("writes go on") },
	}
}

// backgroundError hears of each failure, that of a flush right after its FlushEnd.
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
	if noRoom(cause) {
		return fault.Wrap(fault.OutOfSpace, cause, "The disk is full, so nothing is stored, not even deletes. Make room on the disk; writes then go on by themselves.")
	}
	return fault.Wrap(fault.Unavailable, cause, "The data folder cannot be written, so nothing is stored. Look after its disk; restart mayfly if that does not help.")
}

// plain is an error's text in one line; with the error itself, a log would show a stack.
func plain(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	return strings.ReplaceAll(text, "\n", "; ")
}
