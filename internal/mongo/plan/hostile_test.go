package plan

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// TestLargeQueriesArePlanned plans queries with many conditions for many indexes: the conditions on a path are one, of
// which each index makes bounds once, and a limited number of entries is counted.
func TestLargeQueriesArePlanned(t *testing.T) {
	indexes := []access.NamedIndex{{Index: access.Identity, Name: "_id_", Columns: []access.NamedColumn{{Path: "_id"}}}}
	for i := 1; i < 64; i++ {
		indexes = append(indexes, access.NamedIndex{Index: uint32(i), Name: fmt.Sprint("i", i), Multikey: i%2 == 0,
			Columns: []access.NamedColumn{{Path: "a"}, {Path: "s0"}, {Path: fmt.Sprint("f", i)}}})
	}
	list := func(n int, of func(i int) any) (all bson.A) {
		for i := range n {
			all = append(all, of(i))
		}
		return all
	}
	number := func(i int) any { return i * 7 }
	var sort []access.NamedColumn
	for i := range 32 {
		sort = append(sort, access.NamedColumn{Path: fmt.Sprint("s", i)})
	}
	for name, query := range map[string]bson.D{
		"$expr": {{Key: "$expr", Value: bson.D{{Key: "$and", Value: list(60_000, func(i int) any {
			return bson.D{{Key: "$lt", Value: bson.A{"$a", i}}}
		})}}}},
		"$nor": {{Key: "$nor", Value: list(5000, func(i int) any { return bson.D{{Key: "a", Value: i}} })}},
		"$nor of $in": {{Key: "$nor", Value: list(1000, func(i int) any {
			return bson.D{{Key: "a", Value: bson.D{{Key: "$in", Value: list(90, func(j int) any { return i + j*7 })}}}}
		})}},
		"$in": {{Key: "a", Value: bson.D{{Key: "$in", Value: list(99_000, number)}}}},
	} {
		text, err := bson.Marshal(query)
		if err != nil {
			t.Fatal(err)
		}
		f, err := filter.Compile(doc.Doc(text), filter.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		all := conjunction{}
		all.add(f.Tree(), nil)
		all.negate(f.Tree())
		if n := len(all.list); n != 1 || len(all.list[0].node.Children) > maxCompared {
			t.Errorf("%s: %d conditions, or one of too many comparisons", name, n)
		}
		counted := 0
		q := Query{Filter: f, Text: doc.Doc(text), Sort: sort, Limit: 10}
		if _, err = Choose(q, indexes, func(_ *access.IndexScan, most int) (int, error) {
			counted += most
			return most, nil
		}); err != nil {
			t.Error(name, err)
		}
		if counted > maxCounted+maxEntries {
			t.Errorf("%s: %d entries are counted", name, counted)
		}
	}
}
