package rest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/clock"
)

// newTestAPIWithBudget returns a testAPI with a memory budget, all of which must be free again at the end.
func newTestAPIWithBudget(t *testing.T, memory int64) (*testAPI, *budget.Budget) {
	t.Helper()
	b := budget.New(budget.Options{Memory: memory, Patience: time.Second})
	d := newTestAPI(t, func(o *Options) { o.Budget = b })
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`).want(201)
	return d, b
}

// given fails the test unless all memory is returned soon.
func given(t *testing.T, b *budget.Budget) {
	t.Helper()
	for clock.Pause(t.Context(), time.Millisecond) == nil {
		if r := b.Read(); r.Used == 0 && r.Waiting == 0 && r.Running == 0 {
			return
		}
	}
}

// takeAll takes all memory of a budget; give gives it back.
func takeAll(t *testing.T, b *budget.Budget) (give func()) {
	t.Helper()
	shares := []*budget.Share{}
	for {
		s := new(budget.Share)
		b.Open(s)
		if !s.TryTake(budget.SmallBytes) {
			break
		}
		shares = append(shares, s)
	}
	for {
		s := new(budget.Share)
		b.Open(s)
		if !s.TryTake(2 * budget.FreeBytes) {
			break
		}
		shares = append(shares, s)
	}
	return func() {
		for _, s := range shares {
			s.Close()
		}
	}
}

var ofA = []string{"x-ms-documentdb-partitionkey", `["a"]`}

func largeItem(id string, bytes int) string {
	return fmt.Sprintf(`{"id":%q,"pk":"a","x":%q}`, id, strings.Repeat("y", bytes))
}

// numbersItem is an item of some 1.7 MB that has as many index entries as numbers.
func numbersItem(id string, numbers int) string {
	text := []byte(`{"id":"` + id + `","pk":"a","n":[0`)
	for i := range numbers {
		text = strconv.AppendInt(append(text, ','), int64(i+1), 10)
	}
	return string(append(text, "]}"...))
}

func TestWithoutMemory(t *testing.T) {
	d, b := newTestAPIWithBudget(t, 16<<20)
	d.do("POST", "/dbs/d/colls/c/docs", largeItem("large", 1<<20), ofA...).want(201)
	d.do("POST", "/dbs/d/colls/c/docs", largeItem("small", 100), ofA...).want(201)
	given(t, b)
	give := takeAll(t, b)
	for _, c := range []struct {
		name, method, target, body string
		headers                    []string
		status                     int
	}{
		{"a large item is written", "POST", "/dbs/d/colls/c/docs", largeItem("other", 1<<20), ofA, 429},
		{"a large item is read", "GET", "/dbs/d/colls/c/docs/large", "", ofA, 429},
		{"a page begins with a large item", "GET", "/dbs/d/colls/c/docs", "", nil, 429},
		{"a page of changes does", "GET", "/dbs/d/colls/c/docs", "", []string{"A-IM", "Incremental feed"}, 429},
		{"a small item is read", "GET", "/dbs/d/colls/c/docs/small", "", ofA, 200},
		{"a small item is written", "POST", "/dbs/d/colls/c/docs", largeItem("third", 100), ofA, 201},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait at the same time
			a := d.do(c.method, c.target, c.body, c.headers...).want(c.status)
			after := a.header.Get("x-ms-retry-after-ms")
			if ms, err := strconv.Atoi(after); c.status == 429 && (err != nil || ms <= 0) || c.status != 429 &&
				after != "" {
				t.Errorf("x-ms-retry-after-ms: %q", after)
			}
			if got := a.header.Get("x-ms-substatus"); c.status == 429 && got != "3200" {
				t.Errorf("x-ms-substatus: %q", got)
			}
		})
	}
	t.Cleanup(func() {
		give()
		if r := b.Read(); r.Used != 0 {
			t.Errorf("in use at the end: %+v", r)
		}
		d.do("GET", "/dbs/d/colls/c/docs/large", "", ofA...).want(200)
	})
}

// Writes with many index entries wait for each other instead of exceeding the memory.
func TestManyLargeWrites(t *testing.T) {
	for _, c := range []struct {
		name string
		id   func(i int) string
	}{
		{"of their own items", func(i int) string { return "i" + strconv.Itoa(i) }},
		{"of one item", func(int) string { return "i" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const memory = 40 << 20
			d, b := newTestAPIWithBudget(t, memory)
			var writers sync.WaitGroup
			for i := range 6 {
				writers.Go(func() {
					for {
						a := d.do("POST", "/dbs/d/colls/c/docs", numbersItem(c.id(i), 40_000), append(ofA,
							"x-ms-documentdb-is-upsert", "true")...)
						if a.status == 201 || a.status == 200 {
							return
						}
						_ = clock.Pause(t.Context(), 100*time.Millisecond)
						if a.status != 429 {
							t.Errorf("status %d: %.200s", a.status, a.text)
							return
						}
					}
				})
			}
			writers.Wait()
			given(t, b)
			if r := b.Read(); r.Highest > memory || r.Highest < 10<<20 {
				t.Errorf("%d bytes at most", r.Highest)
			}
		})
	}
}

func TestWriteThatNeedsMoreThanThereIs(t *testing.T) {
	d, b := newTestAPIWithBudget(t, 8<<20)
	d.do("POST", "/dbs/d/colls/c/docs", numbersItem("i", 100_000), ofA...).want(413).says("--memory-limit")
	given(t, b)
}

// connect sends the head of a request and the beginning of its body.
func connect(t *testing.T, server *httptest.Server, r *http.Request, length int, begin string) net.Conn {
	t.Helper()
	signRequest(r)
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	must(t, err)
	t.Cleanup(func() { c.Close() })
	c.(*net.TCPConn).SetReadBuffer(4 << 10)
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", r.Method, r.URL, length)
	r.Header.Write(&text)
	text.WriteString("\r\n" + begin)
	_, err = c.Write(text.Bytes())
	must(t, err)
	return c
}

// Incomplete bodies keep their memory only until others need it.
func TestBodiesWithoutTheirEnd(t *testing.T) {
	d, b := newTestAPIWithBudget(t, 8<<20)
	server := httptest.NewServer(d.api)
	defer server.Close()
	var open []net.Conn
	for range 5 {
		body := largeItem("i", 1_500_000)
		open = append(open, connect(t, server, newRequest("POST", "/dbs/d/colls/c/docs", "", ofA...), len(body),
			body[:1_400_000]))
	}
	for b.Read().Used < 3<<20 {
		_ = clock.Pause(t.Context(), time.Millisecond)
	}
	for d.do("POST", "/dbs/d/colls/c/docs", largeItem("whole", 1<<20), ofA...).status != 201 {
	}
	// The others may go on as long as nobody needs more.
	answer, err := http.ReadResponse(bufio.NewReader(open[0]), nil)
	if err == nil && (answer.StatusCode != 429 || !answer.Close) {
		t.Errorf("status %d, closed %v", answer.StatusCode, answer.Close)
	}
	for _, c := range open {
		c.Close()
	}
	given(t, b)
}

// So do pages that the client does not read.
func TestPagesThatNobodyReads(t *testing.T) {
	d, b := newTestAPIWithBudget(t, 24<<20)
	for i := range 8 {
		d.do("POST", "/dbs/d/colls/c/docs", largeItem("i"+strconv.Itoa(i), 1<<20), ofA...).want(201)
	}
	server := httptest.NewUnstartedServer(d.api)
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateNew {
			c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	server.Start()
	defer server.Close()
	for range 6 {
		connect(t, server, newRequest("GET", "/dbs/d/colls/c/docs", ""), 0, "")
	}
	for b.Read().Used < 10<<20 {
		_ = clock.Pause(t.Context(), time.Millisecond)
	}
	for range 4 {
		for d.do("GET", "/dbs/d/colls/c/docs", "").status != 200 {
		}
	}
	server.CloseClientConnections()
	given(t, b)
}

// Queries that keep rows take the memory for them first.
func TestQueriesThatKeepRows(t *testing.T) {
	for _, text := range []string{
		"SELECT * FROM c", "SELECT * FROM c ORDER BY c.y", "SELECT DISTINCT c.id, c.x FROM c",
		"SELECT c.id, COUNT(1) AS n FROM c GROUP BY c.id, c.x", "SELECT r.id FROM (SELECT DISTINCT c.id, c.x FROM c) r",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel() // they wait at the same time
			d, b := newTestAPIWithBudget(t, 16<<20)
			for i := range 30 {
				d.do("POST", "/dbs/d/colls/c/docs", largeItem("i"+strconv.Itoa(i), 100<<10), ofA...).want(201)
			}
			headers := []string{"x-ms-documentdb-isquery", "true", "Content-Type", "application/query+json",
				"x-ms-documentdb-query-enablecrosspartition", "true"}
			body := fmt.Sprintf(`{"query":%q}`, text)
			d.do("POST", "/dbs/d/colls/c/docs", body, headers...).want(200)
			given(t, b)
			give := takeAll(t, b)
			defer given(t, b)
			defer give()
			if got := d.do("POST", "/dbs/d/colls/c/docs", body, headers...); got.status != 429 &&
				len(got.text) > 400<<10 {
				t.Errorf("without memory: status %d, %d bytes", got.status, len(got.text))
			}
		})
	}
}

// A context derived from the request's may use it after the request has ended and its exchange has returned to the
// pool: the timer of a wait that ends at the same moment does so.
func TestContextOutlivesTheExchange(t *testing.T) {
	d := newTestAPI(t, func(o *Options) {
		o.Budget = budget.New(budget.Options{Memory: 1 << 20,
			Patience: time.Second})
	})
	for _, method := range []string{"GET", "POST"} {
		e := newExchange(d.api, httptest.NewRecorder(), newRequest(method, "/dbs", ""))
		ctx, cancel := context.WithTimeout(e.Context(), time.Hour)
		e.release()
		cancel()
		if ctx.Err() == nil || ctx.Value(t) != nil {
			t.Errorf("%s: the context is not over", method)
		}
	}
}
