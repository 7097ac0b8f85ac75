package budget

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// stalled is how long a lent share may go without progress before it is cut for others that wait.
const stalled = 2 * time.Second

// A loan is a share whose request waits for its client.
type loan struct {
	share *Share
	bytes int64 // that others could have
	since clock.Stopwatch
	cut   func()
}

// Lend says that the request of s waits for its client: for the rest of a body, or until an answer is taken.
// As long as nobody waits for memory, that may take any time. Otherwise cut is called once when s has made no
// Progress for two seconds; it ends the wait, does not block, and calls nothing of this package. What follows is Keep or Close.
func (s *Share) Lend(cut func()) {
	if s.budget == nil || s.counted == 0 || s.lent {
		return
	}
	s.lent = true
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.loans = append(s.budget.loans, &loan{share: s, bytes: s.counted, since: clock.Start(), cut: cut})
}

// Progress says that the client of a lent share has done its part for some more bytes.
func (s *Share) Progress() {
	if !s.lent {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if i := s.budget.loanOf(s); i >= 0 {
		l := s.budget.loans[i]
		l.bytes, l.since = s.counted, clock.Start()
	}
}

// Keep ends Lend. It reports whether s may go on: false when it has been cut.
func (s *Share) Keep() bool {
	if !s.lent {
		return true
	}
	s.lent = false
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	i := s.budget.loanOf(s)
	if i < 0 {
		return false
	}
	s.budget.loans = slices.Delete(s.budget.loans, i, i+1)
	return true
}

// loanOf finds the loan of s, -1 if it has none or has been cut.
func (b *Budget) loanOf(s *Share) int {
	return slices.IndexFunc(b.loans, func(l *loan) bool { return l.share == s })
}

// look calls loans in as long as somebody waits for memory.
func (b *Budget) look() {
	for waiting := true; waiting; {
		_ = clock.Pause(context.Background(), lookEvery)
		b.mu.Lock()
		b.callIn()
		waiting = len(b.waiting) > 0
		b.looking = waiting
		b.mu.Unlock()
	}
}

// callIn cuts loans that have made no progress, those that have waited longest first, until those in line would have enough.
func (b *Budget) callIn() {
	if len(b.waiting) == 0 || len(b.loans) == 0 {
		return
	}
	wanted := int64(0)
	for _, w := range b.waiting {
		wanted += w.need
	}
	slices.SortStableFunc(b.loans, func(x, y *loan) int { return cmp.Compare(y.since.Elapsed(), x.since.Elapsed()) })
	n := 0
	for ; n < len(b.loans) && wanted > 0 && b.loans[n].since.Elapsed() >= stalled; n++ {
		wanted -= b.loans[n].bytes
		b.loans[n].cut()
	}
	b.loans = slices.Delete(b.loans, 0, n)
}
