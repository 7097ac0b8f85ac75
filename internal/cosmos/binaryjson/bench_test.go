package binaryjson

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

func BenchmarkDocument(b *testing.B) {
	const text = `{"id":"order-2026-000172839","pk":"c-84713","status":"shipped","total":1249.95,"ttl":2592000,"gift":false,"parent":null,` +
		`"address":{"street":"Lindenstraße ` +
		`12","city":"Berlin","geo":{"lat":52.5034,"lon":13.3969}},"tags":["bike","online","priority"]}`
	v, err := doc.ValueFromJSON([]byte(text))
	if err != nil {
		b.Fatal(err)
	}
	body := encode(v, 1)
	dst := make([]byte, 0, 4096)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Document(dst, body, doc.ParseOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
