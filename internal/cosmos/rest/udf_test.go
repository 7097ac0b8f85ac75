package rest

import (
	"testing"
)

func (d *testAPI) query(text string) answer {
	d.t.Helper()
	return d.do("POST", "/dbs/d/colls/c/docs", text, "Content-Type", "application/query+json", keyHeader, `["a"]`)
}

func TestUserDefinedFunctionIsTheLatest(t *testing.T) {
	d, _ := withContainer(t, "")
	d.stock("x", `,"n":4`)
	place := d.script("udfs", "f", `function (n) { return n * 2; }`, "")
	d.query(`{"query":"SELECT VALUE udf.f(c.n) FROM c WHERE udf.f(c.n) > ` +
		`@min","parameters":[{"name":"@min","value":7}]}`).want(200).says(`"Documents":[8]`)
	d.do("PUT", place, `{"id":"f","body":"(n) => n * 3"}`).want(200)
	d.query(`{"query":"SELECT VALUE udf.f(c.n) FROM c"}`).want(200).says(`"Documents":[12]`)
	d.do("DELETE", place, "").want(204)
	d.query(`{"query":"SELECT VALUE udf.f(c.n) FROM c"}`).want(400).says("SC2003")
}

func TestUserDefinedFunctionFails(t *testing.T) {
	d, _ := withContainer(t, "")
	d.stock("x", ``)
	d.script("udfs", "throws", `() => { throw new Error("no") }`, "")
	d.script("udfs", "wrong", `5`, "")
	d.query(`{"query":"SELECT udf.throws() FROM c"}`).want(400).says("Exception = Error: no")
	d.query(`{"query":"SELECT udf.wrong() FROM c"}`).want(400).says("while compiling Javascript")
	d.query(`{"query":"SELECT udf.Throws() FROM c"}`).want(400).says("SC2003")
}

func TestUserDefinedFunctionInAScript(t *testing.T) {
	d, _ := withContainer(t, "")
	d.stock("x", `,"n":4`)
	d.script("udfs", "f", `function (n) { return n * 2; }`, "")
	a := d.run(`() => __.queryDocuments(__.getSelfLink(), "SELECT VALUE udf.f(c.n) FROM c", (err,`+
		` found) => __.response.setBody(found))`, `[]`).want(200)
	if a.text != `[8]` {
		t.Errorf("it gives %s", a.text)
	}
}
