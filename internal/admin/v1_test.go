package admin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// send sends a request to a path under Base.
func send(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, Base+path, strings.NewReader(body))
	r.Host = "localhost:8080"
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// problemOf is the problem in an answer; it fails the test if there is none.
func problemOf(t *testing.T, w *httptest.ResponseRecorder) (p problem) {
	t.Helper()
	if kind := w.Header().Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("content type %q", kind)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	if p.Status != w.Code || p.Type != "about:blank" || p.Title != http.StatusText(w.Code) || p.Detail == "" {
		t.Errorf("status %d with %+v", w.Code, p)
	}
	return p
}

// Every route asks for as much as it says: of a local address with a key of one's own, of one with the well-known key,
// of one that others reach, with no key, one that reads, and one that writes.
func TestEveryRouteIsGuarded(t *testing.T) {
	for _, rt := range routes {
		for _, where := range []struct {
			name          string
			local, public bool
		}{{"local", true, false}, {"public", true, true}, {"exposed", false, false}, {"exposed, public", false, true}} {
			for _, key := range []string{"", "wrong", "reads", "writes"} {
				want := 0
				open := where.local && (where.public || rt.needs == harmless || rt.needs == moves) ||
					rt.needs == anyone
				changes := rt.needs == writes || rt.needs == moves
				switch {
				case key == "writes", key == "reads" && !changes, key != "reads" && open:
				case key == "reads":
					want = http.StatusForbidden
				default:
					want = http.StatusUnauthorized
				}
				reached := false
				a := newAdmin(Options{
					Local: where.local, Public: where.public,
					Allowed: func(key string) (bool, bool) {
						return key == "reads" || key == "writes", key == "writes"
					},
				})
				rt := rt
				rt.run = func(*admin, http.ResponseWriter, *http.Request) error { reached = true; return nil }
				r := httptest.NewRequest(rt.method, Base+"/", nil)
				if key != "" {
					r.Header.Set("Authorization", "Bearer "+key)
				}
				w := httptest.NewRecorder()
				a.serve(rt)(w, r)
				if reached != (want == 0) || want != 0 && w.Code != want {
					t.Errorf("%s %s, %s, key %q: reached %v, status %d, want %d",
						rt.method, rt.path, where.name, key, reached, w.Code, want)
				}
				if want != 0 {
					problemOf(t, w)
				}
				if (w.Header().Get("WWW-Authenticate") != "") != (want == http.StatusUnauthorized) {
					t.Errorf("status %d with %v", w.Code, w.Header())
				}
			}
		}
	}
}

// What needs no key on a local address is written down here once more: a route that shows items or changes anything
// does, except for the clock and reclaiming.
func TestOnlyTheseAreHarmless(t *testing.T) {
	want := strings.Fields(`/{$} /clock /databases /databases/{db} /databases/{db}/containers
		/databases/{db}/containers/{c} /databases/{db}/containers/{c}/lifetime
		/databases/{db}/containers/{c}/throughput /endpoints /openapi.yaml /reclaim /version
		/clock/advance /clock/set /reclaim /reclaim/pause /reclaim/resume`)
	var got, moving []string
	for _, rt := range routes {
		switch rt.needs {
		case harmless:
			got = append(got, rt.path)
		case moves:
			moving = append(moving, rt.path)
		}
		if rt.needs == harmless && rt.method != "GET" || rt.needs == moves && rt.method != "POST" {
			t.Errorf("%s %s is harmless", rt.method, rt.path)
		}
		if rt.needs == anyone && rt.path != "/session" {
			t.Errorf("%s %s is for anyone", rt.method, rt.path)
		}
		if rt.needs != writes && (rt.method == "PUT" || rt.method == "DELETE") && rt.path != "/session" {
			t.Errorf("%s %s does not need a key that writes", rt.method, rt.path)
		}
	}
	if got = append(got, moving...); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("harmless are\n%q, want\n%q", got, want)
	}
}

func TestPagesOfOtherOriginsAreRefused(t *testing.T) {
	o, _ := virtualOptions()
	o.AllowHost = func(host string) bool { return !strings.HasPrefix(host, "evil.example") }
	h := New(o)
	for _, c := range []struct {
		method, path string
		header       []string
		code         int
	}{
		{"GET", "/version", []string{"Host", "evil.example"}, 403},
		{"GET", "/operations/events", []string{"Host", "evil.example"}, 403},
		{"GET", "/operations/events", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", "/version", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"GET", "/version", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"GET", "/version", []string{"Sec-Fetch-Site", "none"}, 200},
		{"POST", "/reclaim", []string{"Origin", "https://evil.example"}, 403},
		{"POST", "/reclaim", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/reclaim", nil, 200},
	} {
		w := send(h, c.method, c.path, "", c.header...)
		if w.Code != c.code {
			t.Errorf("%s %s with %q: status %d, want %d", c.method, c.path, c.header, w.Code, c.code)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s: another origin may read", c.method, c.path)
		}
	}
}

func TestProblems(t *testing.T) {
	o, _ := virtualOptions()
	h := New(o)
	for _, c := range []struct {
		method, path, body string
		code               int
		kind, detail       string
	}{
		{"GET", "/none", "", 404, "not found", "GET /_mayfly/v1/"},
		{"PATCH", "/clock", "", 405, "method not allowed", "supports GET"},
		{"POST", "/clock/set", "{}{}", 400, "invalid", "JSON object"},
		{"POST", "/clock/set", `{"time": "` + strings.Repeat(" ", smallBody) + `"}`, 413, "too large", "65536"},
		{"GET", "/operations/x", "", 404, "not found", `"x"`},
		{"DELETE", "/operations/x", "", 404, "not found", `"x"`},
		{"GET", "/operations/x/events", "", 404, "not found", `"x"`},
		{"GET", "/forecast", "", 501, "unsupported", "foresight"},
		{"POST", "/backup", "", 501, "unsupported", "backup"},
		{"POST", "/check", "", 501, "unsupported", "check"},
		{"GET", "/snapshots", "", 501, "unsupported", "snapshots"},
		{"GET", "/databases/a/containers/b/export", "", 501, "unsupported", "export"},
		{"POST", "/databases/a/containers/b/import", "", 501, "unsupported", "import"},
		{"GET", "/keys", "", 501, "unsupported", "keys"},
		{"GET", "/audit", "", 501, "unsupported", "audit"},
		{"GET", "/activity", "", 501, "unsupported", "activity"},
		{"GET", "/activity/events", "", 501, "unsupported", "activity"},
		{"GET", "/endpoints", "", 501, "unsupported", "endpoints"},
		{"GET", "/connections", "", 501, "unsupported", "connections"},
		{"GET", "/slow", "", 501, "unsupported", "slow"},
		{"PUT", "/slow", `{"threshold": ""}`, 501, "unsupported", "slow"},
	} {
		w := send(h, c.method, c.path, c.body)
		p := problemOf(t, w)
		if w.Code != c.code || p.Kind != c.kind || !strings.Contains(p.Detail, c.detail) {
			t.Errorf("%s %s: %d %+v, want %d %q with %q", c.method, c.path, w.Code, p, c.code, c.kind, c.detail)
		}
	}
}

func TestNotReadyIsAProblem(t *testing.T) {
	h := Health(Options{NotReady: func() []string { return []string{"mayfly is starting"} }})
	w := send(h, "GET", "/databases", "")
	if p := problemOf(t, w); p.Kind != "unavailable" || !strings.Contains(p.Detail, "starting") {
		t.Errorf("%d %+v", w.Code, p)
	}
}

// A backup has the credentials of MongoDB's users, which a read-only key does not show.
func TestBackupNeedsAKeyThatWrites(t *testing.T) {
	a := New(Options{Allowed: func(key string) (bool, bool) { return true, key == "writes" }})
	for key, want := range map[string]int{"reads": http.StatusForbidden, "writes": http.StatusNotImplemented} {
		if w := send(a, "POST", "/backup", "", "Authorization", "Bearer "+key); w.Code != want {
			t.Errorf("%s: %d, want %d", key, w.Code, want)
		}
	}
}
