package budget

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// stalled is how long a client may do nothing before its request is cut off for others that wait for memory.
const stalled = 2 * time.Second

// A loan is a share whose request waits for its client.
type loan struct {
	share *Share
	bytes int64           // that cutting it off would free
	since clock.Stopwatch // the start of the wait, or the last Progress
	cut   func()
}

// Lend says that the request of s begins to wait for its client: for the rest of a body, or until the client has read
// an answer. As long as no other share waits for memory, the wait may take any time. Otherwise, once s has made no
// Progress for two seconds, cut is called, at most once. It must end the wait, for example by a deadline on the
// connection; it must not block or call this package. Keep or Close ends the loan.
func (s *Share) Lend(cut func()) {
	if s.budget == nil || s.counted == 0 || s.lent {
		return
	}
	s.lent = true
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.loans = append(s.budget.loans, &loan{share: s, bytes: s.counted, since: clock.Start(), cut: cut})
}

// Progress says that the client of a lent share has sent or read some more bytes.
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

// Keep ends what Lend began. It reports whether s may go on: false if cut has been called.
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

// loanOf finds the index of the loan of s, -1 if there is no loan or it has been cut off.
func (b *Budget) loanOf(s *Share) int {
	return slices.IndexFunc(b.loans, func(l *loan) bool { return l.share == s })
}

// checkLoans cuts stalled loans off as long as some share waits for memory. One goroutine at most runs it.
func (b *Budget) checkLoans() {
	for waiting := true; waiting; {
		_ = clock.Pause(context.Background(), loanCheckEvery)
		b.mu.Lock()
		b.cutStalled()
		waiting = len(b.waiting) > 0
		b.checkingLoans = waiting
		b.mu.Unlock()
	}
}

// cutStalled cuts off loans without progress, the longest wait first, until the bytes that they free are enough for all
// shares in the queue.
func (b *Budget) cutStalled() {
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
