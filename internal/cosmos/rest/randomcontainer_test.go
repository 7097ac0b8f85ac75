package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var (
	querySeed  = flag.Uint64("query-seed", 0, "replay one random test of queries; 0 takes a new seed")
	mazeRounds = flag.Int("query-rounds", 60, "queries of a random test")
	mazeItems  = flag.Int("query-items", 220, "items of a random test of queries")
)

// newSeed is the seed from the flags, or a random one, and logs it.
func newSeed(t testing.TB) uint64 {
	seed := *querySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-query-seed=%d", seed)
	return seed
}

// A randomContainer is a testAPI with items of all sorts in one container. Its process can be restarted, and anything
// may change at any time.
type randomContainer struct {
	*rand.Rand
	*testAPI
	fs     vfs.FS
	engine *pebble.Engine
	cat    *catalog.Catalog
	store  *store.Store

	key      []string // paths of the partition key
	keyKind  string
	version  int
	ranges   int
	ttl      string // defaultTtl, "" for none
	property bool   // life counts from /at
	index    string
}

var randomKeys = []struct {
	paths   []string
	kind    string
	version int
}{
	{[]string{"/pk"}, "Hash", 2},
	{[]string{"/pk"}, "Hash", 1},
	{[]string{"/pk", "/u"}, "MultiHash", 2},
	{[]string{"/pk", "/u", "/n/s"}, "MultiHash", 2},
}

// randomIndexes are indexing policies. The first has most of the orders that queries need; noIndexes has none.
var randomIndexes = []string{
	`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/off/?"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b"}],
		[{"path":"/pk","order":"descending"},{"path":"/b"}],[{"path":"/a","order":"descending"},{"path":"/b"},{"path":"/n/x"}],
		[{"path":"/u"},{"path":"/a","order":"descending"},{"path":"/b"}]]}`,
	`{"includedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/b","order":"descending"},{"path":"/a"}],` +
		`[{"path":"/a"},{"path":"/b"}]]}`,
	`{"includedPaths":[{"path":"/a/?"},{"path":"/tags/[]/?"},{"path":"/n/*"},{"path":"/id/?"}],"excludedPaths":[{"path":"/*"}],
		"compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]}`,
	`{"includedPaths":[{"path":"/*"},{"path":"/n/x/?"},{"path":"/tags/[]/d/?"}],"excludedPaths":[{"path":"/n/*"},{"path":"/tags/[]/*"},
		{"path":"/\"odd []\"/\"*\"/?"}],"compositeIndexes":[[{"path":"/n/x"},{"path":"/off"}],[{"path":"/a","order":"descending"},{"path":"/b"},{"path":"/n/x"}]]}`,
	`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/?"},{"path":"/tags/*"}]}`,
	noIndexes,
}

const noIndexes = `{"indexingMode":"none","automatic":false}`

func newRandomContainer(t testing.TB, seed uint64) *randomContainer {
	m := &randomContainer{Rand: rand.New(rand.NewPCG(seed, 7)), fs: vfs.NewMem(), testAPI: &testAPI{t: t,
		clock: clock.NewVirtual(testStart), log: new(bytes.Buffer)}}
	m.open()
	t.Cleanup(m.shut)
	k := randomKeys[m.IntN(len(randomKeys))]
	m.key, m.keyKind, m.version = k.paths, k.kind, k.version
	m.ttl, m.index = "60", randomIndexes[0]
	m.do("POST", "/dbs", `{"id":"d"}`).want(201)
	m.ranges = []int{1, 2, 5}[m.IntN(3)]
	m.do("POST", "/dbs/d/colls", m.definition(), "x-mayfly-partitions", strconv.Itoa(m.ranges)).want(201)
	for range *mazeItems {
		m.write()
	}
	return m
}

func (m *randomContainer) open() {
	ctx := context.Background()
	var err error
	m.engine, err = pebble.Open(pebble.Options{Dir: "data", FS: m.fs})
	must(m.t, err)
	m.cat, err = catalog.Open(ctx, m.engine, nil)
	must(m.t, err)
	m.store, err = store.Open(ctx, m.engine, m.cat)
	must(m.t, err)
	m.api, err = New(Options{Catalog: m.cat, Store: m.store, Clock: m.clock, Keys: ringOf(m.t, testKey),
		Logger: slog.New(slog.NewTextHandler(m.log, nil))})
	must(m.t, err)
}

func (m *randomContainer) shut() {
	must(m.t, m.store.Close())
	must(m.t, m.engine.Close())
}

func (m *randomContainer) definition() string {
	paths, _ := json.Marshal(m.key)
	s := fmt.Sprintf(`{"id":"c","partitionKey":{"paths":%s,"kind":%q,"version":%d},"indexingPolicy":%s,`+
		`"computedProperties":[{"name":"cp","query":"SELECT VALUE LOWER(c.s) FROM c"}]`, paths, m.keyKind, m.version,
		m.index)
	if m.ttl != "" {
		s += `,"defaultTtl":` + m.ttl
		if m.property {
			s += `,"ttlPropertyPath":"/at"`
		}
	}
	return s + "}"
}

// redefine replaces the container's definition. One without indexes has no TTL.
func (m *randomContainer) redefine() {
	if m.index == noIndexes && m.ttl != "" {
		m.index = randomIndexes[0]
	}
	m.do("PUT", collection, m.definition()).want(200)
}

func (m *randomContainer) coll() *catalog.Container { return m.cat.AllContainers()[0] }

// built waits until the indexes match the policy.
func (m *randomContainer) built() {
	for m.coll().State().Building != nil {
		runtime.Gosched()
	}
}

func (m *randomContainer) pick(list ...string) string { return list[m.IntN(len(list))] }

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// longs are strings about as long as an index entry keeps.
var longs = []string{
	strings.Repeat("y", 254) + "é", strings.Repeat("y", 254) + "\x00\x00", strings.Repeat("y", 255),
	strings.Repeat("y", 255) + "a", strings.Repeat("y", 255) + "é",
	strings.Repeat("y", 255) + "\x7f", strings.Repeat("y", 256), strings.Repeat("y", 256) + "\x00",
	strings.Repeat("y", 255) + "ab", strings.Repeat("y", 255) + "ac", strings.Repeat("y", 300),
}

var longName = strings.Repeat("n", 500)

func (m *randomContainer) string() string {
	if m.IntN(3) == 0 {
		return quoted(longs[m.IntN(len(longs))])
	}
	return quoted(m.pick("", "a", "ab", "abc", "b", "ß", "zz", "A", "a\U0010FFFF", "\uD7FF", "\uE000x", "a\x00",
		"a\x00b", "\x00"))
}

func (m *randomContainer) scalar() string {
	switch m.IntN(10) {
	case 0:
		return "null"
	case 1:
		return m.pick("true", "false")
	case 2, 3, 4:
		return m.string()
	case 5, 6:
		return m.pick("0", "1", "-1", "1.5", "2.0", "1e3", "-0.0", "9007199254740991", "9007199254740992",
			"9007199254740993", "9223372036854775807",
			"-9223372036854775808", "9223372036854775808", "18446744073709551615", "1e300", "1e-300")
	}
	return strconv.Itoa(m.IntN(5))
}

func (m *randomContainer) value() string {
	switch m.IntN(12) {
	case 0:
		return `{"d":` + m.scalar() + `,"e":` + m.scalar() + `}`
	case 1:
		return `[` + m.scalar() + `,` + m.scalar() + `]`
	case 2:
		return m.pick(`{}`, `[]`, `[[]]`, `{"d":{"e":1}}`, `{"d":{"e":1,"f":2}}`, `[{"d":1}]`)
	}
	return m.scalar()
}

// keyPart is a value of /pk, "" for none.
func (m *randomContainer) keyPart() string {
	return m.pick("null", "true", "false", "1", "2", `"a"`, `"b"`, `"a"`, `"b"`, "1.5", "9007199254740992",
		"9007199254740993",
		quoted(strings.Repeat("k", 100)+"x"), quoted(strings.Repeat("k", 100)+"y"), quoted(strings.Repeat("k", 300)),
		"", "{}")
}

// item makes an item, and the header for its partition key.
func (m *randomContainer) item(id int) (body, key string) {
	b := fmt.Sprintf(`{"id":"%d"`, id)
	parts := map[string]string{}
	member := func(name, value string) {
		if value != "" {
			b += fmt.Sprintf(`,%q:%s`, name, value)
			parts["/"+name] = value
		}
	}
	maybe := func(name, value string) {
		if m.IntN(5) > 0 {
			member(name, value)
		}
	}
	member("pk", m.keyPart())
	member("u", m.pick("1", "2", `"x"`, "null", ""))
	maybe("a", m.value())
	maybe("b", m.value())
	maybe("s", m.pick(m.string(), `"Ab"`, `"aB"`, `"zZ"`))
	member("num", strconv.Itoa(m.IntN(6)))
	if ns := m.pick("", `"s"`, "1", "null"); m.IntN(4) > 0 || ns != "" {
		n := `{"x":` + m.scalar() + `,"l":[` + m.scalar() + `,{"d":` + m.scalar() + `}]`
		if ns != "" {
			n += `,"s":` + ns
			parts["/n/s"] = ns
		}
		b += `,"n":` + n + "}"
	}
	var list []string
	for range m.IntN(4) {
		list = append(list, m.pick(m.scalar(), m.value(), `{"d":`+m.scalar()+`,"l":[`+m.scalar()+`,`+m.scalar()+`]}`))
	}
	maybe("tags", "["+strings.Join(list, ",")+"]")
	maybe("off", m.scalar())
	if m.IntN(2) == 0 {
		b += `,"odd []":{"*":` + m.scalar() + `,"?":` + m.scalar() + `,"":` + m.scalar() + `,"` + longName + `":` +
			m.scalar() + `},"[]":` + m.scalar()
	}
	maybe("at", m.pick(m.scalar(), fmt.Sprint(m.clock.Now().Unix()-int64(m.IntN(40)))))
	switch m.IntN(8) {
	case 0:
		b += `,"ttl":-1`
	case 1, 2:
		b += fmt.Sprintf(`,"ttl":%d`, 1+m.IntN(60))
	}
	values := make([]string, len(m.key))
	for i, path := range m.key {
		if values[i] = parts[path]; values[i] == "" {
			values[i] = "{}"
		}
	}
	return b + "}", "[" + strings.Join(values, ",") + "]"
}

// write upserts an item.
func (m *randomContainer) write() {
	body, key := m.item(m.IntN(*mazeItems * 2 / 3))
	if a := m.do("POST", documents, body, "x-ms-documentdb-is-upsert", "true", hPK, key); a.status != 200 {
		a.want(201)
	}
}

// A living is an item that exists.
type living struct{ rid, key, id string }

// all lists the existing items.
func (m *randomContainer) all() []living {
	m.t.Helper()
	columns := "c._rid, c.id"
	for i, path := range m.key {
		columns += fmt.Sprintf(", c%s AS k%d", strings.ReplaceAll(path, "/", "."), i)
	}
	rows, refused := m.every("SELECT "+columns+" FROM c", 10_000, scanning...)
	if refused.status != 0 {
		m.t.Fatal(refused.text)
	}
	list := make([]living, len(rows))
	for i, row := range rows {
		var f map[string]json.RawMessage
		must(m.t, json.Unmarshal([]byte(row), &f))
		values := make([]string, len(m.key))
		for k := range values {
			if values[k] = string(f[fmt.Sprintf("k%d", k)]); values[k] == "" {
				values[k] = "{}"
			}
		}
		list[i].key = "[" + strings.Join(values, ",") + "]"
		must(m.t, json.Unmarshal(f["_rid"], &list[i].rid))
		must(m.t, json.Unmarshal(f["id"], &list[i].id))
	}
	return list
}

// disturb changes something: items, the time, what is on disk, the container, the process.
func (m *randomContainer) disturb() {
	now := m.clock.Now().Unix()
	switch n := m.IntN(60); {
	case n < 25:
		m.write()
	case n < 33:
		if all := m.all(); len(all) > 0 {
			x := all[m.IntN(len(all))]
			m.do("DELETE", documents+"/"+x.id, "", hPK, x.key).want(204)
		}
	case n < 40:
		must(m.t, m.clock.Advance(time.Duration(1+m.IntN(8))*time.Second))
	case n < 46:
		_, err := m.store.Reclaim(context.Background(), m.coll(), now, 1+m.IntN(30))
		must(m.t, err)
	case n < 51:
		_, err := m.store.Sweep(context.Background(), m.coll(), 1+m.IntN(300))
		must(m.t, err)
	case n < 53:
		m.ttl = m.pick("60", "20", "-1", "", "100", "60")
		m.property = m.property != (m.IntN(3) == 0)
		m.redefine()
	case n < 56:
		if m.index = m.pick(randomIndexes...); m.index == noIndexes {
			m.ttl = ""
		}
		m.redefine()
	case n < 58:
		m.shut()
		m.open()
	default:
		m.built()
	}
}

// scanning are the headers that leave indexes alone.
var scanning = []string{"x-ms-documentdb-force-query-scan", "true"}

// page reads one page, and checks its metrics.
func (m *randomContainer) page(query string, size int, token string, headers ...string) (rows []string, next string,
	a answer) {
	m.t.Helper()
	h := append([]string{
		"content-type", "application/query+json", "x-ms-documentdb-query-enablecrosspartition", "true",
		"x-ms-max-item-count", fmt.Sprint(size), "x-ms-documentdb-populatequerymetrics", "true",
	}, headers...)
	if token != "" {
		h = append(h, "x-ms-continuation", token)
	}
	if a = m.do("POST", documents, `{"query":`+quoted(query)+`}`, h...); a.status != 200 {
		return nil, "", a
	}
	var out struct{ Documents []json.RawMessage }
	must(m.t, json.Unmarshal([]byte(a.text), &out))
	for _, r := range out.Documents {
		rows = append(rows, string(r))
	}
	if text := a.header.Get("x-ms-documentdb-query-metrics"); text != "" { // a plan has none
		m.checkMetrics(query, text, len(rows), size)
	}
	return rows, a.header.Get("x-ms-continuation"), a
}

func (m *randomContainer) checkMetrics(query, text string, rows, size int) {
	m.t.Helper()
	got := map[string]float64{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || f < 0 {
			m.t.Errorf("%s: metric %q: %v", query, part, err)
		}
		got[name] = f
	}
	if int(got["outputDocumentCount"]) != rows || rows > size || got["indexUtilizationRatio"] > 1 ||
		(rows > 0) != (got["outputDocumentSize"] > 0) ||
		(got["retrievedDocumentCount"] > 0) != (got["retrievedDocumentSize"] > 0) {
		m.t.Errorf("%s: %d rows in a page of %d: %s", query, rows, size, text)
	}
	if strings.HasPrefix(query, "SELECT c._rid") && !strings.Contains(query, "JOIN") &&
		int(got["retrievedDocumentCount"]) < rows {
		m.t.Errorf("%s: %d rows of %v items", query, rows, got["retrievedDocumentCount"])
	}
}

// every reads all pages.
func (m *randomContainer) every(query string, size int, headers ...string) (rows []string, refused answer) {
	m.t.Helper()
	token := ""
	for range 5000 {
		got, next, a := m.page(query, size, token, headers...)
		if a.status != 200 {
			return rows, a
		}
		rows = append(rows, got...)
		if token = next; token == "" {
			return rows, answer{}
		}
	}
	m.t.Fatalf("%s: no end", query)
	return nil, answer{}
}

// part is the headers of a part of the container, nil for all of it.
func (m *randomContainer) part() []string {
	switch m.IntN(6) {
	case 0, 1:
		all := m.all()
		if len(all) == 0 {
			return nil
		}
		key := all[m.IntN(len(all))].key
		if m.keyKind == "MultiHash" && m.IntN(2) == 0 {
			var values []json.RawMessage
			must(m.t, json.Unmarshal([]byte(key), &values))
			text, _ := json.Marshal(values[:1+m.IntN(len(values))])
			key = string(text)
		}
		return []string{hPK, key}
	case 2:
		cut := fmt.Sprintf("%02X", m.IntN(64))
		return [][]string{{"x-ms-end-epk", cut}, {"x-ms-start-epk", cut, "x-ms-end-epk", "FF"}, {"x-ms-start-epk",
			cut}}[m.IntN(3)]
	case 3:
		return []string{hRange, strconv.Itoa(m.IntN(m.ranges))}
	}
	return nil
}

func sorted(rows []string) []string { return slices.Sorted(slices.Values(rows)) }

// differing shows the rows of a that b lacks.
func differing(a, b []string) string {
	out := []string{fmt.Sprintf("%d rows", len(a))}
	for i, r := range a {
		if len(out) < 25 && (len(a) < 12 || !slices.Contains(b, r)) {
			out = append(out, fmt.Sprintf("%d: %.300s", i, r))
		}
	}
	return strings.Join(out, "\n")
}
