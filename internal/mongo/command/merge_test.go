package command_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// TestSortsOfSeveralValuesMergeTheirScans: the newest documents of several kinds are found by one scan for each of
// them, in batches and pages, after documents have died and while other indexes come and go.
func TestSortsOfSeveralValuesMergeTheirScans(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.stamped("c", -1)
	c := d.Client.Database("test").Collection("c")
	r := rand.New(rand.NewPCG(1, 8))
	var list []any
	for i := range 3000 {
		x := bson.D{{Key: "_id", Value: i}, {Key: "kind", Value: i % 9}, {Key: "user", Value: i % 70},
			{Key: "at", Value: r.IntN(900)}}
		if i%4 == 0 {
			x = append(x, bson.E{Key: "ttl", Value: 10})
		}
		list = append(list, x)
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	for _, keys := range []string{`{kind: 1, at: -1}`, `{user: 1, at: -1, _id: 1}`} {
		_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: document(t, keys)})
		must(t, err)
	}
	first := func(query string) string {
		return `{find: 'c', filter: ` + query + `, sort: {at: -1}, limit: 10}`
	}
	queries := []string{`{kind: {$in: [1, 3, 4]}}`, `{$or: [{kind: 1}, {kind: 2}]}`,
		`{$or: [{kind: 1}, {user: 5, at: {$lt: 700}}, {user: 10}]}`}
	for _, query := range queries {
		answer, err := d.run(bson.D{{Key: "explain", Value: document(t, first(query))}})
		must(t, err)
		stage := inside(t, answer, "executionStats", "executionStages")
		for inside(t, stage, "stage") != "FETCH" {
			stage = inside(t, stage, "inputStage")
		}
		same(t, inside(t, stage, "inputStage", "stage"), "SORT_MERGE")
		if n := inside(t, answer, "executionStats", "totalDocsExamined").(int32); n > 20 {
			t.Errorf("%s reads %d documents", query, n)
		}
	}
	read := func(query, sort string, o *options.FindOptionsBuilder, each func()) (ids, order []int32) {
		t.Helper()
		cursor, err := c.Find(t.Context(), document(t, query), o.SetSort(document(t, sort)))
		must(t, err)
		for cursor.Next(t.Context()) {
			ids = append(ids, cursor.Current.Lookup("_id").Int32())
			order = append(order, cursor.Current.Lookup("at").Int32())
			each()
		}
		must(t, cursor.Err())
		return ids, order
	}
	turn := 0
	change := func() { // which index the cursor walks stays, and that it has a rival does not matter
		switch turn++; turn % 200 {
		case 50:
			_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: document(t, `{kind: 1, at: -1, x: 1}`)})
			must(t, err)
		case 150:
			must(t, c.Indexes().DropOne(t.Context(), "kind_1_at_-1_x_1"))
		}
	}
	compare := func() {
		t.Helper()
		for _, query := range queries {
			for _, sort := range []string{`{at: -1}`, `{at: 1}`} {
				want, _ := read(query, `{_id: 1}`, options.Find().SetHint("_id_"), func() {})
				got, order := read(query, sort, options.Find().SetBatchSize(7), change)
				if !slices.IsSortedFunc(order, func(a, b int32) int {
					if sort == `{at: 1}` {
						return int(a - b)
					}
					return int(b - a)
				}) {
					t.Errorf("%s by %s comes as %v", query, sort, order)
				}
				var pages []int32
				for skip := int64(0); skip < 90; skip += 30 {
					page, _ := read(query, sort, options.Find().SetSkip(skip).SetLimit(30), func() {})
					pages = append(pages, page...)
				}
				same(t, fmt.Sprint(pages), fmt.Sprint(got[:90]))
				slices.Sort(got)
				same(t, fmt.Sprint(got), fmt.Sprint(want))
			}
		}
	}
	compare()
	d.pass(9 * time.Second)
	n := 0
	ids, _ := read(queries[0], `{at: -1}`, options.Find().SetBatchSize(7), func() {
		if n++; n == 7 {
			d.pass(time.Second)
		}
	})
	for _, id := range ids[7:] {
		if id%4 == 0 {
			t.Errorf("document %d has expired", id)
		}
	}
	compare()
	must(t, d.reclaim(t.Context()))
	compare()
}
