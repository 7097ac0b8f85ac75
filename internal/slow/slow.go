// Package slow keeps the newest requests that took long, for an operator who asks what has been slow, and the durations
// from which on a request counts as one. It is in memory alone. It sees no values: those who add to it leave out what
// must not be in a log.
package slow

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// Limits of a Log.
const (
	MaxRequests = 200     // the oldest go
	maxQuery    = 2 << 10 // bytes of the text of a query
	maxPlan     = 1 << 10 // bytes of a plan
	maxName     = 255     // bytes of each name
)

// The APIs of a Log.
const (
	NoSQL = "nosql"
	Mongo = "mongo"
)

// A Log is the slow requests of one node. It is safe for concurrent use.
type Log struct {
	NoSQL, Mongo Threshold

	mu   sync.Mutex
	ring []Request
	next int // the place of the next one, once ring is full
}

// New makes a Log with the same threshold for both APIs; 0 for none.
func New(threshold time.Duration) *Log {
	l := &Log{}
	l.Set(threshold)
	return l
}

// Set changes the threshold of both APIs.
func (l *Log) Set(threshold time.Duration) {
	l.NoSQL.Set(threshold)
	l.Mongo.Set(threshold)
}

// A Threshold is from which duration on a request is slow. The zero value is none.
type Threshold struct{ nanoseconds atomic.Int64 }

// Get returns the threshold; 0 is none.
func (t *Threshold) Get() time.Duration { return time.Duration(t.nanoseconds.Load()) }

// Set changes it.
func (t *Threshold) Set(d time.Duration) { t.nanoseconds.Store(int64(d)) }

// Slow reports whether a request was slow.
func (t *Threshold) Slow(took time.Duration) bool {
	threshold := t.Get()
	return threshold > 0 && took >= threshold
}

// A Request is one that was slow. Its texts have no values.
type Request struct {
	Time         time.Time `json:"time"` // of its end, by the machine's clock
	API          string    `json:"api"`
	Database     string    `json:"database"`
	Container    string    `json:"container"`
	Operation    string    `json:"operation"`
	Milliseconds float64   `json:"milliseconds"`
	Query        string    `json:"query"`
	Examined     uint64    `json:"examined"` // documents
	Returned     uint64    `json:"returned"` // rows
	Plan         string    `json:"plan"`
}

// Add keeps a request that has just ended, and shortens its texts. The Log keeps no memory of the caller's.
func (l *Log) Add(r Request, took time.Duration) {
	r.Time, r.Milliseconds = clock.Wall().UTC(), float64(took.Microseconds())/1000
	r.Operation = cut(r.Operation, maxName)
	r.Database, r.Container = cut(r.Database, maxName), cut(r.Container, maxName)
	r.Query, r.Plan = cut(r.Query, maxQuery), cut(r.Plan, maxPlan)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < MaxRequests {
		l.ring = append(l.ring, r)
		return
	}
	l.ring[l.next] = r
	l.next = (l.next + 1) % MaxRequests
}

// List returns requests, the newest first, at most so many.
func (l *Log) List(most int) []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Request, 0, min(most, len(l.ring)))
	for i := range min(most, len(l.ring)) {
		at := l.next - 1 - i
		list = append(list, l.ring[(at+len(l.ring))%len(l.ring)])
	}
	return list
}
