package rest

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var benchItems = flag.String("items", "1000,10000,100000", "sizes of the containers that BenchmarkQuery asks, each a multiple of 1,000")

// benchContainer indexes every path but two: a note, and the long text.
const benchContainer = `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1,
	"indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/note/?"},{"path":"/text/?"}]}}`

// A library is a container of items of 1 KiB, on disk under the engine's default
// options. With cgo its cache holds the records of 100,000 items, but not all of the indexes too.
type library struct {
	*desk
	engine    *pebble.Engine
	container *catalog.Container
	count     int
	random    *rand.Rand
}

// newLibrary makes items and compacts them, as an engine does by itself in time.
func newLibrary(b *testing.B, count int) *library {
	b.Helper()
	ctx := context.Background()
	engine, err := pebble.Open(pebble.Options{Dir: b.TempDir(), NoSync: true})
	must(b, err)
	cat, err := catalog.Open(ctx, engine, nil)
	must(b, err)
	st, err := store.Open(ctx, engine, cat)
	must(b, err)
	b.Cleanup(func() {
		must(b, st.Close())
		must(b, engine.Close())
	})
	l := &library{desk: &desk{t: b, clock: clock.NewVirtual(deskStart)}, engine: engine, count: count, random: rand.New(rand.NewPCG(1, 2))}
	l.door, err = New(Options{Catalog: cat, Store: st, Clock: l.clock, Key: testKey})
	must(b, err)
	l.do("POST", "/dbs", `{"id":"d"}`).want(201)
	l.do("POST", "/dbs/d/colls", benchContainer).want(201)
	db, err := cat.Database("d")
	must(b, err)
	l.container, err = cat.Container(db, "c")
	must(b, err)
	for i := 0; i < count; {
		var ops []store.Op
		for range 100 {
			ops = append(ops, l.item(i))
			i++
		}
		_, err := st.WriteAll(ctx, l.container, deskStart.Unix(), ops)
		must(b, err)
	}
	must(b, engine.Compact(ctx, nil, nil))
	return l
}

// item is the i-th item. For each value of group, of batch and of note there are 100, 100
// and 10 items; those of a group are spread over the whole container, those of a batch
// were made together. No two items have the same score, and neighbours have distant ones.
func (l *library) item(i int) store.Op {
	pk, id := l.partition(i), fmt.Sprint("item-", i)
	text := fmt.Appendf(nil, `{"id":%q,"pk":%q,"kind":"kind-%d","group":%d,"batch":%d,"score":%d,"amount":%d.25,"open":%v,"note":"note %d",`,
		id, pk, i%10, i%(l.count/100), i/100, i*7919%l.count, i%1000, i%3 == 0, i%(l.count/10))
	text = fmt.Appendf(text, `"address":{"city":"city %d","street":"%d Main Street","zip":"%05d"},"tags":["red","t%d","u%d"],"text":"`, i%50, i%200, i%99_999, i%7, i%11)
	for len(text) < 1024-2 {
		text = strconv.AppendUint(text, l.random.Uint64N(1<<40), 36)
		text = append(text, ' ')
	}
	body, err := doc.FromJSON(nil, append(text, `"}`...), doc.ParseOptions{})
	must(l.t, err)
	return store.Op{Verb: store.Create, Key: store.Key{Partition: []doc.Value{doc.String(pk)}, ID: id}, Body: body}
}

func (l *library) partition(i int) string { return fmt.Sprint("customer-", i%(l.count/20)) }

// A routine is a query that is asked over and over, with another parameter @v each
// time: so many values, of a stride that leads from one end of the container to the other.
type routine struct {
	name, query  string
	values, rows int
}

// routines lists what is asked of a container of n items.
func routines(n int) []routine {
	return []routine{
		{"point", `SELECT * FROM c WHERE c.id = @v`, n, 1},
		{"equality", `SELECT * FROM c WHERE c["group"] = @v`, n / 100, 100},
		{"equality, made together", `SELECT * FROM c WHERE c.batch = @v`, n / 100, 100},
		{"equality, two members", `SELECT c.kind, c.score FROM c WHERE c["group"] = @v`, n / 100, 100},
		{"order", `SELECT * FROM c WHERE c.score >= @v ORDER BY c.score OFFSET 0 LIMIT 20`, n - 20, 20},
		{"count", `SELECT VALUE COUNT(1) FROM c`, n, 1},
		{"count of 100", `SELECT VALUE COUNT(1) FROM c WHERE c["group"] = @v`, n / 100, 1},
		{"count of a range", `SELECT VALUE COUNT(1) FROM c WHERE c.score >= @v`, n, 1},
		{"group", `SELECT c.kind, COUNT(1) AS n, SUM(c.amount) AS total FROM c GROUP BY c.kind`, n, 10},
		{"unindexed filter", `SELECT c.pk FROM c WHERE c.note = CONCAT("note ", ToString(@v))`, n / 10, 10},
	}
}

// BenchmarkQuery sends queries through the door, without a network and as over a
// connection, and reads the same records from the bare engine. The first queries of
// each, up to one for every value, are not counted: they fill the engine's cache.
func BenchmarkQuery(b *testing.B) {
	for size := range strings.SplitSeq(*benchItems, ",") {
		count, err := strconv.Atoi(size)
		must(b, err)
		b.Run("items="+size, func(b *testing.B) {
			l := newLibrary(b, count)
			for _, c := range routines(count) {
				b.Run(c.name, func(b *testing.B) { l.ask(b, c, l.inProcess) })
			}
			b.Run("connected", func(b *testing.B) {
				send := l.connected(b)
				for _, c := range routines(count) {
					b.Run(c.name, func(b *testing.B) { l.ask(b, c, send) })
				}
			})
			b.Run("raw", l.raw)
		})
	}
}

// warmUp is how long queries are asked before they count.
const warmUp = 3 * time.Second

func (l *library) ask(b *testing.B, c routine, send func(*http.Request) (status int, h http.Header)) {
	r := newRequest("POST", "/dbs/d/colls/c/docs", c.query, "Content-Type", "application/query+json",
		"x-ms-documentdb-isquery", "true", "x-ms-documentdb-query-enablecrosspartition", "true")
	signRequest(r)
	before := append(strconv.AppendQuote([]byte(`{"query":`), c.query), `,"parameters":[{"name":"@v","value":`...)
	byID := strings.Contains(c.query, "c.id")
	var body []byte
	once := func(i int) {
		v := i * 6151 % c.values
		body = append(body[:0], before...)
		if byID {
			body = fmt.Appendf(body, `"item-%d"`, v)
			r.Header.Set("x-ms-documentdb-partitionkey", fmt.Sprintf("[%q]", l.partition(v)))
		} else {
			body = strconv.AppendInt(body, int64(v), 10)
		}
		body = append(body, `}]}`...)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		status, h := send(r)
		if status != 200 || h.Get("x-ms-item-count") != strconv.Itoa(c.rows) || h.Get("x-ms-continuation") != "" {
			b.Fatalf("status %d, %s rows", status, h.Get("x-ms-item-count"))
		}
	}
	i := 0
	for ; i < c.values && b.Elapsed() < warmUp; i++ {
		once(i)
	}
	b.ReportAllocs()
	for ; b.Loop(); i++ {
		once(i)
	}
}

// inProcess calls the door.
func (l *library) inProcess(r *http.Request) (status int, h http.Header) {
	w := &audience{nullWriter: nullWriter{http.Header{}}}
	l.door.ServeHTTP(w, r)
	return w.status, w.header
}

// An audience takes an answer.
type audience struct {
	nullWriter
	status int
}

func (a *audience) WriteHeader(status int) { a.status = status }

// connected gives a client with one connection, which reads answers as bytes.
func (l *library) connected(b *testing.B) func(*http.Request) (status int, h http.Header) {
	s := httptest.NewServer(l.door)
	b.Cleanup(s.Close)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	must(b, err)
	b.Cleanup(func() { c.Close() })
	in, out := bufio.NewReaderSize(c, 64<<10), bufio.NewWriter(c)
	return func(r *http.Request) (int, http.Header) {
		must(b, r.Write(out))
		must(b, out.Flush())
		answer, err := http.ReadResponse(in, r)
		must(b, err)
		_, err = io.Copy(io.Discard, answer.Body)
		must(b, err)
		return answer.StatusCode, answer.Header
	}
}

// raw reads all records from the engine, and touches each.
func (l *library) raw(b *testing.B) {
	rng := l.container.Keys()
	lower, upper := rng.Record(nil, 0), rng.Record(nil, 1<<62)
	sum := 0
	once := func() {
		it, err := l.engine.Iterate(lower, upper)
		must(b, err)
		n := 0
		for ; it.Next(); n++ {
			sum += int(it.Value()[0])
		}
		must(b, it.Close())
		if n != l.count {
			b.Fatal(n, "records")
		}
	}
	once()
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
	if sum == 0 {
		b.Fatal("empty records")
	}
}
