package mongo

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// everyType is a document with a member of each type of BSON, the deprecated ones too.
func everyType(i int) bson.D {
	id := bson.ObjectID{11: byte(i), 10: byte(i >> 8)}
	decimal, _ := bson.ParseDecimal128(fmt.Sprintf("-%d.50E+%d", i, i))
	return bson.D{
		{Key: "_id", Value: i}, {Key: "double", Value: float64(i) / 3},
		{Key: "nan", Value: math.Float64frombits(0x7ff8000000000001)}, {Key: "minus zero", Value: math.Copysign(0, -1)},
		{Key: "string", Value: "ü漢😀\x00 end"}, {Key: "object", Value: bson.D{{Key: "a", Value: bson.D{}}}},
		{Key: "array", Value: bson.A{i, bson.A{}, nil}},
		{Key: "binary", Value: bson.Binary{Data: []byte{1, 2, byte(i)}}},
		{Key: "old", Value: bson.Binary{Subtype: 2, Data: []byte("old")}},
		{Key: "own", Value: bson.Binary{Subtype: 128}},
		{Key: "undefined", Value: bson.Undefined{}}, {Key: "id", Value: id}, {Key: "bool", Value: i%2 == 0},
		{Key: "date", Value: bson.DateTime(math.MaxInt64 - int64(i))},
		{Key: "null", Value: nil}, {Key: "regex", Value: bson.Regex{Pattern: "^a/b", Options: "imsx"}},
		{Key: "pointer", Value: bson.DBPointer{DB: "d.c", Pointer: id}},
		{Key: "code", Value: bson.JavaScript("f()")}, {Key: "symbol", Value: bson.Symbol("s")},
		{Key: "scoped", Value: bson.CodeWithScope{Code: "g()", Scope: bson.D{{Key: "x", Value: 1}}}},
		{Key: "int", Value: int32(-i)}, {Key: "timestamp", Value: bson.Timestamp{T: math.MaxUint32, I: uint32(i)}},
		{Key: "long", Value: int64(math.MinInt64 + i)},
		{Key: "decimal", Value: decimal}, {Key: "min", Value: bson.MinKey{}}, {Key: "max", Value: bson.MaxKey{}},
		{Key: "", Value: "no name"}, {Key: "a.b", Value: 1}, {Key: "$x", Value: 1},
	}
}

// A dump is what mongodump keeps of one collection: the entry of listCollections, the
// indexes, and the documents, all as the bytes that came.
type dump struct {
	name, kind string
	options    bson.Raw
	indexes    []bson.Raw
	documents  []bson.Raw
}

// dumped reads a database with the commands that mongodump sends.
func dumped(ctx context.Context, t *testing.T, db *mongo.Database) (all []dump) {
	t.Helper()
	for _, raw := range drain(ctx, t, db,
		bson.D{{Key: "listCollections", Value: 1}, {Key: "filter", Value: bson.D{}},
			{Key: "cursor", Value: bson.D{}}}) {
		var entry struct {
			Name, Type string
			Options    bson.Raw
		}
		must(t, bson.Unmarshal(raw, &entry))
		d := dump{name: entry.Name, kind: entry.Type, options: entry.Options}
		if entry.Name == "system.views" {
			continue
		}
		if d.kind == "collection" {
			d.indexes = drain(ctx, t, db, bson.D{{Key: "listIndexes", Value: d.name}, {Key: "cursor", Value: bson.D{}}})
			d.documents = drain(ctx, t, db,
				bson.D{{Key: "find", Value: d.name}, {Key: "hint", Value: bson.D{{Key: "_id", Value: 1}}},
					{Key: "noCursorTimeout", Value: true}})
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b dump) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	return all
}

func drain(ctx context.Context, t *testing.T, db *mongo.Database, command bson.D) (all []bson.Raw) {
	t.Helper()
	cursor, err := db.RunCommandCursor(ctx, command)
	must(t, err)
	must(t, cursor.All(ctx, &all))
	return all
}

// restore writes a dump with the commands that mongorestore sends.
func restore(ctx context.Context, t *testing.T, db *mongo.Database, all []dump) {
	t.Helper()
	for _, d := range all {
		create := bson.D{{Key: "create", Value: d.name}}
		elements, err := d.options.Elements()
		must(t, err)
		for _, e := range elements {
			create = append(create, bson.E{Key: e.Key(), Value: e.Value()})
		}
		if d.kind == "collection" {
			create = append(create, bson.E{Key: "idIndex", Value: d.indexes[0]})
		}
		must(t, db.RunCommand(ctx, create).Err())
		if d.kind != "collection" {
			continue
		}
		for chunk := range slices.Chunk(d.documents, 1000) {
			must(t,
				db.RunCommand(ctx,
					bson.D{{Key: "insert", Value: d.name}, {Key: "documents", Value: chunk},
						{Key: "ordered", Value: false},
						{Key: "bypassDocumentValidation", Value: true}, {Key: "bypassEmptyTsReplacement", Value: true},
						{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}}}}).Err())
		}
		if len(d.indexes) > 1 {
			must(t,
				db.RunCommand(ctx,
					bson.D{{Key: "createIndexes", Value: d.name}, {Key: "indexes", Value: d.indexes[1:]},
						{Key: "ignoreUnknownIndexOptions", Value: true}}).Err())
		}
	}
}

// What mongodump reads and mongorestore writes is the same database again. The tools
// themselves are in no registry that the tests reach: these are their commands.
func TestDumpAndRestore(t *testing.T) {
	t.Parallel()
	s := start(t, "--data", t.TempDir())
	client := s.connect(t, "")
	ctx := within(t, 3*patience)
	from, to := client.Database("from"), client.Database("to")

	types := from.Collection("types")
	var documents []any
	for i := range 3000 {
		documents = append(documents, everyType(i))
	}
	_, err := types.InsertMany(ctx, documents)
	must(t, err)
	must(t,
		from.CreateCollection(ctx, "strict",
			options.CreateCollection().SetValidationLevel("moderate").SetValidationAction("warn").
				SetValidator(bson.D{{Key: "$jsonSchema", Value: bson.D{{Key: "required", Value: bson.A{"a"}}}}})))
	must(t, from.CreateCollection(ctx, "empty"))
	must(t,
		from.CreateView(ctx, "view", "types",
			bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "int", Value: bson.D{{Key: "$lt", Value: -2990}}}}}}}))
	_, err = types.Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: "int", Value: 1}, {Key: "object.a", Value: -1}}},
		{Keys: bson.D{{Key: "long", Value: -1}}, Options: options.Index().SetUnique(true).SetName("the long one")},
		{Keys: bson.D{{Key: "none", Value: 1}}, Options: options.Index().SetSparse(true).SetHidden(true)},
		{Keys: bson.D{{Key: "double", Value: 1}},
			Options: options.Index().SetPartialFilterExpression(bson.D{{Key: "bool", Value: true}})},
		{Keys: bson.D{{Key: "$**", Value: 1}},
			Options: options.Index().SetWildcardProjection(bson.D{{Key: "object", Value: 1}})},
		{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600)},
		{Keys: bson.D{{Key: "_ts", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(86400)},
	})
	must(t, err)

	kept := dumped(ctx, t, from)
	restore(ctx, t, to, kept)
	got := dumped(ctx, t, to)
	if len(got) != 4 || len(kept) != 4 {
		t.Fatalf("%d collections became %d", len(kept), len(got))
	}
	for i, want := range kept {
		have := got[i]
		if have.name != want.name || have.kind != want.kind || !bytes.Equal(have.options, want.options) {
			t.Errorf("%s %s %s became %s %s %s", want.kind, want.name, want.options, have.kind, have.name, have.options)
		}
		equalRaw(t, want.name+" indexes", have.indexes, want.indexes)
		equalRaw(t, want.name+" documents", have.documents, want.documents)
	}
	for i, raw := range kept[2].documents {
		sent, err := bson.Marshal(everyType(i))
		must(t, err)
		if kept[2].name == "types" && !bytes.Equal(raw, sent) {
			t.Fatalf("document %d:\n got %s\nsent %s", i, raw, bson.Raw(sent))
		}
	}
	if n := count(t, to.Collection("view"), bson.D{}); n != 9 {
		t.Errorf("the view shows %d documents", n)
	}
	began := time.Now()
	must(t, client.Database("from").Drop(ctx))
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("dropDatabase took %v", took)
	}
}

func equalRaw(t *testing.T, what string, got, want []bson.Raw) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("%s %d:\n got %s\nwant %s", what, i, got[i], want[i])
			return
		}
	}
}
