package rest

import (
	"context"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
)

// A scripting is what the scripts of one request have of the processors and of memory. Scripts that are left
// behind may still ask for it when the request is over.
type scripting struct {
	ctx      context.Context // of the request, not of the exchange, which is used again
	budget   *budget.Budget
	share    budget.Share // with the turn
	programs []*script.Program

	mu     sync.Mutex
	memory budget.Share // asked for by another goroutine
	closed bool
}

func (e *exchange) newScripting(programs []*script.Program) *scripting {
	e.share.Rest() // scripts have a turn of their own
	s := &scripting{budget: e.door.budget, programs: programs}
	s.budget.Open(&s.share)
	s.budget.Open(&s.memory)
	s.ctx = budget.With(e.Request.Context(), &s.share)
	return s
}

// hold waits for a turn, which comes the sooner the shorter the scripts have been so far.
func (s *scripting) hold() error {
	expected := time.Duration(0)
	for _, p := range s.programs {
		expected += p.Expected()
	}
	return s.share.Hold(s.ctx, expected)
}

// took tells how long the scripts have run together.
func (s *scripting) took(d time.Duration) {
	for _, p := range s.programs {
		p.Took(d / time.Duration(len(s.programs)))
	}
}

// others is how many bytes all other requests hold.
func (s *scripting) others() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.budget.Read()
	if r.Memory == 0 {
		return 0 // nothing is counted
	}
	return max(r.Used-s.memory.Held(), 0)
}

// room reports whether the scripts may hold n bytes, all in all.
func (s *scripting) room(n int64) bool {
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

func (s *scripting) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.memory.Close()
	s.share.Close()
}

// compiled is the program of a script, for the request.
func (e *exchange) compiled(r *catalog.Resource) (*script.Program, error) {
	ctx, cancel := context.WithTimeout(e.Request.Context(), scriptTime)
	defer cancel()
	return e.door.scripts.compiled(ctx, r)
}
