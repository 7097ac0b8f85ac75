package store_test

import (
	"strconv"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// BenchmarkInsertLarge makes documents of 1.7 MB of JSON with 250,000 index terms.
func BenchmarkInsertLarge(b *testing.B) {
	text := []byte(`{"id":"000000","pk":"p0","values":[0`)
	for i := range 250_000 {
		text = strconv.AppendInt(append(text, ','), int64(i+1), 10)
	}
	def := benchDefinition(expiry.Never)
	def.Indexing.Included, def.Indexing.Excluded = []string{"/*"}, nil
	w := newDisk(b, def, false)
	k, _ := benchBody(0)
	text = append(text, "]}"...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		body, err := doc.FromJSON(nil, text, doc.ParseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		id := strconv.Itoa(1_000_000 + i)[1:]
		copy(body[4+1+3+4:], id) // length, type, "id", length
		k := store.Key{Partition: k.Partition, ID: id}
		b.StartTimer()
		if _, err := w.write(store.Op{Verb: store.Create, Key: k, Body: body}); err != nil {
			b.Fatal(err)
		}
	}
}
