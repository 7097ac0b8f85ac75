package tikv

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// The benchmarks run over the client's simulation, which has no network and no disk. They show what the engine itself
// costs, and how many batches share a transaction. MAYFLY_TIKV runs them on a cluster instead.

// measured is an engine to measure, and its transactions.
func measured(b *testing.B) (*Engine, *transactions) {
	b.Helper()
	x := &transactions{starts: map[uint64]bool{}}
	if address := os.Getenv("MAYFLY_TIKV"); address != "" {
		return opened(b, address), x
	}
	return newCluster(b).over(b, Options{}, x.pass), x
}

func BenchmarkGet(b *testing.B) {
	e, _ := measured(b)
	defer stop(b, e)
	set(b, e, "k", make([]byte, 1024))
	v := view(b, e)
	for _, r := range []struct {
		name string
		from kv.Reader
	}{{"newest", e}, {"view", v}} {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				get(b, r.from, "k")
			}
		})
	}
}

// BenchmarkInsert stores documents as the store does: one key that must be new, a counter, and eight other keys.
func BenchmarkInsert(b *testing.B) {
	for _, writers := range []int{1, 32} {
		b.Run(fmt.Sprintf("%d writers", writers), func(b *testing.B) {
			e, x := measured(b)
			defer stop(b, e)
			var made atomic.Int64
			b.SetParallelism(writers)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if err := insert(b, e, made.Add(1)); err != nil {
						b.Error(err)
					}
				}
			})
			if n := x.count(); n > 0 {
				b.ReportMetric(float64(made.Load())/float64(n), "batches/transaction")
			}
		})
	}
}

func insert(b *testing.B, e *Engine, id int64) error {
	for {
		v := view(b, e)
		batch := &kv.Batch{Since: v.Mark}
		lookup := fmt.Appendf(nil, "k/%d", id)
		get(b, v, string(lookup))
		batch.Read(lookup)
		batch.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
			n := bytesOf(number(last) + 1)
			b.Set(lookup, n)
			b.Set(append([]byte("d/"), n...), make([]byte, 1024))
			b.Set(append([]byte("f/"), n...), make([]byte, 16))
			for i := range 5 {
				b.Set(append(fmt.Appendf(nil, "i/%d/", i), n...), nil)
			}
			return n, nil
		})
		if err := e.Apply(b.Context(), batch); fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}
