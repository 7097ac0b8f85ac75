package admin

import (
	"net/http"
	"net/http/pprof"
)

// aliases lists the paths outside Base: health, metrics and profiles, which scrapers and probes expect where they are,
// and the clock and reclaiming, which had no version before. Their errors have the form {"error": "..."}.
func (a *admin) aliases() map[string]http.HandlerFunc {
	paths := map[string]http.HandlerFunc{
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
		paths["GET "+path] = func(w http.ResponseWriter, r *http.Request) { handler(a, w, r) }
	}
	if a.Metrics != nil {
		paths["GET /metrics"] = a.Metrics.ServeHTTP
	}
	return paths
}

// aliased asks for the credentials that all paths outside Base need.
func (a *admin) aliased(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !IsHealth(r) {
			needs := harmless
			if r.Method == http.MethodPost {
				needs = moves
			}
			ctx, err := a.permit(r, needs)
			if err != nil {
				a.refuse(w, r, err)
				return
			}
			r = r.WithContext(ctx)
		}
		next(w, r)
	}
}
