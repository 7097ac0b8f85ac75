package rest

import (
	"fmt"
	"strings"
	"testing"
)

func TestScripts(t *testing.T) {
	for _, c := range []struct{ name, segment, feed, body, replaced string }{
		{"procedures", "sprocs", "StoredProcedures", `{"id":"s","body":"function(){}"}`,
			`{"id":"s","body":"function(){ return 2 }"}`},
		{"triggers", "triggers", "Triggers",
			`{"id":"s","body":"function(){}","triggerType":"pre","triggerOperation":"all"}`,
			`{"id":"s","body":"function(){}","triggerType":"Post","triggerOperation":"Delete"}`},
		{"functions", "udfs", "UserDefinedFunctions", `{"id":"s","body":"function(){}"}`,
			`{"id":"s","body":"function(){ return 2 }"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, container := withContainer(t, "")
			feed := "/dbs/d/colls/c/" + c.segment
			made := d.do("POST", feed, c.body).want(201)
			if !strings.HasPrefix(made.text, strings.TrimSuffix(c.body, "}")+`,"_rid":"`) {
				t.Errorf("got %s", made.text)
			}
			if made.str("_self") != container.str("_self")+c.segment+"/"+made.str("_rid")+"/" {
				t.Errorf("_self is %s", made.str("_self"))
			}
			d.do("POST", feed, c.body).want(409)
			d.do("POST", feed, c.body, "x-ms-documentdb-is-upsert", "True").want(200)
			d.do("POST", feed, `{"id":"x"}`).want(400).says("body")
			read := d.do("GET", feed+"/s", "").want(200)
			d.do("GET", feed+"/s", "", "If-None-Match", read.str("_etag")).want(304)
			if byRID := d.do("GET", "/"+made.str("_self"), "").want(200); byRID.text != read.text {
				t.Errorf("by RID it is %s", byRID.text)
			}
			d.do("PUT", feed+"/s", c.replaced, "If-Match", made.str("_etag")).want(412)
			d.do("PUT", feed+"/s", c.replaced, "If-Match", read.str("_etag")).want(200)
			d.do("PUT", feed+"/none", c.replaced).want(404)
			if rows := d.do("GET", feed, "").want(200).rows(c.feed); len(rows) != 1 {
				t.Errorf("%d are listed", len(rows))
			}
			d.do("DELETE", feed+"/s", "", "If-Match", read.str("_etag")).want(412)
			d.do("DELETE", feed+"/s", "").want(204)
			d.do("DELETE", feed+"/s", "").want(404)
		})
	}
}

// A script that does not compile is rejected when it is stored, and the old one stays.
func TestScriptsWithASyntaxErrorAreRefused(t *testing.T) {
	for _, c := range []struct{ segment, more string }{
		{"sprocs", ""}, {"triggers", `,"triggerType":"Pre","triggerOperation":"All"`}, {"udfs", ""},
	} {
		t.Run(c.segment, func(t *testing.T) {
			d, _ := withContainer(t, "")
			feed := "/dbs/d/colls/c/" + c.segment
			of := func(body string) string { return `{"id":"s","body":` + body + c.more + `}` }
			const compiling = "Encountered exception while compiling Javascript. Exception = SyntaxError"
			d.do("POST", feed, of(`"function f( {"`)).want(400).says(compiling)
			d.do("POST", feed, of(`"function f( {"`), "x-ms-documentdb-is-upsert", "true").want(400).says(compiling)
			d.do("POST", feed, of(`""`)).want(400).says(compiling)
			d.do("POST", feed, of(`"SELECT * FROM c"`)).want(400).says(compiling)
			d.do("POST", feed, of(`5`)).want(400).says("body")
			d.do("GET", feed+"/s", "").want(404)
			d.do("POST", feed, of(`"function f() {}"`)).want(201)
			d.do("PUT", feed+"/s", of(`"f( {"`)).want(400).says(compiling)
			d.do("POST", feed, of(`"function () { return }}"`), "x-ms-documentdb-is-upsert",
				"true").want(400).says(compiling)
			d.do("GET", feed+"/s", "").want(200).says(`"body":"function f() {}"`)
			d.do("PUT", feed+"/s", of(`"serverScript() { var x = 10; }"`)).want(200)
		})
	}
}

func TestTriggersHaveATypeAndAnOperation(t *testing.T) {
	d, _ := withContainer(t, "")
	for _, body := range []string{`{"id":"t","body":"x"}`, `{"id":"t","body":"x","triggerType":"Pre"}`,
		`{"id":"t","body":"x","triggerType":"Sometimes","triggerOperation":"All"}`} {
		d.do("POST", "/dbs/d/colls/c/triggers", body).want(400)
	}
}

func TestUsers(t *testing.T) {
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	made := d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201).says(`"_permissions":"permissions/"`)
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(409)
	d.do("POST", "/dbs/d/users", `{"id":"u"}`, "x-ms-documentdb-is-upsert", "true").want(200)
	d.do("GET", "/"+made.str("_self"), "").want(200)
	d.do("PUT", "/dbs/d/users/u", `{"id":"v"}`).want(200)
	d.do("GET", "/dbs/d/users/u", "").want(404)
	if again := d.do("GET", "/dbs/d/users/v", "").want(200); again.str("_rid") != made.str("_rid") {
		t.Error("a renamed user has another RID")
	}
	if rows := d.do("GET", "/dbs/d/users", "").want(200).rows("Users"); len(rows) != 1 {
		t.Errorf("%d users are listed", len(rows))
	}
	if a := d.do("GET", "/dbs/d/users/none/permissions", "").want(404); a.header.Get("x-ms-substatus") != "1003" {
		t.Errorf("the substatus is %s", a.header.Get("x-ms-substatus"))
	}
	d.do("DELETE", "/dbs/d/users/v", "").want(204)
}

// Pages of script feeds are limited in size, and the feed ends nevertheless.
func TestScriptFeedsHaveALimitInBytes(t *testing.T) {
	d, _ := withContainer(t, "")
	body := strings.Repeat("x", maxScript)
	const scripts = 20
	for i := range scripts {
		d.do("POST", "/dbs/d/colls/c/sprocs", fmt.Sprintf(`{"id":"s%d","body":"%s"}`, i, body)).want(201)
	}
	d.do("POST", "/dbs/d/colls/c/sprocs", `{"id":"t","body":"x`+body+
		`"}`).want(400).says("more than the limit of 262144")
	var ids []string
	for token, pages := "", 0; ; pages++ {
		a := d.do("GET", "/dbs/d/colls/c/sprocs", "", "x-ms-continuation", token).want(200)
		if len(a.text) > maxPage+maxScript+1024 {
			t.Errorf("a page has %d bytes", len(a.text))
		}
		for _, row := range a.rows("StoredProcedures") {
			ids = append(ids, row.(map[string]any)["id"].(string))
		}
		if token = a.header.Get("x-ms-continuation"); token == "" {
			if pages == 0 || len(ids) != scripts || ids[0] != "s0" || ids[scripts-1] != "s19" {
				t.Errorf("%d pages more: %v", pages, ids)
			}
			return
		}
	}
}
