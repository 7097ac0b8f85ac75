package node

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/clock"
	kvmemory "github.com/mayflydb/mayfly/internal/kv/memory"
)

// endpointsFor asks for the endpoints by a host name. $nosql, $mongo and $admin stand for the ports.
func endpointsFor(t *testing.T, n *Node, client *http.Client, scheme, host string) admin.Endpoints {
	t.Helper()
	_, port, _ := net.SplitHostPort(n.admin.address())
	url := strings.Replace(n.AdminURL(), "http:", scheme+":", 1) + "_mayfly/v1/endpoints"
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = net.JoinHostPort(host, port)
	r.Header.Set("Authorization", "Bearer "+n.Key())
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var f admin.Endpoints
	if err := json.NewDecoder(response.Body).Decode(&f); err != nil || response.StatusCode != 200 {
		t.Fatalf("status %s, error %v", response.Status, err)
	}
	return f
}

func TestEndpoints(t *testing.T) {
	own := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 64)))
	local := Options{NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0", Mongo: Mongo{Address: "127.0.0.1:0"}}
	exposed := Options{NoSQL: "0.0.0.0:0", Admin: "0.0.0.0:0", Key: own, Mongo: Mongo{Address: "0.0.0.0:0"}}
	mixed := Options{NoSQL: "127.0.0.1:0", Admin: "0.0.0.0:0", Key: own}
	advertised := exposed
	advertised.Advertise = "https://db.example:443"
	renamed := advertised
	renamed.Mongo.Advertise = "mongo.example:27000"
	plain := local
	plain.TLS.Off = true
	for _, c := range []struct {
		name, host              string
		o                       Options
		nosql, mongo, ca, admin string
		auth                    bool
	}{
		{"localhost", "localhost", local, "https://localhost:$nosql/", "mongodb://localhost:$mongo/",
			"http://localhost:$nosql/_mayfly/ca.pem", "http://localhost:$admin/", false},
		{"an address", "127.0.0.1", local, "https://127.0.0.1:$nosql/", "mongodb://127.0.0.1:$mongo/",
			"http://127.0.0.1:$nosql/_mayfly/ca.pem", "http://127.0.0.1:$admin/", false},
		{"a name of another machine", "db.lan", exposed, "https://db.lan:$nosql/", "mongodb://db.lan:$mongo/",
			"http://db.lan:$nosql/_mayfly/ca.pem", "http://db.lan:$admin/", true},
		{"IPv6", "2001:db8::1", exposed, "https://[2001:db8::1]:$nosql/", "mongodb://[2001:db8::1]:$mongo/",
			"http://[2001:db8::1]:$nosql/_mayfly/ca.pem", "http://[2001:db8::1]:$admin/", true},
		{"an API that others do not reach", "db.lan", mixed, "https://127.0.0.1:$nosql/", "",
			"http://127.0.0.1:$nosql/_mayfly/ca.pem", "http://db.lan:$admin/", false},
		{"an advertised name", "localhost", advertised, "https://db.example:443/", "mongodb://db.example:$mongo/",
			"http://localhost:$nosql/_mayfly/ca.pem", "http://localhost:$admin/", true},
		{"two advertised names", "localhost", renamed, "https://db.example:443/", "mongodb://mongo.example:27000/",
			"http://localhost:$nosql/_mayfly/ca.pem", "http://localhost:$admin/", true},
		{"no TLS", "localhost", plain, "http://localhost:$nosql/", "mongodb://localhost:$mongo/", "",
			"http://localhost:$admin/", false},
		{"alone", "localhost", Options{Admin: "127.0.0.1:0"}, "", "", "", "http://localhost:$admin/", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Version = "v1"
			n := start(t, c.o)
			ports := strings.NewReplacer(
				"$nosql", portOf(n.nosql), "$mongo", portOf(n.mongo), "$admin", portOf(n.admin))
			f := endpointsFor(t, n, http.DefaultClient, "http", c.host)
			for _, x := range []struct{ name, got, want string }{
				{"nosql", f.NoSQL, c.nosql}, {"mongo", f.Mongo, c.mongo},
				{"ca", f.CA, c.ca}, {"admin", f.Admin, c.admin},
			} {
				if want := ports.Replace(x.want); x.got != want {
					t.Errorf("%s is %q, want %q", x.name, x.got, want)
				}
			}
			wantKey := WellKnownKey
			if c.o.Key != "" {
				wantKey = ""
			}
			age := clock.Wall().Sub(f.StartedAt)
			if f.Key != wantKey || f.MongoAuth != c.auth || f.Memory || f.Version != "v1" ||
				age < 0 || age > time.Hour {
				t.Errorf("%+v", f)
			}
		})
	}
}

// A page that came over TLS gets an address with TLS. An engine in memory is told.
func TestEndpointsOverTLSAndInMemory(t *testing.T) {
	n := start(t, Options{NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0", Engine: kvmemory.New()})
	client, _ := browser(t, n)
	f := endpointsFor(t, n, client, "https", "localhost")
	if f.Admin != "https://localhost:"+portOf(n.admin)+"/" || !f.Memory {
		t.Errorf("%+v", f)
	}
	if code, text := get(t, f.CA); code != 200 || text != string(n.CA()) {
		t.Errorf("%s: %d", f.CA, code)
	}
}

func portOf(e *endpoint) string {
	if e == nil {
		return "none"
	}
	_, port, _ := net.SplitHostPort(e.address())
	return port
}
