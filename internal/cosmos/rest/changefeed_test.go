package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// changes reads the change feed from an ETag, "" for the beginning.
func (d *testAPI) changes(from string, headers ...string) answer {
	d.t.Helper()
	headers = append([]string{"A-IM", "Incremental Feed"}, headers...)
	if from != "" {
		headers = append(headers, "If-None-Match", from)
	}
	return d.do("GET", documents, "", headers...)
}

// nothing fails the test unless the feed has no news, and returns the ETag to continue from.
func (a answer) nothing() string {
	a.t.Helper()
	a.want(304)
	if a.text != "" || a.header.Get("etag") == "" {
		a.t.Fatalf("304 with etag %q and body %q", a.header.Get("etag"), a.text)
	}
	return a.header.Get("etag")
}

func TestChanges(t *testing.T) {
	d := newItems(t)
	if at := d.changes("").nothing(); at != `"0"` {
		t.Errorf("an empty container is at %s", at)
	}
	now := d.changes("*").nothing()
	d.fill(4)
	d.item("PUT", "0", `{"id":"0","pk":"a"}`).want(200)
	d.do("DELETE", documents+"/1", "", hPK, `["b"]`).want(204)

	a := d.changes("")
	if got := ids(a); got != "2 3 0" {
		t.Errorf("the feed has %s", got)
	}
	for _, row := range a.rows("Documents") {
		item := row.(map[string]any)
		if lsn := item["_lsn"]; item["id"] == "0" && lsn != 5.0 {
			t.Errorf("item 0 has sequence %v", lsn)
		}
	}
	if etag := a.header.Get("etag"); etag != `"5"` {
		t.Errorf("the etag is %s", etag)
	}
	end := d.changes(a.header.Get("etag")).nothing()
	if end != `"6"` {
		t.Errorf("the end is %s", end)
	}
	if got := ids(d.changes(now)); got != "2 3 0" {
		t.Errorf("from then on: %s", got)
	}
	if got := ids(d.changes("3")); got != "3 0" {
		t.Errorf("after 3: %s", got)
	}
	if at := d.changes("*").nothing(); at != end {
		t.Errorf("now is %s", at)
	}
	if at := d.changes(`"999"`).nothing(); at != end {
		t.Errorf("ahead of the container is %s", at)
	}
	d.fill(0)
	d.item("PATCH", "2", `[{"op":"set","path":"/x","value":1}]`).want(200)
	if got := ids(d.changes(end)); got != "2" {
		t.Errorf("then: %s", got)
	}
}

func TestChangesPages(t *testing.T) {
	d := newItems(t)
	d.fill(7)
	got, at := "", ""
	for range 10 {
		a := d.changes(at, "x-ms-max-item-count", "3")
		if a.status == 304 {
			break
		}
		got += ids(a) + "|"
		at = a.header.Get("etag")
		if token := a.header.Get("x-ms-continuation"); token != "" {
			t.Errorf("a continuation, %s", token)
		}
	}
	if got != "0 1 2|3 4 5|6|" {
		t.Errorf("got %s", got)
	}
}

// TestChangesElsewhere checks that a feed of one partition moves on although
// all changes are in another.
func TestChangesElsewhere(t *testing.T) {
	d := newItems(t)
	d.fill(4)
	if got := ids(d.changes("", hPK, `["b"]`)); got != "1 3" {
		t.Errorf("partition b has %s", got)
	}
	at := d.changes(`"2"`, hPK, `["z"]`).nothing()
	if at != `"4"` {
		t.Errorf("it stays at %s", at)
	}
	d.do("POST", documents, `{"id":"z","pk":"z"}`, hPK, `["z"]`).want(201)
	if got := ids(d.changes(at, hPK, `["z"]`, "x-ms-documentdb-partitionkeyrangeid", "0")); got != "z" {
		t.Errorf("partition z has %s", got)
	}
}

func TestChangesSince(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"0","pk":"a"}`).want(201)
	d.advance(10 * time.Second)
	d.item("POST", "", `{"id":"10","pk":"a"}`).want(201)
	for _, tt := range []struct {
		at   int
		want string
	}{{-1, "0 10"}, {0, "10"}, {9, "10"}, {10, ""}, {100, ""}} {
		for _, zone := range []string{"GMT", "UTC"} {
			text := strings.Replace(second(tt.at).Format(http.TimeFormat), "GMT", zone, 1)
			a := d.do("GET", documents, "", "A-IM", "incremental feed", "If-Modified-Since", text)
			if tt.want == "" {
				a.nothing()
			} else if got := ids(a); got != tt.want {
				t.Errorf("since %d s: %s, want %s", tt.at, got, tt.want)
			}
		}
	}
	// once the feed goes on from an etag, the time does not matter
	if got := ids(d.changes(`"1"`, "If-Modified-Since", second(100).Format(http.TimeFormat))); got != "10" {
		t.Errorf("etag and time: %s", got)
	}
}

func TestChangesWhileExpiring(t *testing.T) {
	d := newItems(t, `"defaultTtl":10`)
	d.item("POST", "", `{"id":"0","pk":"a"}`).want(201)
	d.advance(5 * time.Second)
	d.item("POST", "", `{"id":"5","pk":"a"}`).want(201)
	d.advance(4 * time.Second)
	if got := ids(d.changes("")); got != "0 5" {
		t.Errorf("at 9 s: %s", got)
	}
	d.advance(time.Second)
	if got := ids(d.changes("")); got != "5" {
		t.Errorf("at 10 s: %s", got)
	}
	d.advance(5 * time.Second)
	if at := d.changes("").nothing(); at != `"2"` {
		t.Errorf("at 15 s the feed is at %s", at)
	}
}

func TestChangesRefusals(t *testing.T) {
	d := newItems(t)
	for _, tt := range []struct {
		name    string
		headers []string
		says    string
	}{
		{"all versions", []string{"A-IM", "Full-Fidelity Feed", "x-ms-cosmos-changefeed-wire-format-version",
			"2021-09-15"}, "not built yet"},
		{"unknown mode", []string{"A-IM", "Feed"}, "a-im"},
		{"no sequence", []string{"A-IM", "Incremental Feed", "If-None-Match", `"x"`}, "if-none-match"},
		{"negative sequence", []string{"A-IM", "Incremental Feed", "If-None-Match", `"-1"`}, "if-none-match"},
		{"huge sequence", []string{"A-IM", "Incremental Feed", "If-None-Match", `"99999999999999999999"`},
			"if-none-match"},
		{"no time", []string{"A-IM", "Incremental Feed", "If-Modified-Since", "yesterday"}, "if-modified-since"},
		{"size", []string{"A-IM", "Incremental Feed", "x-ms-max-item-count", "x"}, "x-ms-max-item-count"},
		{"of ranges, none", []string{"A-IM", "Incremental Feed", "If-None-Match", `"0:1,"`}, "if-none-match"},
		{"of another range", []string{"A-IM", "Incremental Feed", "If-None-Match", `"1:5,2:7"`}, "if-none-match"},
		{"of a range, no sequence", []string{"A-IM", "Incremental Feed", "If-None-Match", `"0:"`}, "if-none-match"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := d.do("GET", documents, "", tt.headers...)
			a.t = t
			a.want(400).says(tt.says)
		})
	}
	d.do("GET", documents, "", "A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", "1").want(410)
	d.changes(fmt.Sprintf(`"%d"`, uint64(1<<64-1))).nothing()
}
