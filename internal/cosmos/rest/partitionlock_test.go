package rest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Many clients run a slow script that increments a counter in one document. All must succeed, and no increment may be
// lost.
func TestManyProceduresCountInOneDocument(t *testing.T) {
	d, _ := withContainer(t, "")
	d.stock("counter", `,"n":0`)
	place := d.script("sprocs", "count", `
	function f() {
		__.readDocument(__.getAltLink() + "/docs/counter", (err, doc) => {
			if (err) throw err;
			for (let i = 0; i < 2000; i++);
			doc.n++;
			__.replaceDocument(doc._self, doc, (err, now) => {
				if (err) throw err;
				console.log(String(now.n));
				__.response.setBody(now);
			});
		});
	}`, "")
	const clients, steps = 32, 4
	var mu sync.Mutex
	seen := map[string]bool{}
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for range steps {
				a := d.do("POST", place, `[]`, keyHeader, `["a"]`, "x-ms-documentdb-script-enable-logging", "true")
				if a.status != 200 {
					t.Errorf("status %d: %s", a.status, a.text)
					return
				}
				mu.Lock()
				if log := a.header.Get("x-ms-documentdb-script-log-results"); log != fmt.Sprint(a.body["n"]) ||
					seen[log] {
					t.Errorf("the log is %q, of the answer %v", log, a.body["n"])
				} else {
					seen[log] = true
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	if n := d.get("counter").want(200).body["n"]; n != float64(clients*steps) {
		t.Errorf("the counter is %v", n)
	}
	if n := len(d.api.partitionLocks.queues); n != 0 {
		t.Errorf("%d queues are left", n)
	}
}

func TestTurns(t *testing.T) {
	var all partitionLocks
	c := new(catalog.Container)
	key := lockKeyOf(c, []doc.Value{doc.String("a")})
	if all.locked(key) {
		t.Error("nobody has it")
	}
	back, err := all.lock(t.Context(), key)
	if err != nil || !all.locked(key) {
		t.Fatal(err)
	}
	for _, other := range []lockKey{lockKeyOf(c, []doc.Value{doc.String("b")}), lockKeyOf(c, nil),
		lockKeyOf(new(catalog.Container), []doc.Value{doc.String("a")})} {
		if all.locked(other) {
			t.Error("another partition is taken")
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all.lock(gone, key); fault.KindOf(err) != fault.Conflict {
		t.Errorf("error %v", err)
	}
	back()
	if len(all.queues) != 0 {
		t.Errorf("%d queues are left", len(all.queues))
	}
}

func TestScriptsLeaveNoGoroutines(t *testing.T) {
	d, _ := withContainer(t, "")
	d.script("udfs", "f", `(n) => n`, "")
	places := []string{
		d.script("sprocs", "good", `() => __.createDocument(__.getSelfLink(), {pk: "a"},`+
			` () => __.queryDocuments(__.getSelfLink(), "SELECT TOP 3 VALUE udf.f(1) FROM c", () => 0))`, ""),
		d.script("sprocs", "bad", `() => __.createDocument(__.getSelfLink(), {pk: "a"},`+
			` () => { Promise.reject(1); throw 1 })`, ""),
	}
	run := func(times int) {
		for range times {
			for i, place := range places {
				if a := d.do("POST", place, `[]`, keyHeader, `["a"]`); a.status != 200+200*i {
					t.Fatalf("status %d: %s", a.status, a.text)
				}
			}
		}
	}
	run(1)
	before := runtime.NumGoroutine()
	run(100)
	if now := runtime.NumGoroutine(); now > before+5 {
		t.Errorf("there were %d goroutines, and now there are %d", before, now)
	}
}
