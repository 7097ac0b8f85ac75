package rest

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

const (
	collection = "/dbs/d/colls/c"
	documents  = collection + "/docs"
	hPK        = "x-ms-documentdb-partitionkey"
)

// newItems returns a testAPI with a container c in a database d, partitioned by /pk. more is added to its definition,
// such as `"defaultTtl":10`.
func newItems(t testing.TB, more ...string) *testAPI {
	t.Helper()
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.define("c", `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`, more...)
	return d
}

func (d *testAPI) define(id, partitionKey string, more ...string) {
	d.t.Helper()
	members := append([]string{`"id":"` + id + `"`, partitionKey}, more...)
	d.do("POST", "/dbs/d/colls", "{"+strings.Join(members, ",")+"}").want(201)
}

// setTTL replaces container c with another defaultTtl, "" for none.
func (d *testAPI) setTTL(ttl string) {
	d.t.Helper()
	body := `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`
	if ttl != "" {
		body += `,"defaultTtl":` + ttl
	}
	d.do("PUT", collection, body+"}").want(200)
}

// item does a request in partition "a" of container c.
func (d *testAPI) item(method, id, body string, headers ...string) answer {
	d.t.Helper()
	target := documents
	if id != "" {
		target += "/" + id
	}
	return d.do(method, target, body, append([]string{hPK, `["a"]`}, headers...)...)
}

func (d *testAPI) advance(by time.Duration) {
	d.t.Helper()
	must(d.t, d.clock.Advance(by))
}

var asUpsert = []string{"x-ms-documentdb-is-upsert", "True"}

func TestItemStatuses(t *testing.T) {
	d := newItems(t)
	d.item("GET", "1", "").want(404).says("Entity with the specified id does not exist in the system.")
	created := d.item("POST", "", `{"id":"1","pk":"a","n":1}`).want(201)
	d.item("POST", "", `{"id":"1","pk":"a","n":2}`).want(409).says("Entity with the specified id already exists in " +
		"the system.")
	d.item("POST", "", `{"id":"1","pk":"a","n":3}`, asUpsert...).want(200)
	d.item("POST", "", `{"id":"2","pk":"a"}`, asUpsert...).want(201)
	d.item("PUT", "1", `{"id":"1","pk":"a","n":4}`).want(200)
	d.item("PUT", "3", `{"id":"3","pk":"a"}`).want(404)
	d.item("PATCH", "1", `{"operations":[{"op":"incr","path":"/n","value":1}]}`).want(200)
	d.item("PATCH", "3", `{"operations":[{"op":"incr","path":"/n","value":1}]}`).want(404)
	read := d.item("GET", "1", "").want(200)
	if n := read.body["n"]; n != 5.0 {
		t.Errorf("n is %v", n)
	}
	if read.str("_rid") != created.str("_rid") || read.str("_etag") == created.str("_etag") {
		t.Errorf("created as %s, read as %s", created.text, read.text)
	}
	d.item("DELETE", "1", "").want(204)
	d.item("DELETE", "1", "").want(404)
	d.item("GET", "1", "").want(404)
	d.do("GET", documents+"/2", "", hPK, `["b"]`).want(404)
}

func TestItemRendering(t *testing.T) {
	d := newItems(t)
	created := d.item("POST", "", ` { "z":1, "id":"1" , "pk":"a", "_ts":5, "_rid":"x", "_self":"y", "_etag":null,`+
		` "_attachments":1, "_lsn":9, "_mine":true,`+
		` "n":[1.0,-0.0,1e2,9007199254740993,18446744073709551615] }`).want(201)
	read := d.item("GET", "1", "").want(200)
	want := `{"z":1,"id":"1","pk":"a","_mine":true,"n":[1,0,100,9007199254740993,18446744073709551615],` +
		`"_rid":"AQAAAIAAAAEBAAAAAAAAAA==","_self":"dbs/AQAAAA==/colls/AQAAAIAAAAE=/docs/AQAAAIAAAAEBAAAAAAAAAA==/",` +
		`"_etag":` + strconv.Quote(read.header.Get("etag")) + `,"_attachments":"attachments/","_ts":1767323045}`
	if read.text != want {
		t.Errorf("read\n%s, want\n%s", read.text, want)
	}
	if created.text != want {
		t.Errorf("created\n%s, want\n%s", created.text, want)
	}
	for _, name := range []string{"x-ms-request-charge", "x-ms-session-token", "x-ms-activity-id", "etag"} {
		if read.header.Get(name) == "" {
			t.Errorf("no header %s", name)
		}
	}
}

func TestMinimal(t *testing.T) {
	d := newItems(t)
	minimal := []string{"Prefer", "return=minimal"}
	for _, tt := range []struct {
		name   string
		a      answer
		status int
	}{
		{"create", d.item("POST", "", `{"id":"1","pk":"a"}`, minimal...), 201},
		{"upsert", d.item("POST", "", `{"id":"1","pk":"a"}`, append(minimal, asUpsert...)...), 200},
		{"replace", d.item("PUT", "1", `{"id":"1","pk":"a"}`, minimal...), 200},
		{"patch", d.item("PATCH", "1", `[{"op":"add","path":"/n","value":1}]`, minimal...), 200},
		{"delete", d.item("DELETE", "1", "", minimal...), 204},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.a.want(tt.status)
			if tt.a.text != "" {
				t.Errorf("the body is %s", tt.a.text)
			}
			if tt.status != 204 && tt.a.header.Get("etag") == "" {
				t.Error("no etag")
			}
		})
	}
}

func TestItemConditions(t *testing.T) {
	d := newItems(t)
	old := d.item("POST", "", `{"id":"1","pk":"a"}`).header.Get("etag")
	etag := d.item("PUT", "1", `{"id":"1","pk":"a"}`).header.Get("etag")
	if old == etag {
		t.Fatal("a write left the etag as it was")
	}
	body := `{"id":"1","pk":"a"}`
	for _, tt := range []struct {
		name   string
		do     func() answer
		status int
	}{
		{"GET, none match, equal", func() answer { return d.item("GET", "1", "", "If-None-Match", etag) }, 304},
		{"GET, none match, any", func() answer { return d.item("GET", "1", "", "If-None-Match", "*") }, 304},
		{"GET, none match, old", func() answer { return d.item("GET", "1", "", "If-None-Match", old) }, 200},
		{"GET, match, equal", func() answer { return d.item("GET", "1", "", "If-Match", etag) }, 200},
		{"GET, match, old", func() answer { return d.item("GET", "1", "", "If-Match", old) }, 412},
		{"PUT, match, old", func() answer { return d.item("PUT", "1", body, "If-Match", old) }, 412},
		{"PUT, match, nonsense", func() answer { return d.item("PUT", "1", body, "If-Match", "nonsense") }, 412},
		{"upsert, match, old", func() answer {
			return d.item("POST", "", body, append([]string{"If-Match", old},
				asUpsert...)...)
		}, 412},
		{"upsert, match, missing", func() answer {
			return d.item("POST", "", `{"id":"9","pk":"a"}`, append([]string{"If-Match", old}, asUpsert...)...)
		}, 201},
		{"upsert, none match, any", func() answer {
			return d.item("POST", "", body, append([]string{"If-None-Match",
				"*"}, asUpsert...)...)
		}, 412},
		{"PATCH, match, old", func() answer {
			return d.item("PATCH", "1", `[{"op":"set","path":"/n","value":1}]`, "If-Match", old)
		}, 412},
		{"DELETE, match, old", func() answer { return d.item("DELETE", "1", "", "If-Match", old) }, 412},
		{"PUT, match, any", func() answer { return d.item("PUT", "1", body, "If-Match", "*") }, 200},
		{"DELETE, match, any", func() answer { return d.item("DELETE", "1", "", "If-Match", "*") }, 204},
		{"DELETE, missing", func() answer { return d.item("DELETE", "1", "", "If-Match", "*") }, 404},
		{"PUT, missing", func() answer { return d.item("PUT", "1", body, "If-Match", etag) }, 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.do()
			a.t = t
			a.want(tt.status)
			if tt.status == 304 && (a.text != "" || a.header.Get("etag") != etag) {
				t.Errorf("304 with etag %s and body %q", a.header.Get("etag"), a.text)
			}
		})
	}
}

func TestItemRefusals(t *testing.T) {
	d := newItems(t)
	d.define("two", `"partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}`)
	two := "/dbs/d/colls/two/docs"
	long := strings.Repeat("x", maxID+1)
	for _, tt := range []struct {
		name      string
		a         answer
		status    int
		substatus string
		says      string
	}{
		{"no id", d.item("POST", "", `{"pk":"a"}`), 400, "", "'id; '"},
		{"empty id", d.item("POST", "", `{"id":"","pk":"a"}`), 400, "", "'id; '"},
		{"number as id", d.item("POST", "", `{"id":7,"pk":"a"}`), 400, "", "The input name '7' is invalid"},
		{"long id", d.item("POST", "", `{"id":"`+long+`","pk":"a"}`), 400, "", "1023"},
		{"empty body", d.item("POST", "", ``), 400, "", "payload"},
		{"array", d.item("POST", "", `[{"id":"1"}]`), 400, "", "payload"},
		{"truncated", d.item("POST", "", `{"id":"1","pk":`), 400, "", "payload"},
		{"no UTF-8", d.item("POST", "", "{\"id\":\"1\",\"pk\":\"a\",\"x\":\"\xff\"}"), 400, "", "payload"},
		{"infinite number", d.item("POST", "", `{"id":"1","pk":"a","x":1e999}`), 400, "", "payload"},
		{"deep", d.item("POST", "", `{"id":"1","pk":"a","x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+
			"}"), 400, "", "payload"},
		{"large", d.item("POST", "", `{"id":"1","pk":"a","x":"`+strings.Repeat("x", maxBody)+`"}`), 413, "",
			"too large"},
		{"no key", d.do("POST", documents, `{"id":"1","pk":"a"}`), 400, "1001", "fewer components"},
		{"no key on read", d.do("GET", documents+"/1", ""), 400, "1001", "fewer components"},
		{"empty key", d.do("POST", documents, `{"id":"1"}`, hPK, `[]`), 400, "1001", "fewer components"},
		{"two keys", d.do("POST", documents, `{"id":"1"}`, hPK, `["a","b"]`), 400, "1001", "more components"},
		{"broken key", d.do("POST", documents, `{"id":"1"}`, hPK, `["a"`), 400, "", "is invalid"},
		{"other key", d.do("POST", documents, `{"id":"1","pk":"b"}`, hPK, `["a"]`), 400, "1001", "doesn't match"},
		{"key absent in body", d.do("POST", documents, `{"id":"1"}`, hPK, `["a"]`), 400, "1001", "doesn't match"},
		{"half a key", d.do("POST", two, `{"id":"1","a":"x","b":"y"}`, hPK, `["x"]`), 400, "1001", "fewer components"},
		{"half a key on read", d.do("GET", two+"/1", "", hPK, `["x"]`), 400, "1001", "fewer components"},
		{"id changed", d.item("PUT", "1", `{"id":"2","pk":"a"}`), 400, "", "not the same"},
		{"pre-trigger", d.item("POST", "", `{"id":"1","pk":"a"}`, "x-ms-documentdb-pre-trigger-include", "t"), 400,
			"", "Trigger 't'"},
		{"post-trigger", d.item("DELETE", "1", "", "x-ms-documentdb-post-trigger-include", "t"), 400, "",
			"Trigger 't'"},
		{"other container", d.item("POST", "", `{"id":"1","pk":"a"}`, "x-ms-cosmos-intended-collection-rid",
			"AQAAAIAAAAk="), 400, "1024", "does not match the rid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.a.t = t
			tt.a.want(tt.status).says(tt.says)
			if got := tt.a.header.Get("x-ms-substatus"); got != tt.substatus {
				t.Errorf("substatus is %q, want %q", got, tt.substatus)
			}
		})
	}
	d.item("POST", "", `{"id":"1","pk":"a"}`, "x-ms-cosmos-intended-collection-rid", "AQAAAIAAAAE=",
		"x-ms-indexing-directive", "Exclude").want(201)
}

func TestItemKeys(t *testing.T) {
	d := newItems(t)
	d.define("fixed", `"partitionKey":{"paths":["/_partitionKey"],"kind":"Hash","version":2}`)
	d.define("two", `"partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}`)
	for _, tt := range []struct{ name, container, body, key string }{
		{"string", "c", `"pk":"x"`, `["x"]`},
		{"empty string", "c", `"pk":""`, `[""]`},
		{"number", "c", `"pk":1.50`, `[1.5]`},
		{"whole number", "c", `"pk":10`, `[1e1]`},
		{"negative zero", "c", `"pk":-0.0`, `[0]`},
		{"boolean", "c", `"pk":true`, `[true]`},
		{"null", "c", `"pk":null`, `[null]`},
		{"absent", "c", `"x":1`, `[{}]`},
		{"object counts as absent", "c", `"pk":{"x":1}`, `[{}]`},
		{"quoted by Go", "c", `"pk":"\u0007\u007f😀"`, `["\a\x7f\U0001f600"]`},
		{"fixed, no header", "fixed", `"x":1`, ``},
		{"fixed, empty", "fixed", `"x":1`, `[]`},
		{"fixed, absent", "fixed", `"x":1`, `[{}]`},
		{"hierarchical", "two", `"a":"x","b":2`, `["x",2]`},
		{"hierarchical, half absent", "two", `"a":"x"`, `["x",{}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d.t = t
			target, headers := "/dbs/d/colls/"+tt.container+"/docs", []string{hPK, tt.key}
			if tt.key == "" {
				headers = nil
			}
			d.do("POST", target, `{"id":"k",`+tt.body+`}`, headers...).want(201)
			d.do("GET", target+"/k", "", headers...).want(200)
			d.do("PUT", target+"/k", `{"id":"k",`+tt.body+`}`, headers...).want(200)
			d.do("DELETE", target+"/k", "", headers...).want(204)
		})
	}
}

func TestItemIDs(t *testing.T) {
	d := newItems(t)
	for _, id := range []string{"Test", "This is a test", " Test", "Test ",
		"WithAllowedSpecial,=.:~+-@()^${}[]!_Chars", "%20", "%E9%B1%80",
		"Disallowed?Chars", "With/Slash", `With\Backslash`, "With#Hash", "Unicode鱀😀", `quo"te`, "tab\tand\r\n",
		strings.Repeat("x", maxID)} {
		t.Run(strconv.Quote(id[:min(len(id), 50)]), func(t *testing.T) {
			d.t = t
			body := append(doc.AppendJSONString([]byte(`{"pk":"a","id":`), id), '}')
			a := d.item("POST", "", string(body)).want(201)
			if a.str("id") != id {
				t.Fatalf("the id became %q", a.str("id"))
			}
			if a = d.item("GET", escapeID(id), "").want(200); a.str("id") != id {
				t.Fatalf("%s", a.text)
			}
		})
	}
}

// SDKs sign an id that ends with a slash as it is, or without the slash.
func TestItemIDsThatEndWithASlash(t *testing.T) {
	d := newItems(t)
	for _, id := range []string{"x/", "x//", "/"} {
		d.item("POST", "", `{"id":"`+id+`","pk":"a"}`).want(201)
		for _, signed := range []string{id, id[:len(id)-1]} {
			r := newRequest("GET", documents+"/"+escapeID(id), "", hPK, `["a"]`)
			signLink(r, "docs", "dbs/d/colls/c/docs/"+signed)
			if got := d.send(r).want(200).str("id"); got != id {
				t.Errorf("%s signed as %q leads to %q", id, signed, got)
			}
		}
	}
}

// escapeID percent-encodes every byte.
func escapeID(id string) string {
	var b []byte
	for i := range len(id) {
		b = fmt.Appendf(b, "%%%02X", id[i])
	}
	return string(b)
}

// TestItemByRID addresses an item by RIDs only, as some clients do.
func TestItemByRID(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"0","pk":"a"}`).want(201)
	rid := d.item("POST", "", `{"id":"1","pk":"a"}`).want(201).str("_rid")
	target := "/dbs/AQAAAA==/colls/AQAAAIAAAAE=/docs/"
	for _, name := range []string{rid, "1"} {
		a := d.do("GET", target+name, "", hPK, `["a"]`).want(200)
		if a.str("id") != "1" {
			t.Errorf("%s leads to %s", name, a.text)
		}
	}
	d.do("PUT", target+rid, `{"id":"1","pk":"a","n":1}`, hPK, `["a"]`).want(200)
	d.do("DELETE", target+rid, "", hPK, `["a"]`).want(204)
	d.do("GET", target+rid, "", hPK, `["a"]`).want(404)
}

func TestAppendQuotedETag(t *testing.T) {
	v := access.Version{Sequence: 1 << 50, Stamp: 1}
	want := strconv.Quote(string(appendETag(nil, v)))
	if got := string(appendQuotedETag(nil, v)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLifeBeginsWithBody checks that an item's TTL begins when its request has arrived completely.
func TestLifeBeginsWithBody(t *testing.T) {
	d := newItems(t, `"defaultTtl":10`)
	r := newRequest("POST", documents, "x", hPK, `["a"]`)
	r.ContentLength = -1
	r.Body = io.NopCloser(&slowReader{text: `{"id":"1","pk":"a"}`, each: func() { d.advance(time.Second) }})
	signRequest(r)
	d.send(r).want(201)
	d.advance(9 * time.Second)
	d.item("GET", "1", "").want(200)
	d.advance(time.Second)
	d.item("GET", "1", "").want(404)
}

// A slowReader calls a function whenever a byte is read.
type slowReader struct {
	text string
	each func()
}

func (s *slowReader) Read(b []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	s.each()
	n := copy(b[:1], s.text)
	s.text = s.text[n:]
	return n, nil
}

func BenchmarkCreateItem(b *testing.B) {
	d := newItems(b, `"defaultTtl":3600`)
	tail := `","pk":"a","name":"Ada","n":36,"tags":["x","y"],"x":"` + strings.Repeat("x", 900) + `"}`
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		r := newRequest("POST", documents, `{"id":"`+strconv.Itoa(i)+tail, hPK, `["a"]`, "Prefer", "return=minimal")
		signRequest(r)
		w := httptest.NewRecorder()
		b.StartTimer()
		if d.api.ServeHTTP(w, r); w.Code != 201 {
			b.Fatal(w.Body)
		}
	}
}
