package session_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// Sessions keep and drop their answers while there is memory for a few of them only. An answer is complete or
// forgotten, the newest ones are kept, and all memory comes back.
func TestRepliesOfManySessions(t *testing.T) {
	const clients, rounds, size = 4, 100, 100 << 10
	const memory = 1 << 20
	s := serve(t, memory)
	var done sync.WaitGroup
	var kept atomic.Int64
	for client := range clients {
		x := s.session(client)
		done.Go(func() {
			members := bytes.Repeat([]byte{byte('a' + client)}, size)
			for number := range int64(rounds) {
				if err := x.Take(t.Context()); err != nil {
					t.Error(err)
					return
				}
				s.Sessions.Renumber(x, number, session.Retryable)
				x.Reply = &session.Reply{Of: "insert"}
				s.Sessions.Kept.Add(x.Reply, members)
				switch got := s.Sessions.Kept.Members(x.Reply); {
				case bytes.Equal(got, members):
					kept.Add(1)
				case got != nil:
					t.Errorf("session %d remembers %d bytes of another answer", client, len(got))
				}
				x.Release()
			}
		})
	}
	done.Go(func() {
		for range rounds / 10 {
			s.Sessions.ForgetReplies()
		}
	})
	done.Wait()
	if kept.Load() == 0 {
		t.Error("no answer was kept")
	}
	s.Sessions.End(s.Sessions.Choose(func(*session.Session) bool { return true }))
	var all budget.Share
	s.Budget.Open(&all)
	defer all.Close()
	if !all.TryTake(memory / 2) {
		t.Error("the memory of the answers has not come back")
	}
}

// The oldest answers make room for new ones.
func TestOldRepliesAreForgotten(t *testing.T) {
	s := serve(t, 1<<20)
	var replies []*session.Reply
	for range 20 {
		p := &session.Reply{Of: "insert"}
		s.Sessions.Kept.Add(p, make([]byte, 100<<10))
		replies = append(replies, p)
	}
	forgotten := 0
	for i, p := range replies {
		if s.Sessions.Kept.Members(p) != nil {
			continue
		}
		if forgotten++; i >= forgotten {
			t.Errorf("answer %d is forgotten, and an older one is not", i)
		}
	}
	if forgotten == 0 || forgotten == len(replies) {
		t.Errorf("%d of %d answers are forgotten", forgotten, len(replies))
	}
}
