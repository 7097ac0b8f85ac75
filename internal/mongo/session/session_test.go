package session_test

import (
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// Clients use the same sessions while others end and forget them. A turn is one client's at a time, and a session that
// is forgotten is not found again.
func TestSessionsOfManyClients(t *testing.T) {
	const clients, rounds, keys = 4, 200, 3
	s := serve(t, 0)
	var done sync.WaitGroup
	uses := [keys]map[*session.Session]int{}
	var guard sync.Mutex
	for k := range uses {
		uses[k] = map[*session.Session]int{}
	}
	for client := range clients {
		done.Go(func() {
			for i := range rounds {
				k := (client + i) % keys
				x, err := s.Sessions.Find(start, keyOf(k))
				if err == nil {
					err = x.Take(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
				x.Number++ // the race detector sees if two have the turn
				if x.Gone.Load() && s.Sessions.Named(keyOf(k)) == x {
					t.Error("a session is forgotten and found")
				}
				guard.Lock()
				uses[k][x]++
				guard.Unlock()
				x.Release()
			}
		})
	}
	done.Go(func() {
		for i := range rounds {
			s.Sessions.End(s.Sessions.Choose(func(x *session.Session) bool { return x.Key == keyOf(i%keys) }))
			s.Sessions.ForgetUnused()
		}
	})
	done.Wait()
	for k, sessions := range uses {
		for x, n := range sessions {
			if x.Number != int64(n)-1 {
				t.Errorf("session %d was used %d times and counts %d", k, n, x.Number+1)
			}
		}
	}
	s.Sessions.End(s.Sessions.Choose(func(*session.Session) bool { return true }))
	if n, _, _ := s.Sessions.Counts(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}
