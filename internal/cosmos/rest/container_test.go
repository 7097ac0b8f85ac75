package rest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const pk2 = `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`

// withContainer makes the database d with the container c.
func withContainer(t testing.TB, more string, change ...func(*Options)) (*testAPI, answer) {
	t.Helper()
	d := newTestAPI(t, change...)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	return d, d.do("POST", "/dbs/d/colls", `{"id":"c",`+pk2+more+`}`).want(201)
}

func TestContainers(t *testing.T) {
	d, made := withContainer(t, `,"defaultTtl":10`)
	if made.body["defaultTtl"] != 10.0 || made.header.Get("etag") != made.str("_etag") {
		t.Errorf("got %s", made.text)
	}
	db := d.do("GET", "/dbs/d", "").str("_rid")
	byRID := "/" + made.str("_self")
	if byRID != "/dbs/"+db+"/colls/"+made.str("_rid")+"/" {
		t.Errorf("_self is %s", byRID)
	}
	if d.do("GET", "/dbs/d/colls/c", "").want(200).text != made.text || d.do("GET", byRID,
		"").want(200).text != made.text {
		t.Error("a container reads differently by name and by RID")
	}
	if rows := d.do("GET", "/dbs/d/colls", "").want(200).rows("DocumentCollections"); len(rows) != 1 {
		t.Errorf("%d containers are listed", len(rows))
	}
	d.do("POST", "/dbs/d/colls", `{"id":"c",`+pk+`}`).want(409)
	d.do("GET", "/dbs/d/colls/c", "", "If-None-Match", made.str("_etag")).want(304)
	if a := d.do("GET", "/dbs/d/colls/x", "").want(404); a.header.Get("x-ms-substatus") != "" {
		t.Errorf("a missing container has the substatus %s", a.header.Get("x-ms-substatus"))
	}
	if a := d.do("GET", "/dbs/d/colls/x/docs", "").want(404); a.header.Get("x-ms-substatus") != "1003" {
		t.Errorf("a missing owner has the substatus %s", a.header.Get("x-ms-substatus"))
	}
	d.do("DELETE", "/dbs/d/colls/c", "", "If-Match", `"other"`).want(412)
	d.do("DELETE", "/dbs/d/colls/c", "").want(204)
	d.do("DELETE", "/dbs/d/colls/c", "").want(404)
	if again := d.do("POST", "/dbs/d/colls", `{"id":"c",`+pk+`}`).want(201); again.str("_rid") == made.str("_rid") {
		t.Error("a RID was given out twice")
	}
	d.do("GET", byRID, "").want(404)
}

// A container of one database is not found in another one, whatever its RID.
func TestContainerIsFoundInItsDatabaseOnly(t *testing.T) {
	d, made := withContainer(t, "")
	other := d.do("POST", "/dbs", `{"id":"other"}`).want(201).str("_rid")
	d.do("GET", "/dbs/"+other+"/colls/"+made.str("_rid"), "").want(404)
	d.do("GET", "/dbs/other/colls/"+made.str("_rid"), "").want(404)
}

func TestReplaceContainer(t *testing.T) {
	d, made := withContainer(t, "")
	d.do("POST", "/dbs/d/colls/c/docs", `{"id":"i","pk":"a"}`, "x-ms-documentdb-partitionkey", `["a"]`).want(201)
	replace := func(more string, headers ...string) answer {
		t.Helper()
		return d.do("PUT", "/dbs/d/colls/c", `{"id":"c",`+pk2+more+`}`, headers...)
	}
	d.clock.Advance(9 * time.Second)
	on := replace(`,"defaultTtl":10`).want(200)
	if on.body["defaultTtl"] != 10.0 || on.str("_etag") == made.str("_etag") || on.str("_rid") != made.str("_rid") {
		t.Errorf("got %s", on.text)
	}
	replace(``, "If-Match", made.str("_etag")).want(412)
	d.clock.Advance(time.Second)
	d.do("GET", "/dbs/d/colls/c/docs/i", "", "x-ms-documentdb-partitionkey", `["a"]`).want(404)
	if off := replace(``, "If-Match", on.str("_etag")).want(200); strings.Contains(off.text, "defaultTtl") {
		t.Errorf("switched off it says %s", off.text)
	}
	d.do("GET", "/dbs/d/colls/c/docs/i", "", "x-ms-documentdb-partitionkey", `["a"]`).want(404)
	replace(`,"defaultTtl":null`).want(200)
	replace(`,"defaultTtl":0`).want(400).says("The input defaultTtl '0' is invalid.")
	replace(`,"indexingPolicy":{"indexingMode":"none","automatic":false}`).want(200)
	replace(`,"defaultTtl":5,"indexingPolicy":{"indexingMode":"none","automatic":false}`).want(400).says("Indexing " +
		"mode value cannot be 'none'")
	replace(`,"defaultTtl":5,"ttlPropertyPath":"/when"`).want(200).says(`"ttlPropertyPath":"/when"`)
	d.do("PUT", "/dbs/d/colls/c", `{"id":"x",`+pk2+`}`).want(400)
	d.do("PUT", "/dbs/d/colls/c", `{"id":"c","partitionKey":{"paths":["/other"]}}`).want(400)
	d.do("PUT", "/dbs/d/colls/x", `{"id":"x",`+pk2+`}`).want(404)
}

// What a client reads, it can send back.
func TestReplaceContainerWithItself(t *testing.T) {
	for name, body := range map[string]string{
		"plain": `{"id":"c",` + pk + `}`, "fixed": `{"id":"c"}`,
		"full": `{"id":"c","partitionKey":{"paths":["/a","/b"]},"defaultTtl":-1,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]},` +
			`"indexingPolicy":{"excludedPaths":[{"path":"/x/*"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}]]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestAPI(t)
			d.do("POST", "/dbs", `{"id":"d"}`).want(201)
			made := d.do("POST", "/dbs/d/colls", body).want(201)
			again := d.do("PUT", "/dbs/d/colls/c", made.text).want(200)
			cut := func(a answer) string { text, _, _ := strings.Cut(a.text, `,"_rid"`); return text }
			if cut(again) != cut(made) {
				t.Errorf("got  %s\nwant %s", again.text, made.text)
			}
		})
	}
}

func TestQuotaInfo(t *testing.T) {
	d, _ := withContainer(t, `,"defaultTtl":10`)
	d.do("POST", "/dbs/d/colls/c/docs", `{"id":"i","pk":"a"}`, "x-ms-documentdb-partitionkey", `["a"]`).want(201)
	usage := func() string {
		a := d.do("GET", "/dbs/d/colls/c", "", "x-ms-documentdb-populatequotainfo", "true").want(200)
		if !strings.Contains(a.header.Get("x-ms-resource-quota"), "collectionSize=10485760;") ||
			a.header.Get("x-ms-documentdb-collection-index-transformation-progress") != "100" {
			t.Errorf("the headers are %v", a.header)
		}
		return a.header.Get("x-ms-resource-usage")
	}
	if u := usage(); !strings.Contains(u, "documentsCount=1;") || !strings.HasSuffix(u, ";") {
		t.Errorf("the usage is %s", u)
	}
	d.clock.Advance(10 * time.Second)
	if u := usage(); !strings.Contains(u, "documentsCount=0;") {
		t.Errorf("after expiry the usage is %s", u)
	}
	if a := d.do("GET", "/dbs/d/colls/c", ""); a.header.Get("x-ms-resource-usage") != "" {
		t.Error("the usage is sent unasked")
	}
}

func TestRanges(t *testing.T) {
	d, made := withContainer(t, "")
	a := d.do("GET", "/dbs/d/colls/c/pkranges", "", "A-IM", "Incremental Feed").want(200)
	row := a.rows("PartitionKeyRanges")[0].(map[string]any)
	if row["id"] != "0" || row["minInclusive"] != "" || row["maxExclusive"] != "FF" ||
		a.str("_rid") != made.str("_rid") {
		t.Errorf("got %s", a.text)
	}
	if r, ok := parseRID(row["_rid"].(string)); !ok || r.kind != rangeRID {
		t.Errorf("the RID is %v", row["_rid"])
	}
	etag := a.header.Get("etag")
	again := d.do("GET", "/dbs/d/colls/c/pkranges", "", "A-IM", "Incremental Feed", "If-None-Match", etag).want(304)
	if etag == "" || again.header.Get("etag") != etag {
		t.Errorf("the etag is %s, then %s", etag, again.header.Get("etag"))
	}
	d.do("DELETE", "/dbs/d/colls/c", "").want(204)
	d.do("POST", "/dbs/d/colls", `{"id":"c",`+pk+`}`).want(201)
	d.do("GET", "/dbs/d/colls/c/pkranges", "", "If-None-Match", etag).want(http.StatusOK)
}

func TestConflictsAreEmpty(t *testing.T) {
	d, _ := withContainer(t, "")
	if rows := d.do("GET", "/dbs/d/colls/c/conflicts", "").want(200).rows("Conflicts"); len(rows) != 0 {
		t.Errorf("got %v", rows)
	}
	d.do("GET", "/dbs/d/colls/c/conflicts/x", "").want(404)
	d.do("DELETE", "/dbs/d/colls/c/conflicts/x",
		"").want(400).says("PartitionKey value must be supplied for this operation.")
	d.do("DELETE", "/dbs/d/colls/c/conflicts/x", "", key, "a").want(400)
	d.do("DELETE", "/dbs/d/colls/c/conflicts/x", "", key, inA).want(404)
	d.do("POST", "/dbs/d/colls", `{"id":"fixed"}`).want(201)
	d.do("DELETE", "/dbs/d/colls/fixed/conflicts/x", "").want(404)
}

// Java and .NET ask for it with setPopulatePartitionKeyRangeStatistics; the members are those of .NET's
// PartitionKeyRangeStatistics.
func TestStatistics(t *testing.T) {
	d, _ := withContainer(t, `,"defaultTtl":10`)
	d.do("POST", documents, `{"id":"i","pk":"a"}`, key, inA).want(201)
	const of = `,"statistics":[{"id":"0","sizeInKB":1,"documentCount":1,"sampledDistinctPartitionKeyCount":0,"partitionKeys":[]}]}`
	asked := d.do("GET", collection, "", "x-ms-documentdb-populatepartitionstatistics", "True").want(200)
	plain := d.do("GET", collection, "", "x-ms-documentdb-populatepartitionstatistics", "false").want(200)
	if asked.text != strings.TrimSuffix(plain.text, "}")+of {
		t.Errorf("got %s\nwithout them %s", asked.text, plain.text)
	}
	d.clock.Advance(10 * time.Second)
	d.do("GET", collection, "", "x-ms-documentdb-populatepartitionstatistics",
		"True").want(200).says(`"sizeInKB":0,"documentCount":0,`)
	d.do("PUT", collection, asked.text).want(200) // as clients send back what they have read
}

// A policy ends when the request that replaces it has arrived: what expired during the upload stays expired.
func TestSlowReplaceBringsNothingBack(t *testing.T) {
	d := newItems(t, `"defaultTtl":10`)
	d.item("POST", "", `{"id":"1","pk":"a"}`).want(201)
	r := newRequest("PUT", collection, "x")
	r.ContentLength = -1
	r.Body = io.NopCloser(&slowReader{text: `{"id":"c",` + pk2 + `}`, each: func() { d.advance(time.Second) }})
	signRequest(r)
	replaced := d.send(r).want(200)
	if stamp := replaced.body["_ts"]; stamp != float64(d.clock.Now().Unix()) {
		t.Errorf("_ts is %v", stamp)
	}
	d.item("GET", "1", "").want(404)
}
