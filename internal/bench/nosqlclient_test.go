package bench

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAnswers reads each kind of answer that a server may give, one after the other on a connection while that stays
// open.
func TestAnswers(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/chunks":
			for range 3 {
				fmt.Fprint(w, long)
				w.(http.Flusher).Flush()
			}
		case "/close":
			w.Header().Set("Connection", "close")
			fmt.Fprint(w, "bye")
		case "/more":
			w.Header().Set("X-Ms-Continuation", "next")
			fmt.Fprint(w, "page")
		case "/refused":
			http.Error(w, "no such thing", http.StatusNotFound)
		case "/long":
			w.Header().Set("Content-Length", fmt.Sprint(len(long)))
			fmt.Fprint(w, long)
		}
	}))
	defer server.Close()
	c, err := newNoSQLClient(server.URL, "a2V5", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for path, want := range map[string]nosqlAnswer{
			"empty":  {},
			"chunks": {body: []byte(long + long + long)},
			"close":  {body: []byte("bye")},
			"more":   {body: []byte("page"), continuation: "next"},
			"long":   {body: []byte(long)},
		} {
			got, err := c.send(t.Context(), nosqlRequest{method: "GET", path: path, text: true})
			if err != nil || string(got.body) != string(want.body) || got.continuation != want.continuation {
				t.Errorf("%s: %d bytes, continuation %q, %v; want %d, %q",
					path, len(got.body), got.continuation, err, len(want.body), want.continuation)
			}
		}
		_, err := c.send(t.Context(), nosqlRequest{method: "GET", path: "refused"})
		if r, ok := errors.AsType[*refusal](err); !ok || r.status != 404 || !strings.Contains(r.text, "no such thing") {
			t.Errorf("a refusal is %v", err)
		}
	}
	if n := len(c.idle); n > 1 {
		t.Errorf("%d connections are idle after one request at a time", n)
	}
}
