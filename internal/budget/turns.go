package budget

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// How long work runs.
const (
	freeTime = 5 * time.Millisecond  // before it needs a turn, as long as it holds little and nobody waits for one
	leastRun = time.Millisecond      // between two looks
	quantum  = 10 * time.Millisecond // of a turn, when others wait
	blocked  = 20 * time.Millisecond // after which a turn without a Yield is lent to another: its holder waits for something
)

const (
	// headStart is how much earlier in line a share with much memory is: who has begun to take memory comes to an end, and
	// gives it back, before many others begin.
	headStart = time.Second
	// shortHold is how long a turn that is held may take at most to have the last core, too.
	shortHold = 100 * time.Millisecond
)

// headStart is that of s.
func (s *Share) headStart() time.Duration {
	if s.counted <= SmallBytes {
		return 0
	}
	return headStart
}

// turns lets as many requests with long work run as there are cores. Whoever waits is served in the order of
// arrival, put back by the time that it has had or expects to need, so short work goes before long work and nobody waits forever. One
// core is left to work that yields or is short, where there is more than one.
type turns struct {
	cores int

	mu      sync.Mutex
	watch   clock.Stopwatch
	started bool
	running []*Share
	line    []*place
	queued  atomic.Int64 // how many are in line
	lending bool         // a goroutine runs lend
	refused uint64
}

// A place in line for a turn.
type place struct {
	share   *Share
	key     time.Duration // order in line
	holds   bool
	short   bool          // it holds the turn for a short time only
	granted chan struct{} // closed when the share has its turn
}

// A turn is what a share has of the processors.
type turn struct {
	watch   clock.Stopwatch // since the last Yield
	started bool
	asked   bool // for a turn, since the last Rest
	used    time.Duration

	// Guarded by turns.mu.
	running bool
	holds   bool          // until Rest, however long that takes
	seen    time.Duration // the last Yield, on the watch of turns
	since   time.Duration // the start of the turn
}

// Yield is called about once in a millisecond of work that may be long. It fails with the cause of ctx's
// end. A request that has run for a while waits here for its turn, so no lock may be held.
func (s *Share) Yield(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.budget == nil {
		return nil
	}
	t := &s.turn
	if !t.started {
		t.started, t.watch = true, clock.Start()
	}
	// Memory that is counted costs time to clear and to fill, so that many who begin at once would be too many.
	if s.counted == 0 || t.asked {
		elapsed := t.watch.Elapsed()
		if elapsed < leastRun {
			return nil
		}
		t.watch = clock.Start()
		t.used += min(elapsed, 2*quantum) // a longer time was spent waiting
		if t.used < freeTime && s.counted == 0 && s.budget.turns.queued.Load() == 0 {
			return nil
		}
	}
	t.asked = true
	return s.budget.turns.yield(ctx, s)
}

// Hold waits for a turn that lasts until Rest, for work that cannot yield: a script, the commit of a large
// batch. The turn comes the sooner the shorter that work is expected to be. It does nothing for a share that holds a turn already. Errors: fault.Busy when there is none in time, and the
// cause of ctx's end.
func (s *Share) Hold(ctx context.Context, expected time.Duration) error {
	if s.budget == nil {
		return nil
	}
	timed, cancel := context.WithTimeoutCause(ctx, s.budget.patience, errBusyTurn)
	defer cancel()
	err := s.budget.turns.hold(timed, s, expected)
	if err == errBusyTurn {
		s.budget.turns.refuse()
	}
	return err
}

var errBusyTurn = fault.New(fault.Busy, "The server is busy with other long requests. Try again.")

// Rest ends a turn: the request waits, or computes no more.
func (s *Share) Rest() {
	if s.budget != nil && s.turn.started {
		s.budget.turns.rest(s)
		s.turn.started, s.turn.asked = false, false
	}
}

// now is the time on the watch of t.
func (t *turns) now() time.Duration {
	if !t.started {
		t.started, t.watch = true, clock.Start()
	}
	return t.watch.Elapsed()
}

// yield gives s a turn, or lets it keep the one it has.
func (t *turns) yield(ctx context.Context, s *Share) error {
	t.mu.Lock()
	now := t.now()
	if s.turn.running {
		s.turn.seen = now
		if s.turn.holds || now-s.turn.since < quantum || len(t.line) == 0 {
			t.mu.Unlock()
			runtime.Gosched() // what has become ready meanwhile goes first
			return nil
		}
		t.end(s)
	}
	p := t.enter(s, now+s.turn.used-s.headStart(), false)
	t.serve(now)
	t.mu.Unlock()
	return t.wait(ctx, p)
}

// hold gives s a turn that lasts until rest.
func (t *turns) hold(ctx context.Context, s *Share, expected time.Duration) error {
	t.mu.Lock()
	s.turn.started, s.turn.watch = true, clock.Start()
	now := t.now()
	if s.turn.running {
		if s.turn.holds {
			t.mu.Unlock()
			return nil
		}
		t.end(s)
	}
	p := t.enter(s, now+s.turn.used+expected-s.headStart(), true)
	p.short = expected <= shortHold
	t.serve(now)
	t.mu.Unlock()
	return t.wait(ctx, p)
}

// wait waits until p has its turn.
func (t *turns) wait(ctx context.Context, p *place) error {
	select {
	case <-p.granted:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		t.leave(p)
		return context.Cause(ctx)
	}
	p.share.turn.watch = clock.Start()
	return nil
}

// lend looks for turns that their holders do not use, as long as somebody waits for one.
func (t *turns) lend() {
	for waiting := true; waiting; {
		_ = clock.Pause(context.Background(), blocked/2)
		t.mu.Lock()
		t.serve(t.now())
		waiting = len(t.line) > 0
		t.lending = waiting
		t.mu.Unlock()
	}
}

// enter puts s in line.
func (t *turns) enter(s *Share, key time.Duration, holds bool) *place {
	p := &place{share: s, key: key, holds: holds, granted: make(chan struct{})}
	at := len(t.line)
	for at > 0 && t.line[at-1].key > key {
		at--
	}
	t.line = append(t.line, nil)
	copy(t.line[at+1:], t.line[at:])
	t.line[at] = p
	t.queued.Store(int64(len(t.line)))
	return p
}

// leave takes p out of the line, and ends its turn if it got one meanwhile.
func (t *turns) leave(p *place) {
	for i, other := range t.line {
		if other == p {
			t.line = append(t.line[:i], t.line[i+1:]...)
			t.queued.Store(int64(len(t.line)))
			return
		}
	}
	t.end(p.share)
	t.serve(t.now())
}

// serve gives turns that are free, or that their holders do not use, to those in line.
func (t *turns) serve(now time.Duration) {
	if len(t.line) == 0 {
		return
	}
	for i := 0; i < len(t.running); {
		s := t.running[i]
		if !s.turn.holds && now-s.turn.seen > blocked {
			t.end(s)
			continue
		}
		i++
	}
	for i := 0; i < len(t.line) && len(t.running) < t.cores; {
		p := t.line[i]
		if p.holds && !p.short && t.holding() >= max(t.cores-1, 1) {
			i++
			continue
		}
		t.line = append(t.line[:i], t.line[i+1:]...)
		t.running = append(t.running, p.share)
		p.share.turn.running, p.share.turn.holds = true, p.holds
		p.share.turn.seen, p.share.turn.since = now, now
		close(p.granted)
	}
	t.queued.Store(int64(len(t.line)))
	if len(t.line) > 0 && !t.lending {
		t.lending = true
		go t.lend()
	}
}

// holding is how many turns last until rest.
func (t *turns) holding() (n int) {
	for _, s := range t.running {
		if s.turn.holds {
			n++
		}
	}
	return n
}

// end takes the turn of s away.
func (t *turns) end(s *Share) {
	for i, other := range t.running {
		if other == s {
			t.running = append(t.running[:i], t.running[i+1:]...)
			break
		}
	}
	s.turn.running, s.turn.holds = false, false
}

func (t *turns) rest(s *Share) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.turn.running {
		t.end(s)
		t.serve(t.now())
	}
}

func (t *turns) refuse() {
	t.mu.Lock()
	t.refused++
	t.mu.Unlock()
}

func (t *turns) read() (running, queued int, refused uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.running), len(t.line), t.refused
}
