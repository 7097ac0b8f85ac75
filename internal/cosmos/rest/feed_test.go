package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/store"
)

// ids are the ids of a feed's items, joined.
func ids(a answer) string {
	a.t.Helper()
	var list []string
	for _, row := range a.want(200).rows("Documents") {
		list = append(list, row.(map[string]any)["id"].(string))
	}
	if got := a.header.Get("x-ms-item-count"); got != fmt.Sprint(len(list)) || a.body["_count"] != float64(len(list)) {
		a.t.Errorf("%d items, counted as %q and %v", len(list), got, a.body["_count"])
	}
	return strings.Join(list, " ")
}

// fill creates items 0 … n-1, in partitions a and b by turns.
func (d *testAPI) fill(n int) {
	d.t.Helper()
	for i := range n {
		pk := string(rune('a' + i%2))
		d.do("POST", documents, fmt.Sprintf(`{"id":"%d","pk":"%s"}`, i, pk), hPK, `["`+pk+`"]`).want(201)
	}
}

func TestFeed(t *testing.T) {
	d := newItems(t)
	if got := ids(d.do("GET", documents, "")); got != "" {
		t.Errorf("an empty container has %s", got)
	}
	d.fill(6)
	d.item("PUT", "0", `{"id":"0","pk":"a"}`).want(200)
	for _, tt := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"all", nil, "0 1 2 3 4 5"},
		{"partition", []string{hPK, `["a"]`}, "0 2 4"},
		{"no such partition", []string{hPK, `["z"]`}, ""},
		{"empty key", []string{hPK, `[]`}, "0 1 2 3 4 5"},
		{"range", []string{"x-ms-documentdb-partitionkeyrangeid", "0"}, "0 1 2 3 4 5"},
		{"range with RID", []string{"x-ms-documentdb-partitionkeyrangeid", "AQAAAIAAAAE=,0"}, "0 1 2 3 4 5"},
		{"size -1", []string{"x-ms-max-item-count", "-1"}, "0 1 2 3 4 5"},
		{"size 0", []string{"x-ms-max-item-count", "0"}, "0 1 2 3 4 5"},
		{"size exact", []string{"x-ms-max-item-count", "6"}, "0 1 2 3 4 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := d.do("GET", documents, "", tt.headers...)
			a.t = t
			if got := ids(a); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if token := a.header.Get("x-ms-continuation"); token != "" {
				t.Errorf("the last page has a continuation, %s", token)
			}
		})
	}
}

func TestFeedRefusals(t *testing.T) {
	d := newItems(t)
	d.fill(2)
	other := d.do("GET", documents, "", "x-ms-max-item-count", "1").want(200).header.Get("x-ms-continuation")
	for _, tt := range []struct {
		name    string
		headers []string
		says    string
	}{
		{"size no number", []string{"x-ms-max-item-count", "many"}, "x-ms-max-item-count"},
		{"unknown token", []string{"x-ms-continuation", "x"}, "Invalid Continuation Token"},
		{"token of another feed", []string{"x-ms-continuation", other, hPK, `["a"]`}, "Invalid Continuation Token"},
		{"two keys", []string{hPK, `["a","b"]`}, "more components"},
		{"two ranges", []string{"x-ms-documentdb-partitionkeyrangeid", "AQAAAIAAAAE=,0,1"}, "contains invalid value"},
		{"range of another container", []string{"x-ms-documentdb-partitionkeyrangeid", "AQAAAIAAAAk=,0"},
			"does not match"},
		{"odd EPK", []string{"x-ms-start-epk", "0"}, "effective partition key"},
		{"EPK no hex", []string{"x-ms-end-epk", "xy"}, "effective partition key"},
		{"long EPK", []string{"x-ms-end-epk", strings.Repeat("0", maxEPK+2)}, "effective partition key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := d.do("GET", documents, "", tt.headers...)
			a.t = t
			a.want(400).says(tt.says)
		})
	}
}

// pages reads a feed page by page, calling between after each of them.
func (d *testAPI) pages(between func(), headers ...string) (all string) {
	d.t.Helper()
	token := ""
	for range 100 {
		h := headers
		if token != "" {
			h = append([]string{"x-ms-continuation", token}, headers...)
		}
		a := d.do("GET", documents, "", h...)
		all += ids(a) + "|"
		if token = a.header.Get("x-ms-continuation"); token == "" {
			return strings.TrimSuffix(all, "|")
		}
		if len(token) > 1024 {
			d.t.Errorf("a token of %d characters", len(token))
		}
		if between != nil {
			between()
		}
	}
	d.t.Fatal("the feed does not end")
	return ""
}

func TestFeedPages(t *testing.T) {
	d := newItems(t)
	d.fill(7)
	for _, tt := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"all", []string{"x-ms-max-item-count", "3"}, "0 1 2|3 4 5|6"},
		{"even end", []string{"x-ms-max-item-count", "7"}, "0 1 2 3 4 5 6"},
		{"partition", []string{"x-ms-max-item-count", "2", hPK, `["a"]`}, "0 2|4 6"},
		{"one by one", []string{"x-ms-max-item-count", "1", hPK, `["b"]`}, "1|3|5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d.t = t
			if got := d.pages(nil, tt.headers...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestFeedWhileExpiring checks that pages neither lose nor repeat items when other items expire, are written or are
// deleted between them, and that a continuation token never leads to an empty page.
func TestFeedWhileExpiring(t *testing.T) {
	d := newItems(t, `"defaultTtl":-1`)
	for i := range 8 {
		ttl := ""
		if i%2 == 1 {
			ttl = fmt.Sprintf(`,"ttl":%d`, 10+i)
		}
		d.item("POST", "", fmt.Sprintf(`{"id":"%d","pk":"a"%s}`, i, ttl)).want(201)
	}
	d.advance(9 * time.Second)
	step := 0
	got := d.pages(func() {
		switch step++; step {
		case 1: // 0 1 were read
			d.advance(4 * time.Second) // 1 and 3 are gone
		case 2: // 2 4 were read
			d.item("DELETE", "4", "").want(204)
			d.setTTL("1000000")
		case 3: // 5 6 were read
			d.advance(10 * time.Second) // 7 is gone
		}
	}, "x-ms-max-item-count", "2")
	if want := "0 1|2 4|5 6|"; got != want { // the item after 6 expired after the page that read ahead to it
		t.Errorf("got %s, want %s", got, want)
	}
	if got := d.pages(nil, "x-ms-max-item-count", "3"); got != "0 2 6" {
		t.Errorf("got %s", got)
	}
}

func TestFeedBytes(t *testing.T) {
	d := newItems(t)
	for i := range 6 {
		d.item("POST", "", fmt.Sprintf(`{"id":"%d","pk":"a","x":"%s"}`, i, strings.Repeat("x", 1<<20))).want(201)
	}
	if got := d.pages(nil); got != "0 1 2 3|4 5" {
		t.Errorf("got %s", got)
	}
}

func TestFeedByPrefix(t *testing.T) {
	d := newItems(t)
	d.do("DELETE", collection, "").want(204)
	d.define("c", `"partitionKey":{"paths":["/x","/y","/z"],"kind":"MultiHash","version":2}`)
	for i, key := range []string{`["a","b","c"]`, `["a","b","d"]`, `["a","e","c"]`, `["b","b","c"]`} {
		parts := strings.Split(strings.Trim(key, "[]"), ",")
		d.do("POST", documents, fmt.Sprintf(`{"id":"%d","x":%s,"y":%s,"z":%s}`, i, parts[0], parts[1], parts[2]), hPK,
			key).want(201)
	}
	for _, tt := range []struct {
		key   string
		count int
	}{{`["a"]`, 3}, {`["a","b"]`, 2}, {`["a","b","d"]`, 1}, {`["b"]`, 1}, {`["z"]`, 0}} {
		seen := map[string]bool{}
		for _, page := range strings.Split(d.pages(nil, "x-ms-max-item-count", "1", hPK, tt.key), "|") {
			for _, id := range strings.Fields(page) {
				seen[id] = true
			}
		}
		if len(seen) != tt.count {
			t.Errorf("%s has %d items, want %d", tt.key, len(seen), tt.count)
		}
		changes := d.do("GET", documents, "", "A-IM", "Incremental Feed", hPK, tt.key)
		if tt.count == 0 {
			changes.want(304)
		} else if got := len(changes.want(200).rows("Documents")); got != tt.count {
			t.Errorf("%s has %d changes, want %d", tt.key, got, tt.count)
		}
	}
}

// TestFeedBySpan splits a container in two at every partition and finds each item on one side.
func TestFeedBySpan(t *testing.T) {
	d := newItems(t)
	d.fill(6)
	c, err := d.api.catalog.ContainerByID(1)
	must(t, err)
	for _, pk := range []string{"a", "b"} {
		parts, err := parsePartitionKey(`["` + pk + `"]`)
		must(t, err)
		cut := fmt.Sprintf("%X", store.EffectivePartitionKey(c.State(), parts))
		for _, change := range [][]string{nil, {"A-IM", "Incremental Feed"}} {
			total := 0
			for _, span := range [][]string{{"x-ms-start-epk", "", "x-ms-end-epk", cut}, {"x-ms-start-epk", cut,
				"x-ms-end-epk", "FF"}} {
				a := d.do("GET", documents, "", append(append(span, change...), "x-ms-read-key-type",
					"EffectivePartitionKeyRange")...)
				if a.status == 304 {
					continue
				}
				found := ids(a)
				total += len(strings.Fields(found))
				if inside := strings.Contains(found, map[string]string{"a": "0",
					"b": "1"}[pk]); inside != (span[1] == cut) {
					t.Errorf("partition %s: [%s,%s) has %s", pk, span[1], span[3], found)
				}
			}
			if total != 6 {
				t.Errorf("the two sides have %d items", total)
			}
		}
	}
}

func TestDeletePartition(t *testing.T) {
	d := newItems(t, `"defaultTtl":-1`)
	d.fill(6)
	target := collection + "/operations/partitionkeydelete"
	d.do("POST", target, "").want(400)
	a := d.do("POST", target, "", hPK, `["a"]`).want(200)
	if a.text != "" {
		t.Errorf("answered %s", a.text)
	}
	if got := ids(d.do("GET", documents, "")); got != "1 3 5" {
		t.Errorf("left are %s", got)
	}
	d.do("POST", target, "", hPK, `["a"]`).want(200)
}
