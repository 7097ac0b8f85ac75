package rest

import (
	"cmp"
	"fmt"
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

// Every pattern matches its own routes with every method, and no others.
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
	d := newTestAPI(t)
	for _, c := range []struct {
		name, method, target string
		status               int
		text                 string
	}{
		{"unknown root", "GET", "/nothing", 400, "Request url is invalid"},
		{"unknown feed", "GET", "/dbs/d/nothing", 400, "Request url is invalid"},
		{"too deep", "GET", "/dbs/d/colls/c/docs/i/attachments/a", 400, "Request url is invalid"},
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

// Every feed accepts queries, in each of the ways in which SDKs mark them.
func TestEveryFeedTakesQueries(t *testing.T) {
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/pk"]}}`, "x-ms-offer-throughput",
		"400").want(201)
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	for target, want := range map[string]int{
		"/dbs": 1, "/dbs/d/colls": 1, "/dbs/d/users": 1, "/dbs/d/users/u/permissions": 0, "/offers": 1,
		"/dbs/d/colls/c/docs": 0, "/dbs/d/colls/c/pkranges": 1, "/dbs/d/colls/c/sprocs": 0,
		"/dbs/d/colls/c/conflicts": 0,
	} {
		for _, header := range [][]string{
			{"Content-Type", "application/query+json"},
			{"Content-Type", "application/query+json; charset=utf-8"},
			{"x-ms-documentdb-isquery", "True"},
			{"x-ms-documentdb-query", "true"},
		} {
			header = append(header, "x-ms-documentdb-query-enablecrosspartition", "True")
			a := d.do("POST", target, `{"query":"SELECT * FROM root r WHERE IS_STRING(r._rid) ORDER BY r._rid"}`,
				header...).want(200)
			if got := a.header.Get("x-ms-item-count"); got != fmt.Sprint(want) {
				t.Errorf("%s: %s rows, want %d: %s", target, got, want, a.text)
			}
		}
	}
	d.do("POST", "/offers", `{}`).want(405)
	d.do("POST", "/dbs/d", `{"query":"SELECT 1"}`, "x-ms-documentdb-isquery", "true").want(405)
}

func FuzzPath(f *testing.F) {
	for _, text := range []string{"/", "/dbs", "/dbs/a%2Fb/colls/c%20d/docs/%F0%9F%98%80", "/dbs//", "/dbs/%",
		"/dbs/%00", "//dbs", "/dbs/d/colls/c/docs/..", "/dbs/a+b%2B/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.ParseRequestURI(text)
		if err != nil {
			return
		}
		e := &exchange{Request: collapseSlashes(&http.Request{Method: "GET", URL: u}), sent: u}
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
