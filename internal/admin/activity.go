package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Activity is what a mayfly did in each of the last seconds.
type Activity interface {
	// Since gives the samples after a time, the oldest first, and a channel that is closed when there is another one.
	Since(time int64) (list []Sample, next <-chan struct{})
}

// sampleSeconds is how far samples are apart.
const sampleSeconds = 1

// A Sample is what happened since the sample before it, about a second ago, and the state at its end.
type Sample struct {
	Time  int64   `json:"time"` // by the machine's clock, in Unix seconds; no two samples have the same
	Now   int64   `json:"now"`  // by mayfly's clock
	NoSQL Traffic `json:"nosql"`
	Mongo Traffic `json:"mongo"`

	Written        uint64 `json:"written"` // documents; deletions do not count
	Expired        uint64 `json:"expired"` // documents; an estimate
	Reclaimed      uint64 `json:"reclaimed"`
	ReclaimedBytes uint64 `json:"reclaimedBytes"`
	Backlog        uint64 `json:"backlog"` // documents that are expired and not yet reclaimed; an estimate
	LagSeconds     int64  `json:"lagSeconds"`
	MemoryBytes    uint64 `json:"memoryBytes"` // of the process
}

// Traffic is the requests of an API that were answered in a sample.
type Traffic struct {
	Requests uint64 `json:"requests"`
	Errors   uint64 `json:"errors"`
	// How long half of them and 99 in 100 took at most, in milliseconds; 0 without requests. An estimate.
	P50Ms float64 `json:"p50Ms"`
	P99Ms float64 `json:"p99Ms"`
}

func (a *admin) showActivity(*http.Request) (any, error) {
	if a.Activity == nil {
		return nil, missing("activity")
	}
	list, _ := a.Activity.Since(0)
	return struct {
		Every   int      `json:"every"` // seconds
		Samples []Sample `json:"samples"`
	}{sampleSeconds, append([]Sample{}, list...)}, nil
}

// watchActivity streams each sample as a server-sent event: first those after a time that the client has seen, then the
// new ones. The id of an event is its time, so that a client that comes back misses nothing.
func (a *admin) watchActivity(w http.ResponseWriter, r *http.Request) error {
	if a.Activity == nil {
		return missing("activity")
	}
	since := clock.Wall().Unix() // a client that names none wants what comes
	if list, _ := a.Activity.Since(0); len(list) > 0 {
		since = list[len(list)-1].Time
	}
	if text := r.URL.Query().Get("since"); text != "" {
		var err error
		if since, err = strconv.ParseInt(text, 10, 64); err != nil || since < 0 {
			return fault.New(fault.Invalid, "since is the time of a sample in Unix seconds, such as 1772366400")
		}
	}
	if last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		since = last
	}
	return a.stream(w, r, func(ctx context.Context, out *outflow) {
		_ = a.streamSamples(ctx, out, since) // the client has gone, or the node stops
	})
}

func (a *admin) streamSamples(ctx context.Context, out *outflow, since int64) error {
	if err := out.send(": mayfly\n\n"); err != nil {
		return err
	}
	for {
		list, next := a.Activity.Since(since)
		for _, s := range list {
			data, err := json.Marshal(s)
			if err != nil {
				return err // cannot happen: it consists of numbers
			}
			if err := out.send(fmt.Sprintf("id: %d\nevent: sample\ndata: %s\n\n", s.Time, data)); err != nil {
				return err
			}
			since = s.Time
		}
		if err := await(ctx, out, next); err != nil {
			return err
		}
	}
}
