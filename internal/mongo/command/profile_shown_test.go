package command_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The values of documents stay out of system.profile whatever the command is that has them.
func TestProfileHidesContents(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("shop")
	must(t, send(t, db, `{insert: 'c', documents: [{_id: 1, name: 'before'}]}`))
	must(t, send(t, db, `{profile: 2}`))
	for _, c := range []string{
		`{explain: {update: 'c', updates: [{q: {name: 'shown1'}, u: {$set: {name: 'hidden'}}}]}}`,
		`{explain: {update: 'c', updates: [{q: {name: 'shown2'}, u: [{$set: {name: 'hidden'}}]}]}}`,
		`{explain: {findAndModify: 'c', query: {name: 'shown3'}, update: {$set: {name: 'hidden'}}}}`,
		`{explain: {delete: 'c', deletes: [{q: {name: 'shown4'}, limit: 0}]}}`,
		`{explain: {update: 'c', let: {x: 'hidden'}, updates: [{q: {name: 'shown5'}, u: [{$set: {name: '$$x'}}]}]}}`,
		`{update: 'c', let: {x: 'hidden'}, updates: [{q: {name: 'shown6'}, u: [{$set: {name: '$$x'}}]}]}`,
		`{findAndModify: 'c', query: {name: 'shown7'}, update: {name: 'hidden'}}`,
		`{aggregate: 'c', pipeline: [{$match: {name: 'shown8'}}, {$set: {name: 'hidden'}}, {$out: 'd'}], cursor: {}}`,
		`{aggregate: 'c', pipeline: [{$match: {name: 'shown9'}}, {$merge: {into: 'd', whenMatched:
			[{$set: {name: 'hidden'}}]}}], cursor: {}}`,
		`{aggregate: 'c', pipeline: [{$match: {name: 'shown10'}}, {$set: {name: 'shown11'}}], cursor: {}}`,
	} {
		must(t, send(t, db, c))
	}
	if send(t, db, `{applyOps: [{op: 'i', ns: 'shop.c', o: {name: 'hidden'}}]}`) == nil {
		t.Error("applyOps is supported")
	}
	must(t, send(t, db, `{ping: 1}`))
	text := fmt.Sprint(records(t, db, bson.D{}, options.Find()))
	for i := range 11 {
		if want := fmt.Sprint("shown", i+1); !strings.Contains(text, want+`"`) {
			t.Errorf("the records have no %s", want)
		}
	}
	if at := strings.Index(text, "hidden"); at >= 0 {
		t.Errorf("the records have contents: %s", text[max(0, at-300):at+6])
	}
}

func TestProfileCutsLongCommands(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("shop")
	must(t, send(t, db, `{profile: 2}`))
	find := func(name string, many int) {
		t.Helper()
		list := make(bson.A, many)
		for i := range list {
			list[i] = strings.Repeat("漢", 100)
		}
		c, err := db.Collection("c").Find(t.Context(), bson.D{
			{Key: name, Value: bson.D{{Key: "$in", Value: list}}}, {Key: "last", Value: strings.Repeat("字", 30_000)},
		}, options.Find().SetComment("who it was"))
		must(t, err)
		must(t, c.Close(t.Context()))
	}
	for shift := range 4 { // one of them would cut a character
		find("name"+strings.Repeat("x", shift), 1000)
	}
	find(strings.Repeat("漢", 30_000), 1)
	must(t, send(t, db, `{ping: 1}`))
	list := records(t, db, eq("ns", "shop.c"), options.Find())
	if len(list) != 5 {
		t.Fatalf("%d records", len(list))
	}
	for i, x := range list {
		shown := x["command"].(bson.D)
		if len(shown) != 2 || shown[0].Key != "$truncated" || shown[1].Value != "who it was" {
			t.Errorf("record %d has the members %v", i, shown)
			continue
		}
		text := shown[0].Value.(string)
		if !utf8.ValidString(text) || !strings.HasPrefix(text, `{ find: "c"`) || !strings.HasSuffix(text, "...") {
			t.Errorf("record %d: %.50q…%q", i, text, text[len(text)-20:])
		}
		// As in MongoDB, 50,000 bytes are shown, of each string 150.
		short := strings.Repeat("漢", 50) + `..."`
		if i < 4 && (len(text) < 40_000 || len(text) > 50_000 || !strings.Contains(text, short)) {
			t.Errorf("record %d shows %d bytes", i, len(text))
		}
	}
}

func TestProfileFilterIsBounded(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("shop")
	set := func(bytes int) error {
		return db.RunCommand(t.Context(), bson.D{{Key: "profile", Value: 1}, {Key: "filter", Value: bson.D{
			{Key: "ns", Value: strings.Repeat("x", bytes)},
		}}}).Err()
	}
	must(t, set(16_000))
	if err := set(17_000); codeOf(err) != 2 || !strings.Contains(err.Error(), "at most 16384") {
		t.Errorf("a filter of 17 KB: %v", err)
	}
	var was struct{ Filter bson.Raw }
	must(t, db.RunCommand(t.Context(), eq("profile", -1)).Decode(&was))
	if len(was.Filter) < 16_000 || len(was.Filter) > 16_100 {
		t.Errorf("the filter has %d bytes", len(was.Filter))
	}
}

// What the error advises makes room.
func TestProfileOfManyDatabases(t *testing.T) {
	d := newServer(t, nil)
	for i := range 64 { // without any records
		must(t, send(t, d.Database(fmt.Sprint("db", i)), `{profile: 0, sampleRate: 0.5}`))
	}
	more := d.Database("more")
	err := send(t, more, `{profile: 1}`)
	if err == nil || !strings.Contains(err.Error(), "drop its collection system.profile") {
		t.Fatalf("every database is profiled: %v", err)
	}
	must(t, send(t, d.Database("db7"), `{profile: 0}`))
	must(t, send(t, d.Database("db7"), `{drop: 'system.profile'}`))
	must(t, send(t, more, `{profile: 1}`))
}

func TestProfileLeavesStrangersOut(t *testing.T) {
	d := newServer(t, withAuth)
	root := d.login("mayfly:"+accountKey, "")
	for _, name := range []string{"shop", "admin"} {
		must(t, send(t, root.Database(name), `{profile: 2}`))
	}
	stranger := d.connect("")
	for range 100 {
		for _, name := range []string{"shop", "admin"} {
			if err := send(t, stranger.Database(name), `{find: 'c', filter: {a: 'stranger'}}`); codeOf(err) != 13 {
				t.Fatalf("a stranger reads: %v", err)
			}
			_ = send(t, stranger.Database(name), `{ping: 1, comment: 'stranger'}`)
			must(t, send(t, stranger.Database(name), `{hello: 1, comment: 'stranger'}`))
			_ = send(t, stranger.Database(name), `{saslStart: 1, mechanism: 'stranger', payload: ''}`)
		}
	}
	must(t, send(t, root.Database("shop"), `{find: 'c', filter: {a: 'known'}}`))
	must(t, send(t, root.Database("shop"), `{ping: 1}`))
	for _, name := range []string{"shop", "admin"} {
		for _, x := range records(t, root.Database(name), bson.D{}, options.Find()) {
			if x["user"] == "" {
				t.Errorf("a record of a stranger: %v", x)
			}
		}
	}
	if list := records(t, root.Database("shop"), eq("op", "query"), options.Find()); len(list) != 1 {
		t.Errorf("the find of a known user has %d records", len(list))
	}
}

// A cursor on system.profile goes on with what is left, and holds no records.
func TestProfileCursors(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("shop")
	must(t, send(t, db, `{profile: 2}`))
	fill := func(n int) {
		t.Helper()
		for range n {
			c, err := db.Collection("c").Find(t.Context(), eq("name", strings.Repeat("x", 40_000)))
			must(t, err)
			must(t, c.Close(t.Context()))
		}
		must(t, send(t, db, `{ping: 1}`))
	}
	fill(20)
	open := func(order int) *mongo.Cursor {
		t.Helper()
		c, err := db.Collection("system.profile").Find(t.Context(), eq("op", "query"),
			options.Find().SetBatchSize(2).SetSort(bson.D{{Key: "$natural", Value: order}}))
		must(t, err)
		return c
	}
	count := func(c *mongo.Cursor) int {
		t.Helper()
		var all []bson.Raw
		must(t, c.All(t.Context(), &all))
		return len(all)
	}
	if up, down := count(open(1)), count(open(-1)); up != 20 || down != 20 {
		t.Errorf("cursors give %d and %d of 20 records", up, down)
	}
	up, down := open(1), open(-1)
	fill(40)
	if n := count(up); n > 2+1 { // the first batch, and what the producer had in its hand
		t.Errorf("a cursor gives %d of 20 records that were forgotten", n)
	}
	if n := count(down); n > 2+1 {
		t.Errorf("a cursor from the end gives %d of 20 records that were forgotten", n)
	}
	left := open(1)
	must(t, send(t, db, `{profile: 0}`))
	must(t, send(t, db, `{drop: 'system.profile'}`))
	if n := count(left); n > 2+1 {
		t.Errorf("a cursor gives %d records of a collection that is gone", n)
	}
}
