package session_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A tap is a producer that counts how it is used.
type tap struct {
	session.Holding
	reading atomic.Bool
	stopped atomic.Int32
}

func (p *tap) Fill(*session.Operation, *session.Batch) (done bool, err error) { return true, nil }
func (p *tap) Stop()                                                          { p.stopped.Add(1) }

// Clients open, read and kill cursors while the clock passes over idle ones. Each producer is stopped exactly once, and
// never while it is read.
func TestCursorsOfManyClients(t *testing.T) {
	const clients, rounds = 4, 100
	s := serve(t, 0)
	var done sync.WaitGroup
	taps := make([][]*tap, clients)
	for client := range clients {
		done.Go(func() {
			for i := range rounds {
				p := new(tap)
				taps[client] = append(taps[client], p)
				x := &session.Cursor{From: p, NoTimeout: i%4 == 0}
				if err := s.Cursors.Add(x); err != nil {
					t.Error(err)
					return
				}
				s.read(x.ID, p)
				switch i % 3 {
				case 0:
					s.Cursors.Kill(x)
				case 1: // a second client kills it at the same time
					done.Go(func() { s.Cursors.Kill(x) })
					s.read(x.ID, p)
				}
			}
		})
	}
	done.Go(func() {
		for range rounds {
			if err := s.clock.Advance(11 * time.Minute); err != nil {
				t.Error(err)
			}
			s.Cursors.Counts()
		}
	})
	done.Wait()
	s.Cursors.Stop()
	s.Node.Close() // the others
	if open, _ := s.Cursors.Counts(); open != 0 {
		t.Errorf("%d cursors are open after the end", open)
	}
	for client := range taps {
		for i, p := range taps[client] {
			if n := p.stopped.Load(); n != 1 {
				t.Errorf("client %d: the producer of cursor %d was stopped %d times", client, i, n)
			}
		}
	}
}

// read does what a getMore does: it has the cursor to itself, and can be interrupted.
func (s *server) read(id int64, p *tap) {
	x := s.Cursors.Find(id)
	if x == nil || !x.Mutex.TryLock() {
		return
	}
	defer x.Mutex.Unlock()
	if x.Closed {
		return
	}
	_, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	x.Cancel.Store(&cancel)
	defer x.Cancel.Store(nil)
	if p.reading.Swap(true) || p.stopped.Load() != 0 {
		s.t.Error("a cursor is read by two, or after its end")
	}
	p.reading.Store(false)
	x.Touch(s.Clock.Now())
}
