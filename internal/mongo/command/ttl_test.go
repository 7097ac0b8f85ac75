package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// dateAt is an instant so many milliseconds after the start, in extended JSON.
func dateAt(ms int) string {
	at := start.Add(time.Duration(ms) * time.Millisecond)
	return fmt.Sprintf(`{"$date":%q}`, at.Format("2006-01-02T15:04:05.000Z07:00"))
}

// dated makes a collection with a TTL index on dates.
func (d *testServer) dated(collection, path string, direction, seconds int, rest string) {
	d.t.Helper()
	d.expect(fmt.Sprintf(`{"createIndexes":%q,"indexes":[{"key":{%q:%d},"name":"ttl","expireAfterSeconds":%d%s}]}`, collection, path, direction, seconds, rest), oneIndexMade)
}

// stamped makes a collection whose lifetime counts from the stamp.
func (d *testServer) stamped(collection string, seconds int) {
	d.t.Helper()
	d.expect(fmt.Sprintf(`{"createIndexes":%q,"indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":%d}]}`, collection, seconds),
		`{_t: "CreateIndexesResponse", `+oneIndexMade[1:])
}

func (d *testServer) insert(collection, document string) {
	d.t.Helper()
	d.expect(fmt.Sprintf(`{"insert":%q,"documents":[%s]}`, collection, document), `{n: 1}`)
}

// never is a document that does not expire.
const never = 0

// TestDateTypes has what expires by a date: sections 1.4 and 0. ms is after how many milliseconds the
// document is over, of which the server sees whole seconds; 1 from the start, never when it is not.
func TestDateTypes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, value string
		ms          int
	}{
		{"date", dateAt(10_000), 15_000},
		{"with milliseconds", dateAt(10_001), 16_000},
		{"just before a second", dateAt(9_999), 15_000},
		{"already over", dateAt(-5_000), 1},
		{"before 1970", `{"$date":{"$numberLong":"-1000"}}`, 1},
		{"the earliest", `{"$date":{"$numberLong":"-9223372036854775808"}}`, 1},
		{"the latest", `{"$date":{"$numberLong":"9223372036854775807"}}`, never},
		{"null", `null`, never},
		{"string", `"2020-01-01T00:00:00Z"`, never},
		{"int", `1`, never},
		{"long of milliseconds", `{"$numberLong":"1577836800000"}`, never},
		{"double", `1577836800000.5`, never},
		{"bool", `true`, never},
		{"timestamp", `{"$timestamp":{"t":1,"i":1}}`, never},
		{"regex", `{"$regularExpression":{"pattern":"a","options":""}}`, never},
		{"ObjectId", `{"$oid":"000000000000000000000000"}`, never},
		{"minKey", `{"$minKey":1}`, never},
		{"maxKey", `{"$maxKey":1}`, never},
		{"object", `{"a":` + dateAt(0) + `}`, never},
		{"array, the earliest decides",
			`[` + dateAt(60_000) + `,` + dateAt(10_000) + `,"x",` + dateAt(20_000) + `]`, 15_000},
		{"array without dates", `["x",1]`, never},
		{"empty array", `[]`, never},
		{"array in an array", `[[` + dateAt(0) + `]]`, never},
	}
	for direction, order := range map[int]string{1: "ascending", -1: "descending"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			for i, c := range cases {
				coll := fmt.Sprint("c", i)
				d.dated(coll, "f", direction, 5, "")
				d.insert(coll, `{"_id":1,"f":`+c.value+`}`)
			}
			d.insert("c0", `{"_id":2}`) // without the field
			for second := 0; second <= 17; second++ {
				for i, c := range cases {
					want := "1"
					if c.ms == 1 || c.ms != never && second*1000 >= c.ms {
						want = ""
					}
					if i == 0 {
						want = strings.TrimSpace(want + " 2")
					}
					if got := d.ids(fmt.Sprint("c", i)); got != want {
						t.Errorf("%s after %d s: %q, want %q", c.name, second, got, want)
					}
				}
				d.pass(time.Second)
			}
		})
	}
}

// TestDatePaths has nested paths, and which documents of a partial index end.
func TestDatePaths(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.dated("nested", "a.b", 1, 5, "")
	d.insert("nested", `{"_id":1,"a":{"b":`+dateAt(0)+`}}`)
	d.insert("nested", `{"_id":2,"a":[{"b":`+dateAt(60_000)+`},{"c":1},{"b":`+dateAt(0)+`}]}`)
	d.insert("nested", `{"_id":3,"a":[{"b":[`+dateAt(9_000)+`,`+dateAt(0)+`]}]}`)
	d.insert("nested", `{"_id":4,"a":{"c":`+dateAt(0)+`}}`)
	d.insert("nested", `{"_id":5,"a":`+dateAt(0)+`}`)
	d.insert("nested", `{"_id":6,"a.b":`+dateAt(0)+`}`)
	d.dated("partial", "at", 1, 5, `,"partialFilterExpression":{"kind":"session","n":{"$gte":2}}`)
	d.insert("partial", `{"_id":1,"kind":"session","n":2,"at":`+dateAt(0)+`}`)
	d.insert("partial", `{"_id":2,"kind":"session","n":1,"at":`+dateAt(0)+`}`)
	d.insert("partial", `{"_id":3,"kind":"other","n":2,"at":`+dateAt(0)+`}`)
	d.insert("partial", `{"_id":4,"n":2,"at":`+dateAt(0)+`}`)
	d.dated("hidden", "at", 1, 5, `,"hidden":true`)
	d.insert("hidden", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.dated("sparse", "at", 1, 5, `,"sparse":true`)
	d.insert("sparse", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.insert("sparse", `{"_id":2}`)
	d.dated("unique", "at", 1, 5, `,"unique":true`)
	d.insert("unique", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.expect(`{"createIndexes":"several","indexes":[{"key":{"a":1},"name":"a_1","expireAfterSeconds":5},{"key":{"b":-1},"name":"b_-1","expireAfterSeconds":0}]}`,
		`{numIndexesBefore: 1, numIndexesAfter: 3, createdCollectionAutomatically: true}`)
	d.insert("several", `{"_id":1,"a":`+dateAt(0)+`,"b":`+dateAt(60_000)+`}`)
	d.insert("several", `{"_id":2,"a":`+dateAt(60_000)+`,"b":`+dateAt(5_000)+`}`)
	d.insert("several", `{"_id":3,"a":`+dateAt(60_000)+`}`)
	d.insert("several", `{"_id":4}`)

	d.pass(4 * time.Second)
	for coll, want := range map[string]string{
		"nested": "1 2 3 4 5 6", "partial": "1 2 3 4", "hidden": "1", "sparse": "1 2", "unique": "1",
		"several": "1 2 3 4",
	} {
		d.alive(coll, want)
	}
	d.pass(time.Second)
	for range 2 {
		for coll, want := range map[string]string{
			"nested": "4 5 6", "partial": "2 3 4", "hidden": "", "sparse": "2", "unique": "", "several": "3 4",
		} {
			d.alive(coll, want)
		}
		must(t, d.reclaim(t.Context()))
	}
	d.insert("unique", `{"_id":2,"at":`+dateAt(0)+`}`) // over at once
	d.alive("unique", "")
	d.pass(60 * time.Second)
	d.alive("several", "4")
}

// TestDateRefresh is what moves the end of a document: its date, and nothing else.
func TestDateRefresh(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.dated("c", "at", 1, 10, "")
	d.insert("c", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.insert("c", `{"_id":2,"at":`+dateAt(0)+`}`)
	d.insert("c", `{"_id":3,"at":`+dateAt(0)+`}`)
	d.pass(9 * time.Second)
	d.expect(`{"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"n":1}}}]}`, `{n: 1, nModified: 1}`)
	d.expect(`{"update":"c","updates":[{"q":{"_id":2},"u":{"$set":{"at":`+dateAt(9_000)+`}}}]}`, `{n: 1, nModified: 1}`)
	d.expect(`{"update":"c","updates":[{"q":{"_id":3},"u":{"$unset":{"at":1}}}]}`, `{n: 1, nModified: 1}`)
	d.pass(time.Second)
	d.alive("c", "2 3")
	d.pass(8 * time.Second)
	d.alive("c", "2 3")
	d.pass(time.Second)
	d.alive("c", "3")
}

// TestItemTTL has the values of ttl in a document: section 2.3, T-81 to T-89, A-05, A-28. life is the
// seconds of the document in a collection with 10; 0 for ever.
func TestItemTTL(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	cases := []struct {
		name, members string
		life          int
	}{
		{"absent", `"x":1`, 10},
		{"T-86 20.0", `"ttl":{"$numberDouble":"20.0"}`, 20},
		{"T-86 NumberInt(20)", `"ttl":{"$numberInt":"20"}`, 20},
		{"T-86 NumberLong(20)", `"ttl":{"$numberLong":"20"}`, 20},
		{"T-87 20.5", `"ttl":20.5`, 10},
		{"T-88 NumberLong(2147483649)", `"ttl":{"$numberLong":"2147483649"}`, 10},
		{"2147483648", `"ttl":{"$numberLong":"2147483648"}`, 10},
		{"2147483647", `"ttl":2147483647`, 2147483647},
		{"shorter", `"ttl":1`, 1},
		{"-1", `"ttl":-1`, 0},
		{"-1 as long", `"ttl":{"$numberLong":"-1"}`, 0},
		{"-1 as double", `"ttl":{"$numberDouble":"-1.0"}`, 0},
		{"0", `"ttl":0`, 10},
		{"-0.0", `"ttl":{"$numberDouble":"-0.0"}`, 10},
		{"-2", `"ttl":-2`, 10},
		{"NaN", `"ttl":{"$numberDouble":"NaN"}`, 10},
		{"infinity", `"ttl":{"$numberDouble":"Infinity"}`, 10},
		{"minus infinity", `"ttl":{"$numberDouble":"-Infinity"}`, 10},
		{"1e300", `"ttl":1e300`, 10},
		{"decimal", `"ttl":{"$numberDecimal":"20"}`, 10},
		{"string", `"ttl":"20"`, 10},
		{"bool", `"ttl":true`, 10},
		{"null", `"ttl":null`, 10},
		{"date", `"ttl":` + dateAt(20_000), 10},
		{"object", `"ttl":{"a":20}`, 10},
		{"array", `"ttl":[20]`, 10},
		{"ObjectId", `"ttl":{"$oid":"000000000000000000000000"}`, 10},
		{"binary", `"ttl":{"$binary":{"base64":"FA==","subType":"00"}}`, 10},
		{"timestamp", `"ttl":{"$timestamp":{"t":20,"i":0}}`, 10},
		{"TTL", `"TTL":20`, 10},
		{"Ttl", `"Ttl":20`, 10},
		{"_ttl", `"_ttl":20`, 10},
		{"nested", `"a":{"ttl":20}`, 10},
	}
	d.stamped("c", 10)
	d.stamped("none", -1)
	d.tell(`{"create":"off"}`)
	for i, c := range cases {
		document := fmt.Sprintf(`{"_id":%d,%s}`, i, c.members)
		d.insert("c", document)
		d.insert("none", document)
		d.insert("off", document)
	}
	d.expect(`{"insert":"c","documents":[{"id":1,"ttl":1},{"id":1,"ttl":1},{"id":1,"ttl":1}]}`, `{n: 3}`) // T-89
	var all []string
	for i := range cases {
		all = append(all, fmt.Sprint(i))
	}
	second := 0
	for _, check := range []int{1, 9, 10, 19, 20, 21, 2_000_000_000, 2_147_483_646, 2_147_483_647} {
		d.pass(time.Duration(check-second) * time.Second)
		second = check
		var with, without []string
		for i, c := range cases {
			if c.life == 0 || second < c.life {
				with = append(with, fmt.Sprint(i))
			}
			if own := c.life != 0 && c.life != 10; !own || second < c.life {
				without = append(without, fmt.Sprint(i))
			}
		}
		d.alive("c", strings.Join(with, " "))
		d.alive("none", strings.Join(without, " "))
		d.alive("off", strings.Join(all, " "))
	}
}

// TestSeeds is T-78 and T-86 as the documents have them: what was there before the index is included.
func TestSeeds(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.insert("coll", `{"_id":1,"location":"Paris"}`)
	d.pass(5 * time.Second)
	d.insert("coll", `{"_id":2,"location":"Paris","ttl":20}`)
	d.insert("coll", `{"_id":3}`)
	d.pass(5 * time.Second)
	d.expect(`{"createIndexes":"coll","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}]}`,
		`{_t: "CreateIndexesResponse", numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: false, note: "1 document expired by this change"}`)
	d.alive("coll", "2 3")
	d.pass(4 * time.Second)
	d.alive("coll", "2 3")
	d.pass(time.Second)
	d.alive("coll", "2")
	d.pass(10 * time.Second)
	d.alive("coll", "")
}

// TestStampRefresh is section 2.4: which writes begin life anew (T-48, A-21).
func TestStampRefresh(t *testing.T) {
	t.Parallel()
	writes := []struct{ name, cmd, want string }{
		{"update", `{"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"n":2}}}]}`, `{n: 1, nModified: 1}`},
		{"update that changes nothing", `{"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"n":1}}}]}`, `{n: 1, nModified: 0}`},
		{"replace", `{"update":"c","updates":[{"q":{"_id":1},"u":{"n":3}}]}`, `{n: 1, nModified: 1}`},
		{"replace by the same", `{"update":"c","updates":[{"q":{"_id":1},"u":{"_id":1,"n":1}}]}`, `{n: 1, nModified: 0}`},
		{"findAndModify", `{"findAndModify":"c","query":{"_id":1},"update":{"$set":{"n":4}},"new":true}`, `~value: {_id: 1, n: 4}`},
		{"findAndModify that changes nothing", `{"findAndModify":"c","query":{"_id":1},"update":{"$set":{"n":1}}}`, `~value: {_id: 1, n: 1}`},
		{"pipeline", `{"update":"c","updates":[{"q":{"_id":1},"u":[{"$set":{"n":5}}]}]}`, `{n: 1, nModified: 1}`},
		{"upsert that finds it", `{"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"n":6}},"upsert":true}]}`, `{n: 1, nModified: 1}`},
	}
	reads := []struct{ name, cmd, want string }{
		{"find", `{"find":"c","filter":{"_id":1}}`, `~{_id: 1, n: 1}`},
		{"count", `{"count":"c"}`, `{n: 1}`},
		{"update that does not match", `{"update":"c","updates":[{"q":{"_id":1,"n":9},"u":{"$set":{"n":2}}}]}`, `{n: 0, nModified: 0}`},
		{"update that fails", `{"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"_id":2}}}]}`, `~writeErrors`},
		{"insert of the same", `{"insert":"c","documents":[{"_id":1}]}`, `~writeErrors`},
	}
	for i, c := range append(writes, reads...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			d.stamped("c", 10)
			d.insert("c", `{"_id":1,"n":1}`)
			d.pass(9 * time.Second)
			d.expect(c.cmd, c.want)
			d.pass(time.Second)
			if i >= len(writes) {
				d.alive("c", "")
				return
			}
			d.alive("c", "1")
			d.pass(8 * time.Second)
			d.alive("c", "1")
			d.pass(time.Second)
			d.alive("c", "")
		})
	}
}

// TestStampIsHidden is T-79 and A-22: nobody sees the stamp, and a document's own _ts is data.
func TestStampIsHidden(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.stamped("c", 10)
	d.insert("c", `{"_id":1}`)
	d.insert("c", `{"_id":2,"_ts":7}`)
	d.expect(`{"find":"c"}`, `{cursor: {id: 0L, ns: "test.c", firstBatch: [{_id: 1}, {_id: 2, _ts: 7}]}}`)
	d.expect(`{"find":"c","filter":{"_ts":{"$gt":0}}}`, `~[{_id: 2, _ts: 7}]`)
	d.expect(`{"find":"c","filter":{"_ts":{"$exists":false}}}`, `~[{_id: 1}]`)
	d.expect(`{"aggregate":"c","pipeline":[{"$project":{"all":"$$ROOT"}}],"cursor":{}}`, `~[{_id: 1, all: {_id: 1}}, {_id: 2, all: {_id: 2, _ts: 7}}]`)
	d.expect(`{"findAndModify":"c","query":{"_id":2},"update":{"$set":{"_ts":8}},"new":true}`, `~value: {_id: 2, _ts: 8}`)
	d.pass(10 * time.Second)
	d.alive("c", "")
}

// goneOperations are those of section 6. In every one of them the document 1 is gone: its answers are those
// for a document that never was, whether it is reclaimed or not, by whichever rule it ended.
var goneOperations = []struct{ name, cmd, want string }{
	{"find", `{"find":"c"}`, `{cursor: {id: 0L, ns: "test.c", firstBatch: [{_id: 2, u: "y", g: "live", n: 2}]}}`},
	{"find by _id", `{"find":"c","filter":{"_id":1}}`, `~firstBatch: []`},
	{"find by an index", `{"find":"c","filter":{"u":"x"}}`, `{cursor: {id: 0L, ns: "test.c", firstBatch: []}}`},
	{"find in order", `{"find":"c","sort":{"u":1},"limit":1}`, `~[{_id: 2, u: "y", g: "live", n: 2}]`},
	{"count", `{"count":"c"}`, `{n: 1}`},
	{"count of a query", `{"count":"c","query":{"n":{"$gt":0}}}`, `{n: 1}`},
	{"count by an index", `{"count":"c","query":{"u":{"$gte":"a"}}}`, `{n: 1}`},
	{"countDocuments", `{"aggregate":"c","pipeline":[{"$match":{}},{"$group":{"_id":1,"n":{"$sum":1}}}],"cursor":{}}`, `~[{_id: 1, n: 1}]`},
	{"distinct", `{"distinct":"c","key":"g"}`, `{values: ["live"]}`},
	{"sums", `{"aggregate":"c","pipeline":[{"$group":{"_id":null,"s":{"$sum":"$n"},"least":{"$min":"$n"}}}],"cursor":{}}`, `~[{_id: null, s: 2, least: 2}]`},
	{"facet", `{"aggregate":"c","pipeline":[{"$facet":{"a":[{"$count":"n"}]}}],"cursor":{}}`, `~[{a: [{n: 1}]}]`},
	{"lookup", `{"aggregate":"other","pipeline":[{"$lookup":{"from":"c","localField":"u","foreignField":"u","as":"found"}}],"cursor":{}}`, `~[{_id: 1, u: "x", found: []}]`},
	{"lookup with a pipeline", `{"aggregate":"other","pipeline":[{"$lookup":{"from":"c","pipeline":[{"$count":"n"}],"as":"found"}}],"cursor":{}}`, `~found: [{n: 1}]`},
	{"union", `{"aggregate":"other","pipeline":[{"$unionWith":"c"},{"$count":"n"}],"cursor":{}}`, `~[{n: 2}]`},
	{"findAndModify", `{"findAndModify":"c","query":{"_id":1},"update":{"$set":{"n":9}}}`, `{lastErrorObject: {n: 0, updatedExisting: false}, value: null}`},
	{"findAndModify with remove", `{"findAndModify":"c","query":{"_id":1},"remove":true}`,
		`{lastErrorObject: {n: 0}, value: null}`},
	{"findAndModify with upsert", `{"findAndModify":"c","query":{"_id":1},"update":{"$set":{"n":9}},"upsert":true,"new":true}`,
		`{lastErrorObject: {n: 1, updatedExisting: false, upserted: 1}, value: {_id: 1, n: 9}}`},
	{"update", `{"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"n":9}}}]}`, `{n: 0, nModified: 0}`},
	{"update of many", `{"update":"c","updates":[{"q":{},"u":{"$inc":{"n":1}},"multi":true}]}`, `{n: 1, nModified: 1}`},
	{"replace", `{"update":"c","updates":[{"q":{"_id":1},"u":{"n":9}}]}`, `{n: 0, nModified: 0}`},
	{"upsert", `{"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"n":9}},"upsert":true}]}`, `{n: 1, upserted: [{index: 0, _id: 1}], nModified: 0}`},
	{"delete", `{"delete":"c","deletes":[{"q":{"_id":1},"limit":1}]}`, `{n: 0}`},
	{"delete of many", `{"delete":"c","deletes":[{"q":{},"limit":0}]}`, `{n: 1}`},
	{"insert of the same _id", `{"insert":"c","documents":[{"_id":1,"n":9}]}`, `{n: 1}`},
	{"insert of the same unique value", `{"insert":"c","documents":[{"_id":3,"u":"x"}]}`, `{n: 1}`},
	{"update to the same unique value", `{"update":"c","updates":[{"q":{"_id":2},"u":{"$set":{"u":"x"}}}]}`, `{n: 1, nModified: 1}`},
	{"a new unique index", `{"createIndexes":"c","indexes":[{"key":{"g":1},"name":"g_1","unique":true}]}`, `~numIndexesAfter: 4`},
}

// TestGone is section 6 in the states expired and reclaimed, under both rules.
func TestGone(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"stamp", "date"} {
		for _, state := range []string{"expired", "reclaimed", "after a restart"} {
			t.Run(rule+" "+state, func(t *testing.T) {
				t.Parallel()
				for _, op := range goneOperations {
					t.Run(op.name, func(t *testing.T) {
						d := newServer(t, nil)
						if rule == "stamp" {
							d.stamped("c", 10)
						} else {
							d.dated("c", "at", 1, 10, "")
						}
						d.tell(`{"createIndexes":"c","indexes":[{"key":{"u":1},"name":"u_1","unique":true}]}`)
						end := `"at":` + dateAt(0)
						if rule == "stamp" {
							end = `"ttl":10`
						}
						d.insert("c", `{"_id":1,"u":"x","g":"live","n":1,`+end+`}`)
						d.pass(time.Second)
						d.insert("c", `{"_id":2,"u":"y","g":"live","n":2}`)
						d.insert("other", `{"_id":1,"u":"x"}`)
						d.pass(9 * time.Second)
						switch state {
						case "reclaimed":
							must(t, d.reclaim(t.Context()))
							if d.reclaimed.Load() != 1 {
								t.Errorf("%d documents reclaimed", d.reclaimed.Load())
							}
						case "after a restart":
							d.restart()
						}
						d.expect(op.cmd, op.want)
						d.checked()
					})
				}
			})
		}
	}
}

// checked fails the test if the consistency check finds anything.
func (d *testServer) checked() {
	d.t.Helper()
	report, err := d.store.Check(context.Background())
	must(d.t, err)
	for _, p := range report.Problems {
		d.t.Error(p)
	}
}

// TestEstimatedCount is estimatedDocumentCount, and collections by the driver's own helpers.
func TestEstimatedCount(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Database("test").Collection("c")
	name, err := c.Indexes().CreateOne(t.Context(), indexOn("at", 10))
	must(t, err)
	if name != "at_1" {
		t.Errorf("the index is called %s", name)
	}
	for i := range 100 {
		_, err := c.InsertOne(t.Context(), pairs("_id", i, "at", start.Add(time.Duration(i)*time.Second)))
		must(t, err)
	}
	d.pass(59 * time.Second)
	for range 2 {
		if n, err := c.EstimatedDocumentCount(t.Context()); err != nil || n != 50 {
			t.Errorf("%d documents, %v", n, err)
		}
		must(t, d.reclaim(t.Context()))
	}
	if n := d.reclaimed.Load(); n != 50 {
		t.Errorf("%d reclaimed", n)
	}
}

// TestCursorOverDeadline is A-19: what expires while a cursor is open is in none of its later batches, be it by time or
// because lifetime was shortened.
func TestCursorOverDeadline(t *testing.T) {
	t.Parallel()
	sort := func(by string) bson.D { return bson.D{{Key: "$sort", Value: bson.D{{Key: by, Value: 1}}}} }
	project := bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}}
	ways := map[string]func(c *mongo.Collection) (*mongo.Cursor, error){
		"aggregate": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Aggregate(t.Context(), bson.A{project}, options.Aggregate().SetBatchSize(10))
		},
		"aggregate sorted by an index": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Aggregate(t.Context(), bson.A{sort("n")}, options.Aggregate().SetBatchSize(10))
		},
		"aggregate sorted in memory": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Aggregate(t.Context(), bson.A{sort("m"), project}, options.Aggregate().SetBatchSize(10))
		},
		"find": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(10))
		},
		"find backwards": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(10).SetSort(eq("$natural", -1)))
		},
		"find sorted by an index": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(10).SetSort(bson.D{{Key: "n", Value: 1}}))
		},
		"find sorted in memory": func(c *mongo.Collection) (*mongo.Cursor, error) {
			o := options.Find().SetBatchSize(10).SetSort(eq("m", 1)).SetProjection(eq("m", 0))
			return c.Find(t.Context(), bson.D{}, o)
		},
	}
	for name, open := range ways {
		for _, end := range []string{"stamp", "date", "change of the stamp's", "change of the date's"} {
			t.Run(name+" "+end, func(t *testing.T) {
				t.Parallel()
				d := newServer(t, nil)
				ends := bson.D{{Key: "ttl", Value: 10}}
				switch end {
				case "stamp":
					d.stamped("c", -1)
				case "date":
					d.dated("c", "at", 1, 10, "")
					ends = bson.D{{Key: "at", Value: start}}
				case "change of the stamp's":
					d.tell(`{"create":"c"}`)
				case "change of the date's":
					d.dated("c", "at", 1, 100, "")
					ends = bson.D{{Key: "at", Value: start}}
				}
				d.tell(`{"createIndexes":"c","indexes":[{"key":{"n":1},"name":"n_1"}]}`)
				var list []any
				for i := range 100 {
					x := bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i}, {Key: "m", Value: i}}
					if i%2 == 1 {
						x = append(x, ends...)
					}
					list = append(list, x)
				}
				c := d.Database("test").Collection("c")
				_, err := c.InsertMany(t.Context(), list)
				must(t, err)
				if strings.HasPrefix(end, "change") {
					d.pass(10 * time.Second)
				}
				cursor, err := open(c)
				must(t, err)
				defer cursor.Close(t.Context())
				for range 10 {
					if !cursor.Next(t.Context()) {
						t.Fatal(cursor.Err())
					}
				}
				switch end {
				case "change of the stamp's":
					d.tell(`{"createIndexes":"c","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":-1}]}`)
				case "change of the date's":
					d.tell(`{"collMod":"c","index":{"name":"ttl","expireAfterSeconds":5}}`)
				default:
					d.pass(10 * time.Second)
				}
				must(t, d.reclaim(t.Context()))
				n := 0
				for cursor.Next(t.Context()) {
					n++
					if id := cursor.Current.Lookup("_id").Int32(); id%2 == 1 {
						t.Errorf("document %d came after its end", id)
					}
				}
				must(t, cursor.Err())
				if n != 45 {
					t.Errorf("%d more documents", n)
				}
			})
		}
	}
}

// nosql replaces the lifetime of a collection as the API for NoSQL does.
func (d *testServer) nosql(collection string, ttl expiry.TTL) {
	d.t.Helper()
	db, err := d.catalog.Database("test")
	must(d.t, err)
	c, err := d.catalog.Container(db, collection)
	must(d.t, err)
	change := func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.TTL = ttl
		return def, nil
	}
	_, err = d.catalog.ReplaceContainer(d.t.Context(), d.clock.Now().Unix(), c, change)
	must(d.t, err)
}

// TestChanges is section 7 through collMod, dropIndexes, createIndexes and the other API. The documents are 1 without
// a ttl, 2 with 5, 3 with 100 and 4 with -1; the change comes 10 seconds after them.
func TestChanges(t *testing.T) {
	t.Parallel()
	mod := func(n int) string {
		return fmt.Sprintf(`{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":%d}}`, n)
	}
	create := func(n int) string {
		return fmt.Sprintf(`{"createIndexes":"c","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":%d}]}`, n)
	}
	drop := `{"dropIndexes":"c","index":"_ts_1"}`
	cases := []struct {
		name    string
		before  expiry.TTL
		changes []string   // commands
		after   expiry.TTL // the same through the other API
		at      [3]string  // living before, right after, and 90 seconds later
	}{
		{"off to n", expiry.Unset, []string{create(10)}, 10, [3]string{"1 2 3 4", "3 4", "4"}},
		{"off to a greater n", expiry.Unset, []string{create(50)}, 50, [3]string{"1 2 3 4", "1 3 4", "4"}},
		{"off to -1", expiry.Unset, []string{create(-1)}, -1, [3]string{"1 2 3 4", "1 3 4", "1 4"}},
		{"n to smaller", 50, []string{mod(10)}, 10, [3]string{"1 3 4", "3 4", "4"}},
		{"n to larger", 10, []string{mod(2000)}, 2000, [3]string{"3 4", "3 4", "4"}},
		{"n to larger, alive", 50, []string{mod(2000)}, 2000, [3]string{"1 3 4", "1 3 4", "1 4"}},
		{"n to -1", 50, []string{mod(-1)}, -1, [3]string{"1 3 4", "1 3 4", "1 4"}},
		{"n to off", 50, []string{drop}, expiry.Unset, [3]string{"1 3 4", "1 3 4", "1 3 4"}},
		{"n to off with all", 10, []string{`{"dropIndexes":"c","index":"*"}`}, expiry.Unset,
			[3]string{"3 4", "3 4", "3 4"}},
		{"off and on again", 50, []string{drop, create(60)}, 60, [3]string{"1 3 4", "1 3 4", "4"}},
		{"an invalid value", 50, []string{mod(0)}, 50, [3]string{"1 3 4", "1 3 4", "4"}},
	}
	for _, c := range cases {
		for _, api := range []string{"commands", "the other API"} {
			t.Run(c.name+" by "+api, func(t *testing.T) {
				t.Parallel()
				d := newServer(t, nil)
				d.expect(`{"create":"c"}`, `{}`)
				if c.before != expiry.Unset {
					d.tell(create(int(c.before)))
				}
				d.insert("c", `{"_id":1}`)
				d.insert("c", `{"_id":2,"ttl":5}`)
				d.insert("c", `{"_id":3,"ttl":100}`)
				d.insert("c", `{"_id":4,"ttl":-1}`)
				d.pass(10 * time.Second)
				d.alive("c", c.at[0])
				if api == "commands" {
					for _, cmd := range c.changes {
						d.tell(cmd)
					}
				} else {
					d.nosql("c", c.after)
				}
				want := `~name: "_id_"}]}}`
				if c.after != expiry.Unset {
					want = fmt.Sprintf(`~{v: 2, key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: %d}]}}`, c.after)
				}
				d.expect(`{"listIndexes":"c"}`, want)
				d.alive("c", c.at[1])
				d.pass(90 * time.Second)
				d.alive("c", c.at[2])
				must(t, d.reclaim(t.Context()))
				d.restart()
				d.alive("c", c.at[2])
				d.checked()
			})
		}
	}
}

// TestDateChanges is the same for dates: A-01, and that changes are in force at once. The documents end, with 10 s, at
// 10 and 60 s; the change comes at 10 s.
func TestDateChanges(t *testing.T) {
	t.Parallel()
	mod := func(n int) string {
		return fmt.Sprintf(`{"collMod":"c","index":{"name":"ttl","expireAfterSeconds":%d}}`, n)
	}
	again := `{"createIndexes":"c","indexes":[{"key":{"at":1},"name":"ttl","expireAfterSeconds":20}]}`
	cases := []struct {
		name    string
		changes []string
		at      [2]string // living right after, and 60 seconds later
	}{
		{"nothing", nil, [2]string{"2 3", "3"}},
		{"longer", []string{mod(1000)}, [2]string{"2 3", "2 3"}},
		{"clamped", []string{mod(1 << 33)}, [2]string{"2 3", "2 3"}},
		{"hidden", []string{`{"collMod":"c","index":{"name":"ttl","hidden":true}}`}, [2]string{"2 3", "3"}},
		{"dropped", []string{`{"dropIndexes":"c","index":"ttl"}`}, [2]string{"2 3", "2 3"}},
		{"dropped with all", []string{`{"dropIndexes":"c","index":"*"}`}, [2]string{"2 3", "2 3"}},
		{"dropped and made again", []string{`{"dropIndexes":"c","index":"ttl"}`, again}, [2]string{"2 3", "3"}},
		{"switched off", []string{`{"setParameter":1,"ttlMonitorEnabled":false}`}, [2]string{"2 3", "2 3"}},
		{"switched off and on",
			[]string{`{"setParameter":1,"ttlMonitorEnabled":false}`, `{"setParameter":1,"ttlMonitorEnabled":true}`},
			[2]string{"2 3", "3"}},
		{"longer, and longer again", []string{mod(1000), mod(2000), mod(20)}, [2]string{"2 3", "3"}},
	}
	for _, c := range cases {
		for _, reclaimed := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " reclaimed ", reclaimed), func(t *testing.T) {
				t.Parallel()
				d := newServer(t, nil)
				d.dated("c", "at", 1, 10, "")
				d.insert("c", `{"_id":1,"at":`+dateAt(0)+`}`)
				d.insert("c", `{"_id":2,"at":`+dateAt(50_000)+`}`)
				d.insert("c", `{"_id":3}`)
				d.pass(10 * time.Second)
				if reclaimed {
					must(t, d.reclaim(t.Context()))
				}
				for _, cmd := range c.changes {
					d.tell(cmd)
				}
				d.alive("c", c.at[0])
				d.expect(`{"count":"c"}`, fmt.Sprintf(`{n: %d}`, len(strings.Fields(c.at[0]))))
				d.pass(60 * time.Second)
				d.alive("c", c.at[1])
				for range 2 { // of which the first may end a pass
					must(t, d.reclaim(t.Context()))
				}
				d.alive("c", c.at[1])
				d.checked()
			})
		}
	}
	t.Run("shorter", func(t *testing.T) {
		t.Parallel()
		d := newServer(t, nil)
		d.dated("c", "at", 1, 1000, "")
		d.insert("c", `{"_id":1,"at":`+dateAt(0)+`}`)
		d.pass(10 * time.Second)
		d.alive("c", "1")
		d.tell(mod(11))
		d.alive("c", "1")
		d.pass(time.Second)
		d.alive("c", "")
	})
}

// TestMonitorOff is ttlMonitorEnabled: while it is false nothing ends by a date, and what is past its date goes when it
// is true again. The rule of the stamp does not care.
func TestMonitorOff(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.dated("c", "at", 1, 10, "")
	d.stamped("s", 10)
	d.insert("c", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.insert("s", `{"_id":1}`)
	d.expect(`{"setParameter":1,"ttlMonitorEnabled":false}`, `{was: true}`)
	d.pass(time.Hour)
	d.alive("c", "1")
	d.alive("s", "")
	must(t, d.reclaim(t.Context()))
	d.dated("later", "at", 1, 10, "")
	d.insert("later", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.alive("c", "1")
	d.alive("later", "1")
	d.expect(`{"setParameter":1,"ttlMonitorEnabled":true}`, `{was: false}`)
	d.alive("c", "")
	d.alive("later", "")
	d.insert("c", `{"_id":1,"at":`+dateAt(3_700_000)+`}`)
	d.alive("c", "1")
	d.restart()
	d.expect(`{"getParameter":1,"ttlMonitorEnabled":1}`, `{ttlMonitorEnabled: true}`)
	d.alive("c", "1")
}

// TestRestart keeps indexes, what has ended, and what will.
func TestRestart(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"at":-1},"name":"ttl","expireAfterSeconds":10,"partialFilterExpression":{"n":{"$gt":0}}},{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":-1}]}`)
	d.insert("c", `{"_id":1,"n":1,"at":`+dateAt(0)+`}`)
	d.insert("c", `{"_id":2,"n":1,"at":`+dateAt(5_000)+`}`)
	d.insert("c", `{"_id":3,"n":0,"at":`+dateAt(0)+`}`)
	d.insert("c", `{"_id":4,"ttl":15}`)
	d.pass(10 * time.Second)
	d.tell(`{"collMod":"c","index":{"name":"ttl","expireAfterSeconds":11}}`) // 1 stays dead
	list := d.tell(`{"listIndexes":"c"}`)
	d.restart()
	d.expect(`{"listIndexes":"c"}`, list)
	d.alive("c", "2 3 4")
	d.pass(4 * time.Second)
	d.alive("c", "2 3 4")
	d.pass(time.Second)
	d.alive("c", "2 3")
	d.pass(time.Second)
	d.alive("c", "3")
	d.restart()
	d.alive("c", "3")
	d.checked()
}
