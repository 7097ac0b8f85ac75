package rest

import (
	"context"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
)

// A scriptShares is the share of processors and memory that the scripts of one request have. Abandoned scripts may use
// it after the request has ended.
type scriptShares struct {
	ctx      context.Context // of the request, not of the exchange, which is pooled
	budget   *budget.Budget
	share    budget.Share // has the turn on a processor
	programs []*script.Program

	mu     sync.Mutex
	memory budget.Share // used by another goroutine
	closed bool
}

func (e *exchange) newScriptShares(programs []*script.Program) *scriptShares {
	e.share.Rest() // scripts have their own turn
	s := &scriptShares{budget: e.api.budget, programs: programs}
	s.budget.Open(&s.share)
	s.budget.Open(&s.memory)
	s.ctx = budget.With(e.Request.Context(), &s.share)
	return s
}

// hold waits for a turn on a processor. Scripts that were short in earlier runs get it sooner.
func (s *scriptShares) hold() error {
	expected := time.Duration(0)
	for _, p := range s.programs {
		expected += p.Expected()
	}
	return s.share.Hold(s.ctx, expected)
}

// took records how long the scripts ran together.
func (s *scriptShares) took(d time.Duration) {
	for _, p := range s.programs {
		p.Took(d / time.Duration(len(s.programs)))
	}
}

// othersMemory is the number of bytes that all other requests hold.
func (s *scriptShares) othersMemory() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.budget.Read()
	if r.Memory == 0 {
		return 0 // there is no limit, and nothing is counted
	}
	return max(r.Used-s.memory.Held(), 0)
}

// reserve reports whether the scripts may hold n bytes in total, and takes or returns the difference.
func (s *scriptShares) reserve(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	held := s.memory.Held()
	if n > held {
		return s.memory.TryTake(n - held)
	}
	s.memory.Give(held - n)
	return true
}

func (s *scriptShares) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.memory.Close()
	s.share.Close()
}

// compiled is the program of a script.
func (e *exchange) compiled(r *catalog.Resource) (*script.Program, error) {
	ctx, cancel := context.WithTimeout(e.Request.Context(), scriptTime)
	defer cancel()
	return e.api.scripts.compiled(ctx, r)
}
