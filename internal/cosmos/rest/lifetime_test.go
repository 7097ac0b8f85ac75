package rest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// second is n seconds after testStart.
func second(n int) time.Time { return testStart.Add(time.Duration(n) * time.Second) }

// alive checks every way in which an item of partition "a" can be read.
func (d *testAPI) alive(id string) bool {
	d.t.Helper()
	read := d.item("GET", id, "").status == 200
	for name, seen := range map[string]bool{
		"If-None-Match": d.item("GET", id, "", "If-None-Match", "*").status == 304,
		"partition":     d.inFeed(id, d.item("GET", "", "")),
		"feed":          d.inFeed(id, d.do("GET", documents, "")),
		"span":          d.inFeed(id, d.do("GET", documents, "", "x-ms-start-epk", "00", "x-ms-end-epk", "FF")),
		"changes":       d.inFeed(id, d.do("GET", documents, "", "A-IM", "Incremental feed")),
		"batch": d.item("POST", "", `[{"operationType":"Read","id":"`+id+`"}]`,
			"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True").status == 200,
		"condition": d.item("PATCH", id,
			`{"condition":"from c where false","operations":[{"op":"set","path":"/x","value":1}]}`).status == 412,
	} {
		if seen != read {
			d.t.Errorf("%s: item %s is read: %v, seen in %s: %v", d.clock.Now().Sub(testStart), id, read, name, seen)
		}
	}
	return read
}

func (d *testAPI) inFeed(id string, a answer) bool {
	if a.status == 304 {
		return false
	}
	for _, row := range a.want(200).rows("Documents") {
		if row.(map[string]any)["id"] == id {
			return true
		}
	}
	return false
}

// TestLifetimeMatrix covers the nine cells of T-29, one second before the deadline, at it, and after it.
func TestLifetimeMatrix(t *testing.T) {
	for _, tt := range []struct {
		container, item string // values, "" for none
		life            int    // seconds, 0 for no expiry
	}{
		{"", "", 0}, {"", "-1", 0}, {"", "20", 0},
		{"-1", "", 0}, {"-1", "-1", 0}, {"-1", "20", 20},
		{"10", "", 10}, {"10", "-1", 0}, {"10", "20", 20},
	} {
		t.Run(fmt.Sprintf("container %s, item %s", tt.container, tt.item), func(t *testing.T) {
			d := newItems(t)
			d.setTTL(tt.container)
			member := ""
			if tt.item != "" {
				member = `,"ttl":` + tt.item
			}
			created := d.item("POST", "", `{"id":"1","pk":"a"`+member+`}`).want(201)
			expires, hint := created.header.Get("x-mayfly-expires-at"), created.header.Get("x-mayfly-hint")
			if tt.life == 0 {
				if expires != "" {
					t.Errorf("expires at %s", expires)
				}
				if (hint != "") != (tt.container == "" && tt.item != "") {
					t.Errorf("the hint is %q", hint)
				}
				must(t, d.clock.Set(second(1_000_000_000)))
				if !d.alive("1") {
					t.Error("gone")
				}
				return
			}
			if want := second(tt.life).Format(time.RFC3339); expires != want || hint != "" {
				t.Errorf("expires at %q, want %q; the hint is %q", expires, want, hint)
			}
			for _, at := range []int{tt.life - 1, tt.life, tt.life + 1} {
				must(t, d.clock.Set(second(at)))
				if alive := d.alive("1"); alive != (at < tt.life) {
					t.Errorf("at %d s alive is %v", at, alive)
				}
			}
		})
	}
}

// TestExpiredIsMissing compares the answers of every operation for an expired item and for one that never existed.
func TestExpiredIsMissing(t *testing.T) {
	batch := []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}
	bulk := []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "False",
		"x-ms-documentdb-partitionkeyrangeid", "0"}
	for _, op := range []struct {
		name        string
		method, id  string
		body        string
		headers     []string
		status      int
		withItsEtag bool
	}{
		{name: "read", method: "GET", id: "ID", status: 404},
		{name: "read if changed", method: "GET", id: "ID", withItsEtag: true, headers: []string{"If-None-Match", ""},
			status: 404},
		{name: "create", method: "POST", body: `{"id":"ID","pk":"a"}`, status: 201},
		{name: "upsert", method: "POST", body: `{"id":"ID","pk":"a"}`, headers: asUpsert, status: 201},
		{name: "upsert if unchanged", method: "POST", body: `{"id":"ID","pk":"a"}`,
			headers: append([]string{"If-Match", ""}, asUpsert...), withItsEtag: true, status: 201},
		{name: "upsert if absent", method: "POST", body: `{"id":"ID","pk":"a"}`,
			headers: append([]string{"If-None-Match", "*"}, asUpsert...), status: 201},
		{name: "replace", method: "PUT", id: "ID", body: `{"id":"ID","pk":"a"}`, status: 404},
		{name: "replace if unchanged", method: "PUT", id: "ID", body: `{"id":"ID","pk":"a"}`,
			headers: []string{"If-Match", ""}, withItsEtag: true, status: 404},
		{name: "patch", method: "PATCH", id: "ID", body: `[{"op":"set","path":"/n","value":1}]`, status: 404},
		{name: "patch with condition", method: "PATCH", id: "ID",
			body: `{"condition":"from c where false","operations":[{"op":"set","path":"/n","value":1}]}`, status: 404},
		{name: "delete", method: "DELETE", id: "ID", status: 404},
		{name: "delete if unchanged", method: "DELETE", id: "ID", headers: []string{"If-Match", ""},
			withItsEtag: true, status: 404},
		{name: "batch", method: "POST", headers: batch,
			body: `[{"operationType":"Upsert","resourceBody":{"id":"other","pk":"a"}},{"operationType":"Read","id":"ID"}]`, status: 207},
		{name: "bulk", method: "POST", headers: bulk,
			body: `[{"operationType":"Delete","id":"ID","partitionKey":"[\"a\"]"}]`, status: 207},
	} {
		t.Run(op.name, func(t *testing.T) {
			d := newItems(t, `"defaultTtl":10`, `"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}`)
			etag := d.item("POST", "", `{"id":"dead","pk":"a","u":1}`).want(201).header.Get("etag")
			d.advance(10 * time.Second)
			answers := map[string]string{}
			for _, id := range []string{"dead", "none"} {
				headers := append([]string(nil), op.headers...)
				if op.withItsEtag {
					headers[1] = etag
				}
				headers = append(headers, "x-ms-activity-id", "11111111-1111-4111-8111-111111111111")
				a := d.item(op.method, strings.ReplaceAll(op.id, "ID", id), strings.ReplaceAll(op.body, "ID", id),
					headers...)
				a.want(op.status)
				if a.status == 201 {
					d.item("DELETE", id, "").want(204)
					continue // ids and versions differ
				}
				for _, name := range []string{"x-ms-request-duration-ms", "date"} {
					a.header.Del(name)
				}
				text, err := json.Marshal(a.header)
				must(t, err)
				answers[id] = strings.ReplaceAll(string(text)+a.text, "/"+id, "/ID")
			}
			if answers["dead"] != answers["none"] {
				t.Errorf("expired:\n%s\nmissing:\n%s", answers["dead"], answers["none"])
			}
		})
	}
}

func TestExpiredFreesUniqueKey(t *testing.T) {
	d := newItems(t, `"defaultTtl":10`, `"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}`)
	d.item("POST", "", `{"id":"1","pk":"a","u":1}`).want(201)
	d.item("POST", "", `{"id":"2","pk":"a","u":1}`).want(409)
	d.advance(9 * time.Second)
	d.item("POST", "", `{"id":"2","pk":"a","u":1}`).want(409)
	d.advance(time.Second)
	d.item("POST", "", `{"id":"2","pk":"a","u":1}`).want(201)
}

func TestRebornItemIsNew(t *testing.T) {
	d := newItems(t, `"defaultTtl":10`)
	first := d.item("POST", "", `{"id":"1","pk":"a"}`).want(201)
	d.advance(10 * time.Second)
	again := d.item("POST", "", `{"id":"1","pk":"a"}`).want(201)
	if first.str("_rid") == again.str("_rid") || first.str("_etag") == again.str("_etag") {
		t.Errorf("%s and %s", first.text, again.text)
	}
	d.advance(9 * time.Second)
	if !d.alive("1") {
		t.Error("the second life is too short")
	}
}

// TestWritesRestartLife covers T-48: every successful write, and nothing else, restarts the TTL.
func TestWritesRestartLife(t *testing.T) {
	for name, write := range map[string]func(d *testAPI) answer{
		"upsert":  func(d *testAPI) answer { return d.item("POST", "", `{"id":"1","pk":"a"}`, asUpsert...) },
		"replace": func(d *testAPI) answer { return d.item("PUT", "1", `{"id":"1","pk":"a"}`) },
		"patch":   func(d *testAPI) answer { return d.item("PATCH", "1", `[{"op":"set","path":"/pk2","value":"a"}]`) },
		"batch": func(d *testAPI) answer {
			return d.item("POST", "", `[{"operationType":"Replace","id":"1","resourceBody":{"id":"1","pk":"a"}}]`,
				"x-ms-cosmos-is-batch-request", "True")
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newItems(t, `"defaultTtl":10`)
			d.item("POST", "", `{"id":"1","pk":"a"}`).want(201)
			d.advance(9 * time.Second)
			write(d).want(200)
			d.advance(9 * time.Second)
			if !d.alive("1") {
				t.Error("the write did not count anew")
			}
			d.item("PUT", "1", `{"id":"1","pk":"a"}`, "If-Match", `"x"`).want(412)
			d.advance(time.Second)
			if d.alive("1") {
				t.Error("something that wrote nothing counted anew")
			}
		})
	}
}

// TestItemTTLValues is the table of values that an item's ttl may have, on
// every way to write one.
func TestItemTTLValues(t *testing.T) {
	batch := []string{"x-ms-cosmos-is-batch-request", "True"}
	type way struct {
		name string
		do   func(d *testAPI, ttl string) answer
	}
	ways := []way{
		{"create", func(d *testAPI, ttl string) answer {
			return d.item("POST", "", `{"id":"new","pk":"a","ttl":`+ttl+
				`}`)
		}},
		{"upsert", func(d *testAPI, ttl string) answer {
			return d.item("POST", "", `{"id":"1","pk":"a","ttl":`+ttl+`}`, asUpsert...)
		}},
		{"replace", func(d *testAPI, ttl string) answer {
			return d.item("PUT", "1", `{"id":"1","pk":"a","ttl":`+ttl+
				`}`)
		}},
		{"patch set", func(d *testAPI, ttl string) answer {
			return d.item("PATCH", "1", `[{"op":"set","path":"/ttl","value":`+ttl+`}]`)
		}},
		{"patch add", func(d *testAPI, ttl string) answer {
			return d.item("PATCH", "1", `[{"op":"add","path":"/ttl","value":`+ttl+`}]`)
		}},
		{"batch", func(d *testAPI, ttl string) answer {
			a := d.item("POST", "", `[{"operationType":"Upsert","resourceBody":{"id":"1","pk":"a","ttl":`+ttl+
				`}}]`, batch...)
			a.status = entries(t, a)[0].StatusCode
			return a
		}},
	}
	for _, tt := range []struct {
		ttl  string
		good bool
	}{
		{"-1", true}, {"1", true}, {"2147483647", true}, {"20.0", true}, {"2e1", true},
		{"null", false}, {"0", false}, {"-2", false}, {"-10", false}, {"2147483648", false}, {"20.5", false},
		{`"20"`, false}, {"true", false}, {"{}", false}, {"[]", false},
	} {
		for _, w := range ways {
			t.Run(w.name+" "+tt.ttl, func(t *testing.T) {
				d := newItems(t, `"defaultTtl":1000`)
				d.item("POST", "", `{"id":"1","pk":"a"}`).want(201)
				a := w.do(d, tt.ttl)
				if good := a.status < 300; good != tt.good {
					t.Fatalf("%d: %s", a.status, a.text)
				}
				if !tt.good && (a.status != 400 || !strings.Contains(a.text, "is invalid. Ensure to provide a nonzero "+
					"positive integer less than or equal to '2147483647', or '-1' which means never expire.")) {
					t.Errorf("%d: %s", a.status, a.text)
				}
				d.setTTL("")
				if a := w.do(d, tt.ttl); a.status >= 300 && a.status != 409 {
					t.Errorf("with lifetime off: %d: %s", a.status, a.text)
				}
			})
		}
	}
}

func TestPatchTTL(t *testing.T) {
	d := newItems(t, `"defaultTtl":10`)
	d.item("POST", "", `{"id":"1","pk":"a","ttl":20}`).want(201)
	expires := func(a answer, want int) {
		t.Helper()
		if got := a.header.Get("x-mayfly-expires-at"); got != second(want).Format(time.RFC3339) {
			t.Errorf("expires at %q, want %d s", got, want)
		}
	}
	d.advance(time.Second)
	expires(d.item("PATCH", "1", `[{"op":"incr","path":"/ttl","value":5}]`).want(200), 1+25)
	d.item("PATCH", "1", `[{"op":"incr","path":"/ttl","value":-25}]`).want(400).says("The input ttl '0' is invalid")
	expires(d.item("GET", "1", "").want(200), 1+25)
	expires(d.item("PATCH", "1", `[{"op":"remove","path":"/ttl"}]`).want(200), 1+10)
	a := d.item("PATCH", "1", `[{"op":"set","path":"/ttl","value":-1}]`).want(200)
	if got := a.header.Get("x-mayfly-expires-at"); got != "" {
		t.Errorf("expires at %s", got)
	}
}

func TestLifetimeHints(t *testing.T) {
	for _, tt := range []struct {
		name, container, item, says string
	}{
		{"off", "", `"ttl":5`, "no defaultTtl"},
		{"off, a string", "", `"ttl":"5"`, "not a valid life span"},
		{"off, zero", "", `"ttl":0`, "not a valid life span"},
		{"off, null", "", `"ttl":null`, "not a valid life span"},
		{"off, a fraction", "", `"ttl":20.5`, "not a valid life span"},
		{"off, long", "", `"ttl":1700000000`, "no defaultTtl"},
		{"off, none", "", `"x":5`, ""},
		{"off, nested", "", `"x":{"ttl":5}`, ""},
		{"on", "-1", `"ttl":5`, ""},
		{"on, long", "-1", `"ttl":1700000000`, "not milliseconds"},
		{"on, as long as it may be", "-1", `"ttl":1000000000`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newItems(t)
			d.setTTL(tt.container)
			for _, a := range []answer{d.item("POST", "", `{"id":"1","pk":"a",`+tt.item+`}`).want(201), d.item("GET",
				"1", "").want(200)} {
				hint := a.header.Get("x-mayfly-hint")
				if (hint == "") != (tt.says == "") || !strings.Contains(hint, tt.says) {
					t.Errorf("the hint is %q", hint)
				}
			}
		})
	}
}

// An invalid ttl that was stored while TTL was off has no effect.
func TestDormantTTLIsToldWhileOn(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"1","pk":"a","ttl":"5"}`).want(201)
	d.setTTL("10")
	if hint := d.item("GET", "1", "").want(200).header.Get("x-mayfly-hint"); !strings.Contains(hint,
		"never takes effect") {
		t.Errorf("the hint is %q", hint)
	}
}

// TestPolicyChange covers the rows of "Container changes after the fact" that show in an item.
func TestPolicyChange(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"inherits","pk":"a"}`).want(201)
	d.item("POST", "", `{"id":"own","pk":"a","ttl":20}`).want(201)
	d.item("POST", "", `{"id":"never","pk":"a","ttl":-1}`).want(201)
	check := func(want string) {
		t.Helper()
		got := ""
		for _, id := range []string{"inherits", "own", "never"} {
			if d.alive(id) {
				got += " " + id
			}
		}
		if got != want {
			t.Errorf("at %s alive:%s, want%s", d.clock.Now().Sub(testStart), got, want)
		}
	}
	d.advance(15 * time.Second)
	check(" inherits own never")
	d.setTTL("30")
	check(" inherits own never")
	d.setTTL("10")
	check(" own never")
	d.setTTL("1000") // expired items stay expired
	check(" own never")
	d.setTTL("")
	d.advance(10 * time.Second)
	check(" own never")
	d.setTTL("-1")
	check(" never")
	d.setTTL("")
	check(" never")
}
