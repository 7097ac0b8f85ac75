package pebble

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/clock"
)

// Pebble merges what a flush has written with the level below, most of which it only copies. So while many writes come,
// what several flushes have written is merged at once.
const (
	deferShare  = 32  // writes are many if they fill one part in so many of a memtable in a second
	deferDepth  = 4   // how many tables that overlap do not wait for more,
	deferTables = 128 // nor how many that do not
	beginsEvery = 100 * time.Millisecond
)

// A scheduler decides when Pebble begins a compaction that it has found: at once, or later while mayDefer says so. It
// is a pebble.CompactionScheduler of one database, and the pebble.CompactionGrantHandle of each compaction.
type scheduler struct {
	mayDefer func() bool
	db       *pebble.DB

	mu      sync.Mutex
	running int
	closed  bool

	again    chan struct{} // something may begin
	stopLook func()
	stop     chan struct{}
	stopped  chan struct{}
}

func newScheduler(mayDefer func() bool) *scheduler {
	return &scheduler{
		mayDefer: mayDefer,
		again:    make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
}

// Register begins the work for a database.
func (s *scheduler) Register(_ int, db pebble.DBForCompaction) {
	s.db = db.(*pebble.DB)
	s.stopLook = clock.NewReal(time.Time{}).Every(beginsEvery, func(time.Time) { s.look() })
	go s.run()
}

// Unregister ends the work. No call of the database is running then.
func (s *scheduler) Unregister() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stopLook()
	close(s.stop)
	<-s.stopped
}

// TrySchedule is called for each compaction that Pebble finds, with a lock of Pebble. So it cannot ask what Pebble has
// found, and leaves that to run.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	if s.mayDefer() || !s.take() {
		return false, nil
	}
	return true, s
}

// UpdateGetAllowedWithoutPermission is called after flushes.
func (s *scheduler) UpdateGetAllowedWithoutPermission() { s.look() }

// Started is called when a compaction begins.
func (s *scheduler) Started() {}

// MeasureCPU is called when a compaction begins.
func (s *scheduler) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats is called during a compaction.
func (s *scheduler) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// Done is called when a compaction ends.
func (s *scheduler) Done() {
	s.giveBack()
	s.look()
}

// take counts a compaction, if one more is allowed.
func (s *scheduler) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.running >= s.db.GetAllowedWithoutPermission() {
		return false
	}
	s.running++
	return true
}

func (s *scheduler) giveBack() {
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
}

// look makes run look at once.
func (s *scheduler) look() {
	select {
	case s.again <- struct{}{}:
	default:
	}
}

// run begins compactions that wait.
func (s *scheduler) run() {
	defer close(s.stopped)
	for {
		select {
		case <-s.again:
		case <-s.stop:
			return
		}
		for s.begin() {
		}
	}
}

// begin begins the compaction that waits, if there is one and its time has come.
func (s *scheduler) begin() bool {
	waiting, next := s.db.GetWaitingCompaction()
	if !waiting || s.defers(next) || !s.take() {
		return false
	}
	if !s.db.Schedule(s) {
		s.giveBack()
		return false
	}
	return true
}

// sizePriority is Pebble's priority of compactions of levels that are too large.
const sizePriority = 80

// defers reports whether the next compaction waits for more flushes.
func (s *scheduler) defers(next pebble.WaitingCompaction) bool {
	if next.Optional || next.Priority < sizePriority || !s.mayDefer() {
		return false
	}
	return shallow(s.db.Metrics().Levels[:])
}

// shallow reports whether level 0 is the one that Pebble compacts next, and has less than it should.
func shallow(levels []pebble.LevelMetrics) bool {
	if levels[0].Sublevels >= deferDepth || levels[0].TablesCount >= deferTables {
		return false
	}
	for _, below := range levels[1:] {
		if below.Score > levels[0].Score {
			return false
		}
	}
	return true
}

// mayDefer reports whether compactions may wait: many writes come, they are no wave of deletions, which take time from
// readers until they are compacted, and nobody waits for a compaction.
func (e *Engine) mayDefer() bool {
	return e.pauses.many.Load() && !e.garbage.many.Load() && !e.tidying.Load() && e.compacts.Load() == 0
}
