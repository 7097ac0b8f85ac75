package metrics

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// An operation counts its requests. A request costs a few atomic additions, and allocates nothing unless its status is
// new.
type operation struct {
	of        *Metrics
	api, name string
	label     func(status int) string

	seen     atomic.Pointer[seen]
	mu       sync.Mutex // held to replace seen
	statuses []string   // the labels in use

	asked asked // Metrics.mu protects it
}

// seen has the metrics of an operation. It is immutable, and replaced as a whole.
type seen struct {
	latency prometheus.Observer
	counts  []statusCount // so few that a scan is faster than a map
}

type statusCount struct {
	status  int
	counter prometheus.Counter
}

// done counts a request.
func (o *operation) done(status int, took time.Duration) {
	x := o.seen.Load()
	c := x.of(status)
	for c == nil {
		x = o.add(status)
		c = x.of(status)
	}
	c.Inc()
	x.latency.Observe(took.Seconds())
}

func (x *seen) of(status int) prometheus.Counter {
	if x == nil {
		return nil
	}
	for i := range x.counts {
		if x.counts[i].status == status {
			return x.counts[i].counter
		}
	}
	return nil
}

// add makes the counter of a status. Beyond maxStatuses, a new counter with the label "other" replaces the one before
// it, so that scans stay short.
func (o *operation) add(status int) *seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := &seen{}
	if x := o.seen.Load(); x == nil {
		next.latency = o.of.latency.WithLabelValues(o.api, o.name)
	} else if x.of(status) != nil {
		return x // another request has added it in the meantime
	} else {
		*next = seen{x.latency, slices.Clone(x.counts)}
	}
	label := o.label(status)
	if len(o.statuses) >= maxStatuses && !slices.Contains(o.statuses, label) {
		label = other
	}
	if !slices.Contains(o.statuses, label) {
		o.statuses = append(o.statuses, label)
	}
	c := statusCount{status, o.of.requests.WithLabelValues(o.api, o.name, label)}
	if len(next.counts) > maxStatuses {
		next.counts[maxStatuses] = c
	} else {
		next.counts = append(next.counts, c)
	}
	o.seen.Store(next)
	return next
}
