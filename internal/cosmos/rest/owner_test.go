package rest

import "testing"

// What each answer says of the owner of its resource, as recordings of a hosted account show
// (xo/dbimp: testdata/cosmos, numbers 001 to 045) and samples of the REST reference
// (learn.microsoft.com/rest/api/cosmos-db: create-a-user, replace-a-permission, create-a-user-defined-function).
func TestOwnerOfAnswers(t *testing.T) {
	d := newTestAPI(t)
	database := d.do("POST", "/dbs", `{"id":"d é"}`, "x-ms-offer-throughput", "400").want(201)
	const db = "/dbs/d%20%C3%A9"
	container := d.do("POST", db+"/colls", `{"id":"c%",`+pk2+`}`).want(201)
	const coll = db + "/colls/c%25"
	item := d.do("POST", coll+"/docs", `{"id":"i","pk":"a"}`, "x-ms-documentdb-partitionkey", `["a"]`).want(201)
	user := d.do("POST", db+"/users", `{"id":"u+"}`).want(201)
	const permissions = db + "/users/u+/permissions"
	permission := d.do("POST", permissions, `{"id":"p","permissionMode":"All","resource":"dbs/d é"}`).want(201)
	script := d.do("POST", coll+"/udfs", `{"id":"f","body":"function f(){}"}`).want(201)
	offer := "/offers/" + d.do("GET", "/offers", "").rows("Offers")[0].(map[string]any)["id"].(string)
	key := []string{"x-ms-documentdb-partitionkey", `["a"]`}
	query := []string{"x-ms-documentdb-isquery", "true", "x-ms-documentdb-query-enablecrosspartition", "true"}
	const all = `{"query":"SELECT * FROM c"}`
	dbRID, collRID, userRID := database.str("_rid"), container.str("_rid"), user.str("_rid")
	const altDB, altColl, altUser = "dbs/d%20%C3%A9", "dbs/d%20%C3%A9/colls/c%25", "dbs/d%20%C3%A9/users/u+"
	for _, c := range []struct {
		name           string
		a              answer
		alt, rid, span string
	}{
		{"account", d.do("GET", "/", ""), "", "", ""},
		{"create database", database, "", "", ""},
		{"read database", d.do("GET", db, ""), "", "", ""},
		{"feed of databases", d.do("GET", "/dbs", ""), "", "", ""},
		{"missing database", d.do("GET", "/dbs/x", ""), "", "", ""},
		{"create container", container, altDB, "", "0"},
		{"read container", d.do("GET", coll, ""), altDB, dbRID, "0"},
		{"read container by RID", d.do("GET", "/dbs/"+dbRID+"/colls/"+collRID, ""), altDB, dbRID, "0"},
		{"replace container", d.do("PUT", coll, `{"id":"c%",`+pk2+`}`), altDB, dbRID, "0"},
		{"feed of containers", d.do("GET", db+"/colls", ""), altDB, dbRID, ""},
		{"query of containers", d.do("POST", db+"/colls", all, query...), altDB, dbRID, ""},
		{"missing container", d.do("GET", db+"/colls/x", ""), "", "", ""},
		{"missing owner", d.do("GET", db+"/colls/x/docs", ""), "", "", ""},
		{"partition key ranges", d.do("GET", coll+"/pkranges", ""), altColl, collRID, ""},
		{"create item", item, altColl, collRID, "0"},
		{"read item", d.do("GET", coll+"/docs/i", "", key...), altColl, collRID, "0"},
		{"missing item", d.do("GET", coll+"/docs/x", "", key...), altColl, collRID, "0"},
		{"feed of items", d.do("GET", coll+"/docs", ""), altColl, collRID, "0"},
		{"query of items", d.do("POST", coll+"/docs", all, query...), altColl, collRID, "0"},
		{"create user", user, altDB, dbRID, ""},
		{"read user", d.do("GET", db+"/users/u+", ""), altDB, dbRID, ""},
		{"feed of users", d.do("GET", db+"/users", ""), altDB, dbRID, ""},
		{"create permission", permission, altUser, userRID, ""},
		{"read permission", d.do("GET", permissions+"/p", ""), altUser, userRID, ""},
		{"permission by RID", d.do("GET", "/dbs/"+dbRID+"/users/"+userRID+"/permissions/p", ""), altUser, userRID, ""},
		{"feed of permissions", d.do("GET", permissions, ""), altUser, userRID, ""},
		{"permission of a missing user", d.do("GET", db+"/users/x/permissions/p", ""), "", "", ""},
		{"create function", script, altColl, collRID, "0"},
		{"feed of functions", d.do("GET", coll+"/udfs", ""), altColl, collRID, "0"},
		{"delete function", d.do("DELETE", coll+"/udfs/f", ""), altColl, collRID, "0"},
		{"feed of offers", d.do("GET", "/offers", ""), "", "", ""},
		{"read offer", d.do("GET", offer, ""), "", "", ""},
		{"delete permission", d.do("DELETE", permissions+"/p", ""), altUser, userRID, ""},
		{"delete user", d.do("DELETE", db+"/users/u+", ""), altDB, dbRID, ""},
		{"delete container", d.do("DELETE", coll, ""), altDB, dbRID, "0"},
		{"delete database", d.do("DELETE", db, ""), "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, want := range map[string]string{
				"x-ms-alt-content-path": c.alt, "x-ms-content-path": c.rid,
				"x-ms-documentdb-partitionkeyrangeid": c.span,
			} {
				if got := c.a.header.Get(name); got != want {
					t.Errorf("%d with %s %q, want %q", c.a.status, name, got, want)
				}
			}
		})
	}
}

// A rejected resource token learns neither names nor RIDs from the headers.
func TestRefusedAnswersNameNoOwner(t *testing.T) {
	d, _ := withContainer(t, "")
	d.do("POST", "/dbs", `{"id":"other"}`).want(201)
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	token := d.do("POST", "/dbs/d/users/u/permissions",
		`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}`).want(201).str("_token")
	for _, target := range []string{"/dbs/other/colls/x", "/dbs/other/colls", "/dbs/other/users/u",
		"/dbs/d/users/u/permissions/p", "/dbs/d/colls/x/docs"} {
		a := d.do("GET", target, "", "Authorization", token).want(403)
		if alt, rid := a.header.Get("x-ms-alt-content-path"), a.header.Get("x-ms-content-path"); alt+rid != "" {
			t.Errorf("%s names %s %s", target, alt, rid)
		}
	}
}
