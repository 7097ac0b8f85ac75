package node

import (
	"context"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/store"
)

// Limits on the cost of surveys, however often metrics ask for them.
const (
	surveyEntries  = 100_000         // entries of expired documents that one survey reads: about 50 ms
	surveyEvery    = time.Second     // the least time between two surveys
	surveyShare    = 20              // at least this many times the duration of the last, between two surveys
	surveyPatience = 2 * time.Second // how long a caller waits for a new survey

	// For activity, which asks all the time: the least time, the share if somebody looks and if not, and how long it
	// waits.
	glanceEvery    = time.Second / 2
	glanceShare    = 100
	unseenShare    = 1000
	glancePatience = 100 * time.Millisecond
)

// surveys takes surveys of the store in the background, one at a time, so that callers do not wait for a disk that
// hangs.
type surveys struct {
	take func(context.Context) (store.Survey, error)

	mu      sync.Mutex
	latest  *store.Survey
	took    time.Duration   // the last survey
	glanced clock.Stopwatch // the end of the last survey
	asked   clock.Stopwatch // the end of the last survey for newest
	pause   time.Duration   // from asked until newest takes the next one; 0 before the first
	running chan struct{}   // closed at the end of the present survey; nil if there is none

	over context.Context
	stop context.CancelFunc
	work sync.WaitGroup
}

func newSurveys(take func(context.Context) (store.Survey, error)) *surveys {
	s := &surveys{take: take}
	s.over, s.stop = context.WithCancel(context.Background())
	return s
}

// newest returns the latest survey, after a new one if that is due and does not take too long; nil before the first.
func (s *surveys) newest(ctx context.Context) *store.Survey {
	return s.after(ctx, surveyPatience, func() bool { return s.asked.Elapsed() >= s.pause }, func() {
		s.asked, s.pause = clock.Start(), max(surveyEvery, surveyShare*s.took)
	})
}

// glance is newest for who asks once a second: surveys that it begins take no more than a small share of the time.
func (s *surveys) glance(ctx context.Context, share time.Duration) *store.Survey {
	return s.after(ctx, glancePatience, func() bool { return s.glanced.Elapsed() >= max(glanceEvery, share*s.took) },
		func() {})
}

// after returns the latest survey, after a new one if that is due. due and ended are called with the lock held.
func (s *surveys) after(ctx context.Context, patience time.Duration, due func() bool, ended func()) *store.Survey {
	if done := s.begin(due, ended); done != nil {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest
}

// begin starts a survey if one is due. The channel is closed at its end; it is nil if none is due.
func (s *surveys) begin(due func() bool, ended func()) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil || s.over.Err() != nil {
		return s.running
	}
	if s.latest != nil && !due() {
		return nil
	}
	done := make(chan struct{})
	s.running = done
	s.work.Go(func() {
		watch := clock.Start()
		found, err := s.take(s.over)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.latest = &found
		}
		s.took, s.glanced, s.running = watch.Elapsed(), clock.Start(), nil
		ended()
		close(done)
	})
	return done
}

// close cancels the present survey and waits for its end.
func (s *surveys) close() {
	if s != nil {
		s.mu.Lock() // otherwise a survey could begin after Wait
		s.stop()
		s.mu.Unlock()
		s.work.Wait()
	}
}
