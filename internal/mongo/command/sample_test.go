package command_test

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// TestSampleHasLivingDocumentsOnly: $sample gives as many different documents as it is asked for, and none that has
// ended, whether it is drawn from the store, from all documents, from those that match, or through a view.
func TestSampleHasLivingDocumentsOnly(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.stamped("c", -1)
	db := d.Client.Database("test")
	var list []any
	for i := range 1000 {
		x := bson.D{{Key: "_id", Value: i}, {Key: "short", Value: i%2 == 1}}
		if i%2 == 1 {
			x = append(x, bson.E{Key: "ttl", Value: 10})
		}
		list = append(list, x)
	}
	_, err := db.Collection("c").InsertMany(t.Context(), list)
	must(t, err)
	must(t, db.CreateView(t.Context(), "v", "c", bson.A{}))
	sample := func(on, stages string) (short, long int) {
		t.Helper()
		cursor, err := db.Collection(on).Aggregate(t.Context(), document(t, "{p: ["+stages+"]}")[0].Value)
		must(t, err)
		var rows []struct {
			ID    int32 `bson:"_id"`
			Short bool
		}
		must(t, cursor.All(t.Context(), &rows))
		seen := map[int32]bool{}
		for _, row := range rows {
			if seen[row.ID] {
				t.Fatalf("%s of %s: %d comes twice", stages, on, row.ID)
			}
			if seen[row.ID] = true; row.Short {
				short++
			} else {
				long++
			}
		}
		return short, long
	}
	compare := func(ended bool) {
		t.Helper()
		for _, on := range []string{"c", "v"} {
			for stages, want := range map[string]int{
				`{$sample: {size: 20}}`: 20, `{$sample: {size: 400}}`: 400,
				`{$match: {short: false}}, {$sample: {size: 5}}`:                    5,
				`{$sample: {size: 10}}, {$match: {_id: {$gte: 0}}}, {$limit: 3}`:    3,
				`{$sort: {_id: 1}}, {$limit: 20}, {$sample: {size: 10}}`:            10,
				`{$sort: {_id: -1}}, {$skip: 10}, {$sample: {size: 10}}`:            10,
				`{$sample: {size: 20}}, {$addFields: {x: 1}}, {$match: {x: 1}}`:     20,
				`{$sample: {size: 20}}, {$sort: {_id: 1}}, {$project: {short: 1}}`:  20,
				`{$addFields: {x: 1}}, {$sample: {size: 20}}, {$project: {x: 0}}`:   20,
				`{$match: {}}, {$sample: {size: 20}}, {$project: {short: 1, x: 1}}`: 20,
			} {
				short, long := sample(on, stages)
				if short+long != want || ended && short > 0 {
					t.Errorf("%s of %s: %d documents, %d of them with a short life", stages, on, short+long, short)
				}
			}
		}
	}
	compare(false)
	d.pass(9 * time.Second)
	compare(false)
	d.pass(time.Second)
	compare(true)
}

// TestSampleInBatches: what ends, or is dropped, between two batches of a sample does not come.
func TestSampleInBatches(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.stamped("c", -1)
	c := d.Client.Database("test").Collection("c")
	var list []any
	for i := range 400 {
		list = append(list, bson.D{{Key: "_id", Value: i}, {Key: "ttl", Value: 10 + i%2*90}})
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	for _, stages := range []string{
		`{$sample: {size: 20}}`, `{$sample: {size: 300}}`, `{$match: {_id: {$gte: 0}}}, {$sample: {size: 20}}`,
	} {
		cursor, err := c.Aggregate(t.Context(), document(t, "{p: ["+stages+"]}")[0].Value,
			options.Aggregate().SetBatchSize(2))
		must(t, err)
		for n := 0; cursor.Next(t.Context()); n++ {
			if n == 1 {
				d.pass(10 * time.Second)
			}
			if id := cursor.Current.Lookup("_id").AsInt64(); n > 1 && id%2 == 0 {
				t.Errorf("%s gives %d, which has ended", stages, id)
			}
		}
		must(t, cursor.Err())
		_, err = c.DeleteMany(t.Context(), bson.D{})
		must(t, err)
		_, err = c.InsertMany(t.Context(), list)
		must(t, err)
	}
	cursor, err := c.Aggregate(t.Context(), document(t, `{p: [{$sample: {size: 5}}]}`)[0].Value,
		options.Aggregate().SetBatchSize(0))
	must(t, err)
	must(t, c.Drop(t.Context()))
	same(t, cursor.Next(t.Context()), false)
	refuses(t, cursor.Err(), int(code.QueryPlanKilled))
}

// TestSortOfLargeDocuments: a sort whose documents a later stage does not need goes ahead of it only if it has room.
func TestSortOfLargeDocuments(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	pad := make([]byte, 15<<20)
	for i := range 8 {
		x := bson.D{{Key: "_id", Value: i}, {Key: "a", Value: -i}, {Key: "pad", Value: pad}}
		_, err := c.InsertOne(t.Context(), x)
		must(t, err)
	}
	for _, stages := range []string{
		`{$project: {a: 1}}, {$sort: {a: 1}}, {$limit: 20}`, `{$unset: 'pad'}, {$sort: {a: 1}}, {$skip: 0}, {$limit: 100}`,
	} {
		cursor, err := c.Aggregate(t.Context(), document(t, "{p: ["+stages+"]}")[0].Value)
		must(t, err)
		var rows []struct{ A int }
		must(t, cursor.All(t.Context(), &rows))
		same(t, fmt.Sprint(rows), "[{-7} {-6} {-5} {-4} {-3} {-2} {-1} {0}]")
	}
}
