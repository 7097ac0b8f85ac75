package rest

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestTableIsSorted(t *testing.T) {
	if !slices.IsSortedFunc(table, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.method, b.method))
	}) {
		t.Error("the table is not sorted by pattern and method")
	}
	for i, r := range table {
		if r.run == nil {
			t.Errorf("%s %s has no handler", r.method, r.pattern)
		}
		if i > 0 && table[i-1].method == r.method && table[i-1].pattern == r.pattern {
			t.Errorf("%s %s is there twice", r.method, r.pattern)
		}
	}
}

// Every pattern leads to its own routes, with every verb, and nowhere else.
func TestEveryRouteIsFound(t *testing.T) {
	for i := range table {
		want := &table[i]
		target := "/" + strings.ReplaceAll(want.pattern, "{}", "x%2Fy")
		e := &exchange{Request: httptest.NewRequest(want.method, target, nil)}
		if err := e.find(); err != nil || e.route != want {
			t.Errorf("%s %s leads to %+v (%v)", want.method, target, e.route, err)
		}
		if strings.HasSuffix(want.pattern, "{}") && e.name != "x/y" {
			t.Errorf("%s %s: the name is %q", want.method, target, e.name)
		}
	}
}

func TestUnknownPathsAndVerbs(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		name, method, target string
		status               int
		text                 string
	}{
		{"unknown root", "GET", "/nothing", 400, "Request url is invalid"},
		{"unknown feed", "GET", "/dbs/d/nothing", 400, "Request url is invalid"},
		{"too deep", "GET", "/dbs/d/colls/c/docs/i/attachments/a", 400, "Request url is invalid"},
		{"empty segment", "GET", "/dbs//colls", 400, "Request url is invalid"},
		{"two slashes at the end", "GET", "/dbs//", 400, "Request url is invalid"},
		{"middle of a pattern", "GET", "/dbs/d/colls/c/operations", 400, "Request url is invalid"},
		{"verb of an account", "POST", "/", 405, "MethodNotAllowed"},
		{"verb of a feed", "PUT", "/dbs", 405, "MethodNotAllowed"},
		{"verb of an item", "POST", "/dbs/d/colls/c/docs/i", 405, "MethodNotAllowed"},
		{"a very strange verb", strings.Repeat("X", 100), "/dbs", 405, "MethodNotAllowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.send(newRequest(c.method, c.target, "")).want(c.status).says(c.text)
		})
	}
}

func TestQueriesAreNamedAsMissing(t *testing.T) {
	d := newDesk(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/pk"]}}`).want(201)
	for _, target := range []string{"/dbs", "/dbs/d/colls", "/dbs/d/users", "/offers", "/dbs/d/colls/c/docs", "/dbs/d/colls/c/pkranges", "/dbs/d/colls/c/sprocs", "/dbs/d/colls/c/conflicts"} {
		for _, header := range [][]string{
			{"Content-Type", "application/query+json"},
			{"Content-Type", "application/query+json; charset=utf-8"},
			{"x-ms-documentdb-isquery", "True"},
			{"x-ms-documentdb-query", "true"},
			{"x-ms-cosmos-is-query-plan-request", "True"},
		} {
			a := d.do("POST", target, `{"query":"SELECT * FROM c"}`, header...).want(400).says("query language is not built yet")
			if a.str("code") != "BadRequest" {
				t.Errorf("%s: the code is %s", target, a.str("code"))
			}
		}
	}
	d.do("POST", "/offers", `{}`).want(405)
}

func FuzzPath(f *testing.F) {
	for _, text := range []string{"/", "/dbs", "/dbs/a%2Fb/colls/c%20d/docs/%F0%9F%98%80", "/dbs//", "/dbs/%", "/dbs/%00", "//dbs", "/dbs/d/colls/c/docs/..", "/dbs/a+b%2B/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.ParseRequestURI(text)
		if err != nil {
			return
		}
		e := &exchange{Request: &http.Request{Method: "GET", URL: u}}
		if e.find() != nil {
			return
		}
		e.signedLink()
		e.receivedLink()
		for i, segment := range e.path.segment {
			if (segment == "") != (i >= e.path.count) {
				t.Fatalf("%q is split into %q", text, e.path.segment)
			}
		}
	})
}

func TestRefusedQueryNamesTheWayOut(t *testing.T) {
	d := newItems(t)
	d.do("POST", documents, `{"query":"SELECT * FROM c"}`, "content-type", "application/query+json").want(400).
		says("items.readAll()").says("change feed")
}
