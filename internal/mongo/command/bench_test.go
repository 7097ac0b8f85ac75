package command_test

import (
	"flag"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

var benchDocuments = flag.Int("documents", 100_000, "how many documents benchmarks read from")

// clients are how many ask at once.
var clients = []int{1, 8, 32}

// each runs op in so many goroutines, b.N times in all.
func each(b *testing.B, clients int, op func(i int) error) {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range clients {
		group.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := op(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
}

// orders is a document of about 900 bytes.
func order(i int) bson.D {
	d := pairs("_id", i, "user", i/100, "n", i*7919%100_003, "group", i%50)
	for j := range 18 {
		d = append(d, bson.E{Key: fmt.Sprintf("field%02d", j), Value: "a value of some thirty characters"})
	}
	return d
}

// filled is a collection with n documents and an index on user.
func filled(b *testing.B, d *testServer, n int) *mongo.Collection {
	b.Helper()
	c := d.Database("bench").Collection(fmt.Sprintf("c%d", n))
	for from := 0; from < n; from += 1000 {
		var some []any
		for i := from; i < min(n, from+1000); i++ {
			some = append(some, order(i))
		}
		_, err := c.InsertMany(b.Context(), some)
		must(b, err)
	}
	_, err := c.Indexes().CreateOne(b.Context(), mongo.IndexModel{Keys: bson.D{{Key: "user", Value: 1}}})
	must(b, err)
	_, err = c.Indexes().CreateOne(b.Context(), mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}})
	must(b, err)
	return c
}

// eachKind runs a benchmark of writes on a stand-alone server and on a replica set, which keeps its changes.
func eachKind(b *testing.B, bench func(b *testing.B, d *testServer, clients int)) {
	for _, kind := range []struct {
		name   string
		change func(*command.Options)
	}{{"set", replica}, {"stand-alone", alone}} {
		for _, n := range clients {
			b.Run(fmt.Sprintf("%s/clients=%d", kind.name, n), func(b *testing.B) {
				d := newServerOn(b, onDisk(b), func(o *command.Options) { kind.change(o); o.Advertise = "" })
				bench(b, d, n)
			})
		}
	}
}

func BenchmarkInsertOne(b *testing.B) {
	eachKind(b, func(b *testing.B, d *testServer, clients int) {
		c := d.Database("bench").Collection("c")
		each(b, clients, func(i int) error {
			_, err := c.InsertOne(b.Context(), order(i))
			return err
		})
	})
}

func BenchmarkInsertMany(b *testing.B) {
	eachKind(b, func(b *testing.B, d *testServer, clients int) {
		c := d.Database("bench").Collection("c")
		each(b, clients, func(i int) error {
			some := make([]any, 1000)
			for j := range some {
				some[j] = order(i*1000 + j)
			}
			_, err := c.InsertMany(b.Context(), some)
			return err
		})
		b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "documents/s")
	})
}

// BenchmarkUpdateOne changes one member of one of 1,000 documents.
func BenchmarkUpdateOne(b *testing.B) {
	eachKind(b, func(b *testing.B, d *testServer, clients int) {
		c := filled(b, d, 1000)
		each(b, clients, func(i int) error {
			_, err := c.UpdateOne(b.Context(), eq("_id", i*7919%1000), eq("$set", eq("field03", i)))
			return err
		})
	})
}

func BenchmarkRead(b *testing.B) {
	d := newServerOn(b, onDisk(b), nil)
	few, many := filled(b, d, 1000), filled(b, d, *benchDocuments)
	echo := newEcho(b, many)
	read := func(name string, op func(i int) error) {
		for _, n := range clients {
			b.Run(fmt.Sprintf("%s/clients=%d", name, n), func(b *testing.B) { each(b, n, op) })
		}
	}
	one := func(c *mongo.Collection, n int) func(i int) error {
		return func(i int) error {
			return c.FindOne(b.Context(), bson.D{{Key: "_id", Value: i * 7919 % n}}).Err()
		}
	}
	indexed := func(c *mongo.Collection, n int) func(i int) error {
		return func(i int) error {
			cursor, err := c.Find(b.Context(), bson.D{{Key: "user", Value: i * 7919 % (n / 100)}})
			if err != nil {
				return err
			}
			var rows []bson.Raw
			if err := cursor.All(b.Context(), &rows); err != nil || len(rows) != 100 {
				return fmt.Errorf("%d rows, %w", len(rows), err)
			}
			return nil
		}
	}
	read("echo", one(echo, *benchDocuments))
	read("id", one(many, *benchDocuments))
	read("indexed-of-1000", indexed(few, 1000))
	read("indexed", indexed(many, *benchDocuments))
	read("sort-limit", func(i int) error {
		cursor, err := many.Find(b.Context(), bson.D{{Key: "n", Value: bson.D{{Key: "$gte", Value: i * 31 % 90_000}}}},
			options.Find().SetSort(bson.D{{Key: "n", Value: 1}}).SetLimit(20))
		if err != nil {
			return err
		}
		return cursor.All(b.Context(), &[]bson.Raw{})
	})
	run := func(c *mongo.Collection, pipeline string) func(int) error {
		stages := bson.A{document(b, pipeline)}
		return func(int) error {
			cursor, err := c.Aggregate(b.Context(), stages)
			if err != nil {
				return err
			}
			return cursor.All(b.Context(), &[]bson.Raw{})
		}
	}
	read("group-count", run(many, `{$group: {_id: '$user', n: {$sum: 1}}}`))
	read("distinct", func(int) error { return many.Distinct(b.Context(), "user", bson.D{}).Err() })
	read("count-range", func(i int) error {
		above := bson.D{{Key: "$gte", Value: i * 31 % 90_000}}
		_, err := many.CountDocuments(b.Context(), bson.D{{Key: "n", Value: above}})
		return err
	})
	read("newest", func(int) error {
		newest := options.FindOne().SetSort(bson.D{{Key: "$natural", Value: -1}})
		return many.FindOne(b.Context(), bson.D{}, newest).Err()
	})
	read("sample", func(int) error {
		cursor, err := many.Aggregate(b.Context(), bson.A{eq("$sample", pairs("size", 10))})
		if err != nil {
			return err
		}
		return cursor.All(b.Context(), &[]bson.Raw{})
	})
	read("group", func(int) error {
		cursor, err := many.Aggregate(b.Context(), bson.A{eq("$group", pairs("_id", "$group", "n", eq("$sum", "$n")))})
		if err != nil {
			return err
		}
		return cursor.All(b.Context(), &[]bson.Raw{})
	})
}

// newEcho gives a collection of a server that frames messages as mayfly does and answers every find with the same
// document, which it has at hand: what no database can be faster than.
func newEcho(b *testing.B, like *mongo.Collection) *mongo.Collection {
	b.Helper()
	document, err := like.FindOne(b.Context(), bson.D{{Key: "_id", Value: 1}}).Raw()
	must(b, err)
	greeting, err := bson.Marshal(pairs("helloOk", true, "ismaster", true, "isWritablePrimary", true,
		"maxBsonObjectSize", 16<<20, "maxMessageSizeBytes", 48_000_000, "maxWriteBatchSize", 100_000,
		"minWireVersion", 0, "maxWireVersion", 21, "ok", 1.0))
	must(b, err)
	cursor := pairs("firstBatch", bson.A{document}, "id", int64(0), "ns", "bench.c")
	found, err := bson.Marshal(pairs("cursor", cursor, "ok", 1.0))
	must(b, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	b.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go echo(conn, greeting, found)
		}
	}()
	d := &testServer{t: b, address: l.Addr().String()}
	return d.connect("").Database("bench").Collection("c")
}

func echo(conn net.Conn, greeting, found doc.Doc) {
	defer conn.Close()
	r, w := wire.NewReader(conn), wire.NewWriter(conn)
	var m wire.Message
	for id := int32(1); ; id++ {
		if r.Read(&m) != nil {
			return
		}
		answer := greeting
		if doc.Lookup(m.Body, "find").Type != 0 {
			answer = found
		}
		if !m.MoreToCome() && (w.End(append(w.Begin(&m, id, 0), answer...)) != nil || w.Flush() != nil) {
			return
		}
	}
}

// onDisk is an engine as it is in production.
func onDisk(b *testing.B) *pebble.Engine {
	b.Helper()
	e, err := pebble.Open(pebble.Options{Dir: b.TempDir()})
	must(b, err)
	return e
}
