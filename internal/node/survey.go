package node

import (
	"context"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/store"
)

// Bounds of what it costs to be asked how much there is.
const (
	surveyEntries  = 100_000         // entries of expired documents that one survey looks at: about 50 ms
	surveyEvery    = time.Second     // at least, between two surveys
	surveyShare    = 20              // and so many times what the last one took
	surveyPatience = 2 * time.Second // for which someone who asks waits for a new one
)

// surveys take surveys, however often they are asked for, one at a time and in the background:
// whoever asks does not wait for a disk that hangs.
type surveys struct {
	take func(context.Context) (store.Survey, error)

	mu      sync.Mutex
	latest  *store.Survey
	rest    time.Duration // until the next one may be taken
	since   clock.Stopwatch
	running chan struct{} // closed when the one that is being taken is done; nil when there is none

	over context.Context
	stop context.CancelFunc
	work sync.WaitGroup
}

func newSurveys(take func(context.Context) (store.Survey, error)) *surveys {
	s := &surveys{take: take}
	s.over, s.stop = context.WithCancel(context.Background())
	return s
}

// newest gives a survey that is new enough, or the last one when a new one takes too long; nil before there is one.
func (s *surveys) newest(ctx context.Context) *store.Survey {
	if done := s.begin(); done != nil {
		ctx, cancel := context.WithTimeout(ctx, surveyPatience)
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

// begin starts a survey if one is due, and gives what is closed when it is done; nil when none is due.
func (s *surveys) begin() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil || s.over.Err() != nil {
		return s.running
	}
	if s.latest != nil && s.since.Elapsed() < s.rest {
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
		s.since, s.rest, s.running = clock.Start(), max(surveyEvery, surveyShare*watch.Elapsed()), nil
		close(done)
	})
	return done
}

// close ends the survey under way and waits for it.
func (s *surveys) close() {
	if s != nil {
		s.mu.Lock() // or one could begin after the wait
		s.stop()
		s.mu.Unlock()
		s.work.Wait()
	}
}
