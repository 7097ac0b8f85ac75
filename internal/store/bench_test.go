package store_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	praw "github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var benchSize = flag.Int("documents", 100_000, "documents of the large benchmarks")

// benchDefinition has five index terms for a benchBody.
func benchDefinition(ttl expiry.TTL) catalog.Definition {
	def := definition(ttl)
	def.Indexing = catalog.Indexing{Included: []string{"/pk/?", "/n/?", "/group/?", "/name/?"},
		Excluded: []string{"/*"}}
	return def
}

var filler = strings.Repeat("lorem ipsum dolor sit amet ", 33)

// benchBody is a document of about 1 KiB.
func benchBody(i int) (store.Key, doc.Doc) {
	pk, id := fmt.Sprint("p", i%1000), fmt.Sprint("item-", i)
	text := fmt.Appendf(nil, `{"id":%q,"pk":%q,"n":%d,"group":%d,"name":"name %d","text":%q}`, id, pk, i, i%100, i*7919,
		filler)
	body, err := doc.FromJSON(nil, text, doc.ParseOptions{})
	if err != nil {
		panic(err)
	}
	return key(pk, id), body
}

// newDisk is newWorld on a disk.
func newDisk(b *testing.B, def catalog.Definition, nosync bool) *world {
	b.Helper()
	w := &world{t: b, now: 1_000_000}
	var err error
	w.engine, err = pebble.Open(pebble.Options{Dir: b.TempDir(), NoSync: nosync})
	w.ok(err)
	w.catalog, err = catalog.Open(context.Background(), w.engine, nil)
	w.ok(err)
	w.store, err = store.Open(context.Background(), w.engine, w.catalog)
	w.ok(err)
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, def, nil)
	w.ok(err)
	b.Cleanup(w.close)
	return w
}

// fill writes count documents, a hundred at a time.
func (w *world) fill(from, count int) {
	for i := from; i < from+count; {
		var ops []store.Op
		for range min(100, from+count-i) {
			k, body := benchBody(i)
			ops = append(ops, store.Op{Verb: store.Create, Key: k, Body: body})
			i++
		}
		_, err := w.store.WriteAll(context.Background(), w.c, w.now, ops)
		w.ok(err)
	}
}

// BenchmarkRead reads documents of 1 KiB by partition and id, and the same records from the bare engine: few, which the
// engine remembers, and more than it can.
func BenchmarkRead(b *testing.B) {
	for _, count := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("documents=%d", count), func(b *testing.B) { benchRead(b, count) })
	}
}

func benchRead(b *testing.B, count int) {
	w := newDisk(b, benchDefinition(expiry.Never), true)
	w.fill(0, count)
	found := make([]store.Key, count)
	for i := range found {
		found[i], _ = benchBody(i)
		w.ok(w.store.Read(context.Background(), w.view(), found[i], func(access.Document) error { return nil }))
	}
	b.Run("store", func(b *testing.B) {
		b.ReportAllocs()
		v := w.view()
		for i := 0; b.Loop(); i++ {
			err := w.store.Read(context.Background(), v, found[i*7919%count], func(d access.Document) error {
				return nil
			})
			w.ok(err)
		}
	})
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		var record []byte
		for i := 0; b.Loop(); i++ {
			record = w.c.KeysOf(0).Record(record[:0], uint64(i*7919%count+1))
			_, err := w.engine.Get(context.Background(), record, func([]byte) error { return nil })
			w.ok(err)
		}
	})
}

// BenchmarkInsert makes durable documents of 1 KiB with five index terms, and
// writes the same number of keys and bytes to bare Pebble, one synced batch each.
func BenchmarkInsert(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("store/writers=%d", writers), func(b *testing.B) {
			w := newDisk(b, benchDefinition(expiry.Never), false)
			bodies := make([]store.Op, b.N)
			for i := range bodies {
				k, body := benchBody(i)
				bodies[i] = store.Op{Verb: store.Create, Key: k, Body: body}
			}
			b.ReportAllocs()
			share(b, writers, func(i int) error {
				_, err := w.write(bodies[i])
				return err
			})
		})
		b.Run(fmt.Sprintf("raw/writers=%d", writers), func(b *testing.B) {
			batches := recorded(b)
			db, err := praw.Open(b.TempDir(), &praw.Options{FormatMajorVersion: praw.FormatNewest, Logger: quiet{}})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			b.ReportAllocs()
			share(b, writers, func(i int) error {
				batch := db.NewBatch()
				for _, op := range batches[i%len(batches)] {
					k := append(append([]byte(nil), op.Key...), fmt.Sprint(i)...)
					if err := batch.Set(k, op.Value, nil); err != nil {
						return err
					}
				}
				return batch.Commit(praw.Sync)
			})
		})
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

// share calls do b.N times from that many goroutines.
func share(b *testing.B, workers int, do func(i int) error) {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
}

// A recorder notes what is written through it.
type recorder struct {
	kv.Engine
	mu      sync.Mutex
	batches [][]kv.Op
}

func (r *recorder) Apply(ctx context.Context, b *kv.Batch) error {
	err := r.Engine.Apply(ctx, b)
	r.mu.Lock()
	defer r.mu.Unlock()
	var ops []kv.Op
	for _, op := range b.Ops {
		ops = append(ops, kv.Op{Key: bytes.Clone(op.Key), Value: append([]byte{}, op.Value...)})
	}
	r.batches = append(r.batches, ops)
	return err
}

// recorded is the batches that the store makes of some documents.
func recorded(b *testing.B) [][]kv.Op {
	b.Helper()
	engine, err := pebble.Open(pebble.Options{Memory: true})
	if err != nil {
		b.Fatal(err)
	}
	r := &recorder{Engine: engine}
	w := &world{t: b, now: 1_000_000}
	w.catalog, err = catalog.Open(context.Background(), r, nil)
	w.ok(err)
	w.store, err = store.Open(context.Background(), r, w.catalog)
	w.ok(err)
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, benchDefinition(expiry.Never), nil)
	w.ok(err)
	r.batches = nil
	for i := range 1000 {
		k, body := benchBody(i)
		_, err := w.write(store.Op{Verb: store.Create, Key: k, Body: body})
		w.ok(err)
	}
	w.ok(w.store.Close())
	w.ok(engine.Close())
	return r.batches
}

// BenchmarkPolicyChange changes a container's default TTL at two sizes.
func BenchmarkPolicyChange(b *testing.B) {
	for _, count := range []int{100, *benchSize} {
		b.Run(fmt.Sprintf("documents=%d", count), func(b *testing.B) {
			w := newDisk(b, benchDefinition(expiry.Never), false)
			w.fill(0, count)
			for i := 0; b.Loop(); i++ {
				w.setTTL(expiry.TTL(1_000_000 + i))
			}
		})
	}
}
