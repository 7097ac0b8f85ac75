package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// records reads system.profile as clients do.
func records(t *testing.T, db *mongo.Database, filter bson.D, o *options.FindOptionsBuilder) (list []bson.M) {
	t.Helper()
	c, err := db.Collection("system.profile").Find(t.Context(), filter, o)
	must(t, err)
	must(t, c.All(t.Context(), &list))
	return list
}

func TestProfileRecords(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("shop")
	must(t, send(t, db, `{insert: 'c', documents: [{_id: 1, name: 'before'}]}`))
	must(t, send(t, db, `{profile: 2}`))
	d.pass(time.Hour)
	must(t, send(t, db, `{insert: 'c', documents: [{_id: 2, name: 'hidden'}, {_id: 3}]}`))
	must(t, send(t, db, `{update: 'c', updates: [{q: {_id: 2}, u: {$set: {name: 'hidden'}}}]}`))
	must(t, send(t, db, `{find: 'c', filter: {name: 'shown'}}`))
	must(t, send(t, db, `{find: 'c', filter: {_id: 2}}`))
	must(t, send(t, db, `{delete: 'c', deletes: [{q: {}, limit: 0}]}`))
	must(t, send(t, db, `{ping: 1}`)) // the record of a request follows its answer
	must(t, send(t, d.Database("other"), `{find: 'c', filter: {name: 'other'}}`))

	list := records(t, db, bson.D{{Key: "ns", Value: "shop.c"}}, options.Find())
	var got []string
	for _, x := range list {
		got = append(got, fmt.Sprint(x["op"], " ", x["planSummary"], " ", x["docsExamined"], " ", x["nreturned"], " ",
			x["ninserted"], " ", x["nMatched"], " ", x["ndeleted"]))
		if x["ts"] != bson.NewDateTimeFromTime(d.clock.Now()) || x["client"] != "127.0.0.1" ||
			x["responseLength"] == int64(0) {
			t.Errorf("a record is %v", x)
		}
	}
	want := []string{
		"insert <nil> <nil> <nil> 2 <nil> <nil>",
		"update <nil> <nil> <nil> <nil> 1 <nil>",
		"query COLLSCAN 3 0 <nil> <nil> <nil>",
		"query IDHACK 1 1 <nil> <nil> <nil>",
		"remove COLLSCAN 3 0 <nil> <nil> 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("system.profile has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	text := fmt.Sprint(list)
	if !strings.Contains(text, "shown") || strings.Contains(text, "hidden") ||
		!strings.Contains(text, "{$set: {name: ?}}") {
		t.Errorf("values of the records: %s", text)
	}
	// As mongosh's show profile asks.
	newest := records(t, db, bson.D{{Key: "op", Value: bson.D{{Key: "$ne", Value: "command"}}}},
		options.Find().SetSort(bson.D{{Key: "$natural", Value: -1}}).SetLimit(2))
	if len(newest) != 2 || newest[0]["op"] != "remove" || newest[1]["op"] != "query" {
		t.Errorf("the newest are %v", newest)
	}
	sorted := records(t, db, bson.D{}, options.Find().SetSort(bson.D{{Key: "op", Value: -1}}).SetLimit(1).
		SetProjection(bson.D{{Key: "op", Value: 1}, {Key: "_id", Value: 0}}))
	if len(sorted) != 1 || len(sorted[0]) != 1 || sorted[0]["op"] != "update" {
		t.Errorf("sorted and projected: %v", sorted)
	}
	profile := db.Collection("system.profile")
	if n, err := profile.CountDocuments(t.Context(), eq("op", "query")); n != 2 || err != nil {
		t.Errorf("countDocuments gives %d, %v", n, err)
	}
	var counted struct{ N int }
	must(t, db.RunCommand(t.Context(), document(t, `{count: 'system.profile', query: {op: 'query'}}`)).Decode(&counted))
	if counted.N != 2 {
		t.Errorf("count gives %d", counted.N)
	}
	var ops []string
	must(t, profile.Distinct(t.Context(), "op", eq("ns", "shop.c")).Decode(&ops))
	if len(ops) != 4 {
		t.Errorf("distinct gives %v", ops)
	}
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if !slices.Contains(names, "system.profile") || err != nil {
		t.Errorf("listCollections gives %v, %v", names, err)
	}
	if _, err := profile.InsertOne(t.Context(), bson.D{}); err == nil {
		t.Error("a client writes to system.profile")
	}
	if err := db.RunCommand(t.Context(), document(t, `{collStats: 'system.profile'}`)).Err(); err != nil {
		t.Errorf("collStats: %v", err)
	}
	sized, err := profile.Aggregate(t.Context(), bson.A{document(t, `{$collStats: {storageStats: {}}}`)})
	must(t, err)
	var sizes []struct {
		StorageStats struct {
			Capped bool
			Size   int64
		}
	}
	must(t, sized.All(t.Context(), &sizes))
	if len(sizes) != 1 || !sizes[0].StorageStats.Capped || sizes[0].StorageStats.Size == 0 {
		t.Errorf("$collStats gives %v", sizes)
	}
	if err := profile.Drop(t.Context()); codeOf(err) != 20 {
		t.Errorf("dropping it while the profiler is on: %v", err)
	}
	must(t, send(t, db, `{profile: 0}`))
	must(t, profile.Drop(t.Context()))
	if names, _ := db.ListCollectionNames(t.Context(), bson.D{}); slices.Contains(names, "system.profile") {
		t.Errorf("after dropping it, listCollections gives %v", names)
	}
}

func TestProfileLevelOne(t *testing.T) {
	d := newServer(t, nil)
	for i, c := range []struct {
		set  string
		want int64
	}{
		{`{profile: 0}`, 0},
		{`{profile: 1, slowms: 3600000}`, 0},
		{`{profile: 1, slowms: 0}`, 2},
		{`{profile: 1, slowms: 0, sampleRate: 0}`, 0},
		{`{profile: 1, slowms: 3600000, filter: {op: 'query'}}`, 1},
		{`{profile: 1, filter: {millis: {$gt: 3600000}}}`, 0},
		{`{profile: 2, slowms: 3600000}`, 2},
	} {
		db := d.Database(fmt.Sprint("db", i))
		must(t, send(t, db, c.set))
		must(t, send(t, db, `{find: 'c', filter: {a: 1}}`))
		must(t, send(t, db, `{count: 'c'}`))
		must(t, send(t, d.Database("x"), `{ping: 1}`))
		n, err := db.Collection("system.profile").CountDocuments(t.Context(), eq("ns", db.Name()+".c"))
		if n != c.want || err != nil {
			t.Errorf("%s records %d, %v, want %d", c.set, n, err, c.want)
		}
	}
	var answer bson.M
	must(t, d.Database("db4").RunCommand(t.Context(), eq("profile", -1)).Decode(&answer))
	if answer["was"] != int32(1) || answer["slowms"] != int32(3600000) ||
		answer["filter"] == nil || answer["note"] == nil {
		t.Errorf("the settings are %v", answer)
	}
	must(t, send(t, d.Database("db4"), `{profile: 1, filter: 'unset'}`))
	if err := send(t, d.Database("db4"), `{profile: 1, filter: {$expr: {$eq: ['$op', 'query']}}}`); codeOf(err) != 115 {
		t.Errorf("a filter with $expr: %v", err)
	}
}

func TestProfileIsBounded(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("shop")
	must(t, send(t, db, `{profile: 2}`))
	long := strings.Repeat("x", 40_000)
	for range 40 {
		c, err := db.Collection("c").Find(t.Context(), eq("name", long))
		must(t, err)
		must(t, c.Close(t.Context()))
	}
	must(t, send(t, db, `{find: 'c', filter: {name: 'last'}}`))
	must(t, send(t, db, `{ping: 1}`))
	list := records(t, db, eq("ns", "shop.c"), options.Find())
	if n := len(list); n < 20 || n > 27 || !strings.Contains(fmt.Sprint(list[n-1]), "last") {
		t.Errorf("1 MiB has %d records of 40 KB", n)
	}
	for i := range 63 {
		must(t, send(t, d.Database(fmt.Sprint("db", i)), `{profile: 1}`))
	}
	if err := send(t, d.Database("more"), `{profile: 1}`); err == nil {
		t.Error("every database is profiled")
	}
}

func TestProfileNeedsRights(t *testing.T) {
	d := newServer(t, withAuth)
	root := d.login("mayfly:"+accountKey, "")
	shop := root.Database("shop")
	must(t, send(t, shop, `{createUser: 'ann', pwd: 'x', roles: ['readWrite']}`))
	must(t, send(t, shop, `{createUser: 'bob', pwd: 'x', roles: ['dbAdmin']}`))
	must(t, send(t, root.Database("admin"), `{createUser: 'eve', pwd: 'x', roles: ['clusterMonitor']}`))
	ann := d.login("ann:x", "authSource=shop").Database("shop")
	bob := d.login("bob:x", "authSource=shop").Database("shop")
	eve := d.login("eve:x", "authSource=admin").Database("shop")
	must(t, send(t, bob, `{profile: 2, slowms: 5}`))
	for _, c := range []struct {
		command       string
		ann, bob, eve int
	}{
		{`{profile: 0}`, 13, 0, 13},
		{`{profile: 0, slowms: 5}`, 13, 13, 13},
		{`{profile: 2}`, 13, 0, 13},
		{`{profile: -1}`, 13, 0, 0},
		{`{find: 'system.profile'}`, 13, 0, 0},
		{`{count: 'system.profile'}`, 13, 0, 0},
		{`{aggregate: 'system.profile', pipeline: [], cursor: {}}`, 13, 0, 0},
		{`{aggregate: 'c', pipeline: [{$lookup: {from: 'system.profile', pipeline: [], as: 'x'}}], cursor: {}}`,
			13, 13, 13},
		{`{aggregate: 'c', pipeline: [{$unionWith: 'system.profile'}], cursor: {}}`, 13, 13, 13},
		{`{drop: 'system.profile'}`, 13, 20, 13},
	} {
		for user, want := range map[*mongo.Database]int{ann: c.ann, bob: c.bob, eve: c.eve} {
			if err := send(t, user, c.command); int(codeOf(err)) != want {
				t.Errorf("%s: %v, want code %d", c.command, err, want)
			}
		}
	}
	list := records(t, bob, bson.D{{Key: "user", Value: "ann@shop"}, {Key: "errCode", Value: 13}},
		options.Find().SetLimit(1))
	if len(list) != 1 || list[0]["errName"] != "Unauthorized" {
		t.Errorf("the requests of ann are %v", list)
	}
}

func TestCurrentOpShowsIdleCursors(t *testing.T) {
	d := newServer(t, nil)
	must(t, send(t, d.Database("shop"), `{insert: 'c', documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`))
	must(t, send(t, d.Database("shop"), `{find: 'c', batchSize: 1}`))
	for _, c := range []struct {
		stage string
		want  int
	}{{`{$currentOp: {idleCursors: true}}`, 1}, {`{$currentOp: {}}`, 0}} {
		rows, err := d.Database("admin").Aggregate(t.Context(), bson.A{
			document(t, c.stage),
			document(t, `{$match: {type: 'idleCursor', ns: 'shop.c', 'cursor.noCursorTimeout': false}}`),
		})
		must(t, err)
		var list []bson.M
		must(t, rows.All(t.Context(), &list))
		if len(list) != c.want {
			t.Errorf("%s gives %v", c.stage, list)
		}
	}
}
