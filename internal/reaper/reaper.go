// Package reaper frees the space of documents that have already expired. It never decides whether a document exists:
// every read of the store does that by itself, so clients never notice when the reaper runs, or that it is paused.
//
// The reaper works in small steps. It frees documents as fast as they expire. If very many expire at once, a wave, it
// frees them as fast as it can without disturbing requests.
package reaper

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
	"github.com/mayflydb/mayfly/internal/trace"
)

// Options say what to reclaim and how fast.
type Options struct {
	Store  *store.Store
	Clock  clock.Clock
	Rate   int // the most documents per second; 0 for no limit but the load
	Logger *slog.Logger
	Tracer trace.Tracer // of steps that free something; nil for none
}

// interval is how often the reaper looks for work, in the clock's own time.
const interval = time.Second

// A Reaper is safe for concurrent use.
type Reaper struct {
	o        Options
	governor governor
	paused   atomic.Bool
	wake     chan struct{}

	documents, bytes, entries atomic.Int64
	pending                   pending

	// Used by the background goroutine only.
	looked  map[*store.Container]int64 // when the last pass over a container ended, for due
	ledgers map[*store.Container]*ledger
	trimmed int64           // when the log was last trimmed
	alive   clock.Stopwatch // since New

	lookedAt         clock.Stopwatch // since the last look
	sublevels        int             // of the engine at the last look
	reported         bool
	reportedAt       clock.Stopwatch // since the last report to the governor
	documentsPerStep int

	running context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup
}

// Stats are the figures of a reaper.
type Stats struct {
	Documents int64         // reclaimed since the start
	Bytes     int64         // of their bodies
	Entries   int64         // index entries swept since the start
	Backlog   int64         // documents that are expired and still on disk
	Lag       time.Duration // how long ago the oldest of them has expired
	Paused    bool
}

// New returns a reaper that does nothing until Start.
func New(o Options) *Reaper {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Reaper{
		o: o, wake: make(chan struct{}, 1), governor: governor{limit: float64(o.Rate)}, alive: clock.Start(),
		looked: map[*store.Container]int64{}, ledgers: map[*store.Container]*ledger{},
	}
	r.running, r.stop = context.WithCancel(context.Background())
	return r
}

// Start starts the work in the background.
func (r *Reaper) Start() {
	stopTicks := r.o.Clock.Every(interval, func(time.Time) {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	})
	r.work.Go(func() {
		defer stopTicks()
		for {
			select {
			case <-r.running.Done():
				return
			case <-r.wake:
				r.round()
			}
		}
	})
}

// Stop ends the work in the background and waits for the current step.
func (r *Reaper) Stop() {
	r.stop()
	r.work.Wait()
}

// Pause stops reclaiming until Resume. Documents still expire. Where several processes share the data, the others go
// on.
func (r *Reaper) Pause() {
	r.paused.Store(true)
	r.pending.end()
}

// Resume ends Pause.
func (r *Reaper) Resume() { r.paused.Store(false) }

// Observe tells the reaper how long a request has taken, so that the reaper can slow down if requests do.
func (r *Reaper) Observe(took time.Duration) { r.governor.observe(took) }

// round reclaims in every container in turn, at the pace of the governor, until nothing is left. Once a second it looks
// for documents that have expired since.
func (r *Reaper) round() {
	r.pending.begin()
	whole := true
	for first, more := true, true; more; first = false {
		look := first || r.lookedAt.Elapsed() >= interval
		if look {
			r.look()
		}
		more = false
		for _, c := range r.o.Store.Containers() {
			if r.paused.Load() || r.running.Err() != nil {
				clear(r.ledgers) // after the pause, the documents that wait count as a wave, which is spread out
				r.pending.end()
				r.rest()
				return
			}
			left, err := r.turn(c, look)
			more = more || left
			if err != nil && !gone(err) && r.running.Err() == nil {
				r.o.Logger.Log(r.running, level(err), "reclaiming failed", "container", c.State().Name, "error", err)
				whole = false
			}
		}
	}
	if whole {
		r.pending.end()
	}
}

// rest leaves the work to other processes, if there are any, during a pause.
func (r *Reaper) rest() {
	if err := r.o.Store.Rest(r.running); err != nil && r.running.Err() == nil {
		r.o.Logger.Log(r.running, level(err), "the work could not be left to other processes", "error", err)
	}
}

// look does what is due once a second.
func (r *Reaper) look() {
	r.lookedAt, r.sublevels = clock.Start(), r.o.Store.Load().Sublevels
	if err := r.o.Store.ResumeBuilds(r.running); err != nil && r.running.Err() == nil {
		r.o.Logger.Log(r.running, level(err), "an index build failed: starting it again", "error", err)
	}
	if err := r.o.Store.LeaseFailure(); err != nil {
		r.o.Logger.Log(r.running, level(err), "leases cannot be renewed: other processes may take them", "error", err)
	}
	if err := r.o.Store.Purge(r.running); err != nil && r.running.Err() == nil {
		r.o.Logger.Log(r.running, level(err), "purging dropped data failed: trying again", "error", err)
	}
	r.forget()
	r.trim()
}

// turn gives a container its slice of time; more reports that it needs another one.
func (r *Reaper) turn(c *store.Container, look bool) (more bool, err error) {
	tends, err := r.o.Store.Tends(r.running, c)
	if err != nil || !tends { // then another process counts and frees
		delete(r.ledgers, c)
		return false, err
	}
	l := r.ledgers[c]
	if l == nil {
		l = &ledger{}
		r.ledgers[c] = l
	}
	if look {
		if err = r.countDead(c, l); err != nil {
			return false, err
		}
	}
	more, err = r.tend(c, l, r.paced)
	l.stuck = err != nil
	return more, err
}

// forget drops what is kept about deleted containers.
func (r *Reaper) forget() {
	for c := range r.looked {
		if c.State().Deleted {
			delete(r.looked, c)
		}
	}
	for c := range r.ledgers {
		if c.State().Deleted {
			delete(r.ledgers, c)
		}
	}
}

// paced waits after a step as long as the governor demands; false means that the pass should end.
func (r *Reaper) paced(s step) bool {
	if r.paused.Load() || r.running.Err() != nil {
		return false
	}
	s.sublevels = r.sublevels
	wait := r.governor.after(s)
	if wait == 0 {
		return true
	}
	watch := clock.Start()
	err := clock.Pause(r.running, wait)
	r.governor.paused(watch.Elapsed())
	return err == nil && !r.paused.Load()
}

// ReclaimNow returns when the space of everything that is expired now is free, index
// entries included. It works during a Pause, too, and takes over the work of other processes.
func (r *Reaper) ReclaimNow(ctx context.Context) error {
	for _, c := range r.o.Store.Containers() {
		if err := r.exhaust(ctx, c); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// gone reports whether err means that the container has been deleted in the meantime.
func gone(err error) bool { return fault.KindOf(err) == fault.OwnerNotFound }

// level is the level at which a failure is logged. If the disk rejects writes, the engine has logged that already.
func level(err error) slog.Level {
	switch fault.KindOf(err) {
	case fault.OutOfSpace, fault.Unavailable, fault.Undetermined:
		return slog.LevelDebug
	}
	return slog.LevelError
}

// Stats returns what is done and counts what is left.
func (r *Reaper) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Documents: r.documents.Load(), Bytes: r.bytes.Load(), Entries: r.entries.Load(), Paused: r.paused.Load()}
	now := r.now()
	for _, c := range r.o.Store.Containers() {
		usage, err := r.o.Store.Backlog(ctx, c, now)
		if gone(err) {
			continue
		}
		if err != nil {
			return Stats{}, err
		}
		s.Backlog += int64(usage.Backlog())
		if usage.Oldest != 0 {
			s.Lag = max(s.Lag, time.Duration(now-usage.Oldest)*time.Second)
		}
	}
	return s, nil
}

// Reclaimed is the number of documents reclaimed since the start.
func (r *Reaper) Reclaimed() uint64 {
	return uint64(r.documents.Load())
}

func (r *Reaper) now() int64 { return r.o.Clock.Now().Unix() }

func (r *Reaper) count(done store.Reclaimed) {
	r.documents.Add(int64(done.Documents))
	r.bytes.Add(int64(done.Bytes))
	r.entries.Add(int64(done.Entries))
}
