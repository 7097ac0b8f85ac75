package memory

import (
	"context"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// write is a document of 1 KiB with a lookup key and five index entries, as the store writes one.
func write(b *testing.B, e kv.Engine, n int) {
	var batch kv.Batch
	for i := range 7 {
		key := binary.BigEndian.AppendUint64([]byte{byte(i)}, uint64(n)*0x9e3779b97f4a7c15)
		key = append(key, "a value of an index entry"...)
		value := []byte{}
		if i == 0 {
			value = make([]byte, 1024)
		}
		batch.Set(key, value)
	}
	if err := e.Apply(context.Background(), &batch); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkWrite(b *testing.B) {
	e := New()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		write(b, e, n)
	}
}

// BenchmarkWriteUnderReaders makes each write copy what the reader before it holds.
func BenchmarkWriteUnderReaders(b *testing.B) {
	e := New()
	for n := range 100_000 {
		write(b, e, n)
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		s, err := e.Snapshot(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		write(b, e, n)
		s.Close()
	}
}

func BenchmarkGet(b *testing.B) {
	e := New()
	for n := range 100_000 {
		write(b, e, n)
	}
	key := binary.BigEndian.AppendUint64([]byte{0}, 0)
	key = append(key, "a value of an index entry"...)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if found, err := e.Get(ctx, key, func([]byte) error { return nil }); !found || err != nil {
			b.Fatal(found, err)
		}
	}
}

// BenchmarkHeap tells what 100,000 documents take.
func BenchmarkHeap(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		e := New()
		for n := range 100_000 {
			write(b, e, n)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		b.ReportMetric(float64(e.Load().MemoryBytes)/(1<<20), "told-MiB")
		runtime.KeepAlive(e)
	}
}
