package rest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// An entry is the answer to one operation of a batch.
type entry struct {
	StatusCode    int
	SubStatusCode int
	RequestCharge float64
	ETag          string
	Message       string
	ResourceBody  map[string]any
}

func entries(t testing.TB, a answer) (list []entry) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.text), &list); err != nil {
		t.Fatalf("%v: %s", err, a.text)
	}
	return list
}

func (d *testAPI) batch(body string, headers ...string) answer {
	d.t.Helper()
	return d.item("POST", "", body, append([]string{"x-ms-cosmos-is-batch-request", "True",
		"x-ms-cosmos-batch-atomic", "true"}, headers...)...)
}

func (d *testAPI) bulk(body string, headers ...string) answer {
	d.t.Helper()
	return d.do("POST", documents, body, append([]string{"x-ms-cosmos-is-batch-request", "true",
		"x-ms-cosmos-batch-atomic", "false",
		"x-ms-documentdb-partitionkeyrangeid", "0"}, headers...)...)
}

func statuses(list []entry) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%d ", e.StatusCode)
	}
	return strings.TrimSpace(b.String())
}

const sixOperations = `[
	{"operationType":"Create","resourceBody":{"id":"1","pk":"a","n":1,"_ts":7}},
	{"operationType":"Upsert","resourceBody":{"id":"2","pk":"a"}},
	{"operationType":"Read","id":"1"},
	{"resourceBody":{"id":"2","pk":"a","n":2},"id":"2","operationType":"Replace"},
	{"operationType":"Patch","id":"1","resourceBody":{"operations":[{"op":"incr","path":"/n","value":1}]}},
	{"operationType":"Delete","id":"2"}]`

func TestBatch(t *testing.T) {
	for _, minimal := range []bool{false, true} {
		t.Run(fmt.Sprintf("minimal %v", minimal), func(t *testing.T) {
			d := newItems(t)
			var headers []string
			if minimal {
				headers = []string{"Prefer", "return=minimal"}
			}
			list := entries(t, d.batch(sixOperations, headers...).want(200))
			if got := statuses(list); got != "201 201 200 200 200 204" {
				t.Fatal(got)
			}
			for i, e := range list {
				if e.RequestCharge <= 0 {
					t.Errorf("operation %d costs %v", i, e.RequestCharge)
				}
				if (e.ETag == "") != (i == 5) {
					t.Errorf("operation %d has etag %q", i, e.ETag)
				}
				if wantBody := i == 2 || !minimal && i != 5; (e.ResourceBody != nil) != wantBody {
					t.Errorf("operation %d has body %v", i, e.ResourceBody)
				}
			}
			if read := list[2]; read.ETag != list[0].ETag || read.ResourceBody["_etag"] != read.ETag ||
				read.ResourceBody["_ts"] != float64(testStart.Unix()) {
				t.Errorf("what the batch wrote is read as %v, created with etag %s", read, list[0].ETag)
			}
			a := d.item("GET", "1", "").want(200)
			if a.body["n"] != 2.0 || a.header.Get("etag") != list[4].ETag {
				t.Errorf("%s, want etag %s", a.text, list[4].ETag)
			}
			d.item("GET", "2", "").want(404)
		})
	}
}

func TestBatchRollsBack(t *testing.T) {
	for _, tt := range []struct{ name, culprit, want string }{
		{"exists", `{"operationType":"Create","resourceBody":{"id":"old","pk":"a"}}`, "424 409 424"},
		{"missing", `{"operationType":"Delete","id":"none"}`, "424 404 424"},
		{"stale", `{"operationType":"Replace","id":"old","ifMatch":"\"x\"","resourceBody":{"id":"old","pk":"a"}}`,
			"424 412 424"},
		{"no id", `{"operationType":"Create","resourceBody":{"pk":"a"}}`, "424 400 424"},
		{"no id to read", `{"operationType":"Read"}`, "424 400 424"},
		{"no body", `{"operationType":"Create"}`, "424 400 424"},
		{"other partition", `{"operationType":"Create","resourceBody":{"id":"2","pk":"b"}}`, "424 400 424"},
		{"other id", `{"operationType":"Replace","id":"old","resourceBody":{"id":"2","pk":"a"}}`, "424 400 424"},
		{"bad patch", `{"operationType":"Patch","id":"old","resourceBody":[{"op":"remove","path":"/none"}]}`,
			"424 400 424"},
		{"condition",
			`{"operationType":"Patch","id":"old","resourceBody":{"condition":"from c where c.n = ` +
				`2","operations":[{"op":"set","path":"/n","value":1}]}}`, "424 412 424"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newItems(t)
			old := d.item("POST", "", `{"id":"old","pk":"a","n":1}`).want(201).header.Get("etag")
			list := entries(t, d.batch(`[{"operationType":"Create","resourceBody":{"id":"1","pk":"a"}},`+tt.culprit+
				`,{"operationType":"Upsert","resourceBody":{"id":"old","pk":"a"}}]`).want(207))
			if got := statuses(list); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if list[1].Message == "" {
				t.Error("no message")
			}
			d.item("GET", "1", "").want(404)
			if etag := d.item("GET", "old", "").want(200).header.Get("etag"); etag != old {
				t.Error("an item was written")
			}
		})
	}
}

func TestBatchRefusals(t *testing.T) {
	d := newItems(t)
	many := strings.Repeat(`{"operationType":"Read","id":"1"},`, maxBatch)
	for _, tt := range []struct {
		name   string
		a      answer
		status int
		says   string
	}{
		{"too many", d.batch("[" + many + `{"operationType":"Read","id":"1"}]`), 400,
			"Batch request has more operations than what is supported."},
		{"none", d.batch("[]"), 400, "no operations"},
		{"no array", d.batch(`{"operationType":"Read","id":"1"}`), 400, "payload"},
		{"broken", d.batch(`[{"operationType":"Read","id":"1"}`), 400, "payload"},
		{"number", d.batch(`[1]`), 400, "JSON object"},
		{"verb", d.batch(`[{"operationType":"Explode","id":"1"}]`), 400, "Explode"},
		{"large", d.batch(`[{"operationType":"Create","resourceBody":{"id":"1","pk":"a","x":"` + strings.Repeat("x",
			maxBody) + `"}}]`), 413, "too large"},
		{"HybridRow", d.batch("\x81\x01\x00\x00"), 400, "HybridRow"},
		{"no key", d.do("POST", documents, "["+strings.TrimSuffix(many, ",")+"]", "x-ms-cosmos-is-batch-request",
			"True"), 400, "fewer components"},
		{"bulk, other range", d.bulk("["+strings.TrimSuffix(many, ",")+"]", "x-ms-documentdb-partitionkeyrangeid",
			"1"), 410, "range"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.a.t = t
			tt.a.want(tt.status).says(tt.says)
		})
	}
}

func TestBulk(t *testing.T) {
	d := newItems(t)
	a := d.bulk(`[
		{"operationType":"Create","partitionKey":"[\"a\"]","resourceBody":{"id":"1","pk":"a"}},
		{"operationType":"Create","partitionKey":"[\"b\"]","resourceBody":{"id":"1","pk":"b"}},
		{"operationType":"Create","partitionKey":["c"],"resourceBody":{"id":"1","pk":"c"}},
		{"operationType":"Create","partitionKey":"[\"a\"]","resourceBody":{"id":"1","pk":"a"}},
		{"operationType":"Create","partitionKey":"[\"a\"]","resourceBody":{"id":"2","pk":"z"}},
		{"operationType":"Create","resourceBody":{"id":"3","pk":"a"}},
		{"operationType":"Read","id":"1","partitionKey":"[\"b\"]"},
		{"operationType":"Delete","id":"9","partitionKey":"[\"b\"]"},
		{"operationType":"Create","partitionKey":"[{}]","resourceBody":{"id":"1"}},
		{"operationType":"Delete","id":"1","partitionKey":"[\"a\"]"}]`).want(207)
	list := entries(t, a)
	if got := statuses(list); got != "201 201 201 409 400 400 200 404 201 204" {
		t.Errorf("%s\n%s", got, a.text)
	}
	if list[4].SubStatusCode != 1001 || list[5].SubStatusCode != 1001 {
		t.Error(a.text)
	}
	d.item("GET", "1", "").want(404)
	if got := entries(t,
		d.bulk(`[{"operationType":"Upsert","partitionKey":"[\"a\"]","resourceBody":{"id":"1","pk":"a"}}]`).
			want(200)); got[0].ETag == "" {
		t.Error("no etag")
	}
}

// TestBulkOrder checks that operations on one item keep their order, however its key is spelt.
func TestBulkOrder(t *testing.T) {
	d := newItems(t)
	var ops []string
	for i := range maxBatch {
		key := "[1]"
		if i%2 == 1 {
			key = "[1.0]"
		}
		ops = append(ops,
			fmt.Sprintf(`{"operationType":"Upsert","partitionKey":"%s","resourceBody":{"id":"%d","pk":1,"n":%d}}`, key,
				i%3, i))
	}
	d.bulk("[" + strings.Join(ops, ",") + "]").want(200)
	for id, want := range []float64{99, 97, 98} {
		if a := d.do("GET", fmt.Sprint(documents, "/", id), "", hPK, "[1]").want(200); a.body["n"] != want {
			t.Errorf("item %d was written last with %v, want %v", id, a.body["n"], want)
		}
	}
}

func TestBulkStops(t *testing.T) {
	d := newItems(t)
	list := entries(t, d.bulk(`[
		{"operationType":"Create","partitionKey":"[\"a\"]","resourceBody":{"id":"1","pk":"a"}},
		{"operationType":"Create","partitionKey":"[\"a\"]","resourceBody":{"id":"1","pk":"a"}},
		{"operationType":"Create","partitionKey":"[\"a\"]","resourceBody":{"id":"2","pk":"a"}}]`,
		"x-ms-cosmos-batch-continue-on-error", "False").want(207))
	if got := statuses(list); got != "201 409 424" {
		t.Error(got)
	}
	d.item("GET", "1", "").want(200)
	d.item("GET", "2", "").want(404)
}

// TestBulkToken checks that a token for one partition does not reach others
// through the keys of single operations.
func TestBulkToken(t *testing.T) {
	d := newItems(t)
	d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
	token := d.do("POST", "/dbs/d/users/u/permissions",
		`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}`).want(201).
		str("_token")
	list := entries(t, d.bulk(`[
		{"operationType":"Create","partitionKey":"[\"a\"]","resourceBody":{"id":"1","pk":"a"}},
		{"operationType":"Create","partitionKey":"[\"b\"]","resourceBody":{"id":"1","pk":"b"}}]`,
		"Authorization", token, hPK, `["a"]`).want(207))
	if got := statuses(list); got != "201 403" {
		t.Error(got)
	}
}

func FuzzParseOperations(f *testing.F) {
	d := newItems(f)
	c, err := d.api.catalog.ContainerByID(1)
	must(f, err)
	v, err := c.Enter(f.Context(), 1000)
	must(f, err)
	f.Add([]byte(sixOperations))
	f.Add([]byte(
		`[{"operationType":"Upsert","partitionKey":["a",{}],"ifMatch":"\"x\"","ifNoneMatch":"*","resourceBody":{"id":"1"}}]`,
	))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parseOperations(t.Context(), v, text)
		if (err == nil) == (len(list) == 0) || len(list) > maxBatch {
			t.Fatalf("%d operations and error %v", len(list), err)
		}
		for _, op := range list {
			if op.err == nil && (op.Key.ID == "" || len(op.Key.ID) > maxID) {
				t.Fatalf("operation %d on id %q", op.Verb, op.Key.ID)
			}
		}
	})
}

// Reads and patches have short requests and long answers.
func TestBatchAnswersHaveALimit(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"1","pk":"a","text":"`+strings.Repeat("x", 2<<20-100)+`"}`).want(201)
	many := func(operation string) string {
		return "[" + strings.Repeat(`{"partitionKey":"[\"a\"]","id":"1",`+operation+
			"},", maxBatch-1) + `{"partitionKey":"[\"a\"]","id":"1",` + operation + "}]"
	}
	const read, patch = `"operationType":"Read"`,
		`"operationType":"Patch","resourceBody":[{"op":"incr","path":"/n","value":1}]`
	for _, operation := range []string{read, patch} {
		list := entries(t, d.batch(many(operation)).want(207))
		for i, e := range list {
			if (e.StatusCode == 413) != (e.SubStatusCode == 3402) || e.StatusCode != 413 && e.StatusCode != 424 {
				t.Errorf("batch: entry %d is %+v", i, e)
			}
		}
		a := d.bulk(many(operation)).want(207)
		list = entries(t, a)
		if len(a.text) > maxPage+bulkLanes*maxBody || list[0].StatusCode != 200 ||
			list[maxBatch-1].StatusCode != 413 || list[maxBatch-1].SubStatusCode != 3402 {
			t.Errorf("bulk: %d bytes, %s", len(a.text), statuses(list))
		}
	}
	if n := d.item("GET", "1", "").want(200).body["n"]; n != 3.0 { // two fill a page, the third passes it
		t.Errorf("n is %v: the patches of the batches were done, or not those of the bulk request", n)
	}
	a := d.bulk(many(patch), "Prefer", "return=minimal").want(200) // nothing to show
	if got := statuses(entries(t, a)); strings.Contains(got, "413") {
		t.Errorf("without bodies: %s", got)
	}
}
