package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// answering is a client of a server with one handler.
func answering(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := New(Options{Address: s.URL, Key: "a2V5"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"localhost:8080": "http://localhost:8080", "https://db.example:8443/": "https://db.example:8443",
		"http://[::1]:80/x": "http://[::1]:80", "ftp://a:1": "", "": "", "http://": "",
	} {
		c, err := New(Options{Address: address})
		if (err == nil) != (want != "") || err == nil && c.Address() != want {
			t.Errorf("%q: %v, error %v, want %q", address, c, err, want)
		}
	}
	if _, err := New(Options{Address: "localhost:1", Authority: []byte("no certificate")}); err == nil {
		t.Error("an authority that is no certificate is accepted")
	}
}

func TestPathsKeepTheirSegments(t *testing.T) {
	mux := http.NewServeMux()
	var got []string
	mux.HandleFunc("GET "+Prefix+"/databases/{db}/containers/{c}", func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.PathValue("db")+" "+r.PathValue("c"))
	})
	c := answering(t, mux.ServeHTTP)
	var want []string
	for _, name := range []string{"plain", "a b", "ü?#", "100%", ".x", "a+b", `"'`} {
		want = append(want, name+" "+name)
		if err := c.Get(t.Context(), Path("databases", name, "containers", name), nil); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the server sees %q, want %q", got, want)
	}
}

func TestCall(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		json.NewEncoder(w).Encode(map[string]string{
			"method": r.Method, "key": r.Header.Get("Authorization"), "type": r.Header.Get("Content-Type"),
			"body": string(body),
		})
	})
	var answer map[string]string
	if err := c.Call(t.Context(), http.MethodPut, "/x", map[string]int{"a": 1}, &answer); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"method": "PUT", "key": "Bearer a2V5", "type": "application/json", "body": `{"a":1}`}
	if fmt.Sprint(answer) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", answer, want)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, body        string
		status            int
		text              string
		refused, notFound bool
	}{
		{"problem", `{"title":"Not Found","status":404,"detail":"there is no database \"x\"","kind":"not found"}`, 404,
			`there is no database "x" (404 Not Found)`, false, true},
		{"without detail", `{"title":"Conflict"}`, 409, "Conflict (409 Conflict)", false, false},
		{"older form", `{"error":"the clock moves forward only"}`, 400,
			"the clock moves forward only (400 Bad Request)", false, false},
		{"key", `{"detail":"send the key"}`, 401, "this mayfly needs the account key: give it with --key", true, false},
		{"forbidden", `{"detail":"this key allows reading only"}`, 403, "this key allows reading only (403 Forbidden)",
			true, false},
		{"another server", "<html>" + strings.Repeat("x", 600), 502, "xxx… (502 Bad Gateway)", false, false},
		{"nothing", "", 500, "the server gives no reason (500", false, false},
		{"redirect", "", 302, "(302 Found)", false, false},
	} {
		client := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://example.invalid/")
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		err := client.Get(t.Context(), "/x", nil)
		if err == nil || !strings.Contains(err.Error(), c.text) || Refused(err) != c.refused ||
			NotFound(err) != c.notFound {
			t.Errorf("%s: %v, refused %v, not found %v, want %q, %v, %v", c.name, err, Refused(err), NotFound(err),
				c.text, c.refused, c.notFound)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	c, err := New(Options{Address: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Get(t.Context(), "/x", nil)
	if u, ok := errors.AsType[*Unreachable](err); !ok || !strings.Contains(u.Error(), s.URL) ||
		strings.Contains(u.Error(), "/x") {
		t.Errorf("%v, want that nobody answers there", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Get(ctx, "/x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the caller gave up", err)
	}
}

func TestTLSOfAnAuthority(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `"hello"`)
	}))
	defer s.Close()
	authority := pemOf(s.Certificate().Raw)
	for _, c := range []struct {
		authority []byte
		ok        bool
	}{{nil, false}, {authority, true}} {
		client, err := New(Options{Address: s.URL, Authority: c.authority})
		if err != nil {
			t.Fatal(err)
		}
		var answer string
		if err := client.Get(t.Context(), "/", &answer); (err == nil) != c.ok || c.ok && answer != "hello" {
			t.Errorf("authority %v: %q, error %v, want ok %v", c.authority != nil, answer, err, c.ok)
		}
	}
}

func TestAStreamThatIsCut(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: 1\n\n")
		if r.URL.Path == "/cut" {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	for path, fails := range map[string]bool{"/whole": false, "/cut": true} {
		var got []string
		var last error
		for e, err := range c.Events(t.Context(), path) {
			if last = err; err == nil {
				got = append(got, string(e.Data))
			}
		}
		if fmt.Sprint(got) != "[1]" || (last != nil) != fails {
			t.Errorf("%s: %q, error %v, want it to fail: %v", path, got, last, fails)
		}
	}
}

func TestEvents(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w,
			": hello\n\nid: a-1\nevent: operation\ndata: {\"a\":\ndata: 1}\n\n: alive\n\ndata:plain\n\ndata: "+
				"unfinished\n")
	})
	var got []string
	for e, err := range c.Events(t.Context(), "/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Name+" "+string(e.Data))
	}
	if want := "[\"operation {\\\"a\\\":\\n1}\" \"message plain\"]"; fmt.Sprintf("%q", got) != want {
		t.Errorf("%q, want %s", got, want)
	}
}
