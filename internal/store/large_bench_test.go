package store_test

import (
	"fmt"
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

// BenchmarkReplace changes one number of a document that has 13, and of one that has 250,000 beside it, in an array or
// in an object.
func BenchmarkReplace(b *testing.B) {
	array, object := []byte(`[0`), []byte(`{"m0":0`)
	for i := range 250_000 {
		array = strconv.AppendInt(append(array, ','), int64(i+1), 10)
	}
	for i := range 100_000 {
		object = fmt.Appendf(object, `,"m%d":1`, i+1)
	}
	for _, c := range []struct{ name, members string }{
		{"small", `"a":1,"b":"two","c":3.5,"d":true,"e":5,"f":"six","g":7,"h":8,"i":{"j":10,"k":"eleven"},"l":12`},
		{"array", `"values":` + string(append(array, ']'))},
		{"object", `"values":` + string(append(object, '}'))},
	} {
		b.Run(c.name, func(b *testing.B) {
			def := benchDefinition(expiry.Never)
			def.Indexing.Included, def.Indexing.Excluded = []string{"/*"}, nil
			w := newDisk(b, def, false)
			k, _ := benchBody(0)
			k.ID = "1"
			var bodies [2]doc.Doc
			for i := range bodies {
				bodies[i] = w.body(fmt.Sprintf(`{"id":"1","pk":"p0",%s,"n":%d}`, c.members, i))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := w.write(store.Op{Verb: store.Upsert, Key: k, Body: bodies[i%2]}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
