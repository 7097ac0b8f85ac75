package rest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/store"
)

// A mongoTestAPI has a container that was created through the MongoDB API.
type mongoTestAPI struct {
	*testAPI
	c *catalog.Container
}

// newMongo creates the database d with the collection c.
func newMongo(t testing.TB, change ...func(*catalog.Definition)) mongoTestAPI {
	t.Helper()
	return newMongoOn(t, memory.New(), change...)
}

func newMongoOn(t testing.TB, engine kv.Engine, change ...func(*catalog.Definition)) mongoTestAPI {
	t.Helper()
	d := newTestAPIOn(t, engine)
	ctx := context.Background()
	db, err := d.api.catalog.CreateDatabase(ctx, d.clock.Now().Unix(), "d", nil)
	must(t, err)
	def := catalog.Definition{
		Name: "c", Dialect: catalog.Mongo, Indexing: catalog.Indexing{None: true},
		Partition: catalog.PartitionKey{Paths: []string{systemKeyPath}, Version: 2},
	}
	for _, f := range change {
		f(&def)
	}
	c, err := d.api.catalog.CreateContainer(ctx, d.clock.Now().Unix(), db, def, nil)
	must(t, err)
	return mongoTestAPI{d, c}
}

// endsBy makes documents expire that many seconds after the date in a field.
func (m mongoTestAPI) endsBy(field string, seconds int32) {
	m.t.Helper()
	_, err := m.api.catalog.ReplaceIndexes(context.Background(), m.clock.Now().Unix(), m.c,
		func(st *catalog.State) ([]catalog.NamedIndex, error) {
			return append(st.Named, catalog.NamedIndex{Name: field + "_1",
				Columns: []catalog.NamedColumn{{Path: field}},
				Expires: true, Seconds: seconds}), nil
		})
	must(m.t, err)
}

func (m mongoTestAPI) insert(documents ...bson.D) {
	m.t.Helper()
	for _, d := range documents {
		body, err := bson.Marshal(d)
		must(m.t, err)
		op := store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: body, Lenient: true}
		_, err = m.api.store.Write(context.Background(), m.c, m.clock.Now().Unix(), op)
		must(m.t, err)
	}
}

// ask runs a query without a partition key and without permission to cross partitions.
func (m mongoTestAPI) ask(text string, headers ...string) answer {
	m.t.Helper()
	return m.do("POST", documents, `{"query":`+quoted(text)+`}`, append([]string{"Content-Type",
		"application/query+json"}, headers...)...)
}

// rowsOf are the rows of a query as they came.
func (m mongoTestAPI) rowsOf(text string) string {
	m.t.Helper()
	a := m.ask(text).want(200)
	_, rows, _ := strings.Cut(a.text, `"Documents":[`)
	rows, _, _ = strings.Cut(rows, `],"_count"`)
	return rows
}

// ownText is an item without its system properties.
func ownText(text string) string {
	text, _, _ = strings.Cut(text, `,"_rid":`)
	return text
}

var (
	someID   = bson.ObjectID{0x65, 0x0a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xab}
	someDate = bson.DateTime(time.Date(2026, 1, 2, 3, 4, 5, 60_000_000, time.UTC).UnixMilli())
)

func decimal(t testing.TB, text string) bson.Decimal128 {
	t.Helper()
	d, err := bson.ParseDecimal128(text)
	must(t, err)
	return d
}

// TestMongoValues checks that every BSON type looks the same in a read, a feed, the change feed and a query.
func TestMongoValues(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value any
		want  string
	}{
		{"string", "é\"", `"é\""`},
		{"int32", int32(-5), `-5`},
		{"int64", int64(9007199254740993), `9007199254740993`},
		{"double", 1.5, `1.5`},
		{"NaN", math.NaN(), `{"$numberDouble":"NaN"}`},
		{"infinity", math.Inf(-1), `{"$numberDouble":"-Infinity"}`},
		{"decimal", decimal(t, "1.10"), `{"$numberDecimal":"1.10"}`},
		{"whole decimal", decimal(t, "7"), `{"$numberDecimal":"7"}`},
		{"boolean", true, `true`},
		{"null", nil, `null`},
		{"objectId", someID, `{"$oid":"650a010203040506070809ab"}`},
		{"date", someDate, `{"$date":"2026-01-02T03:04:05.06Z"}`},
		{"date without a fraction", bson.DateTime(0), `{"$date":"1970-01-01T00:00:00Z"}`},
		{"old date", bson.DateTime(-1), `{"$date":{"$numberLong":"-1"}}`},
		{"late date", bson.DateTime(math.MaxInt64), `{"$date":{"$numberLong":"9223372036854775807"}}`},
		{"binary", bson.Binary{Subtype: 4, Data: []byte{1, 2, 3}}, `{"$binary":{"base64":"AQID","subType":"04"}}`},
		{"old binary", bson.Binary{Subtype: 2, Data: []byte{1}}, `{"$binary":{"base64":"AQ==","subType":"02"}}`},
		{"timestamp", bson.Timestamp{T: 4294967295, I: 2}, `{"$timestamp":{"t":4294967295,"i":2}}`},
		{"regex", bson.Regex{Pattern: "^a", Options: "i"}, `{"$regularExpression":{"pattern":"^a","options":"i"}}`},
		{"symbol", bson.Symbol("s"), `{"$symbol":"s"}`},
		{"code", bson.JavaScript("x"), `{"$code":"x"}`},
		{"code with scope", bson.CodeWithScope{Code: "x", Scope: bson.D{{Key: "n", Value: someID}}},
			`{"$code":"x","$scope":{"n":{"$oid":"650a010203040506070809ab"}}}`},
		{"pointer", bson.DBPointer{DB: "d.c", Pointer: someID},
			`{"$dbPointer":{"$ref":"d.c","$id":{"$oid":"650a010203040506070809ab"}}}`},
		{"undefined", bson.Undefined{}, `{"$undefined":true}`},
		{"minKey", bson.MinKey{}, `{"$minKey":1}`},
		{"maxKey", bson.MaxKey{}, `{"$maxKey":1}`},
		{"nested", bson.D{{Key: "list", Value: bson.A{int32(1), someDate, bson.D{}, bson.A{}}}},
			`{"list":[1,{"$date":"2026-01-02T03:04:05.06Z"},{},[]]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMongo(t)
			m.insert(bson.D{{Key: "_id", Value: "k"}, {Key: "v", Value: tt.value}})
			value := tt.want
			want := `{"id":"k","_id":"k","v":` + value
			if got := ownText(m.do("GET", documents+"/k", "").want(200).text); got != want {
				t.Errorf("read\n%s, want\n%s", got, want)
			}
			m.do("GET", documents, "").want(200).says(want + `,"_rid":`)
			m.do("GET", documents, "", "A-IM", "Incremental feed").want(200).says(want + `,"_rid":`)
			if got := ownText(m.rowsOf("SELECT * FROM c")); got != want {
				t.Errorf("query\n%s, want\n%s", got, want)
			}
			if got := m.rowsOf("SELECT VALUE c.v FROM c"); got != value {
				t.Errorf("value\n%s, want\n%s", got, value)
			}
		})
	}
}

// TestMongoIDs reads items by the ids that they show.
func TestMongoIDs(t *testing.T) {
	m := newMongo(t)
	for i, tt := range []struct {
		id   any
		want string
	}{
		{"plain", "plain"}, {"0123456789abcdef01234567", "0123456789abcdef01234567"}, {someID, someID.Hex()},
		{int32(7), "7"}, {int64(-8), "-8"}, {int64(math.MaxInt64), "9223372036854775807"}, {1.5, "1.5"},
		{-0.25, "-0.25"}, {20.0, "20"}, {math.Inf(1), "Infinity"},
		{decimal(t, "2.50"), "2.50"}, {decimal(t, "31"), "31"}, {true, "true"}, {nil, "null"},
		{someDate, `{"$date":"2026-01-02T03:04:05.06Z"}`}, {bson.DateTime(-5), `{"$date":{"$numberLong":"-5"}}`},
		{bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")},
			`{"$binary":{"base64":"MDEyMzQ1Njc4OWFiY2RlZg==","subType":"04"}}`},
		{bson.D{{Key: "a", Value: int32(1)}, {Key: "b", Value: bson.D{{Key: "c", Value: someID}}}},
			`{"a":1,"b":{"c":{"$oid":"650a010203040506070809ab"}}}`},
		{bson.Timestamp{T: 1, I: 2}, `{"$timestamp":{"t":1,"i":2}}`}, {bson.MinKey{}, `{"$minKey":1}`},
		{bson.D{{Key: "$oid", Value: "no hex"}}, `{"$oid":"no hex"}`},
	} {
		m.insert(bson.D{{Key: "_id", Value: tt.id}, {Key: "n", Value: i}})
		a := m.do("GET", documents+"/"+escaped(tt.want), "")
		if a.status != 200 || a.str("id") != tt.want || a.body["n"] != float64(i) {
			t.Errorf("%v: %d %s", tt.id, a.status, a.text)
		}
		if got := m.rowsOf(fmt.Sprintf("SELECT VALUE c.n FROM c WHERE c.id = %s",
			quoted(tt.want))); got != fmt.Sprint(i) {
			t.Errorf("%v: a query finds %s", tt.id, got)
		}
		rid := a.str("_rid")
		container := m.do("GET", "/dbs/d/colls/c", "").want(200).str("_rid")
		signed := newRequest("GET", "/dbs/"+m.do("GET", "/dbs/d", "").str("_rid")+"/colls/"+container+"/docs/"+rid, "")
		signLink(signed, "docs", strings.ToLower(rid))
		if byRID := m.send(signed).want(200); byRID.body["n"] != float64(i) {
			t.Errorf("%v by RID: %s", tt.id, byRID.text)
		}
	}
	for _, missing := range []string{"6", "07", "7.0", "0x7", "true ", strings.ToUpper(someID.Hex()),
		`{"a": 1,"b":{"c":{"$oid":"650a010203040506070809ab"}}}`, "nope", "ffffffffffffffffffffffff", `{"$date":"x"}`,
		`{`, "NaN"} {
		m.do("GET", documents+"/"+escaped(missing), "").want(404)
	}
}

// escaped writes an id as a segment of a path.
func escaped(id string) string {
	var b strings.Builder
	for i := range len(id) {
		fmt.Fprintf(&b, "%%%02X", id[i])
	}
	return b.String()
}

// TestMongoIDsThatLookAlike checks that strings take precedence, then numbers.
func TestMongoIDsThatLookAlike(t *testing.T) {
	m := newMongo(t)
	m.insert(bson.D{{Key: "_id", Value: int32(1)}, {Key: "is", Value: "number"}})
	if a := m.do("GET", documents+"/1", "").want(200); a.str("is") != "number" {
		t.Error(a.text)
	}
	m.insert(bson.D{{Key: "_id", Value: "1"}, {Key: "is", Value: "string"}})
	if a := m.do("GET", documents+"/1", "").want(200); a.str("is") != "string" {
		t.Error(a.text)
	}
}

// TestMongoMembers checks that a document's own members named like system properties are not taken for those.
func TestMongoMembers(t *testing.T) {
	m := newMongo(t)
	m.insert(bson.D{
		{Key: "_id", Value: "k"}, {Key: "id", Value: "other"}, {Key: "_ts", Value: 5}, {Key: "_rid", Value: "r"},
		{Key: "_etag", Value: 1},
		{Key: "_mine", Value: true}, {Key: "in", Value: bson.D{{Key: "id", Value: 1}, {Key: "_ts", Value: 2}}},
		{Key: systemKeyPath[1:], Value: "p"},
	})
	const want = `{"id":"k","_id":"k","_mine":true,"in":{"id":1,"_ts":2},"_partitionKey":"p"`
	a := m.do("GET", documents+"/k", "").want(200)
	if ownText(a.text) != want || a.body["_ts"] != 1767323045.0 || strings.Count(a.text, `"_ts":`) != 2 {
		t.Error(a.text)
	}
	if got := m.rowsOf("SELECT * FROM c WHERE c._ts = 1767323045 AND c._partitionKey = 'p'"); ownText(got) != want {
		t.Error(got)
	}
	m.ask("SELECT * FROM c WHERE c.id = 'other'").want(200).says(`"Documents":[]`)
}

func TestMongoQueries(t *testing.T) {
	m := newMongo(t)
	for i := range 20 {
		m.insert(bson.D{{Key: "_id", Value: i}, {Key: "n", Value: 19 - i}, {Key: "g", Value: i % 3}, {Key: "at",
			Value: bson.DateTime(i * 1000)},
			{Key: "tags", Value: bson.A{"a", bson.ObjectID{byte(i)}}}})
	}
	for _, tt := range []struct{ query, want string }{
		{"SELECT VALUE COUNT(1) FROM c", `20`},
		{"SELECT VALUE COUNT(1) FROM c WHERE c.n < 5", `5`},
		{"SELECT VALUE COUNT(c.n) FROM c", `20`},
		{"SELECT VALUE COUNT(1) FROM c WHERE c._ts > 0", `20`},
		{"SELECT VALUE SUM(c.n) FROM c WHERE c.g = 0", `70`},
		{"SELECT VALUE MAX(c._id) FROM c", `19`},
		{"SELECT VALUE c._id FROM c WHERE c.n IN (1, 3)", `16,18`},
		{"SELECT VALUE c.id FROM c ORDER BY c.n OFFSET 1 LIMIT 2", `"18","17"`},
		{"SELECT VALUE c.id FROM c ORDER BY c.g, c.n DESC OFFSET 0 LIMIT 2", `"0","3"`},
		{"SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g", `{"g":0,"n":7},{"g":1,"n":7},{"g":2,"n":6}`},
		{"SELECT VALUE c._id FROM c WHERE c.at['$date'] = '1970-01-01T00:00:07Z'", `7`},
		{"SELECT VALUE c._id FROM c WHERE c.at['$date'] >= '1970-01-01T00:00:18Z'", `18,19`},
		{"SELECT VALUE t['$oid'] FROM c JOIN t IN c.tags WHERE c._id = 2 AND IS_OBJECT(t)",
			`"020000000000000000000000"`},
		{"SELECT DISTINCT VALUE c.g FROM c", `0,1,2`},
		{"SELECT VALUE c.id FROM c WHERE c._partitionKey = 'x'", ``},
		{"SELECT TOP 1 VALUE c.id FROM c ORDER BY c._ts DESC, c.n", `"19"`},
	} {
		if got := m.rowsOf(tt.query); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.query, got, tt.want)
		}
	}
	for _, query := range []string{"SELECT * FROM c WHERE c.n = 3", "SELECT * FROM c WHERE c.id = '3' ORDER BY c.n",
		"SELECT * FROM c WHERE c._ts > 5 ORDER BY c._ts"} {
		m.ask(query, "x-mayfly-explain", "true", key, `[{}]`).want(200).says(`{"plan":"scan\nfilter`)
	}
}

// TestMongoPages goes through all items in pages.
func TestMongoPages(t *testing.T) {
	m := newMongo(t)
	want := ""
	for i := range 7 {
		m.insert(bson.D{{Key: "_id", Value: bson.ObjectID{byte(i)}}, {Key: "n", Value: 6 - i}})
		want += fmt.Sprint(6 - i)
	}
	walk := func(next func(token string) answer) (all string) {
		for token, page := "", 0; ; page++ {
			a := next(token).want(200)
			for _, row := range a.rows("Documents") {
				all += fmt.Sprint(row.(map[string]any)["n"])
			}
			if token = a.header.Get("x-ms-continuation"); token == "" || page > 9 {
				return all
			}
		}
	}
	for name, headers := range map[string][]string{
		"nothing": nil, "none": {key, "[]"}, "undefined": {key, "[{}]"},
		"range": {"x-ms-documentdb-partitionkeyrangeid", "0"},
		"span":  {"x-ms-start-epk", "", "x-ms-end-epk", "FF"},
	} {
		got := walk(func(token string) answer {
			return m.do("GET", documents, "", append([]string{"x-ms-max-item-count", "2", "x-ms-continuation", token},
				headers...)...)
		})
		if got != want {
			t.Errorf("%s: %s", name, got)
		}
		for query, want := range map[string]string{"SELECT * FROM c": want, "SELECT * FROM c ORDER BY c.n": "0123456"} {
			got := walk(func(token string) answer {
				return m.ask(query, append([]string{"x-ms-max-item-count", "2", "x-ms-continuation", token},
					headers...)...)
			})
			if got != want {
				t.Errorf("%s, %s: %s", name, query, got)
			}
		}
	}
	epk := store.EffectivePartitionKey(m.c.State(), []doc.Value{{}})
	for name, headers := range map[string][]string{
		"above": {"x-ms-start-epk", fmt.Sprintf("%X00", epk), "x-ms-end-epk", "FF"},
		"below": {"x-ms-start-epk", "", "x-ms-end-epk", fmt.Sprintf("%X", epk)},
	} {
		if a := m.do("GET", documents, "", headers...).want(200); len(a.rows("Documents")) != 0 {
			t.Errorf("%s: %s", name, a.text)
		}
		if a := m.ask("SELECT VALUE COUNT(1) FROM c", headers...).want(200); a.rows("Documents")[0] != 0.0 {
			t.Errorf("%s: %s", name, a.text)
		}
	}
	for _, partition := range []string{`["a"]`, `[null]`, `[{},{}]`} {
		m.do("GET", documents, "", key, partition).want(400).says("no partition key")
		m.do("GET", documents+"/x", "", key, partition).want(400).says("no partition key")
		m.ask("SELECT * FROM c", key, partition).want(400).says("no partition key")
	}
	m.do("GET", documents+"/000000000000000000000000", "", key, `[{}]`).want(200)
	m.do("GET", documents+"/000000000000000000000000", "", key, `[]`).want(200)
}

// TestMongoQueryPlan covers clients that merge partitions themselves.
func TestMongoQueryPlan(t *testing.T) {
	m := newMongo(t)
	m.ask("SELECT * FROM c WHERE c._partitionKey = 'x' ORDER BY c.n", "x-ms-cosmos-is-query-plan-request", "True",
		"x-ms-cosmos-supported-query-features", "OrderBy").want(200).says(`"queryRanges":[{"min":"","max":"FF"`)
}

// TestMongoWrites checks that writes are rejected and change nothing.
func TestMongoWrites(t *testing.T) {
	m := newMongo(t)
	m.insert(bson.D{{Key: "_id", Value: "k"}})
	before := m.do("GET", documents+"/k", "").want(200).text
	batch := `[{"operationType":"Create","resourceBody":{"id":"x"}}]`
	for _, tt := range []struct {
		name, method, target, body string
		headers                    []string
	}{
		{"create", "POST", documents, `{"id":"x"}`, nil},
		{"upsert", "POST", documents, `{"id":"k"}`, asUpsert},
		{"replace", "PUT", documents + "/k", `{"id":"k"}`, nil},
		{"patch", "PATCH", documents + "/k", `{"operations":[{"op":"set","path":"/x","value":1}]}`, nil},
		{"delete", "DELETE", documents + "/k", "", nil},
		{"batch", "POST", documents, batch, []string{"x-ms-cosmos-is-batch-request", "True",
			"x-ms-cosmos-batch-atomic", "True"}},
		{"bulk", "POST", documents, batch, []string{"x-ms-cosmos-is-batch-request", "True",
			"x-ms-cosmos-batch-atomic", "False"}},
		{"partition", "POST", "/dbs/d/colls/c/operations/partitionkeydelete", "", nil},
	} {
		a := m.do(tt.method, tt.target, tt.body, append([]string{key, "[{}]"}, tt.headers...)...)
		if a.status != 403 || !strings.Contains(a.text, "created through the MongoDB API") {
			t.Errorf("%s: %d %s", tt.name, a.status, a.text)
		}
	}
	if after := m.do("GET", documents+"/k", "").want(200).text; after != before {
		t.Errorf("%s became %s", before, after)
	}
	m.do("GET", documents, "").want(200).says(`"_count":1`)
	m.do("POST", "/dbs/d/colls", `{"id":"c",`+pk+`}`).want(409)
}

// TestMongoScripts checks that scripts may read.
func TestMongoScripts(t *testing.T) {
	m := newMongo(t)
	m.insert(bson.D{{Key: "_id", Value: someID}, {Key: "n", Value: 1}, {Key: "at", Value: someDate}},
		bson.D{{Key: "_id", Value: 5}, {Key: "n", Value: 2}})
	run := func(source string) answer {
		t.Helper()
		place := m.script("sprocs", "s", source, "")
		defer m.do("DELETE", place, "")
		return m.do("POST", place, "[]")
	}
	for _, tt := range []struct{ source, want string }{
		{`() => __.queryDocuments(__.getSelfLink(), "SELECT VALUE [c.id, c.at] FROM c WHERE c.n > 0 ORDER BY c.n", (e,` +
			` rows) => __.response.setBody(rows))`,
			`[["650a010203040506070809ab",{"$date":"2026-01-02T03:04:05.06Z"}],["5"]]`},
		{`() => __.readDocument(__.getAltLink() + "/docs/5", (e, d) => __.response.setBody(d.n))`, `2`},
		{`() => __.readDocument(__.getAltLink() + "/docs/650a010203040506070809ab", (e, d) =>
			__.readDocument(d._self, (e, d) => __.response.setBody([d.id, d._id])))`,
			`["650a010203040506070809ab",{"$oid":"650a010203040506070809ab"}]`},
		{`() => __.readDocument(__.getAltLink() + "/docs/none", (e) => __.response.setBody(e.number))`, `404`},
		{`() => __.createDocument(__.getSelfLink(), {id: "x"}, (e) => __.response.setBody(e.number))`, `403`},
		{`() => __.deleteDocument(__.getAltLink() + "/docs/5", (e) => __.response.setBody(e.number))`, `403`},
	} {
		if a := run(tt.source).want(200); a.text != tt.want {
			t.Errorf("%s: %s", tt.source, a.text)
		}
	}
	run(`() => { __.createDocument(__.getSelfLink(), {id: "x"}) }`).want(400).says("created through the MongoDB API")
}

// TestMongoPermission checks that a token for one item can read that item.
func TestMongoPermission(t *testing.T) {
	m := newMongo(t)
	m.insert(bson.D{{Key: "_id", Value: someID}}, bson.D{{Key: "_id", Value: "other"}})
	m.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	target := documents + "/" + someID.Hex()
	p := m.do("POST", "/dbs/d/users/u/permissions", `{"id":"p","permissionMode":"Read","resource":"`+target[1:]+
		`"}`).want(201)
	m.as(p.str("_token"), "GET", target, "").want(200)
	m.as(p.str("_token"), "GET", documents+"/other", "").want(403)
	m.as(p.str("_token"), "DELETE", target, "").want(403)
}

// TestMongoDefinition checks which parts of the definition can be read and changed.
func TestMongoDefinition(t *testing.T) {
	hidden, err := bson.Marshal(bson.D{{Key: "name", Value: "mine"}, {Key: "key", Value: bson.D{{Key: "_ts",
		Value: 1}}}})
	must(t, err)
	options, err := bson.Marshal(bson.D{{Key: "validator", Value: bson.D{}}})
	must(t, err)
	m := newMongo(t, func(def *catalog.Definition) { def.TTL, def.TTLIndex, def.Echo = 30, hidden, options })
	const place = collection
	const rest = `"indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[],"excludedPaths":[{"path":"/*"},{"path":"/\"_etag\"/?"}]},` +
		`"partitionKey":{"paths":["/_partitionKey"],"kind":"Hash","version":2,"systemKey":true},`
	const after = `"conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"},"_rid":`
	read := m.do("GET", place, "").want(200).says(`{"id":"c",` + rest + `"defaultTtl":30,` + after)
	m.do("GET", "/dbs/d/colls", "").want(200).says(rest + `"defaultTtl":30,` + after)
	state := func(ttl expiry.TTL, index bool) {
		t.Helper()
		if st := m.c.State(); st.TTL != ttl || st.Policy.Default != ttl || (st.TTLIndex != nil) != index ||
			!st.Indexing.None || string(st.Echo) != string(options) || st.Dialect != catalog.Mongo {
			t.Errorf("the state is %+v", st.Definition)
		}
	}
	m.do("PUT", place, read.text).want(200)
	state(30, true)
	m.do("PUT", place, strings.Replace(read.text, `"defaultTtl":30`, `"defaultTtl":60`, 1), "If-Match",
		`"other"`).want(412)
	m.do("PUT", place, strings.Replace(read.text, `"defaultTtl":30`,
		`"defaultTtl":60,"uniqueKeyPolicy":{"uniqueKeys":[]},"computedProperties":[]`,
		1)).want(200).says(`"defaultTtl":60`)
	state(60, true)
	for name, change := range map[string]string{
		"indexing": `"indexingPolicy":{"includedPaths":[{"path":"/*"}]}`,
		"composite": strings.Replace(strings.TrimSuffix(rest, ","), `"includedPaths":[]`,
			`"includedPaths":[],"compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]`, 1),
		"unique":        `"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]}`,
		"computed":      `"computedProperties":[{"name":"x","query":"SELECT VALUE c.y FROM c"}]`,
		"ttl property":  `"ttlPropertyPath":"/at"`,
		"analytical":    `"analyticalStorageTtl":-1`,
		"geospatial":    `"geospatialConfig":{"type":"Geometry"}`,
		"conflicts":     `"conflictResolutionPolicy":{"mode":"Custom"}`,
		"vectors":       `"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","distanceFunction":"cosine","dimensions":2}]}`,
		"partition key": pk,
	} {
		want := "Only its defaultTtl can be changed here"
		if name == "partition key" {
			want = "partition key of a container cannot be changed"
		}
		if a := m.do("PUT", place, `{"id":"c","defaultTtl":90,`+change+`}`); a.status != 400 ||
			!strings.Contains(a.text, want) {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	m.do("PUT", place, `{"id":"c","defaultTtl":0}`).want(400)
	m.do("PUT", place, `{"id":"x","defaultTtl":90}`).want(400)
	state(60, true)
	m.do("PUT", place, `{"id":"c"}`).want(200)
	state(expiry.Unset, false)
	m.do("PUT", place, `{"id":"c","defaultTtl":-1}`).want(200).says(`"defaultTtl":-1`)
	state(-1, false)
}

// TestMongoDrop checks that the collection can only be dropped through the MongoDB API.
func TestMongoDrop(t *testing.T) {
	m := newMongo(t)
	m.do("DELETE", collection, "").want(403).says("can only be dropped there")
	m.do("DELETE", "/dbs/d", "").want(403).says("Drop them there first")
	m.do("GET", collection, "").want(200)
	must(t, m.api.catalog.DeleteContainer(context.Background(), m.c))
	m.do("GET", collection, "").want(404)
	m.do("DELETE", "/dbs/d", "").want(204)
}

// TestMongoIndexName checks that no two indexes get the same name.
func TestMongoIndexName(t *testing.T) {
	m := newMongo(t)
	_, err := m.api.catalog.ReplaceIndexes(context.Background(), m.clock.Now().Unix(), m.c,
		func(*catalog.State) ([]catalog.NamedIndex, error) {
			return []catalog.NamedIndex{{Name: "_ts_1", Columns: []catalog.NamedColumn{{Path: "_ts"}}}}, nil
		})
	must(t, err)
	m.do("PUT", "/dbs/d/colls/c", `{"id":"c","defaultTtl":5}`).want(400).says("_ts_1")
	m.do("PUT", "/dbs/d/colls/c", `{"id":"c"}`).want(200)
}

// TestMongoView checks that a view has no items here.
func TestMongoView(t *testing.T) {
	options, err := bson.Marshal(bson.D{{Key: "viewOn", Value: "other"}, {Key: "pipeline", Value: bson.A{}}})
	must(t, err)
	m := newMongo(t, func(def *catalog.Definition) { def.Echo = options })
	m.do("GET", "/dbs/d/colls/c", "", "x-ms-documentdb-populatequotainfo", "True").want(200)
	m.do("GET", documents, "").want(400).says("view")
	m.do("GET", documents+"/x", "").want(400).says("view")
	m.ask("SELECT * FROM c").want(400).says("view")
	m.do("PUT", "/dbs/d/colls/c", `{"id":"c","defaultTtl":5}`).want(400).says("view")
}

// sees checks every way of reading a document.
func (m mongoTestAPI) sees(id string) bool {
	m.t.Helper()
	read := m.do("GET", documents+"/"+id, "").status == 200
	for name, seen := range map[string]bool{
		"If-None-Match": m.do("GET", documents+"/"+id, "", "If-None-Match", "*").status == 304,
		"feed":          m.inFeed(id, m.do("GET", documents, "")),
		"changes":       m.inFeed(id, m.do("GET", documents, "", "A-IM", "Incremental feed")),
		"query":         m.inFeed(id, m.ask("SELECT * FROM c")),
		"sorted":        m.inFeed(id, m.ask("SELECT * FROM c ORDER BY c.id")),
		"by id":         m.inFeed(id, m.ask("SELECT * FROM c WHERE c.id = '"+id+"'")),
		"by stamp":      m.inFeed(id, m.ask("SELECT * FROM c WHERE c._ts > 0")),
	} {
		if seen != read {
			m.t.Errorf("%s: item %s is read: %v, seen in %s: %v", m.clock.Now().Sub(testStart), id, read, name, seen)
		}
	}
	return read
}

// counts are the ways to count all documents.
var counts = []string{
	"SELECT VALUE COUNT(1) FROM c", "SELECT VALUE COUNT(c.id) FROM c", "SELECT VALUE COUNT(1) FROM c WHERE c._ts > 0",
	"SELECT VALUE COUNT(1) FROM c WHERE IS_DEFINED(c._id)",
}

// TestMongoLifetime expires documents in both ways, and reads them one second before the deadline, at it, and after
// it.
func TestMongoLifetime(t *testing.T) {
	at := func(seconds int) bson.DateTime { return bson.DateTime(second(seconds).UnixMilli()) }
	for _, tt := range []struct {
		name string
		ttl  expiry.TTL
		date int32 // of a TTL index on the field at, -1 for none
		body bson.D
		life int // seconds, 0 for no expiry
	}{
		{"container", 10, -1, nil, 10},
		{"own ttl", -1, -1, bson.D{{Key: "ttl", Value: 20}}, 20},
		{"own ttl as a double", 10, -1, bson.D{{Key: "ttl", Value: 20.0}}, 20},
		{"own ttl of ever", 10, -1, bson.D{{Key: "ttl", Value: -1}}, 0},
		{"own ttl, switched off", expiry.Unset, -1, bson.D{{Key: "ttl", Value: 20}}, 0},
		{"date", expiry.Unset, 5, bson.D{{Key: "at", Value: at(10)}}, 15},
		{"date with a fraction", expiry.Unset, 0, bson.D{{Key: "at", Value: at(10) + 1}}, 11},
		{"earliest date", expiry.Unset, 0, bson.D{{Key: "at", Value: bson.A{at(30), at(7), "x"}}}, 7},
		{"no date", expiry.Unset, 5, bson.D{{Key: "at", Value: 10}}, 0},
		{"both, date first", 30, 0, bson.D{{Key: "at", Value: at(10)}}, 10},
		{"both, stamp first", 10, 0, bson.D{{Key: "at", Value: at(30)}}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMongo(t, func(def *catalog.Definition) { def.TTL = tt.ttl })
			if tt.date >= 0 {
				m.endsBy("at", tt.date)
			}
			m.insert(append(bson.D{{Key: "_id", Value: "k"}}, tt.body...), bson.D{{Key: "_id", Value: 1}, {Key: "ttl",
				Value: -1}})
			times, want := []int{0, 1_000_000}, ""
			if tt.life > 0 {
				times, want = []int{tt.life - 1, tt.life, tt.life + 1}, second(tt.life).Format(time.RFC3339)
			}
			if got := m.do("GET", documents+"/k", "").want(200).header.Get("x-mayfly-expires-at"); got != want {
				t.Errorf("expires at %q, want %q", got, want)
			}
			for _, s := range times {
				must(t, m.clock.Set(second(s)))
				alive := tt.life == 0 || s < tt.life
				if seen := m.sees("k"); seen != alive {
					t.Errorf("at %d s seen is %v", s, seen)
				}
				n := "1"
				if alive {
					n = "2"
				}
				for _, query := range counts {
					if got := m.rowsOf(query); got != n {
						t.Errorf("at %d s: %s gives %s, want %s", s, query, got, n)
					}
				}
				m.do("GET", "/dbs/d/colls/c", "", "x-ms-documentdb-populatequotainfo", "True").want(200)
			}
		})
	}
}

// TestMongoLifetimeChanges changes defaultTtl: documents that have expired by it stay expired.
func TestMongoLifetimeChanges(t *testing.T) {
	m := newMongo(t)
	m.insert(bson.D{{Key: "_id", Value: "old"}})
	m.advance(10 * time.Second)
	m.insert(bson.D{{Key: "_id", Value: "new"}})
	m.do("PUT", "/dbs/d/colls/c", `{"id":"c","defaultTtl":5}`).want(200)
	if m.sees("old") || !m.sees("new") {
		t.Error("the lifetime does not hold")
	}
	m.do("PUT", "/dbs/d/colls/c", `{"id":"c"}`).want(200)
	m.advance(time.Hour)
	if m.sees("old") || !m.sees("new") {
		t.Error("what has expired lives again, or what has not is dead")
	}
}

// BenchmarkMongoItem converts a document to an item.
func BenchmarkMongoItem(b *testing.B) {
	body, err := bson.Marshal(bson.D{
		{Key: "_id", Value: someID}, {Key: "name", Value: "mayfly"}, {Key: "at", Value: someDate},
		{Key: "n", Value: 1.5},
		{Key: "tags", Value: bson.A{"a", "b"}}, {Key: "in", Value: bson.D{{Key: "x", Value: int64(1)},
			{Key: "y", Value: "long enough to count"}}},
	})
	must(b, err)
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		buffer = appendMongoItem(buffer[:0], body)
	}
}
