package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/kv/pebble"
)

// TestItemsKeptInMemory queries items until the engine keeps them and their JSON in memory. Then they change, and die,
// for the queries as for everyone else.
func TestItemsKeptInMemory(t *testing.T) {
	engine, err := pebble.Open(pebble.Options{Dir: t.TempDir(), NoSync: true})
	must(t, err)
	d := newTestAPIOn(t, engine)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c",`+pk2+`,"defaultTtl":-1}`).want(201)
	const count = 120
	body := func(i, version int) string {
		ttl := ""
		if i%2 == 1 {
			ttl = `,"ttl":60`
		}
		return fmt.Sprintf(`{"id":"%03d","pk":"a","kind":"k","n":%d,"version":%d%s}`, i, i*7%count, version, ttl)
	}
	for i := range count {
		d.do("POST", "/dbs/d/colls/c/docs", body(i, 1), keyHeader, `["a"]`).want(201)
	}
	queries := []string{`SELECT * FROM c WHERE c.kind = "k"`, `SELECT TOP 120 * FROM c ORDER BY c.n`}
	ask := func() (answers [2]string) {
		for i, q := range queries {
			answers[i] = d.ask("/dbs/d/colls/c/docs", q, keyHeader, `["a"]`, "x-ms-max-item-count", "-1").want(200).text
		}
		return answers
	}
	first := ask()
	for range 60 { // so many reads of the sample decide that all is kept
		if again := ask(); again != first {
			t.Fatalf("the answers %s\nhave become %s", first, again)
		}
	}
	// want checks that the answers are items as they are read one by one, n of them.
	want := func(n int) {
		t.Helper()
		answers, found := ask(), 0
		for i := range count {
			id := fmt.Sprintf("%03d", i)
			item := d.do("GET", "/dbs/d/colls/c/docs/"+id, "", keyHeader, `["a"]`)
			if item.status == 200 {
				found++
			}
			for j, text := range answers {
				if has := strings.Contains(text, `"id":"`+id+`"`); has != (item.status == 200) {
					t.Fatalf("%s: status %d, and in the answer to %s: %v", id, item.status, queries[j], has)
				} else if has && !strings.Contains(text, item.text) {
					t.Fatalf("%s has %s\nwithout %s", queries[j], text, item.text)
				}
			}
		}
		if found != n {
			t.Fatalf("%d items, want %d", found, n)
		}
	}
	want(count)
	for i := 0; i < count; i += 5 {
		d.do("PUT", fmt.Sprintf("/dbs/d/colls/c/docs/%03d", i), body(i, 2), keyHeader, `["a"]`).want(200)
	}
	d.do("DELETE", "/dbs/d/colls/c/docs/004", "", keyHeader, `["a"]`).want(204)
	want(count - 1)
	must(t, d.clock.Advance(59*time.Second))
	want(count - 1)
	must(t, d.clock.Advance(time.Second))
	want(count/2 - 1)
	d.do("PUT", "/dbs/d/colls/c", `{"id":"c",`+pk2+`,"defaultTtl":70}`).want(200)
	must(t, d.clock.Advance(9*time.Second))
	want(count/2 - 1)
	must(t, d.clock.Advance(time.Second))
	want(0)
}

// TestDocumentsOfMongoKeptInMemory sorts documents of the MongoDB API by a query in SQL, which sees each in another
// form than the store has it.
func TestDocumentsOfMongoKeptInMemory(t *testing.T) {
	engine, err := pebble.Open(pebble.Options{Dir: t.TempDir(), NoSync: true})
	must(t, err)
	m := newMongoOn(t, engine)
	const count = 120
	for i := range count {
		m.insert(bson.D{{Key: "_id", Value: fmt.Sprintf("%03d", i)}, {Key: "n", Value: int32(i * 7 % count)}})
	}
	var want []string
	for i := range count {
		// 7 times 103 is 1 above a multiple of 120.
		want = append(want, fmt.Sprintf(`"_id":"%03d","n":%d,`, i*103%count, i))
	}
	for range 60 {
		rows := strings.Split(m.rowsOf("SELECT TOP 120 * FROM c ORDER BY c.n"), "},{")
		for i, row := range rows {
			if !strings.Contains(row, want[i]) {
				t.Fatalf("row %d is %s, want %s", i, row, want[i])
			}
		}
		if len(rows) != count {
			t.Fatalf("%d rows", len(rows))
		}
	}
}
