package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// whileTicking calls f while each call of tick advances the clock by a second.
func (d *testAPI) whileTicking(tick func(), f func()) {
	d.t.Helper()
	done, through := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(through)
		for {
			select {
			case <-done:
				return
			default:
				if err := d.clock.Advance(time.Second); err != nil {
					d.t.Error(err)
					return
				}
				tick()
			}
		}
	}()
	f()
	close(done)
	<-through
}

const spin = `const spin = (seconds) => { const end = Date.now() + 1000 * seconds; while (Date.now() < end); };`

// The TTL of items that a script writes begins at the commit, not when the script begins. Otherwise a TTL of three
// seconds could be over before the client knows of the item.
func TestProcedureWritesAtTheInstantOfItsEnd(t *testing.T) {
	d, _ := withContainer(t, `,"defaultTtl":-1`)
	var a answer
	d.whileTicking(func() {}, func() {
		a = d.run(`function f() {
			`+spin+`
			const start = Date.now() / 1000;
			__.createDocument(__.getSelfLink(), { id: "x", pk: "a", start }, (err, doc) => { spin(5); __.response.setBody(doc); });
		}`, `[]`).want(200)
	})
	if read := d.get("x").want(200); read.text != a.text {
		t.Errorf("the procedure says %s\nand it is %s", a.text, read.text)
	}
	if start, stamp := a.body["start"].(float64), a.body["_ts"].(float64); stamp < start+5 {
		t.Errorf("it began at %v, took 5 seconds, and wrote at %v", start, stamp)
	}
}

// If a document expires between a script's read and the commit, and another request has seen that, the script runs
// again.
func TestProcedureWhoseDocumentExpires(t *testing.T) {
	for _, c := range []struct{ name, look string }{
		{"read", `__.readDocument(__.getAltLink() + "/docs/short", (err) => then(err ? err.number : 200))`},
		{"selected", `__.queryDocuments(__.getSelfLink(), "SELECT * FROM c WHERE c.id = 'short'", (err,` +
			` found) => then(found.length ? 200 : 404))`},
		{"replaced", `__.replaceDocument(__.getAltLink() + "/docs/short", { id: "short", pk: "a", ttl: 1000 },` +
			` (err) => then(err ? err.number : 200))`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := withContainer(t, `,"defaultTtl":-1`)
			d.stock("short", `,"ttl":3`)
			place := d.script("sprocs", "s", `function f() {
				`+spin+`
				const then = (status) => { if (status === 200) spin(5); __.createDocument(__.getSelfLink(), { id: "seen", pk: "a", status }, () => __.response.setBody(status)); };
				`+c.look+`;
			}`, "")
			var a answer
			d.whileTicking(func() { d.do("GET", "/dbs/d/colls/c/docs/none", "", keyHeader, `["a"]`) }, func() {
				a = d.do("POST", place, `[]`, keyHeader, `["a"]`).want(200)
			})
			if a.text != "404" {
				t.Errorf("it has seen %s", a.text)
			}
			d.get("seen").want(200).says(`"status":404`)
		})
	}
}

func TestItemsOfTriggersAreOfOneInstant(t *testing.T) {
	d, _ := withContainer(t, "")
	d.script("triggers", "slow", `function f() {
		`+spin+`
		__.createDocument(__.getSelfLink(), { id: "beside", pk: "a" }, () => spin(3));
	}`, `,"triggerType":"Post","triggerOperation":"All"`)
	var a answer
	d.whileTicking(func() {}, func() {
		a = d.do("POST", "/dbs/d/colls/c/docs", `{"id":"x","pk":"a"}`, keyHeader, `["a"]`, postHeader, "slow").want(201)
	})
	item, beside := d.get("x").want(200), d.get("beside").want(200)
	if item.text != a.text || item.body["_ts"] != beside.body["_ts"] || item.str("_etag") == beside.str("_etag") {
		t.Errorf("the answer is %s,\nthe item %s\nand the other %s", a.text, item.text, beside.text)
	}
}

func TestResourceTokensAndScripts(t *testing.T) {
	for _, c := range []struct {
		permission                         string
		procedure, other, trigger, replace int
	}{
		{`{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}`, 403, 403, 403, 403},
		{`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}`, 200, 403, 201, 200},
		{`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["b"]}`, 403, 403, 403,
			403},
		{`{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c/sprocs/make"}`, 403, 403, 403, 403},
		{`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/sprocs/make"}`, 200, 403, 403, 200},
		{`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/triggers/touch"}`, 403, 403, 403, 403},
		{`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/docs/x"}`, 403, 403, 403, 403},
	} {
		t.Run(c.permission, func(t *testing.T) {
			d, p := withPermission(t, c.permission)
			token := p.str("_token")
			source := `() => __.upsertDocument(__.getSelfLink(), { id: "touched", pk: "a" })`
			make := d.script("sprocs", "make", source, "")
			d.script("triggers", "touch", source, `,"triggerType":"Pre","triggerOperation":"All"`)
			try := func(want int, method, target, body string, headers ...string) {
				t.Helper()
				if a := d.as(token, method, target, body, append(headers, keyHeader, `["a"]`)...); a.status != want {
					t.Errorf("%s %s: status %d, want %d: %s", method, target, a.status, want, a.text)
				}
			}
			try(c.procedure, "POST", make, `[]`)
			try(c.other, "POST", strings.Replace(make, "colls/c", "colls/other", 1), `[]`)
			if a := d.as(token, "POST", make, `[]`, keyHeader, `["a"]`, "x-ms-documentdb-isquery",
				"true"); a.status < 400 {
				t.Errorf("as a query: status %d: %s", a.status, a.text)
			}
			try(c.trigger, "POST", "/dbs/d/colls/c/docs", `{"id":"new","pk":"a"}`, preHeader, "touch")
			try(c.replace, "PUT", make, fmt.Sprintf(`{"id":"make","body":%q}`, source))
			if made := d.get("touched").status == 200; made != (c.procedure == 200 || c.trigger == 201) {
				t.Errorf("touched: %v", made)
			}
		})
	}
}
