package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/admin"
)

// ask sends a request to the admin API with a key.
func ask(t *testing.T, client *http.Client, method, url, key, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// The addresses and keys that decide what the admin API asks for. /clock has no version and keeps its rule: a local
// address asks for no key.
func TestAdminAsksForTheKey(t *testing.T) {
	own := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 64)))
	for _, c := range []struct {
		name                    string
		o                       Options
		clock, harmless, change int // without a key
	}{
		{"local, well-known key", Options{Admin: "127.0.0.1:0"}, 200, 200, 201},
		{"local, own key", Options{Admin: "127.0.0.1:0", Key: own}, 200, 200, 401},
		{"exposed, own key", Options{Admin: "0.0.0.0:0", Key: own}, 401, 401, 401},
		{"exposed, well-known key", Options{Admin: "0.0.0.0:0", AllowWellKnownKey: true}, 401, 401, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, c.o)
			v1 := n.AdminURL() + "_mayfly/v1/"
			for _, s := range []struct {
				method, url string
				want        int
			}{
				{"GET", n.AdminURL() + "clock", c.clock},
				{"GET", v1 + "databases", c.harmless},
				{"POST", v1 + "databases", c.change},
			} {
				if got, text := ask(t, http.DefaultClient, s.method, s.url, "", `{"id": "a"}`); got != s.want {
					t.Errorf("%s %s without a key: %d %s, want %d", s.method, s.url, got, text, s.want)
				}
				if got, text := ask(t, http.DefaultClient, s.method, s.url, "d3Jvbmc=", `{"id": "b"}`); got != s.want {
					t.Errorf("%s %s with a wrong key: %d %s, want %d", s.method, s.url, got, text, s.want)
				}
			}
			if got, text := ask(t, http.DefaultClient, "POST", v1+"databases", n.Key(), `{"id": "c"}`); got != 201 {
				t.Errorf("with the key: %d %s", got, text)
			}
		})
	}
}

// The admin address answers TLS and plain connections, whoever made the certificate; without TLS plain ones alone.
func TestAdminHasTLS(t *testing.T) {
	trusts := func(pem []byte) *http.Client {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2: true}}
	}
	anyone := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for name, c := range map[string]struct {
		tls    TLS
		client func(*Node) *http.Client
	}{
		"own certificate":        {TLS{}, func(n *Node) *http.Client { return trusts(n.CA()) }},
		"operator's certificate": {pemFiles(t), func(*Node) *http.Client { return anyone }},
		"no TLS":                 {TLS{Off: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, Options{Admin: "127.0.0.1:0", TLS: c.tls})
			if got, _ := get(t, n.AdminURL()+"readyz"); got != 200 {
				t.Errorf("plain: %d", got)
			}
			secure := "https" + strings.TrimPrefix(n.AdminURL(), "http")
			if c.client == nil {
				if _, err := anyone.Get(secure + "readyz"); err == nil {
					t.Error("TLS answers")
				}
				return
			}
			client := c.client(n)
			defer client.CloseIdleConnections()
			for _, path := range []string{"readyz", "_mayfly/v1/version"} {
				if got, text := ask(t, client, "GET", secure+path, "", ""); got != 200 {
					t.Errorf("%s: %d %s", path, got, text)
				}
			}
		})
	}
}

// A key that reads only may not write through a pipeline.
func TestPipelinesThatWriteNeedTheRight(t *testing.T) {
	n := start(t, Options{Admin: "127.0.0.1:0"})
	options := n.adminOptions(Options{})
	options.Catalog, options.Usage, options.NoSQL, options.Mongo = n.presentCatalog, n.usage, n.local, n.runMongo
	options.MongoETag, options.MongoGuard, options.Clock = n.mongoETag, n.mongoGuard, n.clock
	options.Allowed = func(key string) (bool, bool) { return key != "", key == "writes" }
	options.Public = false
	h := newHandler(t, options)
	v1 := h + "/_mayfly/v1/databases"
	ask(t, http.DefaultClient, "POST", v1, "writes", `{"id": "a"}`)
	for _, name := range []string{"from", "to"} {
		body := fmt.Sprintf(`{"id": %q, "dialect": "mongodb"}`, name)
		if got, text := ask(t, http.DefaultClient, "POST", v1+"/a/containers", "writes", body); got != 201 {
			t.Fatalf("%d %s", got, text)
		}
	}
	ask(t, http.DefaultClient, "POST", v1+"/a/containers/from/items", "writes", `{"_id": 1}`)
	container := func(name string) string {
		_, text := ask(t, http.DefaultClient, "GET", v1+"/a/containers/"+name, "reads", "")
		return text
	}
	for _, stage := range []string{`{"$out": "to"}`, `{"$merge": "to"}`} {
		body := `{"pipeline": [` + stage + `]}`
		if got, text := ask(t, http.DefaultClient, "POST", v1+"/a/containers/from/query", "reads", body); got != 403 {
			t.Errorf("%s with a key that reads: %d %s", stage, got, text)
		}
		if text := container("to"); !strings.Contains(text, `"items":0`) {
			t.Errorf("%s has written: %s", stage, text)
		}
	}
	body := `{"pipeline": [{"$out": "to"}]}`
	if got, text := ask(t, http.DefaultClient, "POST", v1+"/a/containers/from/query", "writes", body); got != 200 {
		t.Errorf("with a key that writes: %d %s", got, text)
	}
	if text := container("to"); !strings.Contains(text, `"items":1`) {
		t.Errorf("nothing is written: %s", text)
	}
}

// newHandler serves an admin API of its own, and gives its URL.
func newHandler(t *testing.T, o admin.Options) string {
	t.Helper()
	api := admin.New(o)
	server := httptest.NewServer(api)
	t.Cleanup(func() { server.Close(); api.Close(context.Background()) })
	return server.URL
}

// The admin API reaches MongoDB's containers whether that API asks for a password, has an address, or neither.
func TestAdminReachesMongo(t *testing.T) {
	own := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 64)))
	for name, o := range map[string]Options{
		"no address":     {},
		"password":       {Mongo: Mongo{Address: "127.0.0.1:0", Auth: "on", ReplSet: ReplSet}, Key: own},
		"no password":    {Mongo: Mongo{Address: "127.0.0.1:0"}},
		"without NoSQL":  {Mongo: Mongo{Address: "127.0.0.1:0", ReplSet: ReplSet}},
		"strict gateway": {NoSQL: "127.0.0.1:0", Strict: true},
	} {
		t.Run(name, func(t *testing.T) {
			o.Admin = "127.0.0.1:0"
			n := start(t, o)
			v1 := n.AdminURL() + "_mayfly/v1/databases"
			for _, s := range []struct {
				method, path, body, want string
			}{
				{"POST", "", `{"id": "a"}`, `"a"`},
				{"POST", "/a/containers", `{"id": "b", "dialect": "mongodb"}`, `"mongodb"`},
				{"POST", "/a/containers/b/items", `{"_id": 1}`, `{"_id":1}`},
				{"GET", "/a/containers/b/items", "", `[{"_id":1}]`},
				{"POST", "/a/containers", `{"id": "c", "partitionKey": {"paths": ["/pk"]}}`, `"nosql"`},
				{"POST", "/a/containers/c/items", `{"id": "1", "pk": 1, "n": 2}`, `"pk":1`},
				{"POST", "/a/containers/c/items", `{"id": "2", "pk": 2, "n": 1}`, `"pk":2`},
				{"POST", "/a/containers/c/query", `{"sql": "SELECT VALUE c.n FROM c ORDER BY c.n"}`, `[1,2]`},
			} {
				if got, text := ask(t, http.DefaultClient, s.method, v1+s.path, n.Key(), s.body); got >= 300 ||
					!strings.Contains(text, s.want) {
					t.Errorf("%s %s: %d %s", s.method, s.path, got, text)
				}
			}
		})
	}
}

// A request whose sender leaves ends the command.
func TestAdminCommandEndsWithItsRequest(t *testing.T) {
	n := start(t, Options{Admin: "127.0.0.1:0"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	command, err := bson.Marshal(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "admin"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.runMongo(ctx, command); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := n.runMongo(t.Context(), command); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// A key that only reads moves no clock and reclaims nothing, also where these need no key at all.
func TestReadOnlyKeyChangesNothing(t *testing.T) {
	own := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 64)))
	for name, o := range map[string]Options{
		"local, well-known key": {Admin: "127.0.0.1:0"},
		"local, own key":        {Admin: "127.0.0.1:0", Key: own},
		"exposed, own key":      {Admin: "0.0.0.0:0", Key: own},
	} {
		t.Run(name, func(t *testing.T) {
			o.Virtual = true
			n := start(t, o)
			readOnly := shownKeys(t, n, n.Key())["primaryReadonly"]
			_, before := operate(t, n, readOnly, "GET", "/clock", nil)
			v1 := n.AdminURL() + "_mayfly/v1/"
			refused := [][3]string{
				{"POST", v1 + "databases", `{"id": "a"}`},
				{"DELETE", v1 + "databases/a", ""},
				{"POST", v1 + "snapshots", `{"name": "a"}`},
			}
			for _, root := range []string{n.AdminURL(), v1} {
				refused = append(refused, [][3]string{
					{"POST", root + "clock/advance", `{"duration": "1h"}`},
					{"POST", root + "clock/set", `{"time": "2099-01-01T00:00:00Z"}`},
					{"POST", root + "reclaim", ""},
					{"POST", root + "reclaim/pause", ""},
					{"POST", root + "reclaim/resume", ""},
				}...)
			}
			for _, s := range refused {
				got, text := ask(t, http.DefaultClient, s[0], s[1], readOnly, s[2])
				if got != 403 || !strings.Contains(text, "read-only") ||
					strings.HasPrefix(s[1], v1) && !strings.Contains(text, `"kind":"forbidden"`) {
					t.Errorf("%s %s: %d %s", s[0], s[1], got, text)
				}
			}
			if _, now := operate(t, n, readOnly, "GET", "/clock", nil); now != before {
				t.Errorf("the clock has moved: %s, was %s", now, before)
			}
			for _, path := range []string{"clock", "databases", "reclaim", "keys"} {
				if got, text := ask(t, http.DefaultClient, "GET", v1+path, readOnly, ""); got != 200 {
					t.Errorf("GET %s: %d %s", path, got, text)
				}
			}
			body := `{"duration": "1h"}`
			if got, text := ask(t, http.DefaultClient, "POST", v1+"clock/advance", n.Key(), body); got != 200 {
				t.Errorf("with the account key: %d %s", got, text)
			}
		})
	}
}
