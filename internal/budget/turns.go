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

const (
	// freeTime is how long a request computes before it needs a turn, if it holds only free memory and no one is
	// queued.
	freeTime = 5 * time.Millisecond
	// leastRun is the time between two decisions of Yield. Calls in between return at once.
	leastRun = time.Millisecond
	// quantum is the length of a turn when others wait.
	quantum = 10 * time.Millisecond
	// blocked is how long a holder may go without a Yield before it loses its turn: it waits for a disk or a client. So
	// nobody has to remember to return a turn, and a lost one cannot block others.
	blocked = 20 * time.Millisecond
	// headStart is how much earlier in the queue a large share stands: a request that has begun to take memory should
	// end, and return it, before many others begin.
	headStart = time.Second
	// shortHold is the longest expected Hold that may take the last core.
	shortHold = 100 * time.Millisecond
)

// headStart is how much earlier in the queue s stands.
func (s *Share) headStart() time.Duration {
	if s.counted <= SmallBytes {
		return 0
	}
	return headStart
}

// turns lets as many requests with long work compute at a time as there are cores. The queue is in the order of arrival
// plus the time that a request has computed already or expects to need, so that short work passes long work and every
// request gets its turn. If there are several cores, one is left to requests that yield or hold a turn briefly.
type turns struct {
	cores int

	mu         sync.Mutex
	watch      clock.Stopwatch
	started    bool
	running    []*Share
	queue      []*place
	queued     atomic.Int64 // the length of queue, for Yield without the lock
	reclaiming bool         // a goroutine runs reclaim
	refused    uint64
}

// A place in the queue for a turn.
type place struct {
	share   *Share
	key     time.Duration // the order of the queue
	holds   bool          // for Hold, not for Yield
	short   bool          // Hold expects to be short
	granted chan struct{} // closed when the share has its turn
}

// A turn is the processor time of a share: what it has used, and whether it may compute now.
type turn struct {
	watch   clock.Stopwatch // since the last decision of Yield
	started bool
	asked   bool          // for a turn, since the last Rest
	used    time.Duration // computed so far, in this request

	// Guarded by turns.mu.
	running bool
	holds   bool          // until Rest, however long that takes
	seen    time.Duration // the last Yield, on the watch of turns
	since   time.Duration // the start of the turn
}

// Yield is called about once per millisecond of work that may be long. A request that has computed for a while waits
// here for its turn, so the caller must not hold a lock. The error is the cause of ctx's end.
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
	// A share with counted memory needs a turn from the start: memory costs time to clear and to fill, and a thousand
	// large bodies that arrive at once would each get their free milliseconds.
	if s.counted == 0 || t.asked {
		elapsed := t.watch.Elapsed()
		if elapsed < leastRun {
			return nil
		}
		t.watch = clock.Start()
		t.used += min(elapsed, 2*quantum) // a longer time was a wait, not work
		if t.used < freeTime && s.counted == 0 && s.budget.turns.queued.Load() == 0 {
			return nil
		}
	}
	t.asked = true
	return s.budget.turns.yield(ctx, s)
}

// Hold waits for a turn that lasts until Rest, for work that cannot yield: a script, or the commit of a large batch.
// The shorter the expected work, the sooner the turn. Hold does nothing for a share that holds a turn already.
// Errors: fault.Busy when no turn comes in time, and the cause of ctx's end.
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

// Rest ends the turn of s: the request is about to wait, or has finished computing.
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
		if s.turn.holds || now-s.turn.since < quantum || len(t.queue) == 0 {
			t.mu.Unlock()
			runtime.Gosched() // goroutines that have become ready in the meantime go first
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

// reclaim hands on turns that their holders do not use, as long as some share is queued. One goroutine at most runs it.
func (t *turns) reclaim() {
	for waiting := true; waiting; {
		_ = clock.Pause(context.Background(), blocked/2)
		t.mu.Lock()
		t.serve(t.now())
		waiting = len(t.queue) > 0
		t.reclaiming = waiting
		t.mu.Unlock()
	}
}

// enter puts s into the queue.
func (t *turns) enter(s *Share, key time.Duration, holds bool) *place {
	p := &place{share: s, key: key, holds: holds, granted: make(chan struct{})}
	at := len(t.queue)
	for at > 0 && t.queue[at-1].key > key {
		at--
	}
	t.queue = append(t.queue, nil)
	copy(t.queue[at+1:], t.queue[at:])
	t.queue[at] = p
	t.queued.Store(int64(len(t.queue)))
	return p
}

// leave takes p out of the queue, or ends its turn if it has just been granted.
func (t *turns) leave(p *place) {
	for i, other := range t.queue {
		if other == p {
			t.queue = append(t.queue[:i], t.queue[i+1:]...)
			t.queued.Store(int64(len(t.queue)))
			return
		}
	}
	t.end(p.share)
	t.serve(t.now())
}

// serve gives turns that are free, or that their holders do not use, to shares in the queue.
func (t *turns) serve(now time.Duration) {
	if len(t.queue) == 0 {
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
	for i := 0; i < len(t.queue) && len(t.running) < t.cores; {
		p := t.queue[i]
		if p.holds && !p.short && t.holding() >= max(t.cores-1, 1) {
			i++
			continue
		}
		t.queue = append(t.queue[:i], t.queue[i+1:]...)
		t.running = append(t.running, p.share)
		p.share.turn.running, p.share.turn.holds = true, p.holds
		p.share.turn.seen, p.share.turn.since = now, now
		close(p.granted)
	}
	t.queued.Store(int64(len(t.queue)))
	if len(t.queue) > 0 && !t.reclaiming {
		t.reclaiming = true
		go t.reclaim()
	}
}

// holding is the number of turns that last until Rest.
func (t *turns) holding() (n int) {
	for _, s := range t.running {
		if s.turn.holds {
			n++
		}
	}
	return n
}

// end ends the turn of s.
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
	return len(t.running), len(t.queue), t.refused
}
