package pebble

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

const benchKeys = 100_000

func benchKey(i int) []byte { return fmt.Appendf(nil, "d/container/%08d", i) }

// document is about as compressible as a real one.
func document() []byte {
	value := make([]byte, 1024)
	for i := range value {
		value[i] = byte(i % 7)
		if i%2 == 0 {
			value[i] = byte(rand.Uint32())
		}
	}
	return value
}

// loaded is an engine on disk with benchKeys documents, compacted.
func loaded(b *testing.B) *Engine {
	b.Helper()
	e := start(b, Options{Dir: b.TempDir()})
	for i := 0; i < benchKeys; {
		w := kv.Batch{NoSync: true}
		for range 500 {
			w.Set(benchKey(2*i), document())
			i++
		}
		if err := e.Apply(context.Background(), &w); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Compact(context.Background(), nil, nil); err != nil {
		b.Fatal(err)
	}
	return e
}

// BenchmarkGet compares Engine.Get with Pebble's own on a compacted engine.
func BenchmarkGet(b *testing.B) {
	e := loaded(b)
	defer stop(b, e)
	ctx := b.Context()
	for _, at := range []struct {
		name string
		key  func() []byte
	}{
		{"hit", func() []byte { return benchKey(2 * rand.IntN(benchKeys)) }},
		{"hot", func() []byte { return benchKey(2 * rand.IntN(100)) }},
		{"miss", func() []byte { return benchKey(2*rand.IntN(benchKeys) + 1) }},
	} {
		b.Run("raw/"+at.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, pin, err := e.db.Get(at.key())
				if err == nil {
					err = pin.Close()
				}
				if err != nil && err != pebble.ErrNotFound {
					b.Fatal(err)
				}
			}
		})
		b.Run("engine/"+at.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Get(ctx, at.key(), func([]byte) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
		// What a Get could be with the filters of the last level, which Pebble's Get
		// leaves aside: cheaper for absent keys, dearer when several levels have the key.
		b.Run("seek/"+at.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				it, err := e.db.NewIter(&pebble.IterOptions{UseL6Filters: true})
				if err != nil {
					b.Fatal(err)
				}
				it.SeekPrefixGE(at.key())
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("iterate100", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			it, err := e.Iterate(ctx, benchKey(2*rand.IntN(benchKeys)), nil)
			if err != nil {
				b.Fatal(err)
			}
			for n := 0; n < 100 && it.Next(); n++ {
				it.Value()
			}
			if err := it.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// entries are the keys that a document of 1 KiB brings along: its own, five of
// indexes, one of expiry and one of the feed.
func entries(n uint64) (keys [7][]byte) {
	for i := range keys {
		keys[i] = binary.BigEndian.AppendUint64(fmt.Appendf(nil, "i/container/%d/%08x/", i, rand.Uint32()), n)
	}
	return keys
}

// BenchmarkApply compares Engine.Apply with Pebble batches of the same bytes,
// which check and count nothing.
func BenchmarkApply(b *testing.B) {
	value, small := document(), make([]byte, 12)
	for _, writers := range []int{1, 8, 64} {
		for _, durable := range []bool{true, false} {
			name := fmt.Sprintf("writers=%d/durable=%v", writers, durable)
			b.Run("raw/"+name, func(b *testing.B) {
				e := start(b, Options{Dir: b.TempDir()})
				defer stop(b, e)
				var number atomic.Uint64
				options := pebble.NoSync
				if durable {
					options = pebble.Sync
				}
				spread(b, writers, func() error {
					n := number.Add(1)
					w := e.db.NewBatch()
					w.Set(benchKey(int(n)), value, nil)
					for _, key := range entries(n) {
						w.Set(key, small, nil)
					}
					w.Set([]byte("n"), binary.BigEndian.AppendUint64(nil, n), nil)
					if err := w.Commit(options); err != nil {
						return err
					}
					return w.Close()
				})
			})
			b.Run("engine/"+name, func(b *testing.B) {
				e := start(b, Options{Dir: b.TempDir()})
				defer stop(b, e)
				var number atomic.Uint64
				var conflicts atomic.Int64
				spread(b, writers, func() error {
					n := number.Add(1)
					v, err := e.View(context.Background())
					if err != nil {
						return err
					}
					w := kv.Batch{Since: v.Mark, NoSync: !durable, Ops: make([]kv.Op, 0, 12)}
					key := benchKey(int(n))
					w.Read(key)
					w.Set(key, value)
					for _, key := range entries(n) {
						w.Set(key, small)
					}
					w.Follow([]byte("n"), func(last []byte, w *kv.Batch) ([]byte, error) {
						n := uint64(1)
						if last != nil {
							n = binary.BigEndian.Uint64(last) + 1
						}
						return binary.BigEndian.AppendUint64(nil, n), nil
					})
					err = e.Apply(context.Background(), &w)
					if fault.KindOf(err) == fault.Conflict {
						conflicts.Add(1)
						return nil
					}
					return err
				})
				b.ReportMetric(float64(conflicts.Load())/float64(b.N), "conflicts/op")
			})
		}
	}
}

// spread runs do b.N times over so many goroutines.
func spread(b *testing.B, writers int, do func() error) {
	b.ReportAllocs()
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	b.StopTimer()
}

func BenchmarkOpen(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			stop(b, start(b, Options{Dir: b.TempDir()}))
		}
	})
	b.Run("existing", func(b *testing.B) {
		dir := b.TempDir()
		stop(b, start(b, Options{Dir: dir}))
		for b.Loop() {
			stop(b, start(b, Options{Dir: dir}))
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			stop(b, start(b, Options{}))
		}
	})
}
