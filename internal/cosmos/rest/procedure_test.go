package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
)

// script stores a script and returns its path. more are members of the body.
func (d *testAPI) script(kind, id, source, more string) string {
	d.t.Helper()
	text, err := json.Marshal(source)
	must(d.t, err)
	d.do("POST", "/dbs/d/colls/c/"+kind, fmt.Sprintf(`{"id":%q,"body":%s%s}`, id, text, more)).want(201)
	return "/dbs/d/colls/c/" + kind + "/" + id
}

// run runs a new procedure in the partition "a".
func (d *testAPI) run(source, args string, headers ...string) answer {
	d.t.Helper()
	place := d.script("sprocs", "s", source, "")
	defer d.do("DELETE", place, "")
	return d.do("POST", place, args, append([]string{"x-ms-documentdb-partitionkey", `["a"]`}, headers...)...)
}

func (d *testAPI) stock(id, more string) {
	d.t.Helper()
	d.do("POST", "/dbs/d/colls/c/docs", fmt.Sprintf(`{"id":%q,"pk":"a"%s}`, id, more), "x-ms-documentdb-partitionkey",
		`["a"]`).want(201)
}

func (d *testAPI) get(id string) answer {
	d.t.Helper()
	return d.do("GET", "/dbs/d/colls/c/docs/"+id, "", "x-ms-documentdb-partitionkey", `["a"]`)
}

func TestProcedure(t *testing.T) {
	d, _ := withContainer(t, "")
	hello := d.script("sprocs", "hello", `function (prefix) { getContext().getResponse().setBody(prefix + ",`+
		` World"); }`, "")
	a := d.do("POST", hello, `["Hello"]`, "x-ms-documentdb-partitionkey", `["a"]`).want(200)
	if a.text != `"Hello, World"` {
		t.Errorf("the body is %s", a.text)
	}
	if a.header.Get("x-ms-request-charge") == "" || !strings.HasPrefix(a.header.Get("x-ms-session-token"), "0:-1#") {
		t.Errorf("the headers are %v", a.header)
	}
	d.do("POST", hello, `["Hello"]`).want(400).says("PartitionKey value must be supplied")
	d.do("POST", hello, `{}`, "x-ms-documentdb-partitionkey", `["a"]`).want(400).says("JSON array")
	d.do("POST", hello, `[`, "x-ms-documentdb-partitionkey", `["a"]`).want(400).says("JSON array")
	d.do("POST", "/dbs/d/colls/c/sprocs/none", `[]`).want(404)
	if a := d.run(`function f() {}`, ``).want(200); a.text != `""` {
		t.Errorf("nothing is %s", a.text)
	}
	d.do("PUT", hello, `{"id":"hello","body":"() => getContext().getResponse().setBody(2)"}`).want(200)
	if a := d.do("POST", hello, `[]`, "x-ms-documentdb-partitionkey", `["a"]`).want(200); a.text != "2" {
		t.Errorf("the one before was run: %s", a.text)
	}
}

func TestProcedureOfAContainerWithoutAKey(t *testing.T) {
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c"}`).want(201)
	place := d.script("sprocs", "make", `() => __.createDocument(__.getSelfLink(), {id: "x"}, (e,`+
		` doc) => __.response.setBody(doc.id))`, "")
	if a := d.do("POST", place, `[]`).want(200); a.text != `"x"` {
		t.Errorf("the body is %s", a.text)
	}
	d.do("GET", "/dbs/d/colls/c/docs/x", "", "x-ms-documentdb-partitionkey", `[]`).want(200)
}

func TestProcedureSeesWhatItWrites(t *testing.T) {
	d, _ := withContainer(t, "")
	d.stock("old", `,"n":1`)
	d.stock("gone", `,"n":2`)
	a := d.run(`
	function f() {
		const steps = [
			(next) => __.createDocument(__.getSelfLink(), { id: "new", pk: "a", n: 3 }, next),
			(next) => __.readDocument(__.getAltLink() + "/docs/old", (err, doc) => { doc.n = 10; __.replaceDocument(doc._self, doc, { etag: doc._etag }, next) }),
			(next) => __.deleteDocument(__.getAltLink() + "/docs/gone", {}, next),
			(next) => __.queryDocuments(__.getSelfLink(), { query: "SELECT c.id, c.n, c._self FROM c WHERE c.n > @n ORDER BY c.n DESC", parameters: [{ name: "@n", value: 2 }] }, next),
			(next, found) => __.replaceDocument(found[1]._self, { id: "new", pk: "a", n: 4 }, next),
			(next) => __.queryDocuments(__.getSelfLink(), "SELECT VALUE [c.id, c.n] FROM c ORDER BY c.n", next),
			(next, found) => __.response.setBody(found),
		];
		const run = (i, last) => steps[i]((err, result) => { if (err) throw err; run(i + 1, result); }, last);
		run(0);
	}`, `[]`).want(200)
	if a.text != `[["new",4],["old",10]]` {
		t.Errorf("it sees %s", a.text)
	}
	d.get("new").want(200).says(`"n":4`)
	d.get("old").want(200).says(`"n":10`)
	d.get("gone").want(404)
}

func TestProcedureQueriesByPages(t *testing.T) {
	d, _ := withContainer(t, "")
	for i := range 25 {
		d.stock(fmt.Sprint(i), fmt.Sprintf(`,"n":%d`, i%7))
	}
	for _, c := range []struct{ name, before, query string }{
		{"creation", "", "SELECT * FROM c"},
		{"order", "", "SELECT * FROM c ORDER BY c.n"},
		{"filter", "", "SELECT * FROM c WHERE c.n >= 0"},
		{"own documents", `__.createDocument(__.getSelfLink(), { id: "25", pk: "a", n: 3 });`, "SELECT * FROM c"},
		{"own documents in order", `__.upsertDocument(__.getSelfLink(), { id: "3", pk: "a", n: 30 });`,
			"SELECT * FROM c ORDER BY c.n"},
		{"written between pages", "", "SELECT * FROM c ORDER BY c.n DESC"},
		{"everything", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			a := d.run(`
			function f(query, between) {
				const seen = [];
				`+c.before+`
				const page = (continuation) => {
					const done = (err, found, options) => {
						if (err) throw err;
						if (found.length > 4) throw "a page of " + found.length;
						found.forEach((doc) => seen.push(doc.id));
						if (between && seen.length === 8) __.upsertDocument(__.getSelfLink(), { id: "x", pk: "a", n: 100 });
						if (options.continuation) page(options.continuation);
						else __.response.setBody([seen.length, new Set(seen).size]);
					};
					const options = { pageSize: 4, continuation };
					if (query) __.queryDocuments(__.getSelfLink(), query, options, done);
					else __.readDocuments(__.getSelfLink(), options, done);
				};
				page();
				__.queryDocuments(__.getSelfLink(), "SELECT 1", { continuation: "forged" }, (err) => { if (err.number !== 400) throw err; });
			}`, fmt.Sprintf(`[%q,%v]`, c.query, c.name == "written between pages")).want(200)
			var n [2]int
			must(t, json.Unmarshal([]byte(a.text), &n))
			if n[0] != n[1] || n[0] < 25 || n[0] > 27 {
				t.Errorf("%d documents, %d different", n[0], n[1])
			}
		})
	}
}

func TestProcedureThatFailsChangesNothing(t *testing.T) {
	d, _ := withContainer(t, `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}`)
	d.stock("old", `,"u":1`)
	for _, c := range []struct{ name, end, substatus, says string }{
		{"a throw", `throw new Error("no")`, "",
			`Encountered exception while executing Javascript. Exception = Error: no`},
		{"a throw with a number", `throw new Error(409, "no")`, "409", `Exception = Error: no`},
		{"abort", `getContext().abort(new Error(499, "no"))`, "499", `Exception = Error: no`},
		{"an error of the collection", `__.createDocument(__.getSelfLink(), {id: "old", pk: "a"})`, "409",
			`already exists`},
		{"a unique key", `__.createDocument(__.getSelfLink(), {id: "z", pk: "a", u: 1}, (err) => { throw err })`,
			"409", `already exists`},
		{"another partition", `__.createDocument(__.getSelfLink(), {id: "z", pk: "b"}, (err) => { throw err })`,
			"400", `cannot reference partition keys other than the one`},
		{"a query with a mistake", `__.queryDocuments(__.getSelfLink(), "SELEKT", (err) => { throw err })`, "400",
			`SC1001`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			a := d.run(`
			function f() {
				__.createDocument(__.getSelfLink(), { id: "new", pk: "a", u: 2 });
				__.deleteDocument(__.getAltLink() + "/docs/none", {}, () => {});
				__.upsertDocument(__.getSelfLink(), { id: "old", pk: "a", u: 1, changed: true }, () => { `+c.end+` });
			}`, `[]`).want(400)
			if !strings.Contains(strings.ReplaceAll(a.text, `\`, ``), c.says) ||
				a.header.Get("x-ms-substatus") != c.substatus {
				t.Errorf("substatus %s, %s", a.header.Get("x-ms-substatus"), a.text)
			}
			d.get("new").want(404)
			if d.get("old").want(200).body["changed"] != nil {
				t.Error("a document was changed")
			}
		})
	}
	d.run(`function f() { __.createDocument(__.getSelfLink(), { id: "new", pk: "a", u: 2 }) }`, `[]`).want(200)
	d.get("new").want(200)
}

func TestProcedureStaysInItsPartition(t *testing.T) {
	d, _ := withContainer(t, "")
	d.stock("mine", "")
	other := d.do("POST", "/dbs/d/colls/c/docs", `{"id":"other","pk":"b"}`, "x-ms-documentdb-partitionkey",
		`["b"]`).want(201)
	d.do("POST", "/dbs/d/colls/c/docs", `{"id":"mine","pk":"b","theirs":true}`, "x-ms-documentdb-partitionkey",
		`["b"]`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c2",`+pk2+`}`).want(201)
	d.do("POST", "/dbs/d/colls/c2/docs", `{"id":"far","pk":"a"}`, "x-ms-documentdb-partitionkey", `["a"]`).want(201)
	a := d.run(`
	function f(self) {
		const seen = [];
		const note = (err, doc) => { seen.push(err ? err.number : doc.id); __.response.setBody(seen); };
		__.readDocument(self, note);
		__.deleteDocument(self, {}, note);
		__.readDocument(__.getAltLink() + "/docs/other", note);
		__.createDocument(__.getSelfLink(), { id: "z", pk: "b" }, note);
		__.createDocument(__.getSelfLink(), { id: "z" }, note);
		__.queryDocuments(__.getSelfLink(), "SELECT VALUE c.id FROM c", (err, found) => seen.push(found));
		__.filter((doc) => true, (err, found) => seen.push(found.map((doc) => doc.theirs)));
		try { __.readDocument("dbs/d/colls/c2/docs/far", note); } catch (err) { seen.push(err.number); }
	}`, fmt.Sprintf(`[%q]`, other.str("_self"))).want(200)
	if a.text != `[400,404,404,404,400,400,["mine"],[null]]` {
		t.Errorf("it sees %s", a.text)
	}
}

func TestProcedureGivesTheRIDsAndETagsThatRemain(t *testing.T) {
	d, _ := withContainer(t, "")
	a := d.run(`function f() {
		__.createDocument(__.getSelfLink(), { id: "x", pk: "a" }, (err, doc) => {
			doc.n = 1;
			__.replaceDocument(doc._self, doc, { etag: doc._etag }, (err, doc) => __.response.setBody(doc));
		});
	}`, `[]`).want(200)
	if read := d.get("x").want(200); read.text != a.text {
		t.Errorf("the procedure says %s\nand it is %s", a.text, read.text)
	}
}

func TestProcedureWithLifetimes(t *testing.T) {
	d, _ := withContainer(t, `,"defaultTtl":-1`)
	d.stock("short", `,"ttl":5`)
	source := `
	function f() {
		const c = getContext().getCollection(), seen = [];
		__.response.setBody(seen);
		c.readDocument(c.getAltLink() + "/docs/short", (err) => seen.push(err ? err.number : 200));
		c.queryDocuments(c.getSelfLink(), "SELECT VALUE COUNT(1) FROM c WHERE c.id = 'short'", (err, n) => seen.push(n[0]));
		c.createDocument(c.getSelfLink(), { id: "made", pk: "a", ttl: 3 }, (err) => seen.push(err ? err.number : 201));
		c.createDocument(c.getSelfLink(), { id: "wrong", pk: "a", ttl: 0 }, (err) => seen.push(err.number + (/ttl/.test(err.body) ? " ttl" : "")));
		c.queryDocuments(c.getSelfLink(), "SELECT VALUE c.id FROM c", (err, ids) => seen.push(ids));
		seen.push(new Date().toISOString());
	}`
	if a := d.run(source,
		`[]`).want(200); a.text != `["2026-01-02T03:04:05.000Z",200,1,201,"400 ttl",["short","made"]]` {
		t.Errorf("it sees %s", a.text)
	}
	must(t, d.clock.Advance(2*time.Second))
	d.get("made").want(200)
	must(t, d.clock.Advance(time.Second))
	d.get("made").want(404)
	must(t, d.clock.Advance(2*time.Second))
	if a := d.run(source, `[]`).want(200); a.text != `["2026-01-02T03:04:10.000Z",404,0,201,"400 ttl",["made"]]` {
		t.Errorf("it sees %s", a.text)
	}
}

func TestProcedureLog(t *testing.T) {
	d, _ := withContainer(t, "")
	const source = `function f(fail) { console.log("a + b %s", "é"); if (fail) throw 1; }`
	for _, c := range []struct {
		args   string
		status int
	}{{`[false]`, 200}, {`[true]`, 400}} {
		a := d.run(source, c.args, "x-ms-documentdb-script-enable-logging", "true").want(c.status)
		got := a.header.Get("x-ms-documentdb-script-log-results")
		if text, err := url.PathUnescape(got); err != nil || text != "a + b é" || strings.Contains(got, "+") {
			t.Errorf("the log is %q", got)
		}
	}
	if a := d.run(source, `[false]`).want(200); a.header["X-Ms-Documentdb-Script-Log-Results"] != nil {
		t.Error("there is a log that nobody asked for")
	}
}

func TestProcedureLimits(t *testing.T) {
	d, _ := withContainer(t, "")
	for _, c := range []struct {
		name, source string
		status       int
		says         string
	}{
		{"recursion", `function f() { f() }`, 400, "call stack"},
		{"a huge text", `function f() { let s = "x"; for (;;) s += s; }`, 400, "string length"},
		{"a huge log", `function f() { for (;;) console.log("xxxxxxxxxxxxxxxx") }`, 400, "script-log-results"},
		{"a huge answer", `function f() { __.response.setBody("x".repeat(5e6)) }`, 400, "too large"},
		{"a huge document", `function f() { __.createDocument(__.getSelfLink(), { pk: "a", t: "x".repeat(3e6) }) }`,
			400, "too large"},
		{"no function", `5`, 400, "while compiling Javascript"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			d.run(c.source, `[]`, "x-ms-documentdb-script-enable-logging", "true").want(c.status).says(c.says)
		})
	}
}

func TestProcedureIsStoppedInTime(t *testing.T) {
	defer func(time, late time.Duration) { scriptTime, scriptLate = time, late }(scriptTime, scriptLate)
	scriptTime, scriptLate = time.Second, time.Second/2
	d, _ := withContainer(t, "")
	d.run(`function f() { __.createDocument(__.getSelfLink(), { id: "x", pk: "a" }, () => { for (;;); }); }`,
		`[]`).want(408).says("used up its time")
	d.get("x").want(404)
	a := d.run(`function f() {
		let n = 0;
		const more = () => { n++; if (!__.readDocuments(__.getSelfLink(), more)) __.response.setBody("late"); };
		more();
	}`, `[]`).want(200)
	if a.text != `"late"` {
		t.Errorf("it says %s", a.text)
	}
}

// Concurrent procedures that increment a counter must not lose an increment.
func TestProceduresAtTheSameTime(t *testing.T) {
	d, _ := withContainer(t, "")
	d.stock("counter", `,"n":0`)
	place := d.script("sprocs", "count", `
	function f(id) {
		__.queryDocuments(__.getSelfLink(), "SELECT * FROM c WHERE c.id = 'counter'", (err, found) => {
			if (err) throw err;
			found[0].n++;
			__.replaceDocument(found[0]._self, found[0], { etag: found[0]._etag }, (err) => { if (err) throw err; });
			__.createDocument(__.getSelfLink(), { id, pk: "a" }, (err) => { if (err) throw err; });
		});
	}`, "")
	var running sync.WaitGroup
	for i := range 4 {
		running.Go(func() {
			for j := range 5 {
				for {
					a := d.do("POST", place, fmt.Sprintf(`["%d-%d"]`, i, j), "x-ms-documentdb-partitionkey", `["a"]`)
					if a.status == 200 {
						break
					}
					if a.status != statusRetryWith {
						t.Errorf("status %d: %s", a.status, a.text)
						return
					}
				}
			}
		})
	}
	running.Wait()
	if n := d.get("counter").want(200).body["n"]; n != 20.0 {
		t.Errorf("the counter is %v, want 20", n)
	}
}

func TestProcedureAddressesByRID(t *testing.T) {
	d, made := withContainer(t, "")
	place := d.do("POST", "/dbs/d/colls/c/sprocs",
		`{"id":"s","body":"() => __.response.setBody(__.getSelfLink())"}`).want(201)
	a := d.do("POST", "/"+place.str("_self"), `[]`, "x-ms-documentdb-partitionkey", `["a"]`).want(200)
	if want := fmt.Sprintf("%q", made.str("_self")); a.text != want {
		t.Errorf("the link is %s, want %s", a.text, want)
	}
}

// Scripts that loop hold a turn on a processor, and give it back when their clients go away.
func TestProceduresShareProcessors(t *testing.T) {
	shared := budget.New(budget.Options{Memory: 256 << 20, Cores: 2})
	d, _ := withContainer(t, "", func(o *Options) { o.Budget = shared })
	loop := d.script("sprocs", "loop", `function f() { for (;;); }`, "")
	gone, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			r := newRequest("POST", loop, `[]`, "x-ms-documentdb-partitionkey", `["a"]`)
			signRequest(r)
			d.api.ServeHTTP(httptest.NewRecorder(), r.WithContext(gone))
		})
	}
	for shared.Read().Queued == 0 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	if r := shared.Read(); r.Running != 1 {
		t.Errorf("%d scripts run at once on two processors", r.Running)
	}
	cancel()
	running.Wait()
	if r := shared.Read(); r.Used != 0 || r.Running != 0 || r.Queued != 0 {
		t.Errorf("afterwards the budget has %+v", r)
	}
}

// A write of a huge item takes a turn, and so do its triggers, but not both at once.
func TestHugeItemWithATrigger(t *testing.T) {
	shared := budget.New(budget.Options{Memory: 256 << 20, Cores: 1, Patience: time.Second})
	d, _ := withContainer(t, "", func(o *Options) { o.Budget = shared })
	d.script("triggers", "t", `function t() {}`, `,"triggerType":"Pre","triggerOperation":"All"`)
	item := `{"id":"x","pk":"a","text":"` + strings.Repeat("x", hugeItem) + `"}`
	d.do("POST", "/dbs/d/colls/c/docs", item, keyHeader, `["a"]`, preHeader, "t").want(201)
	if r := shared.Read(); r.Used != 0 || r.Running != 0 || r.Queued != 0 {
		t.Errorf("afterwards the budget has %+v", r)
	}
}
