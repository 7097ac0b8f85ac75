package rest

import (
	"strings"
	"testing"
	"time"
)

const (
	preHeader  = "x-ms-documentdb-pre-trigger-include"
	postHeader = "x-ms-documentdb-post-trigger-include"
	keyHeader  = "x-ms-documentdb-partitionkey"
)

func TestPreTrigger(t *testing.T) {
	d, _ := withContainer(t, "")
	d.script("triggers", "stamp", `
	function stamp() {
		const request = getContext().getRequest();
		const item = request.getBody();
		item.by = (item.by || []).concat(request.getOperationType());
		request.setBody(item);
	}`, `,"triggerType":"Pre","triggerOperation":"All"`)
	const docs = "/dbs/d/colls/c/docs"
	a := d.do("POST", docs, `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, preHeader,
		"stamp").want(201).says(`"by":["Create"]`)
	if read := d.get("x").want(200); read.text != a.text || read.header.Get("etag") != a.header.Get("etag") {
		t.Errorf("the answer is %s\nand the item %s", a.text, read.text)
	}
	d.do("POST", docs, `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, preHeader, "stamp").want(409)
	d.do("POST", docs, `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, preHeader, "stamp", "x-ms-documentdb-is-upsert",
		"true").want(200).says(`"by":["Upsert"]`)
	d.do("POST", docs, `{"id":"y","pk":"a"}`, keyHeader, `["a"]`, preHeader, "stamp, stamp",
		"x-ms-documentdb-is-upsert", "true").want(201).says(`"by":["Upsert","Upsert"]`)
	d.do("PUT", docs+"/x", `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, preHeader,
		"stamp").want(200).says(`"by":["Replace"]`)
	d.do("PUT", docs+"/x", `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, preHeader, "stamp", "If-Match",
		a.str("_etag")).want(412)
	d.do("PUT", docs+"/z", `{"id":"z","pk":"a"}`, keyHeader, `["a"]`, preHeader, "stamp").want(404)
	d.do("PUT", docs+"/x", `{"id":"other","pk":"a"}`, keyHeader, `["a"]`, preHeader, "stamp").want(400)
	d.do("POST", docs, `no JSON`, keyHeader, `["a"]`, preHeader, "stamp").want(400)
	d.do("DELETE", docs+"/x", "", keyHeader, `["a"]`, preHeader, "stamp").want(204)
	d.get("x").want(404)
	if a := d.do("POST", docs, `{"id":"m","pk":"a"}`, keyHeader, `["a"]`, preHeader, "stamp", "Prefer",
		"return=minimal").want(201); a.text != "" {
		t.Errorf("the body is %s", a.text)
	}
}

func TestPreTriggerChecksAndRefuses(t *testing.T) {
	d, _ := withContainer(t, "")
	d.script("triggers", "check", `
	function check() {
		const item = getContext().getRequest().getBody();
		__.upsertDocument(__.getSelfLink(), { id: "seen", pk: "a" });
		if (!item.name) throw new Error(422, "no name");
		if (item.move) { item.pk = "b"; __.request.setBody(item); }
		if (item.junk) __.request.setBody("junk");
	}`, `,"triggerType":"pre","triggerOperation":"create"`)
	const docs = "/dbs/d/colls/c/docs"
	a := d.do("POST", docs, `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, preHeader,
		"check").want(400).says("Exception = Error: no name")
	if a.header.Get("x-ms-substatus") != "422" {
		t.Errorf("the substatus is %s", a.header.Get("x-ms-substatus"))
	}
	d.do("POST", docs, `{"id":"x","pk":"a","name":"n","move":true}`, keyHeader, `["a"]`, preHeader, "check").want(400)
	d.do("POST", docs, `{"id":"x","pk":"a","name":"n","junk":true}`, keyHeader, `["a"]`, preHeader, "check").want(400)
	d.get("x").want(404)
	d.get("seen").want(404)
	d.do("POST", docs, `{"id":"x","pk":"a","name":"n"}`, keyHeader, `["a"]`, preHeader, "check").want(201)
	d.get("seen").want(200)
}

func TestPostTrigger(t *testing.T) {
	d, _ := withContainer(t, "")
	d.stock("_metadata", `,"items":[]`)
	d.script("triggers", "count", `
	function count() {
		const made = getContext().getResponse().getBody(), operation = getContext().getRequest().getOperationType();
		__.queryDocuments(__.getSelfLink(), 'SELECT * FROM root r WHERE r.id = "_metadata"', (err, found) => {
			if (err) throw err;
			if (found.length !== 1) throw "no metadata";
			found[0].items.push(operation + " " + (made ? made.id : __.request.getBody().id));
			__.replaceDocument(found[0]._self, found[0], (err) => { if (err) throw err; });
			__.readDocument(__.getAltLink() + "/docs/x", (err, doc) => { if (made && doc._self !== made._self) throw "not seen"; });
		});
	}`, `,"triggerType":"Post","triggerOperation":"All"`)
	d.script("triggers", "other",
		`function f() { const d = __.response.getBody(); __.response.setBody({ etag: d._etag, self: d._self }); }`,
		`,"triggerType":"Post","triggerOperation":"Create"`)
	d.script("triggers", "refuse", `function f() { throw new Error("not this one") }`,
		`,"triggerType":"Post","triggerOperation":"All"`)
	const docs = "/dbs/d/colls/c/docs"
	a := d.do("POST", docs, `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, postHeader, "count").want(201)
	if read := d.get("x").want(200); read.text != a.text {
		t.Errorf("the answer is %s\nand the item %s", a.text, read.text)
	}
	d.do("PUT", docs+"/x", `{"id":"x","pk":"a","n":1}`, keyHeader, `["a"]`, postHeader, "count").want(200)
	d.do("PUT", docs+"/x", `{"id":"x","pk":"a","n":2}`, keyHeader, `["a"]`, postHeader,
		"count,refuse").want(400).says("not this one")
	d.do("DELETE", docs+"/x", "", keyHeader, `["a"]`, postHeader, "refuse").want(400)
	d.get("x").want(200).says(`"n":1`)
	d.do("DELETE", docs+"/x", "", keyHeader, `["a"]`, postHeader, "count").want(204)
	d.get("_metadata").want(200).says(`"items":["Create x","Replace x","Delete x"]`)

	a = d.do("POST", docs, `{"id":"y","pk":"a"}`, keyHeader, `["a"]`, postHeader, "other").want(201)
	if read := d.get("y").want(200); a.str("etag") != read.str("_etag") || a.str("self") != read.str("_self") {
		t.Errorf("the trigger says %s\nand the item is %s", a.text, read.text)
	}
	d.do("DELETE", docs+"/_metadata", "", keyHeader, `["a"]`).want(204)
	d.do("POST", docs, `{"id":"z","pk":"a"}`, keyHeader, `["a"]`, postHeader, "count").want(400).says("no metadata")
	d.get("z").want(404)
}

func TestTriggersMustFit(t *testing.T) {
	d, _ := withContainer(t, "")
	for _, operation := range []string{"All", "Create", "Update", "Replace", "Delete", "Upsert"} {
		d.script("triggers", operation, `function f() {}`, `,"triggerType":"Pre","triggerOperation":"`+operation+`"`)
	}
	const docs = "/dbs/d/colls/c/docs"
	for _, c := range []struct {
		method, path, upsert, fits string
	}{
		{"POST", docs, "false", "All Create"},
		{"POST", docs, "true", "All Upsert"},
		{"PUT", docs + "/x", "", "All Replace Update"},
		{"DELETE", docs + "/x", "", "All Delete"},
	} {
		for _, operation := range []string{"All", "Create", "Update", "Replace", "Delete", "Upsert"} {
			d.do("POST", docs, `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, "x-ms-documentdb-is-upsert", "true")
			if c.upsert == "false" {
				d.do("DELETE", docs+"/x", "", keyHeader, `["a"]`).want(204)
			}
			body := `{"id":"x","pk":"a"}`
			if c.method == "DELETE" {
				body = ""
			}
			a := d.do(c.method, c.path, body, keyHeader, `["a"]`, preHeader, operation, "x-ms-documentdb-is-upsert",
				c.upsert)
			if fits := strings.Contains(c.fits, operation); fits != (a.status < 300) {
				t.Errorf("%s, upsert %q with a trigger for %s: %d %s", c.method, c.upsert, operation, a.status, a.text)
			} else if !fits {
				a.says("was defined with operation type '" + operation + "', and therefore is invalid for '")
			}
		}
	}
	d.do("POST", docs, `{"id":"y","pk":"a"}`, keyHeader, `["a"]`, postHeader,
		"All").want(400).says("trigger type 'Pre'")
	d.do("POST", docs, `{"id":"y","pk":"a"}`, keyHeader, `["a"]`, preHeader, "none").want(400).says("does not exist")
	d.do("POST", docs, `{"id":"y","pk":"a"}`, keyHeader, `["a"]`, preHeader, strings.Repeat("All,", 11)).want(400)
	d.do("GET", docs+"/x", "", keyHeader, `["a"]`, preHeader, "All").want(400).says("Leave the headers")
	d.do("PATCH", docs+"/x", `[{"op":"set","path":"/n","value":1}]`, keyHeader, `["a"]`, preHeader,
		"All").want(400).says("Leave the headers")
	d.do("POST", docs, `[{"operationType":"Read","id":"x"}]`, keyHeader, `["a"]`, preHeader, "All",
		"x-ms-cosmos-is-batch-request", "true").want(400).says("Leave the headers")
}

func TestTriggersAndLifetimes(t *testing.T) {
	d, _ := withContainer(t, `,"defaultTtl":60`)
	d.script("triggers", "short",
		`function f() { const item = __.request.getBody(); item.ttl = item.n; __.request.setBody(item); }`,
		`,"triggerType":"Pre","triggerOperation":"All"`)
	const docs = "/dbs/d/colls/c/docs"
	a := d.do("POST", docs, `{"id":"x","pk":"a","n":3}`, keyHeader, `["a"]`, preHeader, "short").want(201)
	if got := a.header.Get("x-mayfly-expires-at"); got != "2026-01-02T03:04:08Z" {
		t.Errorf("it expires at %s", got)
	}
	d.do("POST", docs, `{"id":"y","pk":"a","n":0}`, keyHeader, `["a"]`, preHeader, "short").want(400).says("ttl")
	must(t, d.clock.Advance(3*time.Second))
	d.get("x").want(404)
	d.do("PUT", docs+"/x", `{"id":"x","pk":"a","n":3}`, keyHeader, `["a"]`, preHeader, "short").want(404)
	d.do("DELETE", docs+"/x", "", keyHeader, `["a"]`, preHeader, "short").want(404)
	d.do("POST", docs, `{"id":"x","pk":"a","n":3}`, keyHeader, `["a"]`, preHeader, "short").want(201)
}
