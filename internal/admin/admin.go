// Package admin is the API for operators: health, metrics, the clock, the reaper and profiles, as JSON over HTTP on an
// address of its own. It never reads or changes a document. On a loopback address it needs no credentials, but rejects
// requests that a web page could send; on other addresses it needs the account key.
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// Options are the parts of a node that the API shows and controls.
type Options struct {
	// NotReady lists the reasons why a load balancer should not send requests at present. An empty
	// list means that the node is ready.
	NotReady func() []string

	Clock clock.Clock
	// Move moves the clock to the instant to(now), and returns the new time once that is durable. It
	// fails with fault.Conflict if the clock is real, and with fault.Invalid if the instant is in the
	// past. Virtual says whether it can succeed.
	Move    func(ctx context.Context, to func(now time.Time) time.Time) (time.Time, error)
	Virtual bool
	// StandsStill reports whether a real clock waits for the machine's time; nil means never.
	StandsStill func() bool

	Reaper Reaper

	// Metrics serves /metrics; nil leaves the path out.
	Metrics http.Handler

	// Key, if not empty, must be sent as `Authorization: Bearer <key>`, except with health checks.
	Key string

	// AllowHost reports whether a request with this Host is allowed; nil allows all.
	AllowHost func(host string) bool

	// Logger receives failures; nil discards.
	Logger *slog.Logger
}

// A Reaper is the part of the reaper that the API controls.
type Reaper interface {
	// ReclaimNow returns when the space of every expired document is free.
	ReclaimNow(ctx context.Context) error
	Pause()
	Resume()
	Stats(ctx context.Context) (ReclaimStats, error)
}

// ReclaimStats are the reaper's figures.
type ReclaimStats struct {
	Documents  int64 `json:"reclaimedDocuments"` // since the start
	Bytes      int64 `json:"reclaimedBytes"`     // of their bodies, since the start
	Entries    int64 `json:"reclaimedEntries"`   // index entries, since the start
	Backlog    int64 `json:"backlog"`            // documents that are expired and not yet reclaimed; an estimate
	LagSeconds int64 `json:"lagSeconds"`         // how long ago the oldest of them has expired
	Paused     bool  `json:"paused"`
}

// routes lists all routes.
func (a *admin) routes() map[string]http.HandlerFunc {
	routes := map[string]http.HandlerFunc{
		"GET /clock":           a.answer(a.showClock),
		"POST /clock/advance":  a.answer(a.advanceClock),
		"POST /clock/set":      a.answer(a.setClock),
		"GET /reclaim":         a.answer(a.showReclaim),
		"POST /reclaim":        a.answer(a.reclaimNow),
		"POST /reclaim/pause":  a.answer(a.pauseReclaim),
		"POST /reclaim/resume": a.answer(a.resumeReclaim),
		"GET /debug/pprof/":    pprof.Index,
		// Index serves the named profiles too, except for these three.
		"GET /debug/pprof/profile": pprof.Profile,
		"GET /debug/pprof/trace":   pprof.Trace,
		"GET /debug/pprof/symbol":  pprof.Symbol,
	}
	for path, handler := range healthPaths {
		routes["GET "+path] = func(w http.ResponseWriter, r *http.Request) { handler(a, w, r) }
	}
	if a.Metrics != nil {
		routes["GET /metrics"] = a.Metrics.ServeHTTP
	}
	return routes
}

type admin struct{ Options }

func newAdmin(o Options) *admin {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &admin{o}
}

// New returns the handler of the whole API.
func New(o Options) http.Handler {
	a := newAdmin(o)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.answer(a.index))
	mux.HandleFunc("/", a.noRoute)
	for pattern, handler := range a.routes() {
		mux.HandleFunc(pattern, handler)
	}
	return a.guard(mux)
}
