package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

func TestHealth(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=0.0.0.0:0", "--key="+strings.Repeat("k", 43)+"=")
	_, port, err := net.SplitHostPort(strings.Trim(s.address(t, "Admin"), "htp:/"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{ // as the image and the unit name the address; none needs the key
		{"health", "--admin=0.0.0.0:" + port},
		{"health", "--admin=:" + port},
		{"health", "--admin", s.address(t, "Admin")},
	} {
		if code, out := mayfly(t, args...); code != exitOK || out != "ready\n" {
			t.Errorf("%v: exit %d, %q", args, code, out)
		}
	}
	if code, out := mayfly(t, "health", "--json", "--admin=:"+port); code != exitOK ||
		!strings.Contains(out, `"status": "ready"`) {
		t.Errorf("as JSON: exit %d, %q", code, out)
	}
	s.stop(t, syscall.SIGTERM)
	if code, out := mayfly(t, "health", "--admin=:"+port); code != exitFailed ||
		!strings.Contains(out, "no mayfly answers at 127.0.0.1:"+port) {
		t.Errorf("of one that has stopped: exit %d, %q", code, out)
	}
}

// TestHealthTellsWhy has other answers than a mayfly's that serves.
func TestHealthTellsWhy(t *testing.T) {
	for name, c := range map[string]struct {
		answer    string
		args      []string
		out, told string
	}{
		"not ready": {`{"status":"not ready","reasons":["it stops","the disk is full"]}`, nil, "",
			"is not ready: it stops; the disk is full\n"},
		"not ready, as JSON": {`{"status":"not ready"}`, []string{"--json"}, `{` + "\n" + `  "status": "not ready"`,
			"is not ready\n"},
		"another server":      {"<h1>Welcome</h1>", nil, "", `503 Service Unavailable, "<h1>Welcome</h1>"`},
		"another server, {}":  {"{}", nil, "", `503 Service Unavailable, "{}"`},
		"a list of something": {"[1]", nil, "", `503 Service Unavailable, "[1]"`},
	} {
		t.Run(name, func(t *testing.T) {
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusServiceUnavailable)
				w.Write([]byte(c.answer))
			}))
			defer other.Close()
			var out, told bytes.Buffer
			getenv := func(name string) (string, bool) {
				value, ok := map[string]string{"MAYFLY_ADMIN": other.URL}[name]
				return value, ok
			}
			code := run(command{args: append([]string{"health"}, c.args...), out: &out, err: &told, getenv: getenv})
			if code != exitFailed || !strings.HasPrefix(out.String(), c.out) || c.out == "" && out.Len() > 0 ||
				!strings.Contains(told.String(), c.told) {
				t.Errorf("exit %d, %q and %q, want %d, %q and %q", code, out.String(), told.String(), exitFailed, c.out,
					c.told)
			}
		})
	}
}
