package mayfly_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly"
	"github.com/mayflydb/mayfly/disk"
	"github.com/mayflydb/mayfly/internal/clock"
)

// BenchmarkSnapshot saves, changes and restores a database with 10,000 documents of 1 KiB and two indexes.
func BenchmarkSnapshot(b *testing.B) {
	for name, opts := range map[string][]mayfly.Option{"memory": nil, "disk": {disk.Dir(b.TempDir())}} {
		b.Run(name, func(b *testing.B) {
			db, err := mayfly.Open(b.Context(), append(opts, mayfly.Mongo("127.0.0.1:0"))...)
			must(b, err)
			defer db.Close()
			logs := connect(b, db).Database("app").Collection("logs")
			must(b,
				logs.Database().RunCommand(b.Context(),
					bson.D{{Key: "createIndexes", Value: "logs"}, {Key: "indexes", Value: bson.A{
						bson.D{{Key: "key", Value: bson.D{{Key: "n", Value: 1}}}, {Key: "name", Value: "n"}},
						bson.D{{Key: "key", Value: bson.D{{Key: "at", Value: 1}}}, {Key: "name", Value: "at"},
							{Key: "expireAfterSeconds", Value: 86400}},
					}}}).Err())
			for i := 0; i < 10_000; i += 1000 {
				batch := make([]any, 1000)
				for j := range batch {
					batch[j] = bson.D{{Key: "_id", Value: i + j}, {Key: "n", Value: i * j},
						{Key: "at", Value: db.Clock().Now()},
						{Key: "text", Value: fmt.Sprintf("%01000d", i)}}
				}
				_, err := logs.InsertMany(b.Context(), batch)
				must(b, err)
			}
			var save, load clock.Stopwatch
			var saved, loaded float64
			for b.Loop() {
				save = clock.Start()
				must(b, db.Snapshot(b.Context(), "start"))
				saved += save.Elapsed().Seconds() * 1000
				_, err := logs.DeleteMany(b.Context(), bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: 100}}}})
				must(b, err)
				load = clock.Start()
				must(b, db.Restore(b.Context(), "start"))
				loaded += load.Elapsed().Seconds() * 1000
				must(b, db.DeleteSnapshot(b.Context(), "start"))
			}
			b.ReportMetric(saved/float64(b.N), "ms/save")
			b.ReportMetric(loaded/float64(b.N), "ms/restore")
		})
	}
}
