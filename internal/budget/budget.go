// Package budget divides the memory and the processors of a process among its requests, so that
// large requests neither take all memory nor keep small ones waiting.
//
// A request has a Share. It takes memory before it uses it, gives it back afterwards, and calls Yield
// about once in a millisecond of long work. Small requests pay nothing: the first FreeBytes of a share
// are not counted, and a request runs for a few milliseconds before it has to take turns with others.
//
// Where a share can have no more memory, it waits in line, the smallest share first. It waits for a bounded
// time and then fails with fault.Busy, which each API answers in a way that makes clients try again.
// An eighth of the memory is kept for shares of at most SmallBytes, so that one large request after
// another cannot shut them out.
package budget

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// What a share may do without a thought for others.
const (
	FreeBytes  = 64 << 10 // of memory that are not counted
	SmallBytes = 1 << 20  // of memory that may come from the part that is kept for small shares
)

const (
	grain      = 64 << 10 // memory is taken in multiples of this
	keptFor    = 8        // one part in so many is kept for small shares
	maxWaiting = 4096     // shares that wait for memory; more fail at once
)

// Times of shares that wait.
const (
	defaultPatience = 10 * time.Second
	lookEvery       = 250 * time.Millisecond // for loans to call in
)

// Options say how much there is to divide.
type Options struct {
	Memory int64 // bytes that all shares may hold together; 0 for no limit
	Cores  int   // requests with long work that run at the same time; 0 takes GOMAXPROCS

	// Patience is how long a share waits for memory, or for a turn that it holds, before it fails; 0 is ten seconds.
	Patience time.Duration
}

// A Budget is safe for concurrent use. A nil Budget has no limits.
type Budget struct {
	memory, kept int64
	patience     time.Duration
	turns        turns

	mu      sync.Mutex
	used    int64
	stuck   int64     // bytes held by shares that wait for more
	waiting []*waiter // by size, then by arrival
	loans   []*loan   // see Share.Lend
	looking bool      // a goroutine runs look
	refused uint64
	highest int64
}

// A waiter is a share in line for memory.
type waiter struct {
	share   *Share
	size    int64 // of the share once it has what it waits for
	need    int64
	granted chan struct{} // closed when need has been added
	refused bool          // set before granted is closed
}

// New makes a budget.
func New(o Options) *Budget {
	b := &Budget{memory: o.Memory, kept: o.Memory / keptFor, patience: cmp.Or(o.Patience, defaultPatience)}
	b.turns.cores = o.Cores
	if b.turns.cores <= 0 {
		b.turns.cores = runtime.GOMAXPROCS(0)
	}
	return b
}

// A Share is what one request, or one cursor between requests, has of a budget. The zero value has no limits.
// It is used by one goroutine at a time, must not be copied, and must be closed.
type Share struct {
	budget  *Budget
	held    int64 // bytes that the request says it holds
	counted int64 // of them, those that count in the budget: a multiple of grain, without the free ones
	turn    turn
	lent    bool // see Lend
}

// Open makes s a share of b.
func (b *Budget) Open(s *Share) { *s = Share{budget: b} }

// Take adds n bytes to what s holds, before they are used; n may be zero. It may wait. When it fails, s holds
// what it held before. Errors: fault.Busy when there is no memory in time, fault.TooLarge when the
// budget is smaller than what s would hold, and the cause of ctx's end.
func (s *Share) Take(ctx context.Context, n int64) error {
	if s.held+n <= FreeBytes+s.counted || s.budget == nil || s.budget.memory == 0 {
		s.held += n
		return nil
	}
	need := (s.held + n - FreeBytes - s.counted + grain - 1) / grain * grain
	if err := s.budget.take(ctx, s, need); err != nil {
		return err
	}
	s.counted += need
	s.held += n
	return nil
}

// TryTake is Take that never waits. It reports whether s holds the n bytes.
func (s *Share) TryTake(n int64) bool {
	if s.held+n > FreeBytes+s.counted && s.budget != nil && s.budget.memory != 0 {
		need := (s.held + n - FreeBytes - s.counted + grain - 1) / grain * grain
		if !s.budget.tryTake(s, need) {
			return false
		}
		s.counted += need
	}
	s.held += n
	return true
}

// Give takes n bytes from what s holds.
func (s *Share) Give(n int64) {
	s.held = max(s.held-n, 0)
	surplus := s.counted - max(s.held-FreeBytes, 0)
	if surplus = surplus / grain * grain; surplus > 0 {
		s.counted -= surplus
		s.budget.give(surplus)
	}
}

// Pass moves n bytes that s holds to another share of the same budget, such as that of a cursor which a
// request leaves open. It never waits.
func (s *Share) Pass(to *Share, n int64) {
	n = min(n, s.held)
	s.held -= n
	to.held += n
	if to.budget == nil {
		s.Give(0)
		return
	}
	// What to needs comes from what s has counted; where s held it freely, the budget goes over its limit by that little.
	need := max(to.held-FreeBytes-to.counted+grain-1, 0) / grain * grain
	moved := min(need, s.counted)
	s.counted -= moved
	to.counted += need
	if need > moved {
		to.budget.force(need - moved)
	}
	s.Give(0)
}

// Add adds n bytes that are in use already to what s holds. It never waits, and may go over the limit:
// for what is known only afterwards and is about to end.
func (s *Share) Add(n int64) {
	s.held += n
	need := max(s.held-FreeBytes-s.counted+grain-1, 0) / grain * grain
	if need > 0 && s.budget != nil && s.budget.memory != 0 {
		s.counted += need
		s.budget.force(need)
	}
}

// Counted reports whether s holds more than what is free, and so may have waited for it.
func (s *Share) Counted() bool { return s.counted > 0 }

// Held is how many bytes s holds.
func (s *Share) Held() int64 { return s.held }

// Renew ends the turn of s and forgets the time that it has used: another request begins, on the same connection.
// What s holds stays.
func (s *Share) Renew() {
	s.Rest()
	s.turn = turn{}
}

// Close gives back what s has. A closed share may be used again.
func (s *Share) Close() {
	s.Keep()
	s.Give(s.held)
	s.Renew()
}

// take adds need bytes to what s counts, waiting for them if it must.
func (b *Budget) take(ctx context.Context, s *Share, need int64) error {
	if s.counted+need > b.memory-b.kept && s.counted+need > SmallBytes {
		return fault.New(fault.TooLarge, "The request needs more memory than the limit of the process leaves to requests (%d bytes). Raise --memory-limit.", b.memory-b.kept)
	}
	w, err := b.enter(s, need)
	if w == nil {
		return err
	}
	s.Rest()
	timed, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	select {
	case <-w.granted:
	case <-timed.Done():
	}
	return b.leave(ctx, w)
}

// enter takes need bytes at once, or gives a place in line.
func (b *Budget) enter(s *Share, need int64) (*waiter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	size := s.counted + need
	if b.fits(size, need) {
		b.add(need)
		return nil, nil
	}
	if len(b.waiting) >= maxWaiting {
		b.refused++
		return nil, errBusy
	}
	w := &waiter{share: s, size: size, need: need, granted: make(chan struct{})}
	at := len(b.waiting)
	for at > 0 && b.waiting[at-1].size > size {
		at--
	}
	b.waiting = append(b.waiting, nil)
	copy(b.waiting[at+1:], b.waiting[at:])
	b.waiting[at] = w
	b.stuck += s.counted
	b.unlock()
	if !b.looking {
		b.looking = true
		go b.look()
	}
	return w, nil
}

// leave ends the wait of w, with what it waited for or without.
func (b *Budget) leave(ctx context.Context, w *waiter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.granted:
		if !w.refused {
			return nil
		}
	default:
		b.remove(w)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b.refused++
	return errBusy
}

// fits reports whether a share of that size may have need bytes more now. Large shares leave alone what is kept for small ones.
func (b *Budget) fits(size, need int64) bool {
	limit := b.memory
	if size > SmallBytes {
		limit -= b.kept
	}
	return b.used+need <= limit
}

func (b *Budget) add(need int64) {
	b.used += need
	b.highest = max(b.highest, b.used)
}

// give takes n bytes out of use and lets those in line have them.
func (b *Budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.serve()
}

// serve grants what fits to those in line, the smallest share first.
func (b *Budget) serve() {
	for i := 0; i < len(b.waiting); {
		w := b.waiting[i]
		if !b.fits(w.size, w.need) {
			i++
			continue
		}
		b.add(w.need)
		b.remove(w)
		close(w.granted)
	}
	b.unlock()
}

// unlock refuses the largest of those in line when everything in use is held by shares that wait:
// none of them would ever give anything back.
func (b *Budget) unlock() {
	for len(b.waiting) > 0 && b.stuck > 0 && b.stuck == b.used {
		w := b.waiting[len(b.waiting)-1]
		for _, other := range b.waiting {
			if other.share.counted > w.share.counted {
				w = other
			}
		}
		b.remove(w)
		w.refused = true
		close(w.granted)
	}
}

// remove takes w out of the line.
func (b *Budget) remove(w *waiter) {
	for i, other := range b.waiting {
		if other == w {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.stuck -= w.share.counted
			return
		}
	}
}

// tryTake adds need bytes if nobody has to wait for them.
func (b *Budget) tryTake(s *Share, need int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.fits(s.counted+need, need) {
		return false
	}
	b.add(need)
	return true
}

// force adds bytes that are in use already.
func (b *Budget) force(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(n)
}

var errBusy = fault.New(fault.Busy, "The server is short of memory. Try again.")

// A Reading is a budget at one moment.
type Reading struct {
	Memory  int64  // bytes that shares may hold together; 0 for no limit
	Used    int64  // bytes that they hold
	Highest int64  // bytes that they held at most
	Waiting int    // shares that wait for memory
	Running int    // shares that have a turn
	Queued  int    // shares that wait for a turn
	Refused uint64 // times that a share got no memory or no turn
}

// Read gives the figures of b.
func (b *Budget) Read() Reading {
	if b == nil {
		return Reading{}
	}
	b.mu.Lock()
	r := Reading{Memory: b.memory, Used: b.used, Highest: b.highest, Waiting: len(b.waiting), Refused: b.refused}
	b.mu.Unlock()
	var refused uint64
	r.Running, r.Queued, refused = b.turns.read()
	r.Refused += refused
	return r
}
