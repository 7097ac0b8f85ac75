package admin

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A ring is account keys that can be replaced: what may be written with each.
type ring map[string]bool

func (k ring) options() Options {
	o, _ := virtualOptions()
	o.Allowed = func(key string) (bool, bool) { write, ok := k[key]; return ok, write }
	return o
}

// signIn gives the cookie of a new session, as a browser sends it.
func signIn(t *testing.T, h http.Handler, key string) string {
	t.Helper()
	w := send(h, "POST", "/session", fmt.Sprintf(`{"key": %q}`, key))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Result().Cookies()[0].String()
}

func stateOf(t *testing.T, w *httptest.ResponseRecorder) (s sessionState) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return s
}

func TestSession(t *testing.T) {
	keys := ring{"writes": true, "reads": false}
	h := New(keys.options())
	if s := stateOf(t, send(h, "GET", "/session", "")); s != (sessionState{true, false, false}) {
		t.Errorf("a stranger: %+v", s)
	}
	for key, write := range keys {
		w := send(h, "POST", "/session", fmt.Sprintf(`{"key": %q}`, key))
		if s := stateOf(t, w); s != (sessionState{true, true, write}) {
			t.Errorf("%s: %+v", key, s)
		}
		c := w.Result().Cookies()[0]
		if c.Name != "mayfly_session" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" ||
			c.Secure || c.MaxAge != 0 || c.Domain != "" || len(c.Value) != 43 || strings.Contains(c.Value, key) {
			t.Errorf("%s: cookie %q", key, c.Raw)
		}
		cookie := []string{"Cookie", "mayfly_session=" + c.Value}
		if s := stateOf(t, send(h, "GET", "/session", "", cookie...)); s != (sessionState{true, true, write}) {
			t.Errorf("%s, with the cookie: %+v", key, s)
		}
		for _, path := range []string{"/clock", "/operations"} { // harmless, reads
			if w := send(h, "GET", path, "", cookie...); w.Code != 200 {
				t.Errorf("%s: GET %s: %d %s", key, path, w.Code, w.Body)
			}
		}
		if code, _ := call(h, "GET", "/reclaim", "", cookie...); code != 200 {
			t.Errorf("%s: a path without a version: %d", key, code)
		}
		change := map[bool]int{true: 501, false: 403}[write]
		if w := send(h, "POST", "/keys/primary/rotate", "", cookie...); w.Code != change {
			t.Errorf("%s: a change: %d %s", key, w.Code, w.Body)
		}
		w = send(h, "DELETE", "/session", "", cookie...)
		gone := w.Result().Cookies()
		if w.Code != 204 || len(gone) != 1 || gone[0].MaxAge >= 0 || gone[0].Value != "" {
			t.Errorf("%s: DELETE: %d %v", key, w.Code, gone)
		}
		if w := send(h, "GET", "/operations", "", cookie...); w.Code != 401 {
			t.Errorf("%s: after the end: %d", key, w.Code)
		}
	}
	if w := send(h, "DELETE", "/session", ""); w.Code != 204 {
		t.Errorf("an end without a session: %d", w.Code)
	}
}

func TestSessionIsRefused(t *testing.T) {
	h := New(ring{"writes": true}.options())
	for body, code := range map[string]int{
		`{"key": "wrong"}`: 401, `{"key": ""}`: 401, `{}`: 401,
		``: 400, `{"key": 1}`: 400, `{"key":"writes","x":1}`: 400,
	} {
		if w := send(h, "POST", "/session", body); w.Code != code || len(w.Result().Cookies()) != 0 {
			t.Errorf("%s: %d, want %d; cookies %v", body, w.Code, code, w.Result().Cookies())
		}
	}
	for _, cookie := range []string{"mayfly_session=", "mayfly_session=x", "mayfly_session=writes", "session=writes"} {
		if w := send(h, "GET", "/operations", "", "Cookie", cookie); w.Code != 401 {
			t.Errorf("%s: %d", cookie, w.Code)
		}
	}
	cookie := signIn(t, h, "writes")
	if w := send(h, "GET", "/operations", "", "Cookie", cookie, "Authorization", "Bearer wrong"); w.Code != 401 {
		t.Errorf("a wrong key beside the cookie: %d", w.Code)
	}
	o, _ := virtualOptions()
	if p := problemOf(t, send(New(o), "POST", "/session", `{"key": "k"}`)); p.Kind != "unsupported" {
		t.Errorf("without keys: %+v", p)
	}
}

// A page of another site, or of another port of this machine, gets nothing with the cookie.
func TestSessionOfAForeignPage(t *testing.T) {
	h := New(ring{"writes": true}.options())
	cookie := signIn(t, h, "writes")
	for _, c := range []struct{ method, path, name, value string }{
		{"POST", "/session", "Origin", "https://evil.example"},
		{"POST", "/check", "Origin", "http://localhost:3000"},
		{"POST", "/check", "Sec-Fetch-Site", "same-site"},
		{"DELETE", "/session", "Sec-Fetch-Site", "cross-site"},
		{"GET", "/operations", "Sec-Fetch-Site", "same-site"},
		{"GET", "/operations/events", "Sec-Fetch-Site", "cross-site"},
	} {
		if w := send(h, c.method, c.path, `{"key": "writes"}`, "Cookie", cookie, c.name, c.value); w.Code != 403 {
			t.Errorf("%s %s with %s %s: %d", c.method, c.path, c.name, c.value, w.Code)
		}
	}
	if w := send(h, "POST", "/check", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); w.Code != 501 {
		t.Errorf("mayfly's own page: %d", w.Code)
	}
}

func TestSessionEndsWithItsKey(t *testing.T) {
	keys := ring{"old": true, "other": true}
	h := New(keys.options())
	cookie, other := signIn(t, h, "old"), signIn(t, h, "other")
	delete(keys, "old")
	keys["new"] = true
	if w := send(h, "GET", "/operations", "", "Cookie", cookie); w.Code != 401 {
		t.Errorf("after the key was replaced: %d", w.Code)
	}
	if s := stateOf(t, send(h, "GET", "/session", "", "Cookie", cookie)); s.SignedIn || s.Write {
		t.Errorf("after the key was replaced: %+v", s)
	}
	if w := send(h, "GET", "/operations", "", "Cookie", other); w.Code != 200 {
		t.Errorf("the other key: %d", w.Code)
	}
}

func TestSessionEndsAfterTwelveHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(ring{"writes": true}.options())
		cookie := signIn(t, h, "writes")
		for _, c := range []struct {
			wait time.Duration
			code int
		}{{sessionTime - time.Second, 200}, {time.Second, 401}} {
			if err := clock.Pause(t.Context(), c.wait); err != nil {
				t.Fatal(err)
			}
			if w := send(h, "GET", "/operations", "", "Cookie", cookie); w.Code != c.code {
				t.Errorf("%d, want %d", w.Code, c.code)
			}
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(ring{"writes": true}.options())
		first := signIn(t, h, "writes")
		_ = clock.Pause(t.Context(), time.Second)
		second := signIn(t, h, "writes")
		for range maxSessions - 1 {
			signIn(t, h, "writes")
		}
		if n := len(h.admin.sessions.all); n != maxSessions {
			t.Errorf("%d sessions", n)
		}
		for cookie, code := range map[string]int{first: 401, second: 200} {
			if w := send(h, "GET", "/operations", "", "Cookie", cookie); w.Code != code {
				t.Errorf("%d, want %d", w.Code, code)
			}
		}
	})
}

// A browser that signs in again has one session.
func TestSignInAgain(t *testing.T) {
	h := New(ring{"writes": true}.options())
	first := signIn(t, h, "writes")
	send(h, "POST", "/session", `{"key": "writes"}`, "Cookie", first)
	if n := len(h.admin.sessions.all); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestCookieOfTLSIsSecure(t *testing.T) {
	h := New(ring{"writes": true}.options())
	r := httptest.NewRequest("POST", Base+"/session", strings.NewReader(`{"key": "writes"}`))
	r.Host, r.TLS = "localhost", &tls.ConnectionState{}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if c := w.Result().Cookies(); len(c) != 1 || !c[0].Secure {
		t.Errorf("%d %v", w.Code, c)
	}
}

// Where everybody knows the key, or nobody needs one, a page has nothing to ask.
func TestSessionWhereNoKeyIsNeeded(t *testing.T) {
	o := ring{"writes": true}.options()
	o.Local, o.Public = true, true
	h := New(o)
	if s := stateOf(t, send(h, "GET", "/session", "")); s != (sessionState{false, false, true}) {
		t.Errorf("%+v", s)
	}
	read := ring{"reads": false, "writes": true}.options()
	read.Local, read.Public = true, true
	for key, write := range map[string]bool{"reads": false, "writes": true} {
		s := stateOf(t, send(New(read), "GET", "/session", "", "Authorization", "Bearer "+key))
		if s != (sessionState{false, true, write}) {
			t.Errorf("a sender who %s: %+v", key, s)
		}
	}
	o.Public = false
	if s := stateOf(t, send(New(o), "GET", "/session", "")); s != (sessionState{true, false, false}) {
		t.Errorf("own key: %+v", s)
	}
	o, _ = virtualOptions()
	if s := stateOf(t, send(New(o), "GET", "/session", "")); s != (sessionState{false, false, true}) {
		t.Errorf("no keys: %+v", s)
	}
}

// Who sends wrong keys is not told more of them than a few, however fast they come, and the right one is not found
// among those that come too fast. Sessions and other addresses notice nothing.
func TestGuessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(ring{"right": true}.options())
		cookie := signIn(t, h, "right")
		ways := map[string]func(key, from string) int{
			"sign in": func(key, from string) int {
				return sendFrom(h, from, "POST", "/session", fmt.Sprintf(`{"key": %q}`, key)).Code
			},
			"bearer": func(key, from string) int {
				return sendFrom(h, from, "GET", "/operations", "", "Authorization", "Bearer "+key).Code
			},
			"state": func(key, from string) int {
				return sendFrom(h, from, "GET", "/session", "", "Authorization", "Bearer "+key).Code
			},
		}
		last := 1
		for name, ask := range ways {
			from := fmt.Sprintf("192.0.2.%d:1", last)
			last++
			told := 0
			for range 3 * maxGuesses {
				if ask("wrong", from) != 429 {
					told++
				}
			}
			if told != maxGuesses {
				t.Errorf("%s: %d wrong keys were told, want %d", name, told, maxGuesses)
			}
			if code := ask("right", from); code != 429 {
				t.Errorf("%s: the right key after them: %d", name, code)
			}
			if code := ask("right", "198.51.100.7:1"); code != 200 {
				t.Errorf("%s: the right key from elsewhere: %d", name, code)
			}
			if w := sendFrom(h, from, "GET", "/operations", "", "Cookie", cookie); w.Code != 200 {
				t.Errorf("%s: a session: %d", name, w.Code)
			}
			_ = clock.Pause(t.Context(), 2*guessTime)
			if code := ask("right", from); code != 200 {
				t.Errorf("%s: the right key later: %d", name, code)
			}
		}
	})
}

func sendFrom(h http.Handler, from, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, Base+path, strings.NewReader(body))
	r.Host, r.RemoteAddr = "localhost", from
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The addresses of guessers take a bounded space, and are forgotten when they have stopped.
func TestGuessersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(ring{"right": true}.options())
		wrong := func(i int) int {
			from := fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)
			return sendFrom(h, from, "POST", "/session", `{"key": "wrong"}`).Code
		}
		refused := 0
		for i := range maxGuessers + 100 {
			if wrong(i) == 429 {
				refused++
			}
		}
		if n := len(h.admin.guesses.by); n > maxGuessers+1 || refused != 100-maxGuesses {
			t.Errorf("%d addresses, %d refused", n, refused)
		}
		_ = clock.Pause(t.Context(), maxGuesses*guessTime)
		if code := wrong(1 << 20); code != 401 || len(h.admin.guesses.by) > 1 {
			t.Errorf("later: %d with %d addresses", code, len(h.admin.guesses.by))
		}
	})
}

func TestAddressOf(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1/32", "[::ffff:192.0.2.1]:80": "192.0.2.1/32",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64", "[fe80::1%eth0]:80": "fe80::/64", "pipe": "invalid Prefix",
	} {
		if got := addressOf(&http.Request{RemoteAddr: from}).String(); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

// A stream of events ends with the session of its reader.
func TestStreamEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var replaced atomic.Bool
		o := ring{}.options()
		o.Allowed = func(key string) (bool, bool) { return key == "old" && !replaced.Load(), false }
		h := New(o)
		r := httptest.NewRequest("GET", Base+"/operations/events", nil)
		r.Host = "localhost"
		r.Header.Set("Cookie", signIn(t, h, "old"))
		ended := make(chan struct{})
		go func() { h.ServeHTTP(httptest.NewRecorder(), r); close(ended) }()
		_ = clock.Pause(t.Context(), 3*heartbeatTime+time.Second)
		synctest.Wait()
		select {
		case <-ended:
			t.Error("ended early")
		default:
		}
		replaced.Store(true)
		_ = clock.Pause(t.Context(), heartbeatTime)
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("goes on")
			h.Close(context.Background())
			<-ended
		}
	})
}
