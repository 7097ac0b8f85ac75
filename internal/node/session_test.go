package node

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/clock"
)

// browser is a client with cookies, which trusts the certificates of a node, and the URL of its admin API over TLS.
func browser(t *testing.T, n *Node) (*http.Client, string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: trusting(n)}}
	t.Cleanup(client.CloseIdleConnections)
	return client, "https" + strings.TrimPrefix(n.AdminURL(), "http") + "_mayfly/v1"
}

// A person signs in from another machine, looks, changes something, and signs out. The trail has the name of the key.
func TestBrowserOffLoopback(t *testing.T) {
	n := withKeys(t, t.TempDir())
	keys := shownKeys(t, n, n.Key())
	client, v1 := browser(t, n)
	step := func(method, path, body string, want int, parts ...string) {
		t.Helper()
		code, text := ask(t, client, method, v1+path, "", body)
		if code != want {
			t.Errorf("%s %s: %d %s, want %d", method, path, code, text, want)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s %s: %s lacks %s", method, path, text, part)
			}
		}
	}
	signIn := func(key string) { step("POST", "/session", fmt.Sprintf(`{"key": %q}`, key), 200, `"signedIn":true`) }

	step("GET", "/session", "", 200, `{"needsKey":true,"signedIn":false,"write":false}`)
	step("GET", "/databases", "", 401)
	step("POST", "/session", `{"key": "d3Jvbmc="}`, 401)
	signIn(keys["primaryReadonly"])
	step("GET", "/session", "", 200, `{"needsKey":true,"signedIn":true,"write":false}`)
	step("GET", "/databases", "", 200)
	step("POST", "/databases", `{"id": "shop"}`, 403)
	step("GET", "/keys?show=true", "", 403)
	signIn(keys["secondary"])
	step("POST", "/databases", `{"id": "shop"}`, 201)
	step("GET", "/audit", "", 200, `"principal":"secondary"`, `"kind":"database","target":"shop"`)

	rotateKey(t, n, n.Key(), "primary")
	step("GET", "/databases", "", 200, "shop")
	rotateKey(t, n, n.Key(), "secondary")
	step("GET", "/databases", "", 401)
	step("GET", "/session", "", 200, `"signedIn":false`)

	response, err := client.Post(v1+"/session", "application/json",
		strings.NewReader(fmt.Sprintf(`{"key": %q}`, n.Key())))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if made := response.Cookies(); len(made) != 1 || !made[0].Secure || !made[0].HttpOnly {
		t.Errorf("cookies over TLS: %v", made)
	}
	secure, err := url.Parse(v1)
	if err != nil {
		t.Fatal(err)
	}
	cookies := client.Jar.Cookies(secure)
	if len(cookies) != 1 {
		t.Fatalf("cookies %v", cookies)
	}
	step("DELETE", "/session", "", 204)
	if left := client.Jar.Cookies(secure); len(left) != 0 {
		t.Errorf("cookies after the end: %v", left)
	}
	client.Jar.SetCookies(secure, cookies)
	step("GET", "/databases", "", 401)
}

// On a loopback address with a key of one's own, what is harmless needs no session, and the trail still names its key.
func TestSessionOnLoopback(t *testing.T) {
	own := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 64)))
	n := start(t, Options{Admin: "127.0.0.1:0", Key: own, Virtual: true, VirtualStart: noon})
	client, v1 := browser(t, n)
	for _, s := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/reclaim/pause", "", 200},
		{"GET", "/audit", "", 401},
		{"POST", "/session", fmt.Sprintf(`{"key": %q}`, own), 200},
		{"POST", "/reclaim/resume", "", 200},
	} {
		if code, text := ask(t, client, s.method, v1+s.path, "", s.body); code != s.want {
			t.Errorf("%s %s: %d %s, want %d", s.method, s.path, code, text, s.want)
		}
	}
	_, text := ask(t, client, "GET", v1+"/audit", "", "")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 2 || strings.Contains(lines[0], "principal") ||
		!strings.Contains(lines[1], `"principal":"primary"`) {
		t.Errorf("audit:\n%s", text)
	}
	for _, line := range lines {
		if strings.Contains(line, own) {
			t.Errorf("the key is in the trail: %s", line)
		}
	}
}

// A flood of wrong keys from this machine stops neither health checks nor what needs no key.
func TestGuessingStopsNobodyElse(t *testing.T) {
	own := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 64)))
	n := start(t, Options{Admin: "127.0.0.1:0", Key: own})
	v1 := n.AdminURL() + "_mayfly/v1"
	watch, refused := clock.Start(), 0
	for range 60 {
		if code, _ := ask(t, http.DefaultClient, "POST", v1+"/session", "", `{"key": "d3Jvbmc="}`); code == 429 {
			refused++
		}
	}
	if most := 20 + int(watch.Elapsed().Seconds()) + 1; 60-refused > most {
		t.Errorf("%d wrong keys were told, want at most %d", 60-refused, most)
	}
	for _, path := range []string{n.AdminURL() + "readyz", v1 + "/databases", v1 + "/session"} {
		if code, text := ask(t, http.DefaultClient, "GET", path, "", ""); code != 200 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}
