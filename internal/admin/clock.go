package admin

import (
	"net/http"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// clockState is the answer of every clock request.
type clockState struct {
	Time    time.Time `json:"time"`
	Virtual bool      `json:"virtual"`
}

func (a *admin) showClock(*http.Request) (any, error) {
	return clockState{a.Clock.Now(), a.Virtual}, nil
}

// advanceClock takes {"duration": "24h"}, in the notation of time.ParseDuration.
func (a *admin) advanceClock(r *http.Request) (any, error) {
	body, err := read[struct{ Duration string }](r)
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(body.Duration)
	if err != nil {
		return nil, fault.New(fault.Invalid, `duration %q is none: write it like "90s", "24h" or "1h30m"`, body.Duration)
	}
	return a.moveClock(r, func(now time.Time) time.Time { return now.Add(d) })
}

// setClock takes {"time": "2026-03-01T12:00:00Z"}.
func (a *admin) setClock(r *http.Request) (any, error) {
	body, err := read[struct{ Time string }](r)
	if err != nil {
		return nil, err
	}
	t, err := time.Parse(time.RFC3339, body.Time)
	if err != nil {
		return nil, fault.New(fault.Invalid, `time %q is none: write it like "2026-03-01T12:00:00Z"`, body.Time)
	}
	return a.moveClock(r, func(time.Time) time.Time { return t })
}

func (a *admin) moveClock(r *http.Request, to func(now time.Time) time.Time) (any, error) {
	now, err := a.Move(r.Context(), to)
	if err != nil {
		return nil, err
	}
	return clockState{now, true}, nil
}
