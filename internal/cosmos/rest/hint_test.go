package rest

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/hint"
)

// hinting returns a testAPI whose hints are counted.
func hinting(t *testing.T) (*testAPI, map[string]int) {
	counted := map[string]int{}
	d := newTestAPI(t, func(o *Options) {
		o.Hints = hint.NewTeller(o.Logger, func(kind string) { counted[kind]++ })
	})
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.define("c", `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`)
	return d, counted
}

func TestHintsOfBatches(t *testing.T) {
	atomic := []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}
	bulk := []string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "False",
		"x-ms-documentdb-partitionkeyrangeid", "0"}
	const plain, named, suspect,
		read = `{"operationType":"Upsert","partitionKey":"[\"a\"]","resourceBody":{"id":"1","pk":"a"}}`,
		`{"operationType":"Upsert","partitionKey":"[\"a\"]","resourceBody":{"id":"2","pk":"a","TTL":60}}`,
		`{"operationType":"Upsert","partitionKey":"[\"a\"]","resourceBody":{"id":"3","pk":"a","ttl":3600000}}`,
		`{"operationType":"Read","partitionKey":"[\"a\"]","id":"3"}`
	for _, c := range []struct {
		name       string
		operations []string
		want       string
	}{
		{"none", []string{plain}, ""},
		{"the second", []string{plain, named}, "Operation 1: This item's TTL is an ordinary property"},
		{"two", []string{suspect, plain, named, read},
			"Operation 0, and 1 more: This item's ttl of 3600000 looks like milliseconds"},
	} {
		for form, headers := range map[string][]string{"batch": atomic, "bulk": bulk} {
			d, counted := hinting(t)
			d.setTTL("-1")
			a := d.item("POST", "", "["+strings.Join(c.operations, ",")+"]", headers...)
			if a.status != 200 || !strings.HasPrefix(a.header.Get("x-mayfly-hint"), c.want) ||
				(c.want == "") != (a.header.Get("x-mayfly-hint") == "") {
				t.Errorf("%s, %s: %d, hint %q, want %q", form, c.name, a.status, a.header.Get("x-mayfly-hint"), c.want)
			}
			hints := 0
			for _, n := range counted {
				hints += n
			}
			if want := strings.Count(strings.Join(c.operations, ""), "TTL") + strings.Count(strings.Join(c.operations,
				""), "3600000"); hints != want {
				t.Errorf("%s, %s: counted %v, want %d", form, c.name, counted, want)
			}
		}
	}
}

// TestHintsReachTheLog checks that hints are logged once an hour for each container and kind, and not for reads.
func TestHintsReachTheLog(t *testing.T) {
	d, counted := hinting(t)
	write := func(id, member string) { d.item("POST", "", `{"id":"`+id+`","pk":"a"`+member+`}`).want(201) }
	lines := func() int { return strings.Count(d.log.String(), "level=WARN") }
	write("1", `,"ttl":5`)
	write("2", `,"ttl":6`)
	if a := d.item("GET", "1", "").want(200); a.header.Get("x-mayfly-hint") == "" {
		t.Error("no hint when it is read")
	}
	if counted["off"] != 2 || lines() != 1 || !strings.Contains(d.log.String(), "container=d/c hint=off") {
		t.Errorf("counted %v, log\n%s", counted, d.log.String())
	}
	d.setTTL("-1")
	write("3", `,"timeToLive":5`)
	d.do("PUT", "/dbs/d/colls/c",
		`{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTTL":5}`).want(200)
	if counted["name"] != 1 || counted["default_name"] != 1 || strings.Count(d.log.String(), "hint=") != 3 {
		t.Errorf("counted %v, log\n%s", counted, d.log.String())
	}
	d.advance(time.Hour)
	write("4", `,"ttl":5`)
	if counted["off"] != 3 || strings.Count(d.log.String(), "hint=off") != 2 {
		t.Errorf("an hour later: counted %v, log\n%s", counted, d.log.String())
	}
	if strings.Contains(d.log.String(), slog.LevelError.String()) {
		t.Errorf("errors in the log\n%s", d.log.String())
	}
}

// TestChangeOfLifetimeTellsWhatItDid checks that the effect of a shorter default TTL on existing items is reported.
func TestChangeOfLifetimeTellsWhatItDid(t *testing.T) {
	d := newItems(t)
	for _, id := range []string{"1", "2", "3"} {
		d.item("POST", "", `{"id":"`+id+`","pk":"a"}`).want(201)
	}
	d.advance(time.Hour)
	put := func(more string) answer {
		return d.do("PUT", "/dbs/d/colls/c", `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`+
			more+`}`).want(200)
	}
	for _, step := range []struct{ more, effect, log string }{
		{`,"defaultTtl":-1`, "0 items expired by this change", `level=INFO msg="lifetime changed,` +
			` what has expired stays so" container=d/c before=off after="never by default" expired=0 at_least=false`},
		{`,"defaultTtl":-1`, "", ""},
		{`,"defaultTtl":1`, "3 items expired by this change", `level=WARN msg="lifetime changed,` +
			` what has expired stays so" container=d/c before="never by default" after="1 s" expired=3 at_least=false`},
		{`,"defaultTtl":100000`, "0 items expired by this change", `before="1 s" after="100000 s" expired=0`},
		{``, "0 items expired by this change", `before="100000 s" after=off`},
	} {
		d.log.Reset()
		if got := put(step.more).header.Get("x-mayfly-ttl-effect"); got != step.effect {
			t.Errorf("%s: effect %q, want %q", step.more, got, step.effect)
		}
		if got := d.log.String(); !strings.Contains(got, step.log) || step.log == "" && got != "" {
			t.Errorf("%s: log %s, want %s", step.more, got, step.log)
		}
	}
}
