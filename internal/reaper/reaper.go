// Package reaper frees the space of documents that have already expired. It
// never decides whether a document exists: every read of the store does that by
// itself, so nothing depends on when the reaper runs, and it may be paused for ever.
// It works in small steps: as fast as documents die, and through a wave of them as fast as the requests that it must
// not disturb let it.
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
)

// Options say what to reclaim and how fast.
type Options struct {
	Store  *store.Store
	Clock  clock.Clock
	Rate   int // documents per second at most; 0 follows the load alone
	Logger *slog.Logger
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

	// The background goroutine's own.
	looked  map[*store.Container]int64 // when a container that has to be looked through was
	ledgers map[*store.Container]*ledger
	trimmed int64           // when the log was
	alive   clock.Stopwatch // since New

	lookedAt         clock.Stopwatch // since the last look
	sublevels        int             // of the engine then
	told             bool
	toldAt           clock.Stopwatch // since the governor was told how much there is to do
	documentsPerStep int

	running context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup
}

// Stats is the reaper's account of itself.
type Stats struct {
	Documents int64         // reclaimed since the start
	Bytes     int64         // of their bodies
	Entries   int64         // index entries swept since the start
	Backlog   int64         // documents expired and still on disk
	Lag       time.Duration // for how long the oldest of them has been expired
	Paused    bool
}

// New makes a reaper that rests until Start.
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

// Start begins to work in the background.
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

// Stop ends the background work and waits for the step under way.
func (r *Reaper) Stop() {
	r.stop()
	r.work.Wait()
}

// Pause stops reclaiming until Resume. Documents expire all the same.
func (r *Reaper) Pause() {
	r.paused.Store(true)
	r.pending.end()
}

// Resume takes Pause back.
func (r *Reaper) Resume() { r.paused.Store(false) }

// Observe tells the reaper how long a request has taken, so that it can yield.
func (r *Reaper) Observe(took time.Duration) { r.governor.observe(took) }

// round does what there is to do in every container, at the pace that the governor allows, until nothing
// is left. Once a second it looks for what has come meanwhile.
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
				clear(r.ledgers) // what waits when it goes on is a wave, and is spread
				r.pending.end()
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

// look does what wants doing once a second.
func (r *Reaper) look() {
	r.lookedAt, r.sublevels = clock.Start(), r.o.Store.Load().Sublevels
	if err := r.o.Store.ResumeBuilds(); err != nil {
		r.o.Logger.Log(r.running, level(err), "an index build failed and begins anew", "error", err)
	}
	r.forget()
	r.trim()
}

// turn gives a container its slice of time; more reports that it wants another one.
func (r *Reaper) turn(c *store.Container, look bool) (more bool, err error) {
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

// forget drops what is kept of containers that are gone.
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

// paced waits as long as the governor asks after a step; it is false when the pass should end.
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

// ReclaimNow frees the space of everything that is expired now, index entries
// included, before it returns, paused or not.
func (r *Reaper) ReclaimNow(ctx context.Context) error {
	for _, c := range r.o.Store.Containers() {
		if err := r.exhaust(ctx, c); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// gone reports whether a container was deleted while it was tended.
func gone(err error) bool { return fault.KindOf(err) == fault.OwnerNotFound }

// level is how loudly a failure is told. That the disk takes no writes is told by the engine, once.
func level(err error) slog.Level {
	if kind := fault.KindOf(err); kind == fault.OutOfSpace || kind == fault.Unavailable {
		return slog.LevelDebug
	}
	return slog.LevelError
}

// Stats counts what is done and what is left.
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

// Reclaimed is how many documents have been reclaimed since the start.
func (r *Reaper) Reclaimed() uint64 {
	return uint64(r.documents.Load())
}

func (r *Reaper) now() int64 { return r.o.Clock.Now().Unix() }

func (r *Reaper) count(done store.Reclaimed) {
	r.documents.Add(int64(done.Documents))
	r.bytes.Add(int64(done.Bytes))
	r.entries.Add(int64(done.Entries))
}
