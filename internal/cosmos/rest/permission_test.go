package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// withPermission creates a user with one permission, and two containers with an item each.
func withPermission(t *testing.T, permission string) (*testAPI, answer) {
	t.Helper()
	d, _ := withContainer(t, "")
	d.do("POST", "/dbs/d/colls", `{"id":"other",`+pk2+`}`).want(201)
	for _, c := range []string{"c", "other"} {
		for _, p := range []string{"a", "b"} {
			d.do("POST", "/dbs/d/colls/"+c+"/docs", `{"id":"`+p+`1","pk":"`+p+`"}`, "x-ms-documentdb-partitionkey",
				`["`+p+`"]`).want(201)
		}
	}
	d.do("POST", "/dbs", `{"id":"e"}`).want(201)
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	return d, d.do("POST", "/dbs/d/users/u/permissions", permission).want(201)
}

// as sends a request with a resource token.
func (d *testAPI) as(token, method, target, body string, headers ...string) answer {
	d.t.Helper()
	return d.do(method, target, body, append(headers, "Authorization", url.QueryEscape(token))...)
}

const (
	inA = `["a"]`
	inB = `["b"]`
	key = "x-ms-documentdb-partitionkey"
)

func TestResourceTokensLimitAccess(t *testing.T) {
	type try struct {
		method, target, body, partition string
		status                          int
	}
	common := []try{ // what no token may do
		{"GET", "/dbs", "", "", 403},
		{"GET", "/dbs/e", "", "", 403},
		{"GET", "/dbs/missing", "", "", 403},
		{"POST", "/dbs", `{"id":"x"}`, "", 403},
		{"POST", "/dbs/d/colls", `{"id":"x",` + pk + `}`, "", 403},
		{"DELETE", "/dbs/d", "", "", 403},
		{"GET", "/offers", "", "", 403},
		{"GET", "/dbs/d/users", "", "", 403},
		{"GET", "/dbs/d/users/u/permissions/p", "", "", 403},
		{"PUT", "/dbs/d/users/u/permissions/p", `{"id":"p","permissionMode":"All","resource":"dbs/d"}`, "", 403},
		{"GET", "/", "", "", 200}, // every SDK begins with it
	}
	for _, c := range []struct {
		name, permission string
		tries            []try
	}{
		{"read a container", `{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}`, []try{
			{"GET", "/dbs/d/colls/c", "", "", 200},
			{"GET", "/dbs/d/colls/c/pkranges", "", "", 200},
			{"GET", "/dbs/d/colls/c/docs/a1", "", inA, 200},
			{"GET", "/dbs/d/colls/c/docs", "", "", 200},
			{"POST", "/dbs/d/colls/c/docs", `{"id":"a2","pk":"a"}`, inA, 403},
			{"DELETE", "/dbs/d/colls/c/docs/a1", "", inA, 403},
			{"PUT", "/dbs/d/colls/c", `{"id":"c",` + pk2 + `}`, "", 403},
			{"GET", "/dbs/d/colls/other", "", "", 403},
			{"GET", "/dbs/d/colls/other/docs/a1", "", inA, 403},
			{"GET", "/dbs/d", "", "", 403},
			{"GET", "/dbs/d/colls", "", "", 403},
		}},
		{"all of a container", `{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/"}`, []try{
			{"POST", "/dbs/d/colls/c/docs", `{"id":"a2","pk":"a"}`, inA, 201},
			{"DELETE", "/dbs/d/colls/c/docs/a2", "", inA, 204},
			{"POST", "/dbs/d/colls/other/docs", `{"id":"a2","pk":"a"}`, inA, 403},
			{"DELETE", "/dbs/d/colls/other", "", "", 403},
		}},
		{"one partition", `{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}`,
			[]try{
				{"GET", "/dbs/d/colls/c/docs/a1", "", inA, 200},
				{"GET", "/dbs/d/colls/c/docs/b1", "", inB, 403},
				{"GET", "/dbs/d/colls/c/docs/a1", "", "", 403},
				{"GET", "/dbs/d/colls/c/docs/a1", "", "nonsense", 403},
				{"GET", "/dbs/d/colls/c/docs/a1", "", "[]", 403},
				{"GET", "/dbs/d/colls/c/docs", "", inA, 200},
				{"GET", "/dbs/d/colls/c/docs", "", "", 403},
				{"POST", "/dbs/d/colls/c/docs", `{"id":"a2","pk":"a"}`, inA, 201},
				{"POST", "/dbs/d/colls/c/docs", `{"id":"b2","pk":"b"}`, inA, 400},
				{"POST", "/dbs/d/colls/c/docs", `{"id":"b2","pk":"b"}`, inB, 403},
				{"GET", "/dbs/d/colls/c", "", "", 200},
				{"PUT", "/dbs/d/colls/c", `{"id":"c",` + pk2 + `}`, "", 403},
				{"DELETE", "/dbs/d/colls/c", "", "", 403},
				{"GET", "/dbs/d/colls/c/sprocs", "", "", 403},
			}},
		{"one item", `{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/docs/a1"}`, []try{
			{"GET", "/dbs/d/colls/c/docs/a1", "", inA, 200},
			{"PUT", "/dbs/d/colls/c/docs/a1", `{"id":"a1","pk":"a","n":1}`, inA, 200},
			{"GET", "/dbs/d/colls/c/docs/b1", "", inB, 403},
			{"GET", "/dbs/d/colls/c/docs", "", "", 403},
			{"POST", "/dbs/d/colls/c/docs", `{"id":"a1","pk":"a"}`, inA, 403},
			{"GET", "/dbs/d/colls/c", "", "", 200},
			{"DELETE", "/dbs/d/colls/c", "", "", 403},
			{"GET", "/dbs/d/colls/c/docs/missing", "", inA, 403},
			{"DELETE", "/dbs/d/colls/c/docs/a1", "", inA, 204},
			{"GET", "/dbs/d/colls/c/docs/a1", "", inA, 404},
		}},
		{"a database", `{"id":"p","permissionMode":"Read","resource":"dbs/d"}`, []try{
			{"GET", "/dbs/d", "", "", 200},
			{"GET", "/dbs/d/colls", "", "", 200},
			{"GET", "/dbs/d/colls/other/docs/a1", "", inA, 200},
			{"POST", "/dbs/d/colls/other/docs", `{"id":"a2","pk":"a"}`, inA, 403},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, p := withPermission(t, c.permission)
			for _, try := range append(common, c.tries...) {
				var headers []string
				if try.partition != "" {
					headers = []string{key, try.partition}
				}
				if a := d.as(p.str("_token"), try.method, try.target, try.body, headers...); a.status != try.status {
					t.Errorf("%s %s %s in %s: %d, want %d: %s", try.method, try.target, try.body, try.partition,
						a.status, try.status, a.text)
				}
			}
		})
	}
}

func TestResourceTokensExpire(t *testing.T) {
	d, p := withPermission(t, `{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}`)
	must(t, d.clock.Advance(500*time.Millisecond)) // fractions of a second do not shorten the token's lifetime
	short := d.do("GET", "/dbs/d/users/u/permissions/p", "", "x-ms-documentdb-expiry-seconds",
		"10").want(200).str("_token")
	read := func(token string) answer { t.Helper(); return d.as(token, "GET", "/dbs/d/colls/c", "") }
	d.clock.Advance(10*time.Second - 1)
	read(short).want(200)
	d.clock.Advance(time.Second)
	read(short).want(403).says("not valid at the current time")
	read(p.str("_token")).want(200)
	d.clock.Advance(time.Hour)
	read(p.str("_token")).want(403)
	for _, life := range []string{"9", "18001", "-1", "long"} {
		d.do("GET", "/dbs/d/users/u/permissions/p", "", "x-ms-documentdb-expiry-seconds", life).want(400)
	}
	d.do("GET", "/dbs/d/users/u/permissions", "", "x-ms-documentdb-expiry-seconds", "18000").want(200)
}

func TestResourceTokensAreRevoked(t *testing.T) {
	const body = `{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}`
	for _, c := range []struct{ name, method, target, body string }{
		{"permission replaced", "PUT", "/dbs/d/users/u/permissions/p", body},
		{"permission deleted", "DELETE", "/dbs/d/users/u/permissions/p", ""},
		{"user deleted", "DELETE", "/dbs/d/users/u", ""},
		{"container deleted", "DELETE", "/dbs/d/colls/c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, p := withPermission(t, body)
			d.as(p.str("_token"), "GET", "/dbs/d/colls/c", "").want(200)
			if a := d.do(c.method, c.target, c.body); a.status >= 300 {
				t.Fatalf("%d %s", a.status, a.text)
			}
			d.do("POST", "/dbs/d/colls", `{"id":"c",`+pk2+`}`)
			d.as(p.str("_token"), "GET", "/dbs/d/colls/c", "").want(403)
		})
	}
}

func TestResourceTokensCannotBeForged(t *testing.T) {
	d, p := withPermission(t, `{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}`)
	token := p.str("_token")
	sig := strings.TrimPrefix(token, "type=resource&ver=1&sig=")
	for i := range len(sig) - 1 {
		b := []byte(sig)
		if b[i]++; b[i] > 'z' {
			b[i] = 'A'
		}
		d.as("type=resource&ver=1&sig="+string(b), "GET", "/dbs/d/colls/c", "").want(401)
	}
	d.as("type=resource&ver=1&sig=", "GET", "/", "").want(401)
	d.as("type=resource&ver=1&sig=AAAA;", "GET", "/", "").want(401)
	d.do("GET", "/dbs/d/colls/c", "", "Authorization", token).want(200) // not encoded
}

func TestPermissions(t *testing.T) {
	d, p := withPermission(t, `{"id":"p","permissionMode":"read","resource":"dbs/d/colls/c"}`)
	p.says(`"permissionMode":"read"`)
	feed := "/dbs/d/users/u/permissions"
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"second for the container", `{"id":"q","permissionMode":"All","resource":"dbs/d/colls/c"}`, 409},
		{"same name", `{"id":"p","permissionMode":"All","resource":"dbs/d/colls/other"}`, 409},
		{"no mode", `{"id":"q","resource":"dbs/d/colls/other"}`, 400},
		{"unknown mode", `{"id":"q","permissionMode":"Write","resource":"dbs/d/colls/other"}`, 400},
		{"no resource", `{"id":"q","permissionMode":"All"}`, 400},
		{"resource that is a feed", `{"id":"q","permissionMode":"All","resource":"dbs/d/colls"}`, 400},
		{"resource of another database", `{"id":"q","permissionMode":"All","resource":"dbs/e"}`, 400},
		{"resource of a missing database", `{"id":"q","permissionMode":"All","resource":"dbs/x/colls/c"}`, 400},
		{"a feed of a missing container", `{"id":"q","permissionMode":"All","resource":"dbs/d/colls/x/docs"}`, 400},
		{"an unknown thing in a missing container",
			`{"id":"q","permissionMode":"All","resource":"dbs/d/colls/x/things/y"}`, 400},
		{"a user", `{"id":"q","permissionMode":"All","resource":"dbs/d/users/u"}`, 400},
		{"partition that is no array",
			`{"id":"q","permissionMode":"All","resource":"dbs/d/colls/other","resourcePartitionKey":"a"}`, 400},
		{"a partition that limits nothing",
			`{"id":"q","permissionMode":"All","resource":"dbs/d/colls/other","resourcePartitionKey":[]}`, 400},
		{"a partition of too many values",
			`{"id":"q","permissionMode":"All","resource":"dbs/d/colls/other","resourcePartitionKey":["a","b"]}`, 400},
		{"a partition of it",
			`{"id":"q","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}`, 201},
		{"that partition again",
			`{"id":"r","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}`, 409},
	} {
		t.Run(c.name, func(t *testing.T) { d.do("POST", feed, c.body).want(c.status) })
	}
	d.do("POST", feed, `{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}`, "x-ms-documentdb-is-upsert",
		"true").want(200).says(`"permissionMode":"All"`)
	if rows := d.do("GET", feed, "").want(200).rows("Permissions"); len(rows) != 2 {
		t.Errorf("%d permissions are listed", len(rows))
	}
	byRID := d.do("GET", "/"+p.str("_self"), "").want(200)
	if byRID.str("id") != "p" || byRID.str("_token") == "" {
		t.Errorf("got %s", byRID.text)
	}
	d.do("DELETE", feed+"/p", "").want(204)
	d.do("GET", feed+"/p", "").want(404)
}

// A permission may be created before its resource. Its tokens allow nothing until the resource exists and the
// permission has been read again.
func TestPermissionForWhatIsNotThere(t *testing.T) {
	d, _ := withContainer(t, "")
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	feed := "/dbs/d/users/u/permissions"
	early := d.do("POST", feed, `{"id":"p","permissionMode":"All","resource":"dbs/d/colls/x"}`).want(201).str("_token")
	d.do("POST", feed, `{"id":"q","permissionMode":"Read","resource":"/dbs/d/colls/x/"}`).want(409)
	d.do("POST", feed, `{"id":"q","permissionMode":"Read","resource":"dbs/d/colls/y"}`).want(201)
	d.do("POST", feed,
		`{"id":"r","permissionMode":"Read","resource":"dbs/d/colls/x","resourcePartitionKey":["a"]}`).want(201)
	d.do("POST", feed,
		`{"id":"s","permissionMode":"Read","resource":"dbs/d/colls/x","resourcePartitionKey":["a"]}`).want(409)
	d.do("POST", feed,
		`{"id":"s","permissionMode":"Read","resource":"dbs/d/colls/z","resourcePartitionKey":"a"}`).want(400)
	d.do("POST", feed, `{"id":"s","permissionMode":"Read","resource":"dbs/d/colls/c"}`).want(201)
	for _, target := range []string{"/dbs/d", "/dbs/d/colls", "/dbs/d/colls/c", "/dbs/d/colls/x"} {
		d.as(early, "GET", target, "").want(403)
	}
	d.do("POST", "/dbs/d/colls", `{"id":"x",`+pk2+`}`).want(201)
	d.as(early, "GET", "/dbs/d/colls/x", "").want(403)
	late := d.do("GET", feed+"/p", "").want(200).str("_token")
	d.as(late, "GET", "/dbs/d/colls/x", "").want(200)
	d.as(late, "POST", "/dbs/d/colls/x/docs", `{"id":"1","pk":"a"}`, key, inA).want(201)
	d.as(late, "GET", "/dbs/d/colls/c", "").want(403)
	d.do("DELETE", "/dbs/d/colls/x", "").want(204)
	d.do("PUT", feed+"/p", `{"id":"p","permissionMode":"All","resource":"dbs/d/colls/x"}`).want(200)
}

func TestPermissionByRID(t *testing.T) {
	d, _ := withContainer(t, "")
	self := d.do("GET", "/dbs/d/colls/c", "").str("_self")
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	p := d.do("POST", "/dbs/d/users/u/permissions", `{"id":"p","permissionMode":"Read","resource":"`+self+
		`"}`).want(201)
	d.as(p.str("_token"), "GET", "/dbs/d/colls/c", "").want(200)
	d.as(p.str("_token"), "GET", "/"+self, "").want(200)
}

// An item is addressed by its id and by its RID, and the permission may have either.
func TestItemPermissionByNameAndByRID(t *testing.T) {
	d, _ := withContainer(t, "")
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	self := d.do("POST", documents, `{"id":"x","pk":"a"}`, key, inA).want(201).str("_self")
	d.do("POST", documents, `{"id":"x","pk":"b"}`, key, inB).want(201)
	for name, resource := range map[string]string{"name": "dbs/d/colls/c/docs/x", "rid": self} {
		t.Run(name, func(t *testing.T) {
			token := d.do("POST", "/dbs/d/users/u/permissions", `{"id":"`+name+`","permissionMode":"All","resource":"`+
				resource+`"}`).want(201).str("_token")
			d.as(token, "GET", documents+"/x", "", key, inA).want(200)
			d.as(token, "GET", "/"+self, "", key, inA).want(200)
			d.as(token, "PATCH", "/"+self, `[{"op":"set","path":"/n","value":1}]`, key, inA).want(200)
			d.as(token, "PUT", documents+"/x", `{"id":"x","pk":"a"}`, key, inA).want(200)
		})
	}
	d.as(d.do("GET", "/dbs/d/users/u/permissions/rid", "").str("_token"), "GET", documents+"/x", "", key, inB).want(403)
	d.do("DELETE", documents+"/x", "", key, inA).want(204)
	token := d.do("GET", "/dbs/d/users/u/permissions/rid", "").str("_token")
	d.as(token, "GET", "/"+self, "", key, inA).want(404)
	d.do("POST", documents, `{"id":"x","pk":"a"}`, key, inA).want(201)
	d.as(token, "GET", documents+"/x", "", key, inA).want(403) // another item of the same id
}

// A client that may choose the id of an item must not reach another item by using its RID as the id.
func TestItemPermissionIsNotConfusedByRIDs(t *testing.T) {
	d, _ := withContainer(t, "")
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	victim := d.do("POST", documents, `{"id":"victim","pk":"a"}`, key, inA).want(201)
	id := victim.str("_rid")
	d.do("POST", documents, `{"id":"`+id+`","pk":"a"}`, key, inA).want(201)
	token := d.do("POST", "/dbs/d/users/u/permissions",
		`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/docs/`+id+`"}`).want(201).str("_token")
	d.as(token, "GET", documents+"/"+id, "", key, inA).want(200)
	d.as(token, "GET", documents+"/victim", "", key, inA).want(403)
	for _, method := range []string{"GET", "DELETE"} {
		d.as(token, method, "/"+victim.str("_self"), "", key, inA).want(403)
	}
	d.do("GET", documents+"/victim", "", key, inA).want(200)
}

// A permission for a database may have more key values than some container has paths.
func TestBulkWithALongerPartition(t *testing.T) {
	d, p := withPermission(t, `{"id":"p","permissionMode":"All","resource":"dbs/d","resourcePartitionKey":["a","b"]}`)
	a := d.as(p.str("_token"), "POST", documents, `[{"operationType":"Read","id":"a1","partitionKey":"[\"a\"]"}]`,
		key, `["a","b"]`, "x-ms-cosmos-is-batch-request", "true", "x-ms-cosmos-batch-atomic", "false").want(207)
	if got := statuses(entries(t, a)); got != "403" {
		t.Errorf("statuses %s", got)
	}
}

// An error does not tell a token's holder anything about resources outside its scope.
func TestForbiddenTellsNothing(t *testing.T) {
	d, p := withPermission(t, `{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}`)
	there := d.as(p.str("_token"), "GET", "/dbs/d/colls/other/docs", "").want(403)
	absent := d.as(p.str("_token"), "GET", "/dbs/d/colls/absent/docs", "").want(403)
	for _, h := range []http.Header{there.header, absent.header} {
		h.Del("x-ms-activity-id")
		h.Del("x-ms-request-duration-ms")
		h.Del("content-length") // repeats the path
	}
	if !reflect.DeepEqual(there.header, absent.header) {
		t.Errorf("of a container there: %v\nof one that is not: %v", there.header, absent.header)
	}
}

// A mode is returned in the letter case in which it was sent, and any case is accepted: clients compare it with their
// own constants, and some of those begin with a small letter (@azure/cosmos: PermissionMode).
func TestPermissionModeInAnyCase(t *testing.T) {
	for mode, status := range map[string]int{"All": 201, "all": 201, "ALL": 201, "Read": 403, "read": 403} {
		t.Run(mode, func(t *testing.T) {
			d, p := withPermission(t, `{"id":"p","permissionMode":"`+mode+`","resource":"dbs/d/colls/c"}`)
			const target = "/dbs/d/users/u/permissions/p"
			query := `{"query":"SELECT VALUE c.permissionMode FROM c"}`
			replaced := d.do("PUT", target, p.text).want(200)
			for name, text := range map[string]string{
				"create": p.str("permissionMode"), "replace": replaced.str("permissionMode"),
				"read": d.do("GET", target, "").want(200).str("permissionMode"),
				"feed": d.do("GET", "/dbs/d/users/u/permissions",
					"").want(200).rows("Permissions")[0].(map[string]any)["permissionMode"].(string),
				"query": d.do("POST", "/dbs/d/users/u/permissions", query, "x-ms-documentdb-isquery",
					"true").want(200).rows("Permissions")[0].(string),
			} {
				if text != mode {
					t.Errorf("%s answers %q", name, text)
				}
			}
			for i, a := range []answer{d.do("GET", target, ""), replaced} {
				d.as(a.str("_token"), "POST", documents, fmt.Sprintf(`{"id":"new%d","pk":"a"}`, i), key,
					inA).want(status)
			}
		})
	}
}
