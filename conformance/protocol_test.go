package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Python's SDK and the range caches of .NET and Java address by RID.
func TestRIDAddressing(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	made := b.create(t, item{"id": "x"})
	s := b.server
	self, _ := made["_self"].(string)
	if got := s.byRID(t, "GET", self[:len(self)-1], nil, keyed("p")); got.status != http.StatusOK ||
		got.object()["id"] != "x" {
		t.Errorf("item by RIDs: %d %s", got.status, got.body)
	}
	container := s.do(t, "GET", b.path, nil).object()
	self, _ = container["_self"].(string)
	if got := s.byRID(t, "GET", self[:len(self)-1]+"/docs", nil); got.status != http.StatusOK || len(got.items()) != 1 {
		t.Errorf("feed by RIDs: %d %s", got.status, got.body)
	}
	if got := s.byRID(t, "GET", self[:len(self)-1]+"/pkranges", nil); got.status != http.StatusOK {
		t.Errorf("ranges by RIDs: %d %s", got.status, got.body)
	}
}

// The range caches of Go, .NET and Java read until 304.
func TestRangesAreAFeed(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	first := b.server.do(t, "GET", b.path+"/pkranges", nil, header{"A-IM", "Incremental Feed"})
	ranges, _ := first.object()["PartitionKeyRanges"].([]any)
	if first.status != http.StatusOK || len(ranges) != 1 {
		t.Fatalf("ranges: %d %s", first.status, first.body)
	}
	if r := ranges[0].(map[string]any); r["id"] != "0" || r["minInclusive"] != "" || r["maxExclusive"] != "FF" {
		t.Errorf("range: %v", r)
	}
	next := b.server.do(t, "GET", b.path+"/pkranges", nil, header{"A-IM", "Incremental Feed"},
		header{"If-None-Match", first.header.Get("etag")})
	if next.status != http.StatusNotModified {
		t.Errorf("ranges once more: %d, want 304", next.status)
	}
}

// Every refusal has its status, and a JSON body that the SDKs can parse.
func TestRefusals(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	b.create(t, item{"id": "x"})
	docs := b.path + "/docs"
	long := make([]byte, 3<<20)
	for i := range long {
		long[i] = 'x'
	}
	for _, c := range []struct {
		name, method, path string
		body               any
		headers            []header
		want               int
		code               string
	}{
		{"unknown path", "GET", "nothing/here", nil, nil, 400, "BadRequest"},
		{"wrong verb", "PATCH", b.path, "{}", nil, 405, "MethodNotAllowed"},
		{"missing database", "GET", "dbs/absent", nil, nil, 404, "NotFound"},
		{"missing container", "GET", b.path + "x/docs/x", nil, []header{keyed("p")}, 404, "NotFound"},
		{"not JSON", "POST", docs, `{"id":`, []header{keyed("p")}, 400, "BadRequest"},
		{"not UTF-8", "POST", docs, "{\"id\":\"\xff\",\"pk\":\"p\"}", []header{keyed("p")}, 400, "BadRequest"},
		{"not an object", "POST", docs, `[]`, []header{keyed("p")}, 400, "BadRequest"},
		{"no id", "POST", docs, `{"pk":"p"}`, []header{keyed("p")}, 400, "BadRequest"},
		{"empty id", "POST", docs, `{"id":"","pk":"p"}`, []header{keyed("p")}, 400, "BadRequest"},
		{"numeric id", "POST", docs, `{"id":1,"pk":"p"}`, []header{keyed("p")}, 400, "BadRequest"},
		{"over 2 MB", "POST", docs, item{"id": "long", "pk": "p", "text": string(long)}, []header{keyed("p")}, 413,
			"RequestEntityTooLarge"},
		{"page size that is none", "GET", docs, nil, []header{{"x-ms-max-item-count", "many"}}, 400, "BadRequest"},
		{"continuation that is none", "GET", docs, nil, []header{{"x-ms-continuation", "nonsense"}}, 400, "BadRequest"},
		{"partition key that is none", "GET", docs + "/x", nil, []header{{"x-ms-documentdb-partitionkey", "nonsense"}},
			400, "BadRequest"},
	} {
		a := b.server.do(t, c.method, c.path, c.body, c.headers...)
		o := a.object()
		if a.status != c.want || o["code"] != c.code || o["message"] == nil || a.header.Get("x-ms-activity-id") == "" {
			t.Errorf("%s: %d %.300s, want %d %s", c.name, a.status, a.body, c.want, c.code)
		}
	}
	if a := b.server.do(t, "GET", b.path+"x/docs/x", nil, keyed("p")); a.header.Get("x-ms-substatus") != "1003" {
		t.Errorf("missing container: substatus %q, want 1003", a.header.Get("x-ms-substatus"))
	}
	if a := b.server.do(t, "GET", docs+"/absent", nil, keyed("p")); a.status != 404 ||
		a.header.Get("x-ms-substatus") == "1003" {
		t.Errorf("missing item: %d/%s", a.status, a.header.Get("x-ms-substatus"))
	}
	if a := b.server.do(t, "GET", b.path+"/conflicts", nil); a.status != http.StatusOK {
		t.Errorf("conflict feed: %d %s", a.status, a.body)
	}
}

func TestRequestsOutOfTimeAreRefused(t *testing.T) {
	s := shared(t)
	for offset, want := range map[time.Duration]int{0: 200, -5 * time.Minute: 200, -time.Hour: 403, time.Hour: 403} {
		req, err := http.NewRequest("GET", "https://"+s.nosql+"/dbs", nil)
		ok(t, "request", err)
		signAt(req, "dbs", "", time.Now().Add(offset))
		resp, err := s.https.Do(req)
		ok(t, "send", err)
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("dated %v from now: %d, want %d", offset, resp.StatusCode, want)
		}
	}
	req, err := http.NewRequest("GET", "https://"+s.nosql+"/dbs", nil)
	ok(t, "request", err)
	resp, err := s.https.Do(req)
	ok(t, "send", err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without authorization: %d, want 401", resp.StatusCode)
	}
}
