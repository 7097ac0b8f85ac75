package rest

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// azure-cosmos 3.x for Python appends paths that begin with a slash to endpoints that
// end with one (synchronized_request.py), and signs the link without slashes at its ends. The
// service drops empty segments anywhere: Azure/azure-cosmos-dotnet-v3:
// Microsoft.Azure.Cosmos/src/direct/PathsHelper.cs, StringSplitOptions.RemoveEmptyEntries.
func TestDoubledSlashesCountAsOne(t *testing.T) {
	d := newTestAPI(t)
	server := httptest.NewServer(d.api) // net/http takes a target such as //dbs as it is
	defer server.Close()
	l := newLine(t, server.Listener.Addr().String())
	const container = `{"id":"c","partitionKey":{"paths":["/pk"]}}`
	key := []string{"x-ms-documentdb-partitionkey", `["a"]`}
	for _, c := range []struct {
		name, method, target, body string
		kind, link                 string
		status                     int
		headers                    []string
	}{
		{"account", "GET", "//", "", "", "", 200, nil},
		{"create database", "POST", "//dbs", `{"id":"d"}`, "dbs", "", 201, nil},
		{"three slashes", "GET", "///dbs/", "", "dbs", "", 200, nil},
		{"slash at the end", "GET", "//dbs/d/", "", "dbs", "dbs/d", 200, nil},
		{"slashes at the end", "GET", "/dbs/d//", "", "dbs", "dbs/d", 200, nil},
		{"create container", "POST", "//dbs/d/colls/", container, "colls", "dbs/d", 201, nil},
		{"link that ends with a slash, and a feed", "GET", "/dbs/d//colls", "", "colls", "dbs/d", 200, nil},
		{"the same with the slash signed", "GET", "/dbs/d//colls", "", "colls", "dbs/d/", 200, nil},
		{"doubled inside", "GET", "/dbs/d//colls//c", "", "colls", "dbs/d/colls/c", 200, nil},
		{"doubled inside and signed so", "GET", "/dbs/d//colls//c", "", "colls", "dbs/d//colls//c", 200, nil},
		{"create item", "POST", "//dbs/d/colls/c/docs/", `{"id":"a b","pk":"a"}`, "docs", "dbs/d/colls/c", 201, key},
		{"read item", "GET", "//dbs/d/colls/c/docs/a%20b/", "", "docs", "dbs/d/colls/c/docs/a b", 200, key},
		{"create item with slashes in its id", "POST", "//dbs/d/colls/c/docs/", `{"id":"a//b","pk":"a"}`, "docs",
			"dbs/d/colls/c", 201, key},
		{"read item with slashes in its id", "GET", "//dbs/d/colls/c/docs/a%2F%2Fb", "", "docs",
			"dbs/d/colls/c/docs/a//b", 200, key},
		{"signed for something else", "GET", "//dbs/d", "", "dbs", "dbs/x", 401, nil},
		{"certificate, when there is none", "GET", "//_mayfly/ca.pem", "", "", "", 404, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.t = t
			if status := l.signed(c.method, c.target, c.body, c.kind, c.link, c.headers...); status != c.status {
				t.Errorf("%s %s is %d, want %d", c.method, c.target, status, c.status)
			}
		})
	}
	l.t = t
}

// A permission's resource is a link too.
func TestDoubledSlashesInTheLinkOfAPermission(t *testing.T) {
	d, _ := withContainer(t, "")
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	a := d.do("POST", "/dbs/d/users/u/permissions",
		`{"id":"p","permissionMode":"Read","resource":"//dbs/d//colls/c/"}`).want(201)
	d.do("GET", "/dbs/d/colls/c", "", "Authorization", a.str("_token")).want(200)
	if got := a.str("resource"); !strings.HasPrefix(got, "//dbs") {
		t.Errorf("the resource is answered as %q, not as it was sent", got)
	}
}
