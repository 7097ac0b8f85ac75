package admin

import (
	"net/http"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// clockState is the answer of every clock request.
type clockState struct {
	Time    time.Time `json:"time"`
	Virtual bool      `json:"virtual"`
	// StandsStill means that the clock is real and waits for the machine's time.
	StandsStill bool `json:"standsStill,omitempty"`
}

func (a *admin) showClock(r *http.Request) (any, error) {
	now, err := a.present(r)
	return clockState{now, a.Virtual, a.StandsStill != nil && a.StandsStill()}, err
}

// present is the instant in which a request is answered: where several processes share the data, theirs.
func (a *admin) present(r *http.Request) (time.Time, error) {
	now := a.Clock.Now()
	if a.Catalog == nil {
		return now, nil
	}
	return a.Catalog().Present(r.Context(), now)
}

// advanceClock takes {"duration": "24h"}, in the notation of time.ParseDuration.
func (a *admin) advanceClock(r *http.Request) (any, error) {
	body, err := read[struct{ Duration string }](r, `{"duration": "10s"}`)
	if err != nil {
		return nil, err
	}
	d, err := clock.ParseDuration(body.Duration)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s", err)
	}
	return a.moveClock(r, func(now time.Time) time.Time { return now.Add(d) })
}

// setClock takes {"time": "2026-03-01T12:00:00Z"}.
func (a *admin) setClock(r *http.Request) (any, error) {
	body, err := read[struct{ Time string }](r, `{"time": "2026-03-01T12:00:00Z"}`)
	if err != nil {
		return nil, err
	}
	t, err := clock.ParseTime(body.Time)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s", err)
	}
	return a.moveClock(r, func(time.Time) time.Time { return t })
}

func (a *admin) moveClock(r *http.Request, to func(now time.Time) time.Time) (any, error) {
	now, err := a.Move(r.Context(), to)
	if err != nil {
		return nil, err
	}
	return clockState{Time: now, Virtual: true}, nil
}
