package admin

import (
	"net/http"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/slow"
)

// A slowState says which requests are slow, and lists the newest of them.
type slowState struct {
	Threshold string         `json:"threshold"`                // "" for none
	Mongo     *string        `json:"mongoThreshold,omitempty"` // where the command profile has set another one
	Queries   []slow.Request `json:"queries"`
}

// showSlow takes ?max=100.
func (a *admin) showSlow(r *http.Request) (any, error) {
	if a.Slow == nil {
		return nil, missing("log of slow requests")
	}
	most, err := number(r.URL.Query().Get("max"), pageItems, slow.MaxRequests, "max")
	if err != nil {
		return nil, err
	}
	return a.slowState(most), nil
}

func (a *admin) slowState(most int) slowState {
	s := slowState{Threshold: threshold(a.Slow.NoSQL.Get()), Queries: a.Slow.List(most)}
	if mongo := threshold(a.Slow.Mongo.Get()); mongo != s.Threshold {
		s.Mongo = &mongo
	}
	return s
}

func threshold(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return d.String()
}

// setSlow takes {"threshold": "50ms"} for both APIs, until the next start; "" switches the log off.
func (a *admin) setSlow(r *http.Request) (any, error) {
	if a.Slow == nil {
		return nil, missing("log of slow requests")
	}
	in, err := read[struct{ Threshold *string }](r, `{"threshold": "100ms"}`)
	if err != nil {
		return nil, err
	}
	if in.Threshold == nil {
		return nil, fault.New(fault.Invalid, `threshold is missing: a duration such as 100ms, or "" for none`)
	}
	d := time.Duration(0)
	if *in.Threshold != "" {
		if d, err = clock.ParseDuration(*in.Threshold); err != nil || d < 0 {
			return nil, fault.Wrap(fault.Invalid, err,
				`threshold is a duration such as 100ms or 2s, or "" for none, not %q`, *in.Threshold)
		}
	}
	a.Slow.Set(d)
	return a.slowState(pageItems), nil
}
