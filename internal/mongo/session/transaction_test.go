package session_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// Clients increment one document, in transactions and outside, while old transactions are ended. What was committed,
// and nothing else, is in the document.
func TestTransactionsTakeTurns(t *testing.T) {
	const clients, rounds = 4, 30
	s := serve(t, 0)
	s.create(1)
	var done sync.WaitGroup
	var committed, ended atomic.Int64
	for client := range clients {
		x := s.session(client)
		done.Go(func() {
			for number, left := int64(0), rounds; left > 0; number++ {
				switch ok, err := s.transact(x, number); {
				case ok:
					committed.Add(1)
					left--
				case err == nil:
					ended.Add(1)
					left--
				case fault.KindOf(err) != fault.Conflict: // after a conflict, clients begin again
					t.Error(err)
					return
				}
			}
		})
		done.Go(func() {
			for range rounds {
				if err := s.writeAlone(1); err != nil {
					t.Error(err)
				}
				committed.Add(1)
			}
		})
	}
	finished, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			s.Sessions.EndOld(0)
			s.Sessions.AnyAwaited()
			s.Sessions.Counts()
			select {
			case <-finished:
				return
			default:
			}
		}
	}()
	done.Wait()
	close(finished)
	<-over
	if got, want := s.count(1), committed.Load(); got != want {
		t.Errorf("the document counts %d increments, %d were acknowledged", got, want)
	}
	if n, open, locked := s.Sessions.Counts(); n != clients || open != 0 || locked != 0 {
		t.Errorf("%d sessions, %d transactions, %d documents are left", n, open, locked)
	}
	t.Logf("%d committed, %d ended by age", committed.Load(), ended.Load())
}

// transact increments the document in a transaction of two commands, as a client would: between the two somebody else
// may end it. Then neither ok nor an error is returned.
func (s *server) transact(x *session.Session, number int64) (ok bool, err error) {
	ctx := s.t.Context()
	if err := x.Take(ctx); err != nil {
		return false, err
	}
	o := s.operation(x)
	if err = s.Sessions.Begin(o, number, false); err == nil {
		if v, enterErr := o.Enter(s.c); enterErr != nil {
			err = enterErr
		} else {
			_, err = o.Transaction.Do(v, increment(1))
		}
	}
	if err != nil {
		x.Abort(&s.Sessions)
		x.Release()
		return false, err
	}
	x.Release()

	runtime.Gosched()
	if err := x.Take(ctx); err != nil {
		return false, err
	}
	defer x.Release()
	if x.Transaction == nil {
		return false, nil
	}
	err = x.Commit(ctx, &s.Sessions)
	return err == nil, err
}

// writeAlone increments a document outside of transactions, after those that have written it.
func (s *server) writeAlone(id int64) error {
	ops := []store.Op{increment(id)}
	for {
		if err := s.Sessions.Await(s.t.Context(), s.c, ops); err != nil {
			return err
		}
		_, err := s.Store.WriteAll(s.t.Context(), s.c, start.Unix(), ops)
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}

// A write of a document that a transaction has written waits for its end, or for that of the request.
func TestWritesWaitForTransactions(t *testing.T) {
	s := serve(t, 0)
	s.create(1)
	s.create(2)
	x := s.session(1)
	s.ok(x.Take(t.Context()))
	o := s.operation(x)
	s.ok(s.Sessions.Begin(o, 1, false))
	v, err := o.Enter(s.c)
	s.ok(err)
	_, err = o.Transaction.Do(v, increment(1))
	s.ok(err)

	s.ok(s.writeAlone(2)) // another document: no wait

	ctx, leave := context.WithCancel(t.Context())
	leave()
	if err := s.Sessions.Await(ctx, s.c, []store.Op{increment(1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that has ended waits: %v", err)
	}

	waited := make(chan error, 1)
	go func() { waited <- s.writeAlone(1) }()
	for !s.Sessions.AnyAwaited() {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.count(1); n != 0 {
		t.Errorf("before the commit, n is %d", n)
	}
	s.ok(x.Commit(t.Context(), &s.Sessions))
	x.Release()
	s.ok(<-waited)
	if n := s.count(1); n != 2 {
		t.Errorf("after both, n is %d, want 2", n)
	}
}
