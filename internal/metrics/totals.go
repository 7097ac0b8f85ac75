package metrics

import (
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/mayflydb/mayfly/internal/node"
)

// An asked is what Totals has read of an operation.
type asked struct {
	counted uint64 // requests, by the counters of statuses
	errors  uint64
	took    []uint64 // requests by duration
}

// Totals adds up the requests of an API since the start. Requests pay nothing for it: it reads what they have counted.
func (m *Metrics) Totals(api string, t *node.Totals) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Bounds, t.Errors = buckets, 0
	t.Took = append(t.Took[:0], make([]uint64, len(buckets)+1)...)
	for key, o := range m.operations {
		if key[0] != api {
			continue
		}
		o.ask()
		t.Errors += o.asked.errors
		for i, n := range o.asked.took {
			t.Took[i] += n
		}
	}
}

// ask reads the metrics of an operation, the histogram only if there were requests since. Metrics.mu is held.
func (o *operation) ask() {
	x := o.seen.Load()
	if x == nil {
		return
	}
	var counted, errors uint64
	for i, c := range x.counts {
		same := func(d statusCount) bool { return d.counter == c.counter }
		if slices.ContainsFunc(x.counts[:i], same) { // two statuses share a label
			continue
		}
		n := countOf(c.counter)
		counted += n
		if o.fails(c.status) {
			errors += n
		}
	}
	was := &o.asked
	// A request is in the counter before it is in the histogram.
	if counted == was.counted && sum(was.took) == counted {
		return
	}
	was.counted, was.errors = counted, errors
	was.took = tookOf(x.latency, was.took)
}

// fails reports whether a status is an error: an HTTP status, or the code of an error of MongoDB, 0 for none.
func (o *operation) fails(status int) bool {
	if o.api == "mongo" {
		return status != 0
	}
	return status >= http.StatusBadRequest
}

func countOf(c prometheus.Counter) uint64 {
	var out dto.Metric
	if c.Write(&out) != nil {
		return 0 // it cannot fail
	}
	return uint64(out.GetCounter().GetValue())
}

// tookOf reads a histogram: how many requests are in each bucket, and at last beyond all of them.
func tookOf(latency prometheus.Observer, took []uint64) []uint64 {
	var out dto.Metric
	if h, ok := latency.(prometheus.Metric); !ok || h.Write(&out) != nil {
		return took // it cannot fail
	}
	took = took[:0]
	below := uint64(0)
	for _, b := range out.GetHistogram().GetBucket() {
		took = append(took, b.GetCumulativeCount()-below)
		below = b.GetCumulativeCount()
	}
	return append(took, out.GetHistogram().GetSampleCount()-below)
}

func sum(list []uint64) (all uint64) {
	for _, n := range list {
		all += n
	}
	return all
}
