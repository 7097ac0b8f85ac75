package budget

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

func TestLoanIsCalledInForWhoWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Memory: 16 * mib})
		var still, moving, waiting Share
		b.Open(&still)
		b.Open(&moving)
		b.Open(&waiting)
		take(t, &still, 6*mib)
		take(t, &moving, 6*mib)
		cut := map[*Share]int{}
		for _, s := range []*Share{&still, &moving} {
			s.Lend(func() { cut[s]++ })
		}
		pause(t, time.Hour)
		if len(cut) > 0 {
			t.Fatal("a loan is called in though nobody waits")
		}
		moving.Progress()
		ended := make(chan error, 1)
		go func() { ended <- waiting.Take(t.Context(), 4*mib) }()
		pause(t, 300*time.Millisecond)
		synctest.Wait()
		if cut[&still] != 1 || cut[&moving] != 0 {
			t.Errorf("cut %d times without progress, %d times with", cut[&still], cut[&moving])
		}
		if still.Keep() || !moving.Keep() {
			t.Error("Keep says otherwise")
		}
		still.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		moving.Close()
		waiting.Close()
		if r := b.Read(); r.Used != 0 || len(b.loans) != 0 {
			t.Errorf("afterwards %+v, %d loans", r, len(b.loans))
		}
	})
}

func TestClosedLoanIsNotCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Options{Memory: 16 * mib})
		var gone, holds, waiting Share
		b.Open(&gone)
		b.Open(&holds)
		b.Open(&waiting)
		take(t, &gone, mib)
		gone.Lend(func() { t.Error("cut after Close") })
		pause(t, time.Minute)
		gone.Close()
		take(t, &holds, 13*mib)
		if err := waiting.Take(t.Context(), 8*mib); fault.KindOf(err) != fault.Busy {
			t.Error(err)
		}
		holds.Close()
		waiting.Close()
	})
}

func TestShareOfAContext(t *testing.T) {
	var s Share
	ctx, cancel := context.WithCancel(With(t.Context(), &s))
	defer cancel()
	if Of(ctx) != &s {
		t.Error("the share of a context is another one")
	}
	if none := Of(t.Context()); none == nil || none.Take(t.Context(), 1<<40) != nil {
		t.Error("without a share there are limits")
	}
}
