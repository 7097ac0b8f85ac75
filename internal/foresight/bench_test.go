package foresight_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/store"
)

// benchDocuments is how many documents BenchmarkForesight has, written over about twelve days; each tenth has a ttl of
// its own.
const benchDocuments = 1_000_000

func benchWorld(b *testing.B) *world {
	def := noSQL(60 * 86400)
	def.Indexing = catalog.Indexing{Excluded: []string{"/*"}}
	w := worldOn(b, onDisk(b), def)
	const each = 1000
	for i := 0; i < benchDocuments; i += each {
		ops := make([]store.Op, each)
		for j := range ops {
			id := fmt.Sprint(i + j)
			d := bson.D{{Key: "id", Value: id}, {Key: "pk", Value: "p"}, {Key: "from", Value: w.now},
				{Key: "rest", Value: make([]byte, 100)}}
			if j%10 == 0 {
				d = append(d, bson.E{Key: "ttl", Value: int64(86400 * (50 + j%40))})
			}
			body, err := bson.Marshal(d)
			w.ok(err)
			ops[j] = store.Op{Verb: store.Create, Key: store.Key{Partition: []doc.Value{doc.String("p")}, ID: id},
				Body: body}
		}
		_, err := w.store.WriteAll(ctx, w.c, w.now, ops)
		w.ok(err)
		w.now += each
	}
	return w
}

// BenchmarkForesight asks about a million documents: a small wave and a large one, exactly and by an estimate, and
// where only the documents themselves have the answer.
func BenchmarkForesight(b *testing.B) {
	w := benchWorld(b)
	ask := func(name string, ch foresight.Change, limit int) {
		b.Run(name, func(b *testing.B) {
			var p *foresight.Preview
			for b.Loop() {
				var err error
				p, err = w.f.Preview(ctx, w.c, w.now, ch, limit)
				w.ok(err)
			}
			b.ReportMetric(float64(p.Windows[4].Documents), "documents")
			b.ReportMetric(float64(p.Look.Entries), "entries")
			if p.Exact != (name != "estimate" && name != "property") {
				b.Errorf("exact: %v", p.Exact)
			}
		})
	}
	oldest := expiry.TTL(w.now - start) // the age of the first thousand
	ask("small-wave", foresight.Change{Default: pointer(30*86400 + oldest)}, 0)
	ask("everything", foresight.Change{Default: pointer(expiry.TTL(60))}, 2*benchDocuments)
	ask("estimate", foresight.Change{Default: pointer(expiry.TTL(60))}, 100_000)
	ask("property", foresight.Change{Property: pointer("/from")}, 0)
	b.Run("forecast", func(b *testing.B) {
		for b.Loop() {
			_, err := w.f.Forecast(ctx, foresight.Scope{}, w.now, foresight.ByDay, 0, 0)
			w.ok(err)
		}
	})
}
