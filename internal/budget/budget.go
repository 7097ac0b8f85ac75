// Package budget divides the memory and the processors of a process among its requests, so that large requests
// neither take all memory nor keep small ones waiting.
//
// Every request opens a Share of the Budget and closes it at its end. In between:
//
//   - Take reserves memory before the request allocates it, and Give returns it. Reservations are estimates: the
//     package allocates nothing itself.
//   - Yield is called about once per millisecond of long work. It may block until it is the request's turn to compute.
//   - Lend and Keep enclose a wait for the client. If others are short of memory, a slow client is cut off.
//
// Small requests pay nothing: the first FreeBytes of a share are not counted, and a request computes for a few
// milliseconds before it has to take turns.
//
// When the memory is used up, Take waits in a queue that serves the smallest share first. After a limited time it
// fails with fault.Busy, which each API turns into an error that makes clients try again. An eighth of the memory is
// reserved for shares of at most SmallBytes, so that a series of large requests cannot shut them out.
//
// docs/decisions/0020 gives the reasons for these rules.
package budget

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

const (
	// FreeBytes of each share are not counted, so that a small request never touches the lock of the budget.
	FreeBytes = 64 << 10
	// SmallBytes is the size up to which a share may use the memory that is reserved for small shares.
	SmallBytes = 1 << 20
)

const (
	grain        = 64 << 10 // memory is counted in multiples of this
	reservedPart = 8        // one part in this many is reserved for small shares
	maxWaiting   = 4096     // shares that wait for memory; more fail at once
)

const (
	defaultPatience = 10 * time.Second
	loanCheckEvery  = 250 * time.Millisecond
)

// Options say how much there is to divide.
type Options struct {
	Memory int64 // bytes that all shares may hold together; 0 for no limit
	Cores  int   // requests with long work that compute at the same time; 0 means GOMAXPROCS

	// Patience is how long Take and Hold wait before they fail with fault.Busy; 0 means ten seconds.
	Patience time.Duration
}

// A Budget is safe for concurrent use. A nil Budget has no limits.
type Budget struct {
	memory, reserved int64 // reserved is the part of memory for small shares only
	patience         time.Duration
	turns            turns

	mu            sync.Mutex
	used          int64
	stuck         int64     // bytes held by shares that wait for more; see unlock
	waiting       []*waiter // by size, then by arrival
	loans         []*loan   // see Share.Lend
	checkingLoans bool      // a goroutine runs checkLoans
	refused       uint64
	highest       int64
}

// A waiter is a share in the queue for memory.
type waiter struct {
	share   *Share
	size    int64 // of the share once its wait has succeeded
	need    int64
	granted chan struct{} // closed when need has been added to used, or when refused is set
	refused bool          // written before granted is closed
}

// New makes a budget.
func New(o Options) *Budget {
	b := &Budget{memory: o.Memory, reserved: o.Memory / reservedPart, patience: cmp.Or(o.Patience, defaultPatience)}
	b.turns.cores = o.Cores
	if b.turns.cores <= 0 {
		b.turns.cores = runtime.GOMAXPROCS(0)
	}
	return b
}

// A Share is the part of a budget that one request uses, or one cursor between requests. The zero value has no limits.
// One goroutine at a time uses it. It must not be copied, and must be closed.
type Share struct {
	budget  *Budget
	held    int64 // bytes that the request says it holds
	counted int64 // bytes that count in the budget: held without FreeBytes, rounded up to grain
	turn    turn
	lent    bool // see Lend
}

// Open makes s a share of b.
func (b *Budget) Open(s *Share) { *s = Share{budget: b} }

// Take reserves n more bytes, before the request uses them; n may be zero. It may wait. When it fails, s holds what it
// held before. Errors: fault.Busy when no memory becomes free in time, fault.TooLarge when the whole budget is too
// small for the share, and the cause of ctx's end.
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

// TryTake is Take without waiting. It reports whether s holds the n bytes now.
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

// Give returns n of the bytes that s holds.
func (s *Share) Give(n int64) {
	s.held = max(s.held-n, 0)
	surplus := s.counted - max(s.held-FreeBytes, 0)
	if surplus = surplus / grain * grain; surplus > 0 {
		s.counted -= surplus
		s.budget.give(surplus)
	}
}

// Pass moves n of the bytes that s holds to another share of the same budget: from a request to the cursor that it
// leaves open. It never waits.
func (s *Share) Pass(to *Share, n int64) {
	n = min(n, s.held)
	s.held -= n
	to.held += n
	if to.budget == nil {
		s.Give(0)
		return
	}
	// The counted bytes of s pay for what to needs. Bytes that s held free of charge are not paid for, so the budget
	// may exceed its limit by up to FreeBytes.
	need := max(to.held-FreeBytes-to.counted+grain-1, 0) / grain * grain
	moved := min(need, s.counted)
	s.counted -= moved
	to.counted += need
	if need > moved {
		to.budget.force(need - moved)
	}
	s.Give(0)
}

// Add counts n bytes that are in use already. It never waits and may exceed the limit of the budget: it is for memory
// whose size is known only after it has been allocated, and that is soon returned.
func (s *Share) Add(n int64) {
	s.held += n
	need := max(s.held-FreeBytes-s.counted+grain-1, 0) / grain * grain
	if need > 0 && s.budget != nil && s.budget.memory != 0 {
		s.counted += need
		s.budget.force(need)
	}
}

// Counted reports whether s holds more than FreeBytes, and so may have waited for memory.
func (s *Share) Counted() bool { return s.counted > 0 }

// Held is the number of bytes that s holds.
func (s *Share) Held() int64 { return s.held }

// Renew ends the turn of s and forgets how long it has computed: the next request on the same connection starts anew.
// s keeps its memory.
func (s *Share) Renew() {
	s.Rest()
	s.turn = turn{}
}

// Close returns all memory and ends the turn of s. A closed share may be used again.
func (s *Share) Close() {
	s.Keep()
	s.Give(s.held)
	s.Renew()
}

// take adds need bytes to used, and waits for them if necessary. The caller adds them to s.counted.
func (b *Budget) take(ctx context.Context, s *Share, need int64) error {
	if s.counted+need > b.memory-b.reserved && s.counted+need > SmallBytes {
		return fault.New(fault.TooLarge, "The request needs more memory than the limit of the process leaves to "+
			"requests (%d bytes). Raise --memory-limit.", b.memory-b.reserved)
	}
	w, err := b.enter(s, need)
	if w == nil {
		return err
	}
	s.Rest() // another request computes during the wait
	timed, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	select {
	case <-w.granted:
	case <-timed.Done():
	}
	return b.leave(ctx, w)
}

// enter takes need bytes at once, or puts s into the queue. A nil waiter with a nil error means that s has the bytes.
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
	if !b.checkingLoans {
		b.checkingLoans = true
		go b.checkLoans()
	}
	return w, nil
}

// leave ends the wait of w. A grant that came at the last moment counts, even if ctx has ended.
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

// fits reports whether a share that would grow to size may have need more bytes now. Only small shares may use the
// reserved part.
func (b *Budget) fits(size, need int64) bool {
	limit := b.memory
	if size > SmallBytes {
		limit -= b.reserved
	}
	return b.used+need <= limit
}

func (b *Budget) add(need int64) {
	b.used += need
	b.highest = max(b.highest, b.used)
}

// give returns n bytes and grants them to shares in the queue.
func (b *Budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.serve()
}

// serve grants memory to all shares in the queue that fit, the smallest first.
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

// unlock resolves a deadlock: when shares that wait hold all memory in use, none of them would ever return any. It
// refuses the one that holds most.
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

// remove takes w out of the queue.
func (b *Budget) remove(w *waiter) {
	for i, other := range b.waiting {
		if other == w {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.stuck -= w.share.counted
			return
		}
	}
}

// tryTake adds need bytes to used if they fit now.
func (b *Budget) tryTake(s *Share, need int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.fits(s.counted+need, need) {
		return false
	}
	b.add(need)
	return true
}

// force adds bytes that are in use already, whether they fit or not.
func (b *Budget) force(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(n)
}

var errBusy = fault.New(fault.Busy, "The server is short of memory. Try again.")

// A Reading is the state of a budget at one moment.
type Reading struct {
	Memory  int64  // bytes that shares may hold together; 0 for no limit
	Used    int64  // bytes that they hold
	Highest int64  // the highest that Used has been
	Waiting int    // shares that wait for memory
	Running int    // shares that have a turn
	Queued  int    // shares that wait for a turn
	Refused uint64 // how often a share got no memory or no turn
}

// Read gives the present figures of b.
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
