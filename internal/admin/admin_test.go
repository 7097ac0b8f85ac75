package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fakeReaper counts its calls, which is all that the admin API makes.
type fakeReaper struct {
	reclaims int
	paused   bool
	err      error
}

func (f *fakeReaper) ReclaimNow(context.Context) error { f.reclaims++; return f.err }
func (f *fakeReaper) Pause(context.Context) error      { f.paused = true; return nil }
func (f *fakeReaper) Resume(context.Context) error     { f.paused = false; return nil }
func (f *fakeReaper) Stats(context.Context) (ReclaimStats, error) {
	return ReclaimStats{Documents: int64(f.reclaims), Paused: f.paused}, nil
}

func virtualOptions() (Options, *clock.Virtual) {
	v := clock.NewVirtual(noon)
	return Options{
		NotReady: func() []string { return nil }, Clock: v, Virtual: true, Reaper: &fakeReaper{},
		Move: func(_ context.Context, to func(time.Time) time.Time) (time.Time, error) {
			if err := v.Set(to(v.Now())); err != nil {
				return time.Time{}, fault.Wrap(fault.Invalid, err, "%s", err)
			}
			return v.Now(), nil
		},
	}, v
}

func call(h http.Handler, method, path, body string, header ...string) (int, map[string]any) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost:8080"
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var answer map[string]any
	json.Unmarshal(w.Body.Bytes(), &answer)
	return w.Code, answer
}

func TestClock(t *testing.T) {
	o, v := virtualOptions()
	h := New(o)
	cases := []struct {
		name, method, path, body string
		code                     int
		now                      time.Time
	}{
		{"show", "GET", "/clock", "", 200, noon},
		{"advance", "POST", "/clock/advance", `{"duration":"24h"}`, 200, noon.AddDate(0, 0, 1)},
		{"advance back", "POST", "/clock/advance", `{"duration":"-1s"}`, 400, noon.AddDate(0, 0, 1)},
		{"advance by no duration", "POST", "/clock/advance", `{"duration":"a day"}`, 400, noon.AddDate(0, 0, 1)},
		{"advance by nothing given", "POST", "/clock/advance", `{}`, 400, noon.AddDate(0, 0, 1)},
		{"set", "POST", "/clock/set", `{"time":"2026-03-05T00:00:00+02:00"}`, 200,
			time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
		{"set back", "POST", "/clock/set", `{"time":"2026-03-01T12:00:00Z"}`, 400,
			time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
		{"set to no time", "POST", "/clock/set", `{"time":"tomorrow"}`, 400,
			time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
		{"unknown member", "POST", "/clock/set", `{"at":"2026-03-09T12:00:00Z"}`, 400,
			time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
		{"not JSON", "POST", "/clock/set", `24h`, 400, time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
		{"two objects", "POST", "/clock/advance", `{"duration":"1h"}{}`, 400,
			time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
		{"no body", "POST", "/clock/advance", "", 400, time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
		{"advance too far", "POST", "/clock/advance", `{"duration":"9999999h"}`, 400,
			time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
		{"large body", "POST", "/clock/advance", `{"duration":"` + strings.Repeat("0", maxBody) + `h"}`, 413,
			time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)},
	}
	for _, c := range cases {
		code, answer := call(h, c.method, c.path, c.body)
		if code != c.code {
			t.Errorf("%s: status %d, want %d: %v", c.name, code, c.code, answer)
		}
		if code == 200 && answer["time"] != c.now.Format(time.RFC3339) {
			t.Errorf("%s: answered %v, want %v", c.name, answer["time"], c.now)
		}
		if code != 200 && answer["error"] == nil {
			t.Errorf("%s: no error in %v", c.name, answer)
		}
		if !v.Now().Equal(c.now) {
			t.Errorf("%s: the clock shows %v, want %v", c.name, v.Now(), c.now)
		}
	}
}

func TestBodyThatIsNoneSaysWhatIsWanted(t *testing.T) {
	o, _ := virtualOptions()
	for path, want := range map[string]string{"/clock/advance": `{"duration": "10s"}`,
		"/clock/set": `{"time": "2026-`} {
		for _, body := range []string{"", "24h", `{"d":1}`, `{"duration":1,"time":1}`} {
			if code, answer := call(New(o), "POST", path, body); code != 400 ||
				!strings.Contains(fmt.Sprint(answer["error"]), want) {
				t.Errorf("%s with body %q: %d %v, want 400 with %s", path, body, code, answer, want)
			}
		}
	}
}

func TestStandingStillIsShown(t *testing.T) {
	o, _ := virtualOptions()
	for _, want := range []bool{false, true} {
		o.Virtual, o.StandsStill = false, func() bool { return want }
		if _, answer := call(New(o), "GET", "/clock", ""); (answer["standsStill"] == true) != want {
			t.Errorf("%v, want standsStill %v", answer, want)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	o, _ := virtualOptions()
	cases := []struct {
		method, path string
		code         int
		want         string // in the answer
	}{
		{"GET", "/", 200, "POST /clock/advance"},
		{"POST", "/", 405, "GET"},
		{"GET", "/clocks", 404, "GET /"},
		{"GET", "/clock/advance", 405, "POST"},
		{"DELETE", "/reclaim", 405, "GET, POST"},
	}
	for _, c := range cases {
		code, answer := call(New(o), c.method, c.path, "")
		if code != c.code || !strings.Contains(fmt.Sprint(answer), c.want) {
			t.Errorf("%s %s: %d %v, want %d with %q", c.method, c.path, code, answer, c.code, c.want)
		}
	}
}

func TestRealClockDoesNotMove(t *testing.T) {
	o, _ := virtualOptions()
	o.Move = func(context.Context, func(time.Time) time.Time) (time.Time, error) {
		return time.Time{}, fault.New(fault.Conflict, "the clock is real")
	}
	if code, answer := call(New(o), "POST", "/clock/advance", `{"duration":"1h"}`); code != 409 {
		t.Errorf("status %d, want 409: %v", code, answer)
	}
}

func TestHealth(t *testing.T) {
	o, _ := virtualOptions()
	var reasons []string
	o.NotReady = func() []string { return reasons }
	full, early, probes := http.Handler(New(o)), Health(Options{NotReady: o.NotReady}), Probes(o)
	for _, c := range []struct {
		name, method, path string
		reasons            []string
		full, early        int
	}{
		{"alive", "GET", "/healthz", nil, 200, 200},
		{"alive, not ready", "GET", "/healthz", []string{"mayfly is starting"}, 200, 200},
		{"ready", "GET", "/readyz", nil, 200, 200},
		{"starting", "GET", "/readyz", []string{"mayfly is starting"}, 503, 503},
		{"two reasons", "GET", "/readyz", []string{"the disk is full", "reclaiming lags"}, 503, 503},
		{"a verb that it does not take", "POST", "/readyz", nil, 405, 405},
		{"alive, as the emulator calls it", "GET", "/alive", []string{"mayfly is starting"}, 200, 200},
		{"ready, as the emulator calls it", "GET", "/ready", nil, 200, 200},
		{"starting, as the emulator calls it", "GET", "/ready", []string{"mayfly is starting"}, 503, 503},
		{"status, as the emulator calls it", "GET", "/status", []string{"mayfly is starting"}, 503, 503},
		{"something else while starting", "GET", "/clock", []string{"mayfly is starting"}, 200, 503},
		{"metrics that there are none of", "GET", "/metrics", []string{"mayfly is starting"}, 404, 503},
	} {
		reasons = c.reasons
		for h, want := range map[*http.Handler]int{&full: c.full, &early: c.early} {
			code, answer := call(*h, c.method, c.path, "")
			if code != want {
				t.Errorf("%s: status %d, want %d: %v", c.name, code, want, answer)
			}
			if got := fmt.Sprint(answer["reasons"]); code == 503 && got != fmt.Sprint(c.reasons) {
				t.Errorf("%s: reasons %s, want %v", c.name, got, c.reasons)
			}
		}
		if c.path != "/clock" && c.path != "/metrics" {
			if code, answer := call(probes, c.method, c.path, ""); code != c.full {
				t.Errorf("%s: the probes have status %d, want %d: %v", c.name, code, c.full, answer)
			}
		}
	}
	if code, _ := call(probes, "GET", "/clock", ""); code != 404 {
		t.Errorf("the probes show the clock: status %d", code)
	}
}

func TestReclaim(t *testing.T) {
	o, _ := virtualOptions()
	reaper := o.Reaper.(*fakeReaper)
	h := New(o)
	steps := []struct {
		name, method, path string
		code               int
		documents          float64
		paused             bool
	}{
		{"stats", "GET", "/reclaim", 200, 0, false},
		{"now", "POST", "/reclaim", 200, 1, false},
		{"pause", "POST", "/reclaim/pause", 200, 1, true},
		{"resume", "POST", "/reclaim/resume", 200, 1, false},
	}
	for _, s := range steps {
		code, answer := call(h, s.method, s.path, "")
		if code != s.code || answer["reclaimedDocuments"] != s.documents || answer["paused"] != s.paused {
			t.Errorf("%s: %d %v, want %d, %v reclaimed, paused %v", s.name, code, answer, s.code, s.documents, s.paused)
		}
	}
	reaper.err = errors.New("the disk is at /secret/path")
	code, answer := call(h, "POST", "/reclaim", "")
	if text, _ := answer["error"].(string); code != 500 || text == "" || strings.Contains(text, "secret") {
		t.Errorf("failure: %d %v, want a 500 that keeps its cause to the log", code, answer)
	}
}

func TestGuard(t *testing.T) {
	cases := []struct {
		name, key, method, path string
		header                  []string
		code                    int
	}{
		{"loopback by name", "", "GET", "/clock", nil, 200},
		{"rebound name", "", "GET", "/clock", []string{"Host", "evil.example:8080"}, 403},
		{"rebound name asks for health", "", "GET", "/healthz", []string{"Host", "evil.example"}, 403},
		{"post from a foreign page", "", "POST", "/reclaim", []string{"Origin", "https://evil.example"}, 403},
		{"post from a foreign page, as browsers mark it", "", "POST", "/reclaim",
			[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"post from another local port", "", "POST", "/reclaim", []string{"Origin", "http://localhost:3000"}, 403},
		{"post from no page", "", "POST", "/reclaim", nil, 200},
		{"key wanted, none sent", "c2VjcmV0", "GET", "/clock", nil, 401},
		{"key wanted, wrong one", "c2VjcmV0", "GET", "/clock", []string{"Authorization", "Bearer c2VjcmV1"}, 401},
		{"key wanted, wrong scheme", "c2VjcmV0", "GET", "/clock", []string{"Authorization", "Basic c2VjcmV0"}, 401},
		{"key wanted and sent", "c2VjcmV0", "GET", "/clock", []string{"Authorization", "Bearer c2VjcmV0"}, 200},
		{"key sent by a rebound name", "c2VjcmV0", "GET", "/clock",
			[]string{"Authorization", "Bearer c2VjcmV0", "Host", "evil.example:8080"}, 403},
		{"profiles want it too", "c2VjcmV0", "GET", "/debug/pprof/", nil, 401},
		{"health does not", "c2VjcmV0", "GET", "/healthz", nil, 200},
		{"profile for a foreign page", "", "GET", "/debug/pprof/", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"profile for a page of another local port", "", "GET", "/debug/pprof/",
			[]string{"Sec-Fetch-Site", "same-site"}, 403},
		{"profile by hand", "", "GET", "/debug/pprof/", []string{"Sec-Fetch-Site", "none"}, 200},
		{"key sent from a foreign page", "c2VjcmV0", "POST", "/reclaim",
			[]string{"Authorization", "Bearer c2VjcmV0", "Origin", "https://evil.example"}, 403},
	}
	for _, c := range cases {
		o, _ := virtualOptions()
		if o.Local = c.key == ""; c.key != "" {
			o.Allowed = func(key string) (bool, bool) { return key == c.key, key == c.key }
		}
		o.AllowHost = func(host string) bool { return !strings.HasPrefix(host, "evil.example") }
		if code, answer := call(New(o), c.method, c.path, "", c.header...); code != c.code {
			t.Errorf("%s: status %d, want %d: %v", c.name, code, c.code, answer)
		}
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	for k := range fault.Kinds() {
		if status[k] == 0 {
			t.Errorf("kind %q has no status", k)
		}
	}
}

func TestProfilesAreServed(t *testing.T) {
	o, _ := virtualOptions()
	if code, _ := call(New(o), "GET", "/debug/pprof/goroutine?debug=1", ""); code != 200 {
		t.Errorf("status %d, want 200", code)
	}
}
