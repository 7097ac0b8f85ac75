package rest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

const page = "https://app.example"

func TestPagesOfOtherOrigins(t *testing.T) {
	for _, c := range []struct {
		name    string
		origins []string
		origin  string
		allowed string
	}{
		{"an origin that is named", []string{"http://localhost:3000", page}, page, page},
		{"in capitals", []string{page}, "https://APP.example", "https://APP.example"},
		{"any origin", []string{AnyOrigin}, page, "*"},
		{"a file", []string{AnyOrigin}, "null", "*"},
		{"another origin", []string{page}, "https://evil.example", ""},
		{"another port", []string{page}, page + ":8443", ""},
		{"another scheme", []string{page}, "http://app.example", ""},
		{"no origin", []string{AnyOrigin}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newTestAPI(t, func(o *Options) { o.Origins = c.origins })
			headers := []string{}
			if c.origin != "" {
				headers = []string{"Origin", c.origin}
			}
			refused := d.send(newRequest("GET", "/dbs", "", headers...)).want(401)
			for _, a := range []answer{d.do("GET", "/dbs", "", headers...).want(200), refused} {
				if got := a.header.Get("Access-Control-Allow-Origin"); got != c.allowed {
					t.Errorf("%d allows %q, want %q", a.status, got, c.allowed)
				}
				if a.header.Get("Vary") != "Origin" {
					t.Errorf("%d varies by %q", a.status, a.header.Get("Vary"))
				}
				if exposes := a.header.Get("Access-Control-Expose-Headers"); strings.Contains(exposes,
					"x-ms-continuation") != (c.allowed != "") {
					t.Errorf("%d exposes %q", a.status, exposes)
				}
			}
		})
	}
}

// A browser sends a preflight without credentials before it sends what @azure/cosmos sends.
func TestPreflight(t *testing.T) {
	const wants = "authorization,content-type,x-ms-date,x-ms-documentdb-isquery,x-ms-version"
	ask := func(d *testAPI, origin string) answer {
		return d.send(newRequest("OPTIONS", "/dbs/d/colls/c/docs", "", "Origin", origin,
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", wants))
	}
	d := newTestAPI(t, func(o *Options) { o.Origins = []string{page} })
	a := ask(d, page).want(204)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": page, "Access-Control-Allow-Headers": wants,
		"Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE", "Access-Control-Max-Age": "86400",
		"Vary": "Origin",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	other := ask(d, "https://evil.example").want(403).says("--nosql-cors")
	if got := other.header.Get("Access-Control-Allow-Origin") +
		other.header.Get("Access-Control-Allow-Headers"); got != "" {
		t.Errorf("another origin gets %q", got)
	}
	d.send(newRequest("OPTIONS", "/dbs", "")).want(405) // a preflight names a method
}

func TestNothingIsSharedUnasked(t *testing.T) {
	d := newTestAPI(t)
	for _, a := range []answer{
		d.do("GET", "/dbs", "", "Origin", page).want(200),
		d.send(newRequest("OPTIONS", "/dbs", "", "Origin", page, "Access-Control-Request-Method", "GET")).want(405),
	} {
		for name := range a.header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
				t.Errorf("%d has %s", a.status, name)
			}
		}
	}
}

// A page may read every header that the API writes.
func TestExposedHeadersAreAll(t *testing.T) {
	for _, name := range headerNames(t, "answerHeader") {
		about := strings.HasPrefix(name, "Access-Control-") || name == http.CanonicalHeaderKey(string(outVary)) ||
			name == string(outConnection)
		if slices.Contains(exposed, answerHeader(name)) == about {
			t.Errorf("%s: exposed is %v", name, !about)
		}
	}
}
