package bench

import (
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Result is what a workload has measured.
type Result struct {
	Elapsed time.Duration
	// ExpiredSeen is how many reads returned a document after its deadline, ExpiredGone how many did not.
	ExpiredSeen, ExpiredGone int64
	// Errors are failures by kind.
	Errors map[string]int64

	latency [operations]*hdrhistogram.Histogram // in microseconds, of calls that succeeded
}

func newResult() *Result {
	r := &Result{Errors: map[string]int64{}}
	for i := range r.latency {
		r.latency[i] = newHistogram()
	}
	return r
}

func (r *Result) record(op int, took time.Duration, err error, target Target) {
	switch {
	case errors.Is(err, errExpiredSeen):
		r.ExpiredSeen++
	case err != nil:
		countFailure(r.Errors, target.Kind(err))
		return
	case op == opExpired:
		r.ExpiredGone++
	}
	recordLatency(r.latency[op], took)
}

// countFailure counts a failure under its kind, or under "other" if there are too many kinds.
func countFailure(failures map[string]int64, kind string) {
	if _, told := failures[kind]; !told && len(failures) >= kinds {
		kind = "other"
	}
	failures[kind]++
}

// recordLatency records a latency in microseconds. One that is longer than the histogram's largest counts as that.
func recordLatency(h *hdrhistogram.Histogram, took time.Duration) {
	_ = h.RecordValue(min(max(1, took.Microseconds()), slowest.Microseconds()))
}

func (r *Result) add(other *Result) {
	for i, h := range other.latency {
		r.latency[i].Merge(h)
	}
	for kind, n := range other.Errors {
		r.Errors[kind] += n
	}
	r.ExpiredSeen += other.ExpiredSeen
	r.ExpiredGone += other.ExpiredGone
	r.Elapsed += other.Elapsed
}

// A Row is one operation in a summary. Latencies are in milliseconds.
type Row struct {
	Operation string  `json:"operation"`
	Calls     int64   `json:"calls"`
	PerSecond float64 `json:"perSecond"`
	P50       float64 `json:"p50Ms"`
	P95       float64 `json:"p95Ms"`
	P99       float64 `json:"p99Ms"`
	Max       float64 `json:"maxMs"`
}

// A Summary is a result for people and scripts. The first row is that of all operations.
type Summary struct {
	Endpoint    string           `json:"endpoint"`
	Seconds     float64          `json:"seconds"`
	Rows        []Row            `json:"operations"`
	Errors      map[string]int64 `json:"errors"`
	ExpiredSeen int64            `json:"expiredSeen"`
	ExpiredGone int64            `json:"expiredGone"`
}

// Summary sums a result up.
func (r *Result) Summary(endpoint string) Summary {
	s := Summary{Endpoint: endpoint, Seconds: r.Elapsed.Round(time.Millisecond).Seconds(), Errors: r.Errors,
		ExpiredSeen: r.ExpiredSeen, ExpiredGone: r.ExpiredGone}
	all := newHistogram()
	for _, h := range r.latency {
		all.Merge(h)
	}
	s.Rows = append(s.Rows, r.row("all", all))
	for op, h := range r.latency {
		if h.TotalCount() > 0 {
			s.Rows = append(s.Rows, r.row(names[op], h))
		}
	}
	return s
}

func (r *Result) row(name string, h *hdrhistogram.Histogram) Row {
	ms := func(percentile float64) float64 { return float64(h.ValueAtQuantile(percentile)) / 1000 }
	row := Row{Operation: name, Calls: h.TotalCount(), P50: ms(50), P95: ms(95), P99: ms(99),
		Max: float64(h.Max()) / 1000}
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		row.PerSecond = float64(row.Calls) / seconds
	}
	return row
}

// Add adds a further turn of the same workload.
func (r *Result) Add(turn *Result) { r.add(turn) }
