package node

import (
	"crypto/tls"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestWhatAnyoneSees asks without credentials: where the key is a secret and others reach the address, that tells as
// little as it can.
func TestWhatAnyoneSees(t *testing.T) {
	secret := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 40)))
	mongo := Mongo{Address: "127.0.0.1:0"}
	cases := []struct {
		name    string
		o       Options
		account int
		shown   []string
		hidden  []string
	}{
		{"well-known key",
			Options{NoSQL: "127.0.0.1:0", Version: "v9", Mongo: mongo, Virtual: true, VirtualStart: noon}, 200,
			[]string{"v9", WellKnownKey, "mongodb://", "<dt>Clock"}, nil},
		{"own key", Options{NoSQL: "127.0.0.1:0", Version: "v9", Mongo: mongo, Key: secret}, 401,
			[]string{"v9", "mongodb://"}, []string{secret, WellKnownKey, "<dt>Clock"}},
		{"own key, for other machines",
			Options{NoSQL: "0.0.0.0:0", Version: "v9", Mongo: mongo, Key: secret, Virtual: true, VirtualStart: noon},
			401, []string{"AccountEndpoint="}, []string{secret, WellKnownKey, "v9", "mongodb://", "<dt>Clock"}},
		{"well-known key, for other machines", Options{NoSQL: "0.0.0.0:0", Version: "v9", AllowWellKnownKey: true}, 200,
			[]string{"v9", WellKnownKey}, []string{"mongodb://"}},
	}
	for _, c := range cases {
		n := start(t, c.o)
		if code, _ := get(t, n.PlainEndpoint()); code != c.account {
			t.Errorf("%s: the account is answered with %d, want %d", c.name, code, c.account)
		}
		r, err := http.NewRequestWithContext(t.Context(), "GET", n.PlainEndpoint(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		page := strings.ReplaceAll(string(text), "&#43;", "+")
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("%s: %d, %v", c.name, response.StatusCode, err)
		}
		for _, want := range c.shown {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, page)
			}
		}
		for _, not := range c.hidden {
			if strings.Contains(page, not) {
				t.Errorf("%s: %q in\n%s", c.name, not, page)
			}
		}
		for _, path := range []string{"ready", "alive", "status", "_explorer/emulator.pem", "_explorer/index.html"} {
			if code, body := get(t, n.PlainEndpoint()+path); code != 200 {
				t.Errorf("%s: %s: %d %s", c.name, path, code, body)
			}
		}
	}
}

// TestOwnersCertificateIsGivenToEmulatorScripts, which would wait for one for ever.
func TestOwnersCertificateIsGivenToEmulatorScripts(t *testing.T) {
	files := pemFiles(t)
	n := start(t, Options{NoSQL: "127.0.0.1:0", TLS: files})
	// as curl -k
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true}}
	response, err := client.Get(n.Endpoint() + "_explorer/emulator.pem")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := os.ReadFile(files.Cert); err != nil || string(got) != string(want) {
		t.Errorf("%d %s, want %s, error %v", response.StatusCode, got, want, err)
	}
}
