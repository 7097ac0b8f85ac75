package keys

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

var buffer = make([]byte, 0, 4096)

func BenchmarkAppendPartition(b *testing.B) {
	for _, s := range schemes {
		values := []doc.Value{str("tenant-4711"), str("user-12345678"), doc.Int(7)}[:s.n]
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buffer = AppendPartition(buffer[:0], s.version, s.multi, values)
			}
		})
	}
}

func BenchmarkAppendValue(b *testing.B) {
	for _, c := range []struct {
		name  string
		value doc.Value
	}{
		{"int", doc.Int(1700000000)}, {"double", doc.Double(0.25)}, {"string", str("a string of usual length")},
		{"true", yes},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buffer = AppendValue(buffer[:0], c.value, false)
			}
		})
	}
}

func BenchmarkEntry(b *testing.B) {
	r, path, v := Range{Container: 1}, appendPath(nil, []string{"address", "city"}), str("Rotterdam")
	b.ReportAllocs()
	for b.Loop() {
		buffer = AppendNumber(AppendValue(r.EntryPrefix(buffer[:0], 1, path), v, false), 7)
	}
}

func BenchmarkPartitionEPK(b *testing.B) {
	r := Range{Container: 1}
	key := r.Lookup(nil, AppendPartition(nil, HashV2, false, []doc.Value{str("tenant-4711")}), "document-1234")
	_, _, rest, _ := Split(key)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buffer, _, err = PartitionEPK(buffer[:0], rest, HashV2, false, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendingDoesNotAllocate(t *testing.T) {
	r, dst := Range{Container: 1}, make([]byte, 0, 1024)
	values := []doc.Value{str("tenant-4711"), doc.Int(7), null}
	path, tokens := appendPath(nil, []string{"a"}), []string{"address", "city"}
	p := AppendPartition(nil, HashV2, true, values)
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"partition, version 1", func() { AppendPartition(dst, HashV1, false, values[:1]) }},
		{"partition, version 2", func() { AppendPartition(dst, HashV2, false, values[:1]) }},
		{"partition, three levels", func() { AppendPartition(dst, HashV2, true, values) }},
		{"path", func() { appendPath(dst, tokens) }},
		{"lookup", func() { r.Lookup(dst, p, "id") }},
		{"entry", func() { AppendNumber(AppendValue(r.EntryPrefix(dst, 1, path), values[0], false), 7) }},
		{"unique", func() { r.Unique(dst, 1, p, values) }},
		{"header", func() { AppendHeader(dst, Header{}) }},
	} {
		if n := testing.AllocsPerRun(100, c.run); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
