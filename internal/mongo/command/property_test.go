package command_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var (
	propertySeed   = flag.Uint64("property-seed", 0, "replay a random test of plans; 0 takes a new seed")
	propertyRounds = flag.Int("property-rounds", 1000, "how many random queries are asked")
)

// A riddler makes up documents, indexes and queries.
type riddler struct{ *rand.Rand }

func (r riddler) pick(list ...string) string { return list[r.IntN(len(list))] }

// scalar is a value of any type, out of few, so that it is met again.
func (r riddler) scalar() any {
	switch r.IntN(14) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return r.pick("", "a", "ab", "b", "z", strings.Repeat("long", 300), strings.Repeat("long", 300)+"er")
	case 3:
		return time.Unix(int64(r.IntN(4)), 0)
	case 4:
		return float64(r.IntN(6)) / 2
	case 5:
		return int64(r.IntN(5))
	case 6:
		return bson.ObjectID{byte(r.IntN(3))}
	case 7:
		return bson.Timestamp{T: uint32(r.IntN(3))}
	case 8:
		d, _ := bson.ParseDecimal128(r.pick("1", "1.5", "2", "NaN", "1E3"))
		return d
	case 9:
		return []any{
			math.NaN(), math.Inf(1), bson.MinKey{}, bson.MaxKey{}, bson.Regex{Pattern: "^a"},
			bson.Binary{Data: []byte{byte(r.IntN(2))}},
		}[r.IntN(6)]
	}
	return int32(r.IntN(6))
}

func (r riddler) value(depth int) any {
	if depth > 0 {
		switch r.IntN(6) {
		case 0:
			return r.list(depth - 1)
		case 1:
			return bson.D{{Key: r.pick("x", "y"), Value: r.value(depth - 1)}}
		}
	}
	return r.scalar()
}

func (r riddler) list(depth int) bson.A {
	list := bson.A{}
	for range r.IntN(4) {
		list = append(list, r.value(depth))
	}
	return list
}

func (r riddler) document(id int) bson.D {
	d := bson.D{{Key: "_id", Value: id}}
	for _, name := range []string{"a", "b", "c"} {
		if r.IntN(5) > 0 {
			d = append(d, bson.E{Key: name, Value: r.value(2)})
		}
	}
	return d
}

func (r riddler) path() string {
	return r.pick("a", "b", "c", "a.x", "a.y", "b.x", "a.0", "_id", "a.x.y")
}

// index gives the keys and options of an index.
func (r riddler) index() mongo.IndexModel {
	keys := bson.D{}
	for range 1 + r.IntN(3) {
		path := r.path()
		if path == "_id" || path == "a.0" || slices.ContainsFunc(keys, func(e bson.E) bool { return e.Key == path }) {
			continue
		}
		keys = append(keys, bson.E{Key: path, Value: []int{1, -1}[r.IntN(2)]})
	}
	o := options.Index()
	switch r.IntN(6) {
	case 0:
		o.SetSparse(true)
	case 1:
		o.SetPartialFilterExpression(eq(r.pick("a", "b"), eq(r.pick("$gt", "$exists"), true)))
	case 2:
		o.SetPartialFilterExpression(eq(r.pick("a", "c"), eq(r.pick("$gte", "$lt"), r.IntN(4))))
	case 3:
		return mongo.IndexModel{Keys: bson.D{{Key: r.pick("$**", "a.$**"), Value: 1}}, Options: options.Index()}
	}
	return mongo.IndexModel{Keys: keys, Options: o}
}

func (r riddler) predicate() bson.E {
	path := r.path()
	one := func(op string, v any) bson.E { return bson.E{Key: path, Value: bson.D{{Key: op, Value: v}}} }
	switch r.IntN(12) {
	case 0, 1:
		return bson.E{Key: path, Value: r.value(1)}
	case 2, 3:
		return one(r.pick("$gt", "$gte", "$lt", "$lte"), r.value(1))
	case 4:
		return bson.E{Key: path, Value: pairs(r.pick("$gt", "$gte"), r.scalar(), r.pick("$lt", "$lte"), r.scalar())}
	case 5:
		return one(r.pick("$in", "$in", "$nin"), r.list(1))
	case 6:
		return one("$exists", r.IntN(2) == 0)
	case 7:
		return one("$ne", r.value(1))
	case 8:
		return one("$elemMatch", pairs(r.pick("$gt", "$lte", "$eq"), r.scalar(), "$lt", r.scalar()))
	case 9:
		return one("$elemMatch", bson.D{{Key: "x", Value: r.scalar()}})
	case 10:
		return one("$regex", r.pick("^a", "^lo", "b", "^$"))
	}
	return one(r.pick("$size", "$type"), r.IntN(4)+1)
}

func (r riddler) filter(depth int) bson.D {
	d := bson.D{}
	for range r.IntN(3) {
		e := r.predicate()
		if !slices.ContainsFunc(d, func(f bson.E) bool { return f.Key == e.Key }) {
			d = append(d, e)
		}
	}
	if depth > 0 && r.IntN(3) == 0 {
		logic := r.pick("$or", "$or", "$and", "$nor")
		d = append(d, bson.E{Key: logic, Value: bson.A{r.filter(depth - 1), r.filter(depth - 1)}})
	}
	return d
}

// TestPlansNeverChangeAnswers asks random queries with indexes and by a full scan, some in small batches, over
// documents that change and expire.
func TestPlansNeverChangeAnswers(t *testing.T) {
	t.Parallel()
	seed := *propertySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	r := riddler{rand.New(rand.NewPCG(seed, 1))}
	d := newServer(t, nil)
	ctx := t.Context()
	c := d.Database("test").Collection("c")
	next := 0
	mayFail := func(err error) {
		t.Helper()
		if err == nil {
			return
		}
		if text := err.Error(); !strings.Contains(text, "parallel arrays") && !strings.Contains(text, "Ambiguous") {
			t.Fatal(err)
		}
	}
	disturb := func() {
		for range 60 {
			_, err := c.InsertOne(ctx, r.document(next))
			next++
			mayFail(err)
		}
		for range 10 {
			_, err := c.ReplaceOne(ctx, bson.D{{Key: "_id", Value: r.IntN(next)}}, r.document(0)[1:])
			mayFail(err)
		}
		_, err := c.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: next - 150}}}})
		must(t, err)
		_ = c.Indexes().DropAll(ctx)
		for range 3 {
			model := r.index()
			if len(model.Keys.(bson.D)) == 0 {
				continue
			}
			_, err := c.Indexes().CreateOne(ctx, model)
			var refused mongo.CommandError
			if err != nil && !errors.As(err, &refused) {
				t.Fatal(err)
			}
		}
		if r.IntN(2) == 0 {
			o := options.Index().SetExpireAfterSeconds(int32(start.Unix())).SetName("ttl")
			_, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: eq("c", 1), Options: o})
			var refused mongo.CommandError
			if err != nil && !errors.As(err, &refused) {
				t.Fatal(err)
			}
			d.pass(time.Second)
		}
	}
	for round := range *propertyRounds {
		if round%50 == 0 {
			disturb()
		}
		f := r.filter(2)
		where := fmt.Sprintf("-property-seed=%d, round %d: %s", seed, round, extended(f))
		ask := func(o *options.FindOptionsBuilder) ([]string, error) {
			cursor, err := c.Find(ctx, f, o)
			if err != nil {
				return nil, err
			}
			var rows []bson.Raw
			err = cursor.All(ctx, &rows)
			return texts(rows), err
		}
		want, err := ask(options.Find().SetHint(bson.D{{Key: "$natural", Value: 1}}))
		got, err2 := ask(options.Find().SetBatchSize(int32(1 + r.IntN(20))))
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%s: scanned %v, by index %v", where, err, err2)
		}
		if err != nil {
			continue // it is no query
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			specs, _ := c.Indexes().ListSpecifications(ctx)
			for _, s := range specs {
				t.Log(s.KeysDocument, s.Sparse, s.Name)
			}
			t.Fatalf("%s\n%d rows by index\n%v\n%d scanned\n%v", where, len(got), got, len(want), want)
		}
		n, err := c.CountDocuments(ctx, f)
		if err2 == nil && (err != nil || int(n) != len(want)) {
			t.Fatalf("%s: counted %d, %v, want %d", where, n, err, len(want))
		}
		if r.IntN(3) > 0 {
			continue
		}
		sort := bson.D{{Key: r.path(), Value: []int{1, -1}[r.IntN(2)]}, {Key: "_id", Value: []int{1, -1}[r.IntN(2)]}}
		if sort[0].Key == "_id" {
			sort = sort[:1]
		}
		scanned, err := ask(options.Find().SetSort(sort).SetHint(bson.D{{Key: "$natural", Value: 1}}))
		must(t, err)
		limit := int64(r.IntN(12))
		sorted, err := ask(options.Find().SetSort(sort).SetBatchSize(int32(1 + r.IntN(20))).SetLimit(limit))
		must(t, err)
		if limit > 0 {
			scanned = scanned[:min(len(scanned), int(limit))]
		}
		if !slices.Equal(scanned, sorted) {
			t.Fatalf("%s sorted by %v limit %d\nby index %v\nscanned  %v", where, sort, limit, sorted, scanned)
		}
	}
}

func extended(v any) string {
	b, err := bson.MarshalExtJSON(v, true, false)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func texts(rows []bson.Raw) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = row.String()
	}
	return list
}
