package budget

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

const mib = 1 << 20

// bubble runs a test in time of its own, and lets the last goroutines end.
func bubble(t *testing.T, test func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		test(t)
		pause(t, max(blocked, loanCheckEvery))
	})
}

// pause passes time in the bubble of a test.
func pause(t *testing.T, d time.Duration) { _ = clock.Pause(t.Context(), d) }

func take(t *testing.T, s *Share, n int64) {
	t.Helper()
	if err := s.Take(t.Context(), n); err != nil {
		t.Fatalf("take %d: %v", n, err)
	}
}

func TestSmallSharesAreFree(t *testing.T) {
	b := New(Options{Memory: mib})
	var all [100]Share
	for i := range all {
		b.Open(&all[i])
		take(t, &all[i], FreeBytes)
	}
	if used := b.Read().Used; used != 0 {
		t.Errorf("%d bytes are used", used)
	}
}

func TestShareGivesBackWhatItTook(t *testing.T) {
	b := New(Options{Memory: 64 * mib})
	var s Share
	b.Open(&s)
	take(t, &s, 10*mib)
	take(t, &s, 5)
	s.Give(4 * mib)
	if used := b.Read().Used; used < 6*mib-FreeBytes || used > 6*mib {
		t.Errorf("%d bytes are used while 6 MiB are held", used)
	}
	s.Close()
	if r := b.Read(); r.Used != 0 || r.Highest < 10*mib-FreeBytes {
		t.Errorf("after Close: %+v", r)
	}
}

func TestShareWaitsForMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Memory: 16 * mib})
		var first, second Share
		b.Open(&first)
		b.Open(&second)
		take(t, &first, 10*mib)
		done := make(chan error)
		go func() { done <- second.Take(t.Context(), 10*mib) }()
		synctest.Wait()
		if r := b.Read(); r.Waiting != 1 {
			t.Fatalf("nobody waits: %+v", r)
		}
		first.Close()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		second.Close()
	})
}

func TestWaitIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Memory: 16 * mib})
		var first, second Share
		b.Open(&first)
		b.Open(&second)
		take(t, &first, 10*mib)
		began := time.Now()
		err := second.Take(t.Context(), 10*mib)
		if fault.KindOf(err) != fault.Busy || time.Since(began) != defaultPatience {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if second.Held() != 0 || b.Read().Waiting != 0 || b.Read().Refused != 1 {
			t.Errorf("it left something behind: %d held, %+v", second.Held(), b.Read())
		}
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("gone"))
		if err := second.Take(gone, 10*mib); err == nil || err.Error() != "gone" {
			t.Errorf("a client that has gone waits: %v", err)
		}
	})
}

func TestSmallestShareGoesFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Memory: 16 * mib})
		var holder Share
		b.Open(&holder)
		take(t, &holder, 14*mib)
		var mu sync.Mutex
		var order []int64
		var work sync.WaitGroup
		for _, size := range []int64{12 * mib, 8 * mib, 10 * mib} {
			work.Go(func() {
				var s Share
				b.Open(&s)
				if err := s.Take(t.Context(), size); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, size/mib)
				mu.Unlock()
				pause(t, time.Second)
				s.Close()
			})
		}
		synctest.Wait()
		holder.Close()
		work.Wait()
		if len(order) != 3 || order[0] != 8 || order[1] != 10 || order[2] != 12 {
			t.Errorf("order %v", order)
		}
	})
}

func TestLargeSharesLeaveSomeToSmallOnes(t *testing.T) {
	b := New(Options{Memory: 16 * mib})
	var large, larger, small Share
	b.Open(&large)
	b.Open(&larger)
	b.Open(&small)
	take(t, &large, 13*mib)
	if larger.TryTake(2 * mib) {
		t.Error("a large share took what is kept for small ones")
	}
	take(t, &small, mib)
}

// Shares that hold memory and wait for more would wait for each other.
func TestSharesDoNotWaitForEachOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Memory: 16 * mib})
		var shares [2]Share
		errs := make(chan error)
		began := time.Now()
		for i := range shares {
			b.Open(&shares[i])
			take(t, &shares[i], int64(6+i)*mib)
		}
		for i := range shares {
			go func() {
				err := shares[i].Take(t.Context(), 5*mib)
				shares[i].Close()
				errs <- err
			}()
		}
		failed := 0
		for range shares {
			if err := <-errs; fault.KindOf(err) == fault.Busy {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if failed != 1 || time.Since(began) != 0 {
			t.Errorf("%d shares failed, after %v", failed, time.Since(began))
		}
	})
}

func TestShareLargerThanTheBudget(t *testing.T) {
	b := New(Options{Memory: 16 * mib})
	var s Share
	b.Open(&s)
	if err := s.Take(t.Context(), 17*mib); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("%v", err)
	}
}

func TestPass(t *testing.T) {
	b := New(Options{Memory: 16 * mib})
	var request, cursor Share
	b.Open(&request)
	b.Open(&cursor)
	take(t, &request, 4*mib)
	request.Pass(&cursor, 3*mib)
	request.Close()
	if used := b.Read().Used; cursor.Held() != 3*mib || used < 3*mib-FreeBytes || used > 3*mib {
		t.Errorf("%d held, %d used", cursor.Held(), used)
	}
	cursor.Close()
	if used := b.Read().Used; used != 0 {
		t.Errorf("%d bytes stay used", used)
	}
}

func TestNoBudgetHasNoLimits(t *testing.T) {
	var s Share
	take(t, &s, 1<<40)
	if err := s.Yield(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Hold(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
	s.Close()
}

// compute works in pieces of a millisecond, in the time of the bubble.
func compute(ctx context.Context, t *testing.T, s *Share, d time.Duration) error {
	for ; d > 0; d -= time.Millisecond {
		if err := s.Yield(ctx); err != nil {
			return err
		}
		pause(t, time.Millisecond)
	}
	s.Rest()
	return nil
}

func TestAsManyRunAsThereAreCores(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Cores: 2})
		var work sync.WaitGroup
		for range 20 {
			work.Go(func() {
				var s Share
				b.Open(&s)
				defer s.Close()
				if err := compute(t.Context(), t, &s, 100*time.Millisecond); err != nil {
					t.Error(err)
				}
			})
		}
		pause(t, 50*time.Millisecond)
		if r := b.Read(); r.Running != 2 || r.Queued != 18 {
			t.Errorf("%+v", r)
		}
		work.Wait()
		if r := b.Read(); r.Running != 0 || r.Queued != 0 {
			t.Errorf("at the end: %+v", r)
		}
	})
}

func TestShortWorkPassesLongWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Cores: 1})
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() {
				var s Share
				b.Open(&s)
				defer s.Close()
				compute(t.Context(), t, &s, time.Second)
			})
		}
		pause(t, 3*time.Second)
		began := time.Now()
		var s Share
		b.Open(&s)
		compute(t.Context(), t, &s, 20*time.Millisecond)
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("20 ms of work took %v beside long work", took)
		}
		s.Close()
		work.Wait()
	})
}

func TestTurnOfWhoWaitsForSomethingIsLent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Cores: 1})
		var stalled, other Share
		b.Open(&stalled)
		b.Open(&other)
		for range 8 { // it has a turn, and goes to wait for its client
			stalled.Yield(t.Context())
			pause(t, time.Millisecond)
		}
		if r := b.Read(); r.Running != 1 {
			t.Fatalf("%+v", r)
		}
		began := time.Now()
		compute(t.Context(), t, &other, 20*time.Millisecond)
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("it waited %v", took)
		}
		stalled.Close()
		other.Close()
	})
}

func TestHold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Cores: 2})
		var holder, second, yielder, short Share
		b.Open(&holder)
		b.Open(&second)
		b.Open(&yielder)
		if err := holder.Hold(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := second.Hold(t.Context(), time.Second); fault.KindOf(err) != fault.Busy ||
			time.Since(began) != defaultPatience {
			t.Errorf("the second of one: %v after %v", err, time.Since(began))
		}
		began = time.Now()
		if err := compute(t.Context(), t, &yielder, 50*time.Millisecond); err != nil ||
			time.Since(began) > 100*time.Millisecond {
			t.Errorf("work that yields waits for work that does not: %v after %v", err, time.Since(began))
		}
		b.Open(&short)
		if err := short.Hold(t.Context(), time.Millisecond); err != nil {
			t.Errorf("a short script waits for a long one: %v", err)
		}
		short.Close()
		holder.Rest()
		if err := second.Hold(t.Context(), time.Second); err != nil {
			t.Error(err)
		}
		for _, s := range []*Share{&holder, &second, &yielder} {
			s.Close()
		}
		if r := b.Read(); r.Running != 0 || r.Queued != 0 || r.Refused != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestYieldEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Cores: 1})
		var holder, waiting Share
		b.Open(&holder)
		b.Open(&waiting)
		if err := holder.Hold(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("time is up"))
		defer cancel()
		began := time.Now()
		if err := compute(ctx, t, &waiting, time.Minute); err == nil || err.Error() != "time is up" ||
			time.Since(began) > 1100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		holder.Close()
		waiting.Close()
		if r := b.Read(); r.Running != 0 || r.Queued != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// Shares of all sizes come and go; nothing is lost.
func TestBudgetUnderLoad(t *testing.T) {
	b := New(Options{Memory: 8 * mib})
	var work sync.WaitGroup
	for i := range 32 {
		work.Go(func() {
			var s, cursor Share
			for round := range 200 {
				b.Open(&s)
				b.Open(&cursor)
				n := int64((i*7+round*13)%40) * 100 << 10
				if s.Take(t.Context(), n) == nil {
					s.Yield(t.Context())
					s.Pass(&cursor, n/2)
					s.TryTake(n / 3)
				}
				s.Close()
				cursor.Close()
			}
		})
	}
	work.Wait()
	if r := b.Read(); r.Used != 0 || r.Waiting != 0 || r.Running != 0 || b.stuck != 0 {
		t.Errorf("at the end: %+v, %d stuck", r, b.stuck)
	}
}

func BenchmarkTakeFree(b *testing.B) {
	budget := New(Options{Memory: 64 * mib})
	b.ReportAllocs()
	for b.Loop() {
		var s Share
		budget.Open(&s)
		_ = s.Take(b.Context(), 4096)
		s.Close()
	}
}

func BenchmarkTake(b *testing.B) {
	budget := New(Options{Memory: 64 * mib})
	b.ReportAllocs()
	for b.Loop() {
		var s Share
		budget.Open(&s)
		_ = s.Take(b.Context(), mib)
		s.Close()
	}
}

func BenchmarkYield(b *testing.B) {
	var s Share
	New(Options{}).Open(&s)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.Yield(b.Context())
	}
	s.Close()
}

func TestAddNeverWaits(t *testing.T) {
	b := New(Options{Memory: mib})
	var s Share
	b.Open(&s)
	s.Add(FreeBytes)
	if used := b.Read().Used; used != 0 {
		t.Errorf("%d bytes are used by what is free", used)
	}
	s.Add(4 * mib)
	if used := b.Read().Used; used < 4*mib || used > 4*mib+FreeBytes {
		t.Errorf("%d bytes are used while 4 MiB are held", used)
	}
	s.Close()
	if used := b.Read().Used; used != 0 {
		t.Errorf("after Close: %d bytes", used)
	}
}

// A share that is renewed has as much time before it takes turns as a new one, and holds what it held.
func TestRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Options{Memory: 16 * mib, Cores: 1})
		var s Share
		b.Open(&s)
		take(t, &s, FreeBytes)
		for range 20 {
			pause(t, time.Millisecond)
			if err := s.Yield(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if r := b.Read(); r.Running != 1 {
			t.Fatalf("long work has no turn: %+v", r)
		}
		s.Renew()
		pause(t, time.Millisecond)
		if err := s.Yield(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := b.Read(); r.Running != 0 || s.Held() != FreeBytes {
			t.Errorf("after Renew: %+v, %d bytes held", r, s.Held())
		}
		s.Close()
	})
}

// A share with much memory takes turns from the start: many that begin at once would be too many.
func TestLargeSharesTakeTurnsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Memory: 16 * mib, Cores: 1})
		var first, second Share
		b.Open(&first)
		b.Open(&second)
		take(t, &first, mib)
		take(t, &second, mib)
		if err := first.Yield(t.Context()); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- second.Yield(t.Context()) }()
		synctest.Wait()
		if r := b.Read(); r.Running != 1 || r.Queued != 1 {
			t.Errorf("%+v", r)
		}
		first.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		second.Close()
	})
}
