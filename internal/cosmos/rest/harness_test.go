package rest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/store"
)

// testKey is the public key of the emulator.
const testKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// A testAPI is an API over a real stack in memory, with a virtual clock.
type testAPI struct {
	t     testing.TB
	api   *API
	clock *clock.Virtual
	log   *bytes.Buffer
}

// testStart is the initial time of a testAPI.
var testStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newTestAPI(t testing.TB, change ...func(*Options)) *testAPI {
	t.Helper()
	return newTestAPIOn(t, memory.New(), change...)
}

func newTestAPIOn(t testing.TB, engine kv.Engine, change ...func(*Options)) *testAPI {
	t.Helper()
	ctx := context.Background()
	cat, err := catalog.Open(ctx, engine, nil)
	must(t, err)
	st, err := store.Open(ctx, engine, cat)
	must(t, err)
	t.Cleanup(func() {
		must(t, st.Close())
		must(t, engine.Close())
	})
	d := &testAPI{t: t, clock: clock.NewVirtual(testStart), log: new(bytes.Buffer)}
	o := Options{Catalog: cat, Store: st, Clock: d.clock, Keys: ringOf(t, testKey),
		Logger: slog.New(slog.NewTextHandler(d.log,
			nil))}
	for _, f := range change {
		f(&o)
	}
	d.api, err = New(o)
	must(t, err)
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An answer is the response to a request.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	text   string
	body   map[string]any
}

// do sends a signed request. Headers are pairs of name and value; an empty body is no body.
func (d *testAPI) do(method, target, body string, headers ...string) answer {
	d.t.Helper()
	r := newRequest(method, target, body, headers...)
	if r.Header.Get("Authorization") == "" {
		signRequest(r)
	}
	return d.send(r)
}

func newRequest(method, target, body string, headers ...string) *http.Request {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, in)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (d *testAPI) send(r *http.Request) answer {
	d.t.Helper()
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	a := answer{t: d.t, status: w.Code, header: received(d.t, w.Header()), text: w.Body.String()}
	if a.text != "" && strings.HasPrefix(a.header.Get("Content-Type"), "application/json") && a.text[0] == '{' {
		if err := json.Unmarshal(w.Body.Bytes(), &a.body); err != nil {
			d.t.Fatalf("%s %s: the body is not JSON: %v\n%s", r.Method, r.URL, err, a.text)
		}
	}
	return a
}

// received is the header of an answer as net/http's client shows it. No name may occur in two spellings.
func received(t testing.TB, sent http.Header) http.Header {
	t.Helper()
	h := make(http.Header, len(sent))
	for name, values := range sent {
		name = http.CanonicalHeaderKey(name)
		if h[name] != nil {
			t.Errorf("the header %s is sent twice: %v", name, sent)
		}
		h[name] = values
	}
	return h
}

// want fails the test unless the status is as given.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status is %d, want %d: %s", a.status, status, a.text)
	}
	return a
}

// says fails the test unless the body contains text.
func (a answer) says(text string) answer {
	a.t.Helper()
	if !strings.Contains(a.text, text) {
		a.t.Fatalf("the body lacks %q: %s", text, a.text)
	}
	return a
}

// str is a string member of the body.
func (a answer) str(name string) string {
	s, _ := a.body[name].(string)
	return s
}

// rows is the list in a feed.
func (a answer) rows(key string) []any {
	a.t.Helper()
	rows, ok := a.body[key].([]any)
	if !ok {
		a.t.Fatalf("no %s in %s", key, a.text)
	}
	return rows
}

// signRequest signs as azcosmos does: type and link from the decoded path.
func signRequest(r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	kind, link := parts[len(parts)-1], strings.Join(parts[:len(parts)-1], "/")
	if len(parts)%2 == 0 {
		kind, link = parts[len(parts)-2], strings.Join(parts, "/")
	}
	if raw := strings.Trim(r.URL.EscapedPath(), "/"); strings.Count(raw, "/")+1 != len(parts) {
		rawParts := strings.Split(raw, "/")
		kind = rawParts[len(rawParts)-2]
		link = strings.Trim(r.URL.Path, "/")
	}
	if kind == "offers" {
		link = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(link, "offers"), "/"))
	}
	signLink(r, kind, link)
}

func signLink(r *http.Request, kind, link string) {
	date := r.Header.Get("x-ms-date")
	if date == "" {
		date = time.Now().UTC().Format(http.TimeFormat)
		r.Header.Set("x-ms-date", date)
	}
	r.Header.Set("Authorization", masterToken(testKey, r.Method, kind, link, date))
}

// masterToken is an independent implementation from the public description of the protocol.
func masterToken(key, verb, kind, link, date string) string {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, raw)
	io.WriteString(mac, strings.ToLower(verb)+"\n"+strings.ToLower(kind)+"\n"+link+"\n"+strings.ToLower(date)+"\n\n")
	return url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
