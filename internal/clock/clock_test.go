package clock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestRealNeverRunsBackwards(t *testing.T) {
	var wall time.Time
	r := newReal(noon, func() time.Time { return wall })
	steps := []struct {
		name       string
		wall, want time.Time
	}{
		{"before the floor", noon.Add(-time.Hour), noon},
		{"past the floor", noon.Add(time.Second), noon.Add(time.Second)},
		{"a step forward is followed", noon.Add(time.Hour), noon.Add(time.Hour)},
		{"a step back holds still", noon.Add(time.Minute), noon.Add(time.Hour)},
		{"still behind", noon.Add(59 * time.Minute), noon.Add(time.Hour)},
		{"caught up", noon.Add(61 * time.Minute), noon.Add(61 * time.Minute)},
		{"the zero time", time.Time{}, noon.Add(61 * time.Minute)},
		{"absurdly far", noon.AddDate(9000, 0, 0), Limit},
	}
	for _, s := range steps {
		wall = s.wall
		if got := r.Now(); !got.Equal(s.want) {
			t.Errorf("%s: Now() = %v, want %v", s.name, got, s.want)
		}
	}
}

func TestRealWithoutFloorFollowsTheMachine(t *testing.T) {
	before := time.Now()
	got := NewReal(time.Time{}).Now()
	if got.Before(before.Truncate(0)) || got.After(time.Now()) {
		t.Errorf("Now() = %v, not between %v and the present", got, before)
	}
	if got.Location() != time.UTC {
		t.Errorf("Now() is in %v, want UTC", got.Location())
	}
}

func TestRealIsMonotonicAcrossGoroutines(t *testing.T) {
	r := NewReal(time.Time{})
	var mu sync.Mutex
	var shared time.Time
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				mu.Lock()
				seen := shared
				mu.Unlock()
				now := r.Now()
				if now.Before(seen) {
					t.Errorf("Now() = %v after %v was seen", now, seen)
					return
				}
				mu.Lock()
				if now.After(shared) {
					shared = now
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestRealEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewReal(time.Time{})
		calls := 0
		stop := r.Every(time.Second, func(time.Time) { calls++ })
		if err := Pause(t.Context(), 3500*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		stop()
		stop()
		if calls != 3 {
			t.Errorf("%d calls in 3.5 s, want 3", calls)
		}
		if err := Pause(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if calls != 3 {
			t.Errorf("%d calls after stop", calls-3)
		}
	})
}

func TestVirtualMovesOnlyWhenTold(t *testing.T) {
	v := NewVirtual(noon)
	steps := []struct {
		name string
		move func() error
		want time.Time
		err  error
	}{
		{"not at all", func() error { return nil }, noon, nil},
		{"by nothing", func() error { return v.Advance(0) }, noon, nil},
		{"by a day", func() error { return v.Advance(24 * time.Hour) }, noon.AddDate(0, 0, 1), nil},
		{"back", func() error { return v.Advance(-1) }, noon.AddDate(0, 0, 1), ErrBackwards},
		{"to an hour later", func() error { return v.Set(noon.Add(25 * time.Hour)) }, noon.Add(25 * time.Hour), nil},
		{"to where it is", func() error { return v.Set(noon.Add(25 * time.Hour)) }, noon.Add(25 * time.Hour), nil},
		{"to the past", func() error { return v.Set(noon) }, noon.Add(25 * time.Hour), ErrBackwards},
		{"beyond the limit", func() error { return v.Set(Limit.Add(1)) }, noon.Add(25 * time.Hour), ErrLimit},
	}
	for _, s := range steps {
		if err := s.move(); !errors.Is(err, s.err) {
			t.Errorf("%s: error %v, want %v", s.name, err, s.err)
		}
		if got := v.Now(); !got.Equal(s.want) {
			t.Errorf("%s: Now() = %v, want %v", s.name, got, s.want)
		}
	}
}

func TestVirtualEvery(t *testing.T) {
	v := NewVirtual(noon)
	var calls []string
	record := func(name string) func(time.Time) {
		return func(now time.Time) {
			if !now.Equal(v.Now()) {
				t.Errorf("%s called with %v at %v", name, now, v.Now())
			}
			calls = append(calls, name)
		}
	}
	slow := v.Every(time.Minute, record("minute"))
	quick := v.Every(time.Second, record("second"))
	defer quick()

	steps := []struct {
		name    string
		advance time.Duration
		want    []string
	}{
		{"nothing due", 999 * time.Millisecond, nil},
		{"one due", time.Millisecond, []string{"second"}},
		{"a jump calls each once, earliest first", time.Hour, []string{"second", "minute"}},
		{"counting starts again from the jump", time.Second, []string{"second"}},
	}
	for _, s := range steps {
		calls = nil
		if err := v.Advance(s.advance); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(calls, s.want) {
			t.Errorf("%s: calls %v, want %v", s.name, calls, s.want)
		}
	}
	slow()
	slow()
	calls = nil
	if err := v.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	if want := []string{"second"}; !slices.Equal(calls, want) {
		t.Errorf("after stop: calls %v, want %v", calls, want)
	}
}

func TestVirtualStopWaitsForARunningCall(t *testing.T) {
	v := NewVirtual(noon)
	started, release := make(chan struct{}), make(chan struct{})
	finished := false
	stop := v.Every(time.Second, func(time.Time) {
		close(started)
		<-release
		finished = true
	})
	go v.Advance(time.Second)
	<-started
	go close(release)
	stop()
	if !finished {
		t.Error("stop returned before the call had ended")
	}
}

func TestPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		watch := Start()
		if err := Pause(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
		}
		if got := watch.Elapsed(); got != time.Second {
			t.Errorf("paused for %v, want 1s", got)
		}
		if err := Pause(ctx, 0); err == nil {
			t.Error("a pause of nothing hides that the context has ended")
		}
	})
}

func BenchmarkRealNow(b *testing.B) {
	r := NewReal(time.Time{})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.Now()
		}
	})
}
