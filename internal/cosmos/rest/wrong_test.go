package rest

import (
	"strings"
	"testing"
)

// An id that is not a string is not reported as missing.
func TestIDsOfAWrongType(t *testing.T) {
	d, _ := withContainer(t, "")
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	const script, trigger = `"body":"function f() {}"`, `,"triggerType":"Pre","triggerOperation":"All"`
	for _, c := range []struct{ name, target, more string }{
		{"database", "/dbs", ""},
		{"container", "/dbs/d/colls", "," + pk},
		{"item", documents, `,"pk":"a"`},
		{"user", "/dbs/d/users", ""},
		{"permission", "/dbs/d/users/u/permissions", `,"permissionMode":"All","resource":"dbs/d/colls/c"`},
		{"procedure", collection + "/sprocs", "," + script},
		{"trigger", collection + "/triggers", "," + script + trigger},
		{"function", collection + "/udfs", "," + script},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			for _, id := range []string{"5", "true", `{"a":1}`, "[]"} {
				shown := strings.ReplaceAll(id, `"`, `\\\"`)
				d.do("POST", c.target, `{"id":`+id+c.more+`}`, key,
					inA).want(400).says("The input name '" + shown + "' is invalid. Ensure to provide a unique " +
					"non-empty string less than '")
			}
			d.do("POST", c.target, `{"id":null`+c.more+`}`, key, inA).want(400).says("'id; ' - are missing")
			d.do("POST", c.target, `{`+strings.TrimPrefix(c.more, ",")+`}`, key,
				inA).want(400).says("'id; ' - are missing")
		})
	}
	d.do("POST", documents, `{"id":"1","pk":"a"}`, key, inA).want(201)
	d.do("PUT", documents+"/1", `{"id":1,"pk":"a"}`, key, inA).want(400).says("The input name '1' is invalid.")
	d.do("POST", documents, `[{"operationType":"Read","id":1}]`, key, inA, "x-ms-cosmos-is-batch-request",
		"True").want(207).says(`"statusCode":400`)
	d.do("POST", documents, `{"query":5}`, "x-ms-documentdb-isquery",
		"True").want(400).says("The property 'query' must be a string")
	d.do("POST", documents, `{}`, "x-ms-documentdb-isquery", "True").want(400).says("'query; ' - are missing")
}

func TestTakenUniqueKeyNamesItsPaths(t *testing.T) {
	d, _ := withContainer(t, `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]},{"paths":["/a/b","/c"]}]}`)
	const item = `"pk":"a","email":"x","a":{"b":1},"c":2`
	d.do("POST", documents, `{"id":"1",`+item+`}`, key, inA).want(201)
	d.do("POST", documents, `{"id":"1",`+item+`}`, key,
		inA).want(409).says("Entity with the specified id already exists in the system. Upsert or replace it.")
	const taken = "Entity with the specified id already exists in the system. Unique index constraint violation: " +
		"another item of the partition has the same values at "
	d.do("POST", documents, `{"id":"2","pk":"a","email":"x"}`, key, inA).want(409).says(taken + "/email.")
	d.do("POST", documents, `{"id":"2","pk":"a","email":"y","a":{"b":1},"c":2}`, key,
		inA).want(409).says(taken + "/a/b, /c.")
	d.do("POST", documents, `{"id":"2","pk":"a","email":"x"}`, key, inA, "x-ms-documentdb-is-upsert",
		"True").want(409).says(taken + "/email.")
	d.do("POST", documents, `{"id":"2","pk":"a","email":"y"}`, key, inA).want(201)
	d.do("PUT", documents+"/2", `{"id":"2","pk":"a","email":"x"}`, key, inA).want(409).says(taken + "/email.")
	d.do("PATCH", documents+"/2", `[{"op":"set","path":"/email","value":"x"}]`, key,
		inA).want(409).says(taken + "/email.")
	d.run(`() => __.createDocument(__.getSelfLink(), { id: "3", pk: "a", email: "x" })`,
		`[]`).want(400).says("has the same values at /email.")
}

// A query that is not marked as one gets advice. What the service answers is recorded: xo/dbimp: docs/COSMOS.md, "a
// query that has the content type of a document" and "lead: a statement as plain text".
func TestQueryOfAnotherContentType(t *testing.T) {
	d, _ := withContainer(t, "")
	d.do("POST", documents, `{"id":"1","pk":"a"}`, key, inA).want(201)
	const query, hint = `{"query":"SELECT VALUE 1"}`, "send it with the content type application/query+json"
	a := d.do("POST", documents, query, "content-type", "application/json").want(400).says(hint)
	if a.header.Get("x-ms-substatus") != "1001" {
		t.Errorf("the substatus is %s", a.header.Get("x-ms-substatus"))
	}
	d.do("POST", documents, query, "content-type", "application/json", key,
		inA).want(400).says("'id; ' - are missing").says(hint)
	for _, feed := range []string{"/dbs", "/dbs/d/colls", "/dbs/d/users", collection + "/sprocs"} {
		d.do("POST", feed, query, "content-type", "application/json").want(400).says("'id; ' - are missing").says(hint)
	}
	for _, feed := range []string{"/offers", collection + "/pkranges", collection + "/conflicts"} {
		d.do("POST", feed, query, "content-type",
			"application/json").want(405).says("send the content type application/query+json")
	}
	d.do("POST", documents, `{"id":"q","pk":"a","query":"SELECT VALUE 1"}`, "content-type", "application/json", key,
		inA).want(201)
	d.do("POST", documents, query, "content-type", "application/json", "x-ms-documentdb-isquery", "True", key,
		inA).want(200).says(`"Documents":[1]`)
	d.do("POST", documents, `SELECT VALUE c.id FROM c WHERE c.id = "1"`, "content-type", "application/sql", key,
		inA).want(200).says(`"Documents":["1"]`)
	d.do("POST", documents, "SELECT VALUE '\xff' FROM c", "content-type", "application/sql", key,
		inA).want(400).says("not UTF-8")
	d.do("POST", "/dbs", `SELECT VALUE c.id FROM c`, "content-type",
		"application/sql; charset=utf-8").want(200).says(`"Databases":["d"]`)
}
