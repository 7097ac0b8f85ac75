package rest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/doc"
)

// TestPlannedQueries keeps queries that come a second time, within its limits.
func TestPlannedQueries(t *testing.T) {
	var parsed parsedQueries
	var p plannedQueries
	state := &catalog.State{}
	request := func(text string, scope access.Scope, parameter string) plannedRequest {
		q := queryRequest{list: doc.String(parameter)}
		must(t, q.parse(&parsed, text))
		r, short := q.plannedRequest(state, scope)
		if long := len(text) > maxPlannedBytes || len(parameter) >= maxPlannedBytes; short == long {
			t.Errorf("%d bytes of text, %d of parameters: short is %v", len(text), len(parameter), short)
		}
		return r
	}
	prepare := func(r plannedRequest) *exec.Query {
		q, err := exec.Prepare(r.tree, exec.Environment{}, nil)
		must(t, err)
		return q
	}
	const text = "SELECT VALUE 1"
	first := request(text, nil, "a")
	if q, again := p.take(first); q != nil || again {
		t.Error("a query is known before it came")
	}
	if q, again := p.take(first); q != nil || !again {
		t.Error("a query that comes the second time is not noticed")
	}
	one := prepare(first)
	p.give(first, one)
	for name, other := range map[string]plannedRequest{
		"parameters": request(text, nil, "b"),
		"text":       request(text+" ", nil, "a"),
		"partition":  request(text, access.Partition{doc.String("a")}, "a"),
		"prefix":     request(text, access.Partition{}, "a"),
		"span":       request(text, &access.Span{}, "a"),
	} {
		if q, _ := p.take(other); q != nil {
			t.Errorf("other %s, and the same query", name)
		}
	}
	elsewhere := first
	elsewhere.state = &catalog.State{}
	if q, _ := p.take(elsewhere); q != nil {
		t.Error("the query of another container")
	}
	if q, again := p.take(request(text, nil, "a")); q != one || !again {
		t.Error("a query that was kept is not found")
	}
	if q, again := p.take(first); q != nil || !again {
		t.Error("two requests have the same copy")
	}
	for range maxPlannedCopies + 1 {
		p.give(first, prepare(first))
	}
	if n := len(p.known[first.key()].idle); n != maxPlannedCopies {
		t.Errorf("%d copies are kept", n)
	}
	for i := range maxPlanned / 10 {
		r := request(text, nil, fmt.Sprint(i))
		p.give(r, prepare(r))
		held := 0
		for _, q := range p.known {
			held += q.bytes()
		}
		if held != p.bytes || held > maxPlanned {
			t.Fatalf("%d bytes are kept, %d counted", held, p.bytes)
		}
	}
	if p.bytes < maxPlanned/2 {
		t.Errorf("only %d bytes are kept", p.bytes)
	}
	request("SELECT VALUE '"+strings.Repeat("x", maxPlannedBytes)+"'", nil, "a")
	request(text, nil, strings.Repeat("x", maxPlannedBytes))
}

// TestQueriesThatComeAgain sends the same queries from several clients, while the container, its items and the clock
// change. Each answer is that of the query as it is prepared the first time.
func TestQueriesThatComeAgain(t *testing.T) {
	d, _ := withContainer(t, `,"defaultTtl":-1`)
	for i := range 20 {
		d.stock(fmt.Sprint(i), fmt.Sprintf(`,"n":%d,"text":"t%d","ttl":%d`, i, i%4, 100+i))
	}
	ask := func(query, parameters string, more ...string) string {
		t.Helper()
		a := d.do("POST", "/dbs/d/colls/c/docs", fmt.Sprintf(`{"query":%q,"parameters":[%s]}`, query, parameters),
			append(asQuery[:len(asQuery):len(asQuery)], more...)...)
		if a.status != 200 {
			t.Errorf("%s: %d %s", query, a.status, a.text)
		}
		return fmt.Sprint(a.rows("Documents"))
	}
	const count = "SELECT VALUE COUNT(1) FROM c WHERE c.text = @text"
	var group sync.WaitGroup
	for client := range 8 {
		group.Go(func() {
			for i := range 50 {
				n := (client + i) % 5
				parameter := fmt.Sprintf(`{"name":"@text","value":"t%d"}`, n)
				want := "[5]"
				if n == 4 {
					want = "[0]"
				}
				if got := ask(count, parameter, keyHeader, `["a"]`); got != want {
					t.Errorf("%d of %s, want %s", n, got, want)
				}
				if got := ask(count, parameter, keyHeader, `["b"]`); got != "[0]" {
					t.Errorf("another partition has %s", got)
				}
				top := fmt.Sprintf("SELECT TOP %d VALUE c.n FROM c WHERE c.n > @n ORDER BY c.n", n+1)
				rows := strings.Fields(strings.Trim(ask(top, `{"name":"@n","value":7.5}`, keyHeader, `["a"]`), "[]"))
				if len(rows) != n+1 || rows[0] != "8" || rows[n] != fmt.Sprint(8+n) {
					t.Errorf("%s: %v", top, rows)
				}
			}
		})
	}
	group.Wait()
	t1 := `{"name":"@text","value":"t1"}`
	now := "SELECT VALUE GetCurrentTimestamp()"
	before := ask(now, "")
	d.do("DELETE", "/dbs/d/colls/c/docs/1", "", keyHeader, `["a"]`).want(204)
	if got := ask(count, t1); got != "[4]" {
		t.Errorf("%s after a deletion", got)
	}
	must(t, d.clock.Advance(105*time.Second))
	if got := ask(count, t1); got != "[3]" {
		t.Errorf("%s after an item has expired", got)
	}
	if after := ask(now, ""); after == before {
		t.Errorf("it is still %s", after)
	}
	d.do("PUT", "/dbs/d/colls/c", `{"id":"c",`+pk2+`,"defaultTtl":-1,"indexingPolicy":{"excludedPaths":[`+
		`{"path":"/*"}]}}`).want(200)
	for range 3 {
		if got := ask(count, t1); got != "[3]" {
			t.Errorf("%s without an index", got)
		}
	}
	d.do("PUT", "/dbs/d/colls/c", `{"id":"c",`+pk2+`,"defaultTtl":-1,"computedProperties":[{"name":"text2",`+
		`"query":"SELECT VALUE UPPER(c.text) FROM c"}]}`).want(200)
	for range 3 {
		if got := ask("SELECT VALUE COUNT(1) FROM c WHERE c.text2 = 'T1'", ""); got != "[3]" {
			t.Errorf("%s by a computed property", got)
		}
	}
	place := d.script("udfs", "f", `function (n) { return n * 2; }`, "")
	const double = "SELECT VALUE SUM(udf.f(c.n)) FROM c WHERE c.n = 17"
	for range 3 {
		if got := ask(double, ""); got != "[34]" {
			t.Errorf("%s by a function", got)
		}
	}
	d.do("PUT", place, `{"id":"f","body":"(n) => n * 3"}`).want(200)
	if got := ask(double, ""); got != "[51]" {
		t.Errorf("%s by the next version of the function", got)
	}
}
