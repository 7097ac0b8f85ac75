package reaper_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/reaper"
	"github.com/mayflydb/mayfly/internal/store"
)

var (
	benchWave   = flag.Int("wave", 100_000, "documents of the wave in BenchmarkWave")
	benchBefore = flag.Duration("before", 3*time.Second, "how long BenchmarkWave measures requests before the wave")
)

// Paced requests of BenchmarkWave: due at fixed times, so that a stall counts
// for every request that waits behind it.
const readsPerSecond, writesPerSecond = 1700, 480

// BenchmarkWave reclaims a wave of documents of 1 KiB with five index terms that has expired at
// once, beside a tenth as many that live: flat out, and under paced durable writes and reads.
func BenchmarkWave(b *testing.B) {
	b.Run("idle", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			w := newBench(b)
			b.StartTimer()
			watch := clock.Start()
			w.exhaust(b)
			b.ReportMetric(float64(*benchWave)/watch.Elapsed().Seconds(), "documents/s")
			watch = clock.Start()
			if err := w.store.Settle(b.Context(), w.c); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(watch.Elapsed().Seconds(), "s-compaction-after")
		}
	})
	b.Run("loaded", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			w := newBench(b)
			before := w.load(b, func() bool { return false }, *benchBefore)
			b.StartTimer()
			watch := clock.Start()
			w.reaper.Start()
			during := w.load(b, w.done, 10*time.Minute)
			b.StopTimer()
			w.reaper.Stop()
			b.ReportMetric(float64(*benchWave)/watch.Elapsed().Seconds(), "documents/s")
			for i, name := range []string{"write", "read"} {
				for _, q := range []float64{0.5, 0.99} {
					b.ReportMetric(quantile(before[i], q), fmt.Sprintf("us-%s-p%.0f-before", name, q*100))
					b.ReportMetric(quantile(during[i], q), fmt.Sprintf("us-%s-p%.0f-during", name, q*100))
				}
			}
		}
	})
}

// exhaust does what ReclaimNow does, but for the compaction at its end.
func (w *bench) exhaust(b *testing.B) {
	now := w.clock.Now().Unix()
	for more := true; more; {
		done, err := w.store.Reclaim(b.Context(), w.c, now, 1024)
		if err != nil {
			b.Fatal(err)
		}
		more = done.More
	}
	for more := true; more; {
		done, err := w.store.Sweep(b.Context(), w.c, 4096)
		if err != nil {
			b.Fatal(err)
		}
		more = done.More
	}
}

type bench struct {
	store  *store.Store
	c      *store.Container
	reaper *reaper.Reaper
	clock  *clock.Real
	next   int
	swept  bool
}

// newBench makes a world on disk whose wave is dead already.
func newBench(b *testing.B) *bench {
	ctx := context.Background()
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	engine, err := pebble.Open(pebble.Options{Dir: b.TempDir()})
	check(err)
	cat, err := catalog.Open(ctx, engine, nil)
	check(err)
	st, err := store.Open(ctx, engine, cat)
	check(err)
	w := &bench{store: st, clock: clock.NewReal(time.Time{})}
	past := w.clock.Now().Unix() - 10_000
	db, err := cat.CreateDatabase(ctx, past, "d", nil)
	check(err)
	w.c, err = cat.CreateContainer(ctx, past, db, catalog.Definition{
		Name:      "c",
		Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2},
		TTL:       9_000,
		Indexing: catalog.Indexing{Included: []string{"/pk/?", "/n/?", "/group/?", "/name/?"},
			Excluded: []string{"/*"}},
	}, nil)
	check(err)
	w.fill(b, past, *benchWave)
	w.fill(b, w.clock.Now().Unix(), *benchWave/10)
	w.reaper = reaper.New(reaper.Options{Store: st, Clock: w.clock})
	b.Cleanup(func() {
		w.reaper.Stop()
		check(st.Close())
		check(engine.Close())
	})
	return w
}

func (w *bench) fill(b *testing.B, now int64, count int) {
	b.Helper()
	for end := w.next + count; w.next < end; {
		var ops []store.Op
		for range min(100, end-w.next) {
			ops = append(ops, w.create())
		}
		if _, err := w.store.WriteAll(b.Context(), w.c, now, ops); err != nil {
			b.Fatal(err)
		}
	}
}

var filler = strings.Repeat("lorem ipsum dolor sit amet ", 33)

func benchKey(i int) store.Key {
	return store.Key{Partition: []doc.Value{doc.String(fmt.Sprint("p", i%1000))}, ID: fmt.Sprint("item-", i)}
}

// create makes the next document.
func (w *bench) create() store.Op {
	i := w.next
	w.next++
	text := fmt.Appendf(nil, `{"id":"item-%d","pk":"p%d","n":%d,"group":%d,"name":"name %d","text":%q}`, i, i%1000, i,
		i%100, i*7919, filler)
	body, err := doc.FromJSON(nil, text, doc.ParseOptions{})
	if err != nil {
		panic(err)
	}
	return store.Op{Verb: store.Create, Key: benchKey(i), Body: body}
}

// done reports whether the sweep that ends the wave has been, without counting
// what is left: that would cost more than the reaper.
func (w *bench) done() bool {
	due := w.store.SweepDue(ctx, w.c, 0)
	over := w.swept && !due
	w.swept = due
	return over
}

// load sends paced requests until over says so or the time is up, and gives the
// latencies in microseconds of writes and of reads.
func (w *bench) load(b *testing.B, over func() bool, atMost time.Duration) [2][]float64 {
	ctx, cancel := context.WithTimeout(b.Context(), atMost)
	defer cancel()
	lives := w.next - *benchWave/10
	var mu sync.Mutex
	write := func(int) error {
		mu.Lock()
		op := w.create()
		mu.Unlock()
		_, err := w.store.Write(b.Context(), w.c, w.clock.Now().Unix(), op)
		return err
	}
	read := func(i int) error {
		v, err := w.c.Enter(ctx, w.clock.Now().Unix())
		if err != nil {
			return err
		}
		return w.store.Read(b.Context(), v, benchKey(lives+i*7919%(*benchWave/10)), func(access.Document) error {
			return nil
		})
	}
	var took [2][]float64
	var group sync.WaitGroup
	group.Go(func() { took[0] = w.pace(ctx, b, writesPerSecond, 32, write) })
	group.Go(func() { took[1] = w.pace(ctx, b, readsPerSecond, 8, read) })
	for ctx.Err() == nil && !over() {
		clock.Pause(ctx, 50*time.Millisecond)
	}
	cancel()
	group.Wait()
	return took
}

// pace calls do at a fixed rate, however long the calls take.
func (w *bench) pace(ctx context.Context, b *testing.B, rate, workers int, do func(int) error) []float64 {
	var mu sync.Mutex
	var took []float64
	due := make(chan int, 1<<16)
	watch := clock.Start()
	period := time.Second / time.Duration(rate)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range due {
				if err := do(i); err != nil {
					b.Error(err)
				}
				late := watch.Elapsed() - time.Duration(i)*period
				w.reaper.Observe(late)
				mu.Lock()
				took = append(took, float64(late.Microseconds()))
				mu.Unlock()
			}
		})
	}
	for i := 0; ctx.Err() == nil; i++ {
		if wait := time.Duration(i)*period - watch.Elapsed(); wait > 0 && clock.Pause(ctx, wait) != nil {
			break
		}
		due <- i
	}
	close(due)
	group.Wait()
	return took
}

func quantile(d []float64, q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}
