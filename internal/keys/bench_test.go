package keys

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

var room = make([]byte, 0, 4096)

func BenchmarkAppendPartition(b *testing.B) {
	for _, s := range schemes {
		values := []doc.Value{str("tenant-4711"), str("user-12345678"), int64Value(7)}[:s.n]
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				room = AppendPartition(room[:0], s.version, s.multi, values)
			}
		})
	}
}

func BenchmarkAppendValue(b *testing.B) {
	for _, c := range []struct {
		name  string
		value doc.Value
	}{
		{"int", int64Value(1700000000)}, {"double", doubleValue(0.25)}, {"string", str("a string of usual length")}, {"true", yes},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				room = AppendValue(room[:0], c.value, false)
			}
		})
	}
}

func BenchmarkEntry(b *testing.B) {
	r, path, v := Range{Container: 1}, AppendPath(nil, []string{"address", "city"}), str("Rotterdam")
	b.ReportAllocs()
	for b.Loop() {
		room = r.Entry(room[:0], 1, path, v, 7)
	}
}

func BenchmarkSplitLookup(b *testing.B) {
	r := Range{Container: 1}
	key := r.Lookup(nil, AppendPartition(nil, HashV2, false, []doc.Value{str("tenant-4711")}), "document-1234")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := SplitLookup(key, HashV2, false, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendingDoesNotAllocate(t *testing.T) {
	r, dst := Range{Container: 1}, make([]byte, 0, 1024)
	values := []doc.Value{str("tenant-4711"), int64Value(7), null}
	path, tokens := AppendPath(nil, []string{"a"}), []string{"address", "city"}
	p := AppendPartition(nil, HashV2, true, values)
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"partition, version 1", func() { AppendPartition(dst, HashV1, false, values[:1]) }},
		{"partition, version 2", func() { AppendPartition(dst, HashV2, false, values[:1]) }},
		{"partition, three levels", func() { AppendPartition(dst, HashV2, true, values) }},
		{"path", func() { AppendPath(dst, tokens) }},
		{"lookup", func() { r.Lookup(dst, p, "id") }},
		{"entry", func() { r.Entry(dst, 1, path, values[0], 7) }},
		{"unique", func() { r.Unique(dst, 1, p, values) }},
		{"header", func() { AppendHeader(dst, Header{}) }},
	} {
		if n := testing.AllocsPerRun(100, c.run); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
