package hint

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// quiet is how long the log does not repeat a kind of hint for a container.
const quiet = time.Hour

// maxTold bounds how many pairs of container and kind a Teller remembers.
const maxTold = 4096

// A Teller logs and counts hints. A nil Teller does nothing. It is safe for concurrent use.
type Teller struct {
	log   *slog.Logger
	count func(kind string)

	mu   sync.Mutex
	told map[about]time.Time
}

type about struct {
	container uint32
	kind      Kind
}

// NewTeller returns a Teller that warns in log and calls count with the kind of each hint; both may be nil.
func NewTeller(log *slog.Logger, count func(kind string)) *Teller {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Teller{log: log, count: count, told: map[about]time.Time{}}
}

// Tell logs and counts the hint of one request. at is the time of the request by the node's clock; name is the name of
// the container, for the log.
func (t *Teller) Tell(at time.Time, container uint32, name string, k Kind) {
	if t == nil || k == None {
		return
	}
	if t.count != nil {
		t.count(k.String())
	}
	if t.due(at, about{container, k}) {
		t.log.LogAttrs(context.Background(), slog.LevelWarn, messages[k],
			slog.String("container", name), slog.String("hint", k.String()))
	}
}

// due reports whether to log a hint now, and remembers that it is logged.
func (t *Teller) due(at time.Time, what about) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, ok := t.told[what]; ok && at.Sub(last) < quiet {
		return false
	}
	if len(t.told) >= maxTold {
		clear(t.told) // some hints are repeated too early, which is better than memory without a limit
	}
	t.told[what] = at
	return true
}
