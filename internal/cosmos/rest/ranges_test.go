package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/store"
)

const (
	hRange = "x-ms-documentdb-partitionkeyrangeid"
	hCross = "x-ms-documentdb-query-enablecrosspartition"
)

// newRanges is a container c with so many ranges, with the partition key /pk.
func newRanges(t testing.TB, n int, more ...string) *testAPI {
	t.Helper()
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	body := strings.Join(append([]string{`"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`},
		more...), ",")
	d.do("POST", "/dbs/d/colls", "{"+body+"}", "x-mayfly-partitions", strconv.Itoa(n)).want(201)
	return d
}

// spread creates items 0 … n-1, each in a partition of its own, and returns the range of each.
func (d *testAPI) spread(n int) (ranges []string) {
	d.t.Helper()
	for i := range n {
		a := d.do("POST", documents, fmt.Sprintf(`{"id":"%d","pk":"p%[1]d","n":%[1]d,"third":%d}`, i, i%3), hPK,
			fmt.Sprintf(`["p%d"]`, i)).want(201)
		ranges = append(ranges, a.header.Get(hRange))
	}
	return ranges
}

// A keyRange is a row of the feed of ranges.
type keyRange struct {
	ID, MinInclusive, MaxExclusive string
	Rid                            string `json:"_rid"`
	ThroughputFraction             float64
	Parents                        []string
	LSN                            uint64
}

func (d *testAPI) ranges() (list []keyRange, etag string) {
	d.t.Helper()
	a := d.do("GET", collection+"/pkranges", "", "A-IM", "Incremental Feed").want(200)
	var out struct{ PartitionKeyRanges []keyRange }
	must(d.t, json.Unmarshal([]byte(a.text), &out))
	return out.PartitionKeyRanges, a.header.Get("etag")
}

func TestPartitionsHeader(t *testing.T) {
	d := newTestAPI(t, func(o *Options) { o.Partitions = 3 })
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	key := `,"partitionKey":{"paths":["/pk"],"kind":"Hash"}`
	for _, tt := range []struct {
		name, body, header, want string
		status                   int
	}{
		{"the default", key, "", "3", 201},
		{"one", key, "1", "1", 201},
		{"most", key, "256", "256", 201},
		{"none", key, "0", "", 400},
		{"below", key, "-1", "", 400},
		{"too many", key, "257", "", 400},
		{"no number", key, "four", "", 400},
		{"huge", key, "99999999999", "", 400},
		{"without a partition key", "", "", "1", 201},
		{"without a partition key, by wish", "", "2", "2", 201},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var headers []string
			if tt.header != "" {
				headers = []string{"x-mayfly-partitions", tt.header}
			}
			a := d.do("POST", "/dbs/d/colls", `{"id":"`+tt.name+`"`+tt.body+`}`, headers...)
			a.t = t
			if a.want(tt.status); tt.status == 400 {
				a.says("from 1 to 256")
				return
			}
			read := d.do("GET", "/dbs/d/colls/"+strings.ReplaceAll(tt.name, " ", "%20"), "").want(200)
			for _, a := range []answer{a, read} {
				if got := a.header.Get("x-mayfly-partitions"); got != tt.want {
					t.Errorf("%s partitions, want %s", got, tt.want)
				}
			}
		})
	}
}

func TestRangesDivideTheKeys(t *testing.T) {
	for _, tt := range []struct {
		version, n int
		bounds     string
	}{
		{1, 1, " FF"},
		{2, 4, " 0FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF 1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF " +
			"2FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF FF"},
		{1, 2, " 05C1DFFFFFFFFC FF"},
		{2, 256, ""},
	} {
		t.Run(fmt.Sprint(tt.version, " ", tt.n), func(t *testing.T) {
			d := newTestAPI(t)
			d.do("POST", "/dbs", `{"id":"d"}`).want(201)
			d.do("POST", "/dbs/d/colls", fmt.Sprintf(`{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash",`+
				`"version":%d}}`, tt.version), "x-mayfly-partitions", strconv.Itoa(tt.n)).want(201)
			db, err := d.api.catalog.Database("d")
			must(t, err)
			c, err := d.api.catalog.Container(db, "c")
			must(t, err)
			list, etag := d.ranges()
			bounds := ""
			for i, r := range list {
				if want := rangeRID.in(c, uint64(i+2)).String(); r.Rid != want || r.ID != strconv.Itoa(i) ||
					r.ThroughputFraction != 1/float64(tt.n) || r.Parents == nil || len(r.Parents) > 0 ||
					i > 0 && r.MinInclusive != list[i-1].MaxExclusive {
					t.Errorf("range %d is %+v", i, r)
				}
				bounds += " " + r.MaxExclusive
			}
			if len(list) != tt.n || list[0].MinInclusive != "" || list[tt.n-1].MaxExclusive != "FF" ||
				tt.bounds != "" && bounds != tt.bounds {
				t.Errorf("%d ranges: %s", len(list), bounds)
			}
			a := d.do("GET", collection+"/pkranges", "", "A-IM", "Incremental Feed", "If-None-Match", etag).want(304)
			if got := a.header.Get("etag"); got != etag {
				t.Errorf("the etag %s became %s", etag, got)
			}
			q := d.do("POST", collection+"/pkranges", `{"query":"SELECT VALUE r.id FROM r WHERE r.minInclusive = ''"}`,
				"content-type", "application/query+json", "x-ms-documentdb-isquery", "true").want(200)
			if rows := q.rows("PartitionKeyRanges"); len(rows) != 1 || rows[0] != "0" {
				t.Errorf("the query finds %v", rows)
			}
		})
	}
}

// TestAnswersNameTheirRange checks the headers about ranges of requests on items.
func TestAnswersNameTheirRange(t *testing.T) {
	d := newRanges(t, 4)
	owners := d.spread(40)
	seen, created := map[string]int{}, make([]int, len(owners))
	for i, owner := range owners {
		seen[owner]++
		created[i] = seen[owner]
	}
	for i, owner := range owners {
		// The LSN of a range counts its own writes.
		key := []string{hPK, fmt.Sprintf(`["p%d"]`, i)}
		a := d.do("GET", documents+"/"+strconv.Itoa(i), "", key...).want(200)
		want := fmt.Sprintf("%s:-1#%d", owner, created[i])
		if a.header.Get("x-ms-session-token") != want || a.header.Get(hRange) != owner ||
			a.header.Get("lsn") != strconv.Itoa(created[i]) {
			t.Errorf("item %d of range %s: %v, want %s", i, owner, a.header, want)
		}
		// The id of a range means nothing beside a partition key.
		b := d.do("PUT", documents+"/"+strconv.Itoa(i), fmt.Sprintf(`{"id":"%d","pk":"p%[1]d"}`, i),
			append(key, hRange, "0")...).want(200)
		seen[owner]++
		if got := b.header.Get("x-ms-session-token"); got != fmt.Sprintf("%s:-1#%d", owner, seen[owner]) {
			t.Errorf("a write of item %d: %s", i, got)
		}
		if got := etagSequence(t, b.header.Get("etag")); got != uint64(seen[owner]) {
			t.Errorf("its ETag has sequence %d, not %d", got, seen[owner])
		}
	}
	if len(seen) != 4 {
		t.Fatalf("the items are in %v", seen)
	}
	list, _ := d.ranges()
	for _, r := range list {
		if r.LSN != uint64(seen[r.ID]) {
			t.Errorf("range %s is at %d, want %d", r.ID, r.LSN, seen[r.ID])
		}
	}
}

func etagSequence(t testing.TB, text string) uint64 {
	t.Helper()
	v := parseETag(text)
	if v == nil || v == neverVersion {
		t.Fatalf("no ETag: %q", text)
	}
	return v.Sequence
}

// idsOf are the ids of a feed, in pages of that size, sorted by number.
func (d *testAPI) idsOf(size int, headers ...string) (list []string) {
	d.t.Helper()
	for token := ""; ; {
		h := append(slices.Clone(headers), "x-ms-max-item-count", strconv.Itoa(size))
		if token != "" {
			h = append(h, "x-ms-continuation", token)
		}
		a := d.do("GET", documents, "", h...)
		list = append(list, strings.Fields(ids(a))...)
		if token = a.header.Get("x-ms-continuation"); token == "" {
			break
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	return list
}

// TestFeedOfRanges reads every part of a container that a client can name.
func TestFeedOfRanges(t *testing.T) {
	d := newRanges(t, 4)
	owners := d.spread(40)
	list, _ := d.ranges()
	in := func(ranges ...string) (want []string) {
		for i, owner := range owners {
			if slices.Contains(ranges, owner) {
				want = append(want, strconv.Itoa(i))
			}
		}
		return want
	}
	middle := "18"
	for _, tt := range []struct {
		name    string
		headers []string
		want    []string
	}{
		{"all", nil, in("0", "1", "2", "3")},
		{"first", []string{hRange, "0"}, in("0")},
		{"second", []string{hRange, "1"}, in("1")},
		{"last", []string{hRange, "3"}, in("3")},
		{"its interval", []string{"x-ms-start-epk", list[1].MinInclusive, "x-ms-end-epk", list[1].MaxExclusive},
			in("1")},
		{"two", []string{"x-ms-start-epk", list[1].MinInclusive, "x-ms-end-epk", list[2].MaxExclusive}, in("1", "2")},
		{"from the third on", []string{"x-ms-start-epk", list[2].MinInclusive}, in("2", "3")},
		{"the interval of everything", []string{"x-ms-start-epk", "", "x-ms-end-epk", "FF"}, in("0", "1", "2", "3")},
		{"range and interval", []string{hRange, "1", "x-ms-start-epk", "", "x-ms-end-epk", "FF"}, in("1")},
		{"range and another interval", []string{hRange, "1", "x-ms-start-epk", list[2].MinInclusive}, nil},
		{"interval upside down", []string{"x-ms-start-epk", list[2].MinInclusive, "x-ms-end-epk", "01"}, nil},
		{"partition", []string{hPK, `["p7"]`}, []string{"7"}},
		{"partition in its range", []string{hPK, `["p7"]`, hRange, owners[7]}, []string{"7"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{3, 100} {
				if got := d.idsOf(size, tt.headers...); !slices.Equal(got, tt.want) {
					t.Errorf("in pages of %d: %v, want %v", size, got, tt.want)
				}
			}
		})
	}
	low := d.idsOf(5, hRange, "1", "x-ms-end-epk", middle)
	high := d.idsOf(5, hRange, "1", "x-ms-start-epk", middle)
	if got := slices.Concat(low, high); len(low) == 0 || len(high) == 0 || len(got) != len(in("1")) {
		t.Errorf("the halves of range 1 are %v and %v", low, high)
	}
	a := d.do("GET", documents, "", hPK, `["p7"]`, hRange, another(owners[7])).want(http.StatusGone)
	if got := a.header.Get("x-ms-substatus"); got != "1002" {
		t.Errorf("a partition of another range: substatus %s", got)
	}
	for _, id := range []string{"4", "256", "99999", "00", "M", "x"} {
		a := d.do("GET", documents, "", hRange, id).want(http.StatusGone).says("PartitionKeyRange with id '" + id + "'")
		if got := a.header.Get("x-ms-substatus"); got != "1002" {
			t.Errorf("range %s: substatus %s", id, got)
		}
	}
}

func another(id string) string {
	if id == "0" {
		return "1"
	}
	return "0"
}

// TestChangesOfRanges follows the change feed of each range, and that of all of them.
func TestChangesOfRanges(t *testing.T) {
	d := newRanges(t, 4)
	start := d.changes("*").nothing()
	owners := d.spread(40)
	want := map[string]string{}
	for i, owner := range owners {
		want[owner] = strings.TrimSpace(want[owner] + " " + strconv.Itoa(i))
	}
	ends := map[string]string{}
	for _, owner := range slices.Sorted(maps.Keys(want)) {
		a := d.changes("", hRange, owner)
		if got := ids(a); got != want[owner] {
			t.Errorf("range %s has %s, want %s", owner, got, want[owner])
		}
		if got := a.header.Get("x-ms-session-token"); !strings.HasPrefix(got, owner+":-1#") {
			t.Errorf("range %s: token %s", owner, got)
		}
		ends[owner] = d.changes(a.header.Get("etag"), hRange, owner).nothing()
		if n := len(strings.Fields(want[owner])); ends[owner] != `"`+strconv.Itoa(n)+`"` {
			t.Errorf("range %s ends at %s after %d writes", owner, ends[owner], n)
		}
	}
	for _, from := range []string{"", start, `"0"`} {
		got, at := d.follow(from)
		for owner := range want {
			if strings.Join(got[owner], " ") != want[owner] {
				t.Errorf("from %q, range %s has %v", from, owner, got[owner])
			}
		}
		// The place of each range is good for a feed of that range alone.
		for owner := range want {
			if end := d.changes(at, hRange, owner).nothing(); end != ends[owner] {
				t.Errorf("range %s ends at %s, not %s", owner, end, ends[owner])
			}
		}
	}
	// It is good for no feed that has other ranges: those would lose what they have up to there.
	d.changes(ends["1"]).want(400)
	if a := d.changes("", hPK, `["p7"]`); ids(a) != "7" {
		t.Errorf("partition p7 has %s", ids(a))
	}
	if end := d.changes("", hPK, `["nobody"]`).nothing(); strings.Contains(end, ":") {
		t.Errorf("the feed of a partition is at %s", end)
	}
}

// TestPlaceOfAnotherRange (D-89) sends the ETag of a range for another one. It names no range, so the feed goes on
// behind that number, whichever writes those were.
func TestPlaceOfAnotherRange(t *testing.T) {
	d := newRanges(t, 2)
	owners := d.spread(20)
	page := d.changes("", hRange, "0", "x-ms-max-item-count", "3")
	want := []string{}
	for i, owner := range owners {
		if owner == "1" {
			want = append(want, strconv.Itoa(i))
		}
	}
	if got := ids(d.changes(page.header.Get("etag"), hRange, "1")); got != strings.Join(want[3:], " ") {
		t.Errorf("range 1 goes on with %s, want %s", got, want[3:])
	}
}

// follow reads a change feed in small pages until it has nothing more, and returns the ids of each range.
func (d *testAPI) follow(at string, headers ...string) (got map[string][]string, end string) {
	d.t.Helper()
	got = map[string][]string{}
	for range 1000 {
		a := d.changes(at, append(headers, "x-ms-max-item-count", "3")...)
		if a.status == 304 {
			return got, a.header.Get("etag")
		}
		for _, row := range a.rows("Documents") {
			item := row.(map[string]any)
			rid, _ := parseRID(item["_rid"].(string))
			owner := strconv.Itoa(int(rid.number >> 48))
			got[owner] = append(got[owner], item["id"].(string))
		}
		at = a.header.Get("etag")
	}
	d.t.Fatal("the feed does not end")
	return nil, ""
}

// TestChangesTakeTurns writes to one range faster than a reader reads, and checks that the others are read too.
func TestChangesTakeTurns(t *testing.T) {
	d := newRanges(t, 4)
	owners := d.spread(40)
	busy := slices.Index(owners, "0")
	key := fmt.Sprintf(`["p%d"]`, busy)
	met := map[string]bool{}
	at := ""
	for i := range 40 {
		for j := range 4 {
			d.do("POST", documents, fmt.Sprintf(`{"id":"x%d-%d","pk":"p%d"}`, i, j, busy), hPK, key).want(201)
		}
		a := d.changes(at, "x-ms-max-item-count", "3").want(200)
		for _, id := range strings.Fields(ids(a)) {
			met[id] = true
		}
		at = a.header.Get("etag")
	}
	for i := range owners {
		if !met[strconv.Itoa(i)] && owners[i] != "0" {
			t.Errorf("item %d of range %s was not read", i, owners[i])
		}
	}
}

func TestChangesOfRangesSince(t *testing.T) {
	d := newRanges(t, 4)
	d.spread(20)
	d.advance(10 * time.Second)
	for i := range 20 {
		d.do("POST", documents, fmt.Sprintf(`{"id":"late%d","pk":"q%[1]d"}`, i), hPK,
			fmt.Sprintf(`["q%d"]`, i)).want(201)
	}
	got, _ := d.follow("", "If-Modified-Since", second(5).Format(http.TimeFormat))
	n := 0
	for _, list := range got {
		for _, id := range list {
			if n++; !strings.HasPrefix(id, "late") {
				t.Errorf("the feed has %s", id)
			}
		}
	}
	if n != 20 {
		t.Errorf("the feed has %d items, want 20", n)
	}
	at := d.changes("", "If-Modified-Since", second(60).Format(http.TimeFormat)).nothing()
	if strings.Count(at, ":") != 4 {
		t.Errorf("the feed is at %s", at)
	}
}

// TestBulkOfARange sends an operation to a range that does not own it. Clients send such an operation again.
func TestBulkOfARange(t *testing.T) {
	d := newRanges(t, 4)
	owners := d.spread(8)
	mine, other := 0, slices.IndexFunc(owners, func(id string) bool { return id != owners[0] })
	a := d.bulk(fmt.Sprintf(`[{"operationType":"Read","id":"%d","partitionKey":"[\"p%[1]d\"]"},`+
		`{"operationType":"Read","id":"%d","partitionKey":"[\"p%[2]d\"]"}]`, mine, other), hRange, owners[0]).want(207)
	var out []struct{ StatusCode, SubStatusCode int }
	must(t, json.Unmarshal([]byte(a.text), &out))
	if len(out) != 2 || out[0].StatusCode != 200 || out[1].StatusCode != 410 || out[1].SubStatusCode != 1002 {
		t.Errorf("the operations: %+v", out)
	}
	if got := a.header.Get(hRange); got != owners[0] {
		t.Errorf("the answer is of range %s", got)
	}
	d.bulk(`[{"operationType":"Read","id":"0","partitionKey":"[\"p0\"]"}]`, hRange, "9").want(410)
}

// TestBulkOfNegativeZero sends an operation to the range that clients compute: they hash -0.0 as it is, and the item
// is in the partition of 0.
func TestBulkOfNegativeZero(t *testing.T) {
	partition := []doc.Value{doc.Double(math.Copysign(0, -1))}
	for n := 2; n < 100; n++ {
		d := newRanges(t, n)
		c, err := d.api.catalog.ContainerByID(1)
		must(t, err)
		st := c.State()
		computed := st.RangeOfForm(store.EffectivePartitionKey(st, partition))
		if computed == st.RangeOf(partition) {
			continue
		}
		for _, number := range []uint16{computed, st.RangeOf(partition)} {
			a := d.bulk(`[{"operationType":"Upsert","partitionKey":"[-0.0]","resourceBody":{"id":"z","pk":-0.0}}]`,
				hRange, strconv.Itoa(int(number)))
			if a.status != 200 {
				t.Errorf("range %d of %d: %s", number, n, a.text)
			}
		}
		return
	}
	t.Error("both are always in one range")
}

// TestIntervalIsMerged asks for an order of all there is, by its interval of keys: a client that sends that merges.
func TestIntervalIsMerged(t *testing.T) {
	d := newRanges(t, 4)
	d.spread(8)
	d.do("POST", documents, `{"query":"SELECT VALUE c.n FROM c ORDER BY c.n"}`, "content-type",
		"application/query+json", "x-ms-start-epk", "", "x-ms-end-epk", "FF").want(200)
}

// TestQueriesOverRanges asks for the same over one range and over four, for clients that do not merge.
func TestQueriesOverRanges(t *testing.T) {
	one, four := newRanges(t, 1), newRanges(t, 4)
	one.spread(40)
	four.spread(40)
	h := []string{"content-type", "application/query+json", hCross, "true"}
	for _, query := range []string{
		"SELECT VALUE c.n FROM c ORDER BY c.n",
		"SELECT VALUE c.n FROM c ORDER BY c.n DESC",
		"SELECT TOP 7 VALUE c.n FROM c ORDER BY c.n",
		"SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 5 LIMIT 11",
		"SELECT VALUE COUNT(1) FROM c",
		"SELECT VALUE SUM(c.n) FROM c",
		"SELECT VALUE AVG(c.n) FROM c",
		"SELECT VALUE MIN(c.n) FROM c",
		"SELECT VALUE MAX(c.n) FROM c",
		"SELECT COUNT(1) AS k, SUM(c.n) AS s FROM c WHERE c.n > 10",
		"SELECT c.third, COUNT(1) AS k, AVG(c.n) AS m FROM c GROUP BY c.third",
		"SELECT DISTINCT VALUE c.third FROM c ORDER BY c.third",
		"SELECT DISTINCT VALUE c.third FROM c",
		"SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.third FROM c)",
		"SELECT VALUE c.n FROM c WHERE c.pk IN ('p1', 'p2', 'p30')",
		"SELECT VALUE c.n FROM c WHERE c.pk = 'p3'",
		"SELECT VALUE c.n FROM c WHERE c.third = 1",
		"SELECT VALUE c.n FROM c WHERE c.third = 1 OR c.n = 3",
		"SELECT VALUE c.id FROM c",
	} {
		for _, size := range []int{2, 100} {
			body := `{"query":` + quoted(query) + `}`
			want, _ := one.rows(body, size, h)
			got, status := four.rows(body, size, h)
			if !strings.Contains(query, "ORDER BY") {
				want, got = sorted(want), sorted(got)
			}
			if status != 200 || len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d: %d\n%v\nwant\n%v", query, size, status, got, want)
			}
			// Together the ranges have the rows that a query without an order over all of them has.
			if size != 100 || strings.ContainsAny(query, "(") || strings.Contains(query, "TOP") ||
				strings.Contains(query, "LIMIT") || strings.Contains(query, "DISTINCT") {
				continue
			}
			var parts []string
			for id := range 4 {
				rows, status := four.rows(body, size, append(slices.Clone(h), hRange, strconv.Itoa(id)))
				if parts = append(parts, rows...); status != 200 {
					t.Errorf("%s of range %d: %d", query, id, status)
				}
			}
			if !slices.Equal(sorted(parts), sorted(want)) {
				t.Errorf("%s by range:\n%v\nwant\n%v", query, sorted(parts), sorted(want))
			}
		}
	}
}

// TestStatisticsOfRanges counts items by range, and over all of them.
func TestStatisticsOfRanges(t *testing.T) {
	d := newRanges(t, 4)
	owners := d.spread(40)
	count := map[string]int{}
	for _, owner := range owners {
		count[owner]++
	}
	a := d.do("GET", collection, "", "x-ms-documentdb-populatepartitionstatistics", "True",
		"x-ms-documentdb-populatequotainfo", "True").want(200)
	var out struct {
		Statistics []struct {
			ID            string
			DocumentCount int
			SizeInKB      int
		}
	}
	must(t, json.Unmarshal([]byte(a.text), &out))
	if len(out.Statistics) != 4 {
		t.Fatalf("statistics of %d ranges: %s", len(out.Statistics), a.text)
	}
	for i, s := range out.Statistics {
		if s.ID != strconv.Itoa(i) || s.DocumentCount != count[s.ID] || s.SizeInKB == 0 {
			t.Errorf("range %d: %+v, want %d items", i, s, count[s.ID])
		}
	}
	if usage := a.header.Get("x-ms-resource-usage"); !strings.Contains(usage, "documentsCount=40;") {
		t.Errorf("usage is %s", usage)
	}
}

// TestPlansNameThePlacesOfKeys checks that the interval of a partition key in a query plan is within the range that
// has the key: clients ask only the ranges which the plan names.
func TestPlansNameThePlacesOfKeys(t *testing.T) {
	for _, key := range []string{
		`{"paths":["/pk"],"kind":"Hash","version":1}`, `{"paths":["/pk"],"kind":"Hash","version":2}`,
		`{"paths":["/pk","/id"],"kind":"MultiHash","version":2}`,
	} {
		d := newTestAPI(t, func(o *Options) { o.Partitions = 16 })
		d.do("POST", "/dbs", `{"id":"d"}`).want(201)
		d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":`+key+`}`).want(201)
		list, _ := d.ranges()
		for i := range 30 {
			pk := fmt.Sprintf(`["p%d"]`, i)
			if strings.Contains(key, "Multi") {
				pk = fmt.Sprintf(`["p%d","%[1]d"]`, i)
			}
			owner := d.do("POST", documents, fmt.Sprintf(`{"id":"%d","pk":"p%[1]d"}`, i), hPK, pk).want(201).
				header.Get(hRange)
			a := d.do("POST", documents, fmt.Sprintf(`{"query":"SELECT * FROM c WHERE c.pk = 'p%d'"}`, i),
				"content-type", "application/query+json", hCross, "true", "x-ms-cosmos-is-query-plan-request", "True",
				"x-ms-cosmos-supported-query-features", allFeatures).want(200)
			var plan struct {
				QueryRanges []struct {
					Min, Max                       string
					IsMinInclusive, IsMaxInclusive bool
				}
			}
			must(t, json.Unmarshal([]byte(a.text), &plan))
			at := slices.IndexFunc(list, func(r keyRange) bool { return r.ID == owner })
			if len(plan.QueryRanges) != 1 || plan.QueryRanges[0].Min < list[at].MinInclusive ||
				plan.QueryRanges[0].Max >= list[at].MaxExclusive {
				t.Errorf("%s: key %s of range %s (%+v) has the ranges %+v", key, pk, owner, list[at], plan.QueryRanges)
			}
		}
	}
}

// TestPagesOverRangesSurvive reads pages of queries and feeds over several ranges, each from a server that was just
// started on the same data, while items expire and others are written.
func TestPagesOverRangesSurvive(t *testing.T) {
	for _, query := range []string{
		"", "SELECT VALUE c.id FROM c",
		"SELECT VALUE c.id FROM c ORDER BY c.n", "SELECT VALUE c.id FROM c ORDER BY c.n DESC",
		"SELECT VALUE c.id FROM c WHERE c.third < 2", "SELECT VALUE c.id FROM c WHERE c.third < 2 ORDER BY c.n",
	} {
		for _, headers := range [][]string{nil, {"x-ms-start-epk", "08"}, {hRange, "2"}} {
			t.Run(fmt.Sprint(query, headers), func(t *testing.T) {
				engine := memory.New()
				d := newTestAPIOn(t, engine)
				d.do("POST", "/dbs", `{"id":"d"}`).want(201)
				d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},`+
					`"defaultTtl":-1}`, "x-mayfly-partitions", "4").want(201)
				put := func(i, ttl int) {
					item := fmt.Sprintf(`{"id":"%d","pk":"p%[1]d","n":%[1]d,"third":%d,"ttl":%d}`, i, i%3, ttl)
					d.do("POST", documents, item, hPK, fmt.Sprintf(`["p%d"]`, i)).want(201)
				}
				stays := map[string]bool{}
				for i := range 60 {
					if i%4 == 3 {
						put(i, 1+i/4)
						continue
					}
					put(i, -1)
					if headers == nil && (i%3 < 2 || !strings.Contains(query, "third")) {
						stays[strconv.Itoa(i)] = true
					}
				}
				whole := d.page(query, "", append(headers, "x-ms-max-item-count", "100"))
				seen := map[string]bool{}
				for token, page := "", 0; ; page++ {
					e := d.restarted(engine)
					a := e.page(query, token, append(headers, "x-ms-max-item-count", "4"))
					for _, id := range a.ids {
						n, _ := strconv.Atoi(id)
						if n < 60 && n%4 == 3 && 1+n/4 <= page {
							t.Errorf("page %d has item %s, which is dead", page, id)
						}
						if seen[id] {
							t.Errorf("page %d has item %s again", page, id)
						}
						seen[id] = true
					}
					if token = a.token; token == "" {
						break
					}
					d.advance(time.Second)
					put(100+page, -1)
				}
				for _, id := range whole.ids {
					n, _ := strconv.Atoi(id)
					if !seen[id] && n%4 != 3 {
						t.Errorf("item %s is missing", id)
					}
				}
				for id := range stays {
					if !seen[id] {
						t.Errorf("item %s is missing", id)
					}
				}
			})
		}
	}
}

// TestPageEndsWithinItemOfLaterRange reads the rows of a join, of which items have three, in pages of one, two and
// four, while items are created in all ranges. Each row of an item that was there before comes once.
func TestPageEndsWithinItemOfLaterRange(t *testing.T) {
	const items = 20
	for _, query := range []string{"", " WHERE c.n >= 0", " ORDER BY c.n"} {
		for _, size := range []string{"1", "2", "4"} {
			d := newRanges(t, 4)
			put := func(i int) {
				d.do("POST", documents, fmt.Sprintf(`{"id":"%d","pk":"p%[1]d","n":%[1]d,"tags":["a","b","c"]}`, i),
					hPK, fmt.Sprintf(`["p%d"]`, i)).want(201)
			}
			for i := range items {
				put(i)
			}
			given, next := map[string]int{}, items
			for token, page := "", 0; page == 0 || token != ""; page++ {
				p := d.page("SELECT VALUE CONCAT(c.id, t) FROM c JOIN t IN c.tags"+query, token,
					[]string{"x-ms-max-item-count", size})
				for _, row := range p.ids {
					given[row]++
				}
				if next < 100 {
					put(next)
					next++
				}
				token = p.token
			}
			for i := range items {
				for _, tag := range []string{"a", "b", "c"} {
					if n := given[fmt.Sprintf("%d%s", i, tag)]; n != 1 {
						t.Errorf("%q, pages of %s: row %d%s came %d times", query, size, i, tag, n)
					}
				}
			}
		}
	}
}

// restarted is another server on the same data, with the same clock.
func (d *testAPI) restarted(engine kv.Engine) *testAPI {
	d.t.Helper()
	cat, err := catalog.Open(context.Background(), engine, nil)
	must(d.t, err)
	st, err := store.Open(context.Background(), engine, cat)
	must(d.t, err)
	d.t.Cleanup(func() { must(d.t, st.Close()) })
	e := &testAPI{t: d.t, clock: d.clock, log: d.log}
	e.api, err = New(Options{Catalog: cat, Store: st, Clock: d.clock, Keys: ringOf(d.t, testKey)})
	must(d.t, err)
	return e
}

// An idPage is the ids on one page of a feed or a query, and the token of the next one.
type idPage struct {
	ids   []string
	token string
}

// page reads one page of a query for ids, or of the feed if the query is "".
func (d *testAPI) page(query, token string, headers []string) (p idPage) {
	d.t.Helper()
	if token != "" {
		headers = append(slices.Clone(headers), "x-ms-continuation", token)
	}
	var a answer
	if query == "" {
		a = d.do("GET", documents, "", headers...).want(200)
		p.ids = strings.Fields(ids(a))
	} else {
		a = d.do("POST", documents, `{"query":`+quoted(query)+`}`, append([]string{"content-type",
			"application/query+json", hCross, "true"}, headers...)...).want(200)
		for _, row := range a.rows("Documents") {
			p.ids = append(p.ids, row.(string))
		}
	}
	p.token = a.header.Get("x-ms-continuation")
	return p
}
