// Package admin is the operator's door: health, metrics, the clock, the reaper and
// profiles, as JSON over HTTP on an address of its own. It never reads or
// changes a document. On a loopback address it asks for no credentials but turns away
// what a web page could send; elsewhere it wants the account key.
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// Options are what the door is made of.
type Options struct {
	// NotReady gives the reasons why clients should go elsewhere at present; none means that
	// requests are served.
	NotReady func() []string

	Clock clock.Clock
	// Move moves the clock to the instant that its argument makes of the
	// present one, and returns where it stands when that is durable. It fails with
	// fault.Conflict when the clock is not virtual, fault.Invalid when the instant
	// lies in the past. Virtual says which answer to expect.
	Move    func(ctx context.Context, to func(now time.Time) time.Time) (time.Time, error)
	Virtual bool
	// StandsStill reports whether a real clock waits for the machine's; nil is never.
	StandsStill func() bool

	Reaper Reaper

	// Metrics serves /metrics; nil leaves the path out.
	Metrics http.Handler

	// Key, if not empty, must be sent as `Authorization: Bearer <key>`, except
	// to ask for health.
	Key string

	// AllowHost says whether requests may call the address by the name in their Host; nil lets all in.
	AllowHost func(host string) bool

	// Logger receives failures; nil discards.
	Logger *slog.Logger
}

// A Reaper is what the door steers.
type Reaper interface {
	// ReclaimNow frees the space of everything that is expired before it returns.
	ReclaimNow(ctx context.Context) error
	Pause()
	Resume()
	Stats(ctx context.Context) (ReclaimStats, error)
}

// ReclaimStats is the reaper's account of itself.
type ReclaimStats struct {
	Documents  int64 `json:"reclaimedDocuments"` // since the start
	Bytes      int64 `json:"reclaimedBytes"`     // since the start, of their bodies
	Entries    int64 `json:"reclaimedEntries"`   // index entries, since the start
	Backlog    int64 `json:"backlog"`            // documents expired and not yet reclaimed, about
	LagSeconds int64 `json:"lagSeconds"`         // age past its deadline of the oldest of them
	Paused     bool  `json:"paused"`
}

// routes lists everything that the door answers.
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
		// The index serves every named profile; these three have handlers of their own.
		"GET /debug/pprof/profile": pprof.Profile,
		"GET /debug/pprof/trace":   pprof.Trace,
		"GET /debug/pprof/symbol":  pprof.Symbol,
	}
	for path, handler := range aboutHealth {
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

// New makes the door.
func New(o Options) http.Handler {
	a := newAdmin(o)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.answer(a.index))
	mux.HandleFunc("/", a.nothing)
	for pattern, handler := range a.routes() {
		mux.HandleFunc(pattern, handler)
	}
	return a.guard(mux)
}
