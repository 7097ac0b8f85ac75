package node

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Names by which clients of emulators call them: host.docker.internal (MicrosoftDocs/azure-docs#41954), the service
// of a Compose file (Azure/azure-cosmos-db-emulator-docker#47, #166), the address of a container (#231). Others take
// addresses and localhost too (webpack/webpack-dev-server: lib/Server.js), and .local and .internal (ollama/ollama:
// server/routes.go).
func TestHostNames(t *testing.T) {
	here := &hostNames{own: []string{"localhost", "127.0.0.1", "Box", "db.example"},
		given: []string{"cosmos.shop.example", "*.app.github.dev"}}
	near := &hostNames{own: here.own, given: here.given, nearby: true}
	for _, c := range []struct {
		host       string
		here, near bool // allowed on a loopback address, and on one that other machines reach
	}{
		{"localhost:8081", true, true},
		{"localhost", true, true},
		{"LOCALHOST:8081", true, true},
		{"localhost.", true, true},
		{"localhost.:8081", true, true},
		{"localhost:", true, true},
		{"shop.localhost:8081", true, true},
		{"127.0.0.1:8081", true, true},
		{"127.9.9.9", true, true},
		{"[::1]:8081", true, true},
		{"[::1]", true, true},
		{"[fe80::1%25eth0]:8081", true, true},
		{"192.168.1.7:8081", true, true},
		{"[2001:db8::7]:8081", true, true},
		{"host.docker.internal:8081", true, true},
		{"host.containers.internal:8081", true, true},
		{"box:8081", true, true},
		{"DB.example.:8081", true, true},
		{"cosmos.shop.example", true, true},
		{"laptop-8081.app.github.dev", true, true},
		{"mayfly:8081", false, true},
		{"cosmos_db:8081", false, true},
		{"mayfly.default.svc.cluster.local:8081", false, true},
		{"cosmos.test", false, true},
		{"evil.com:8081", false, false},
		{"evil.com.:8081", false, false},
		{"localhost.evil.com", false, false},
		{"127.0.0.1.evil.com:8081", false, false},
		{"evil.internal.com", false, false},
		{"app.github.dev", false, false},
		{"evilapp.github.dev", false, false},
		{"my.db.example", false, false},
		{"localhost:8081@evil.com", false, false},
		{"evil.com:8081:localhost", false, false},
		{"[::1].evil.com", false, false},
		{"[evil.com]:8081", false, false},
		{"[::1", false, false},
		{"localhost..", false, false},
		{".localhost", false, false},
		{"evil.com/localhost", false, false},
		{"internal", false, true},
		{"", false, false},
		{":8081", false, false},
	} {
		if here, near := here.allow(c.host), near.allow(c.host); here != c.here || near != c.near {
			t.Errorf("%q: allowed on loopback %v, elsewhere %v; want %v and %v", c.host, here, near, c.here, c.near)
		}
	}
}

func TestCheckHost(t *testing.T) {
	for pattern, ok := range map[string]bool{
		"db.example": true, "mayfly": true, "*": true, "*.db.example": true, "10.0.0.1": true, "::1": true,
		"": false, "*.": false, "*db.example": false, "a.*.example": false, "db.example:8081": false,
		"http://db.example": false, "a b": false,
	} {
		if err := CheckHost(pattern); (err == nil) != ok {
			t.Errorf("%q: error %v", pattern, err)
		}
	}
}

// TestPageOfAnotherSite (D-85) asks as a browser does whose page has given its own name the address of mayfly (DNS
// rebinding): every path is closed to it.
func TestPageOfAnotherSite(t *testing.T) {
	own := strings.Repeat("A", 86) + "=="
	for _, c := range []struct {
		name string
		o    Options
		host string
		code int // 403, or 0 for any other answer
	}{
		{"well-known key", Options{}, "evil.com:8081", 403},
		{"well-known key, called rightly", Options{}, "localhost:8081", 0},
		{"a name that is allowed", Options{AllowHosts: []string{"evil.com"}}, "EVIL.com:8081", 0},
		{"any name is allowed", Options{AllowHosts: []string{AnyHost}}, "evil.com", 0},
		{"an advertised name", Options{Advertise: "https://db.example:8081"}, "db.example:8081", 0},
		{"an emulator for other machines", Options{NoSQL: "0.0.0.0:0", AllowWellKnownKey: true}, "evil.com:8081", 403},
		{"an emulator in a Compose file", Options{NoSQL: "0.0.0.0:0", AllowWellKnownKey: true}, "cosmos:8081", 0},
		{"a key of its own", Options{Key: own}, "evil.com:8081", 0},
		{"a key of its own, and names", Options{Key: own, AllowHosts: []string{"db.example"}}, "evil.com:8081", 403},
	} {
		if c.o.NoSQL == "" {
			c.o.NoSQL = "127.0.0.1:0"
		}
		c.o.Compute, c.o.Origins = c.o.NoSQL, []string{"*"}
		n := start(t, c.o)
		for _, d := range []*endpoint{n.nosql, n.compute} {
			for _, request := range []string{
				"GET /", "GET /alive", "GET /ready", "GET /status", "GET /_explorer/emulator.pem",
				"GET /_explorer/index.html", "GET /_mayfly/ca.pem",
				"GET /dbs", "POST /dbs", "OPTIONS /dbs", "GET //_mayfly/ca.pem", "BREW /coffee",
			} {
				code, body := askAs(t, d, request, "Host: "+c.host)
				if (code == 403) != (c.code == 403) {
					t.Errorf("%s: %s on %s: %d %s", c.name, request, d.name, code, body)
				}
				if code == 403 &&
					(!strings.Contains(body, "--allow-host") || !strings.Contains(body, `{"code":"Forbidden"`)) {
					t.Errorf("%s: %s does not say what to do: %s", c.name, request, body)
				}
			}
		}
	}
}

// TestWhichHostCounts has the forms in which HTTP tells the host.
func TestWhichHostCounts(t *testing.T) {
	n := start(t, Options{NoSQL: "127.0.0.1:0"})
	for _, c := range []struct {
		name, request string
		headers       []string
		code          int
	}{
		{"Host", "GET /alive", []string{"Host: localhost"}, 200},
		{"an absolute target", "GET http://evil.com/alive", []string{"Host: localhost"}, 403},
		{"an absolute target of ours", "GET http://localhost/alive", []string{"Host: evil.com"}, 200},
		{"two", "GET /alive", []string{"Host: localhost", "Host: evil.com"}, 400},
		{"none", "GET /alive", nil, 400},
		{"an empty one", "GET /alive", []string{"Host:"}, 403},
		{"forwarded", "GET /alive", []string{"Host: localhost", "X-Forwarded-Host: evil.com"}, 200},
		{"what a proxy says", "GET /alive",
			[]string{"Host: evil.com", "X-Forwarded-Host: localhost", "Forwarded: host=localhost"}, 403},
	} {
		if code, body := askAs(t, n.nosql, c.request, c.headers...); code != c.code {
			t.Errorf("%s: %d, want %d: %s", c.name, code, c.code, body)
		}
	}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols, DisableKeepAlives: true}}
	for host, want := range map[string]int{"localhost": 200, "evil.com": 403} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", n.PlainEndpoint()+"alive", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host // becomes :authority
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want || response.ProtoMajor != 2 {
			t.Errorf("HTTP/%d, %s: %d, want %d", response.ProtoMajor, host, response.StatusCode, want)
		}
	}
}

// TestPageOfAnotherSiteAsksTheOperator is the same for the admin address, which asks for no key on a loopback address
// and for one that everybody knows elsewhere.
func TestPageOfAnotherSiteAsksTheOperator(t *testing.T) {
	own := strings.Repeat("A", 86) + "=="
	for _, c := range []struct {
		name string
		o    Options
		host string
		code int
	}{
		{"loopback", Options{}, "evil.com:8080", 403},
		{"loopback, a key of its own", Options{Key: own}, "evil.com:8080", 403},
		{"loopback, called rightly", Options{Key: own}, "localhost:8080", 200},
		{"loopback, a name that is allowed", Options{AllowHosts: []string{"db.example"}}, "db.example", 200},
		{"for other machines, well-known key", Options{Admin: "0.0.0.0:0", AllowWellKnownKey: true}, "evil.com", 403},
		{"for other machines, a key of its own", Options{Admin: "0.0.0.0:0", Key: own}, "db.example", 200},
	} {
		if c.o.Admin == "" {
			c.o.Admin = "127.0.0.1:0"
		}
		n := start(t, c.o)
		for _, request := range []string{"GET /", "GET /healthz", "GET /clock"} {
			want := c.code
			if n.admin.exposed() && want == 200 && request != "GET /healthz" {
				want = 401
			}
			if code, body := askAs(t, n.admin, request, "Host: "+c.host); code != want {
				t.Errorf("%s: %s: %d, want %d: %s", c.name, request, code, want, body)
			}
		}
	}
}

// askAs sends a request as it is written.
func askAs(t *testing.T, d *endpoint, request string, headers ...string) (int, string) {
	t.Helper()
	_, port, _ := net.SplitHostPort(d.address())
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	headers = append(headers, "Connection: close", "Origin: http://evil.com", "Access-Control-Request-Method: POST",
		"Content-Length: 0")
	fmt.Fprintf(conn, "%s HTTP/1.1\r\n%s\r\n\r\n", request, strings.Join(headers, "\r\n"))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return response.StatusCode, string(body)
}
