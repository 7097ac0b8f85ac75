package rest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv/pebble"
)

// BenchmarkBulk sends bulk requests of 100 operations, durable on disk; the time is for each operation.
func BenchmarkBulk(b *testing.B) {
	tail := `,"pk":"a","name":"Ada","n":36,"tags":["x","y"],"x":"` + strings.Repeat("x", 900) + `"}}`
	for _, c := range []struct {
		name  string
		items int // ids that the operations use
	}{{"create", 1 << 40}, {"replace", 10_000}} {
		b.Run(c.name, func(b *testing.B) {
			engine, err := pebble.Open(pebble.Options{Dir: b.TempDir()})
			must(b, err)
			d := newTestAPIOn(b, engine)
			d.do("POST", "/dbs", `{"id":"d"}`).want(201)
			d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash"}}`).want(201)
			send := func(from int) {
				var text strings.Builder
				for i := range 100 {
					fmt.Fprintf(&text, `,{"operationType":"Upsert","partitionKey":"[\"a\"]","resourceBody":{"id":"%d"%s`,
						(from+i)%c.items, tail)
				}
				d.do("POST", documents, "["+text.String()[1:]+"]", "x-ms-cosmos-is-batch-request", "True",
					"x-ms-cosmos-batch-atomic", "False", "x-ms-documentdb-partitionkeyrangeid", "0",
					"Prefer", "return=minimal").want(200)
			}
			if c.items < 1<<20 {
				for i := 0; i < c.items; i += 100 {
					send(i)
				}
			}
			b.ResetTimer()
			for i := 0; i < b.N; i += 100 {
				send(i)
			}
		})
	}
}
