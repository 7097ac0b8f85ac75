package rest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

// own is an item without its system properties.
func own(t testing.TB, a answer) string {
	t.Helper()
	body, err := doc.FromJSON(nil, []byte(a.text), doc.ParseOptions{Skip: isSystemMember})
	must(t, err)
	return string(doc.AppendJSON(nil, body))
}

func TestPatch(t *testing.T) {
	const before = `{"id":"1","pk":"a","n":1,"f":1.5,"list":[1,2,3],"o":{"x":1,"a/b~c":2}}`
	for _, tt := range []struct{ name, operations, want string }{
		{"add a member", `{"op":"add","path":"/m","value":{"y":[1.0,2]}}`,
			`{"id":"1","pk":"a","n":1,"f":1.5,"list":[1,2,3],"o":{"x":1,"a/b~c":2},"m":{"y":[1,2]}}`},
		{"add over a member", `{"op":"add","path":"/n","value":"s"}`,
			`{"id":"1","pk":"a","n":"s","f":1.5,"list":[1,2,3],"o":{"x":1,"a/b~c":2}}`},
		{"add inserts", `{"op":"add","path":"/list/1","value":9},{"op":"add","path":"/list/-","value":8}`,
			`{"id":"1","pk":"a","n":1,"f":1.5,"list":[1,9,2,3,8],"o":{"x":1,"a/b~c":2}}`},
		{"set replaces", `{"op":"set","path":"/list/1","value":null}`,
			`{"id":"1","pk":"a","n":1,"f":1.5,"list":[1,null,3],"o":{"x":1,"a/b~c":2}}`},
		{"replace", `{"op":"replace","path":"/o/a~1b~0c","value":18446744073709551615}`,
			`{"id":"1","pk":"a","n":1,"f":1.5,"list":[1,2,3],"o":{"x":1,"a/b~c":18446744073709551615}}`},
		{"remove", `{"op":"remove","path":"/o"},{"op":"remove","path":"/list/0"}`,
			`{"id":"1","pk":"a","n":1,"f":1.5,"list":[2,3]}`},
		{"incr", `{"op":"incr","path":"/n","value":9007199254740993},{"op":"incr","path":"/f","value":-0.25},` +
			`{"op":"incr","path":"/new","value":3}`,
			`{"id":"1","pk":"a","n":9007199254740994,"f":1.25,"list":[1,2,3],"o":{"x":1,"a/b~c":2},"new":3}`},
		{"move", `{"op":"move","from":"/o/x","path":"/p"}`,
			`{"id":"1","pk":"a","n":1,"f":1.5,"list":[1,2,3],"o":{"a/b~c":2},"p":1}`},
		{"later sees earlier",
			`{"op":"add","path":"/q","value":{}},{"op":"add","path":"/q/r","value":[]},{"op":"add","path":"/q/r/0","value":1}`,
			`{"id":"1","pk":"a","n":1,"f":1.5,"list":[1,2,3],"o":{"x":1,"a/b~c":2},"q":{"r":[1]}}`},
		{"nested names of the system", `{"op":"set","path":"/o/id","value":1},{"op":"set","path":"/o/_ts","value":1}`,
			`{"id":"1","pk":"a","n":1,"f":1.5,"list":[1,2,3],"o":{"x":1,"a/b~c":2,"id":1,"_ts":1}}`},
	} {
		for _, form := range []string{`{"operations":[%]}`, `[%]`,
			`{"operations":[%],"condition":"from c where c.n = 1"}`} {
			t.Run(tt.name, func(t *testing.T) {
				d := newItems(t)
				d.item("POST", "", before).want(201)
				patched := d.item("PATCH", "1", strings.Replace(form, "%", tt.operations, 1)).want(200)
				read := d.item("GET", "1", "").want(200)
				if got := own(t, read); got != tt.want {
					t.Errorf("got\n%s, want\n%s", got, tt.want)
				}
				if patched.text != read.text {
					t.Errorf("answered %s, read %s", patched.text, read.text)
				}
			})
		}
	}
}

func TestPatchRefusals(t *testing.T) {
	d := newItems(t)
	d.define("deep", `"partitionKey":{"paths":["/k/v"],"kind":"Hash","version":2}`)
	d.item("POST", "", `{"id":"1","pk":"a","n":1,"s":"x","list":[1]}`).want(201)
	d.do("POST", "/dbs/d/colls/deep/docs", `{"id":"1","k":{"v":"a","w":1}}`, hPK, `["a"]`).want(201)
	patch := func(operations string) answer {
		return d.item("PATCH", "1", `{"operations":[`+operations+`]}`)
	}
	deep := func(operations string) answer {
		return d.do("PATCH", "/dbs/d/colls/deep/docs/1", `{"operations":[`+operations+`]}`, hPK, `["a"]`)
	}
	etag := d.item("GET", "1", "").header.Get("etag")
	for _, tt := range []struct {
		name   string
		a      answer
		status int
		says   string
	}{
		{"none", patch(``), 400, "no operations"},
		{"eleven", patch(strings.Repeat(`{"op":"incr","path":"/n","value":1},`,
			10) + `{"op":"incr","path":"/n","value":1}`), 400, "can't exceed '10'"},
		{"no list", d.item("PATCH", "1", `{"operations":1}`), 400, "payload"},
		{"no body", d.item("PATCH", "1", ``), 400, "payload"},
		{"string", d.item("PATCH", "1", `"x"`), 400, "payload"},
		{"number in the list", patch(`1`), 400, "For Operation(1)"},
		{"op", patch(`{"op":"explode","path":"/n"}`), 400, "explode"},
		{"no path", patch(`{"op":"set","value":1}`), 400, "For Operation(1): The path is missing"},
		{"path without slash", patch(`{"op":"set","path":"n","value":1}`), 400, "slash"},
		{"empty path", patch(`{"op":"set","path":"","value":1}`), 400, "For Operation(1)"},
		{"no value", patch(`{"op":"set","path":"/n"}`), 400, "For Operation(1)"},
		{"no from", patch(`{"op":"move","path":"/n"}`), 400, "from"},
		{"replace what is not there",
			patch(`{"op":"set","path":"/n","value":2},{"op":"replace","path":"/none","value":1}`), 400,
			"For Operation(2)"},
		{"remove what is not there", patch(`{"op":"remove","path":"/none"}`), 400, "For Operation(1)"},
		{"move what is not there", patch(`{"op":"move","from":"/none","path":"/n"}`), 400, "For Operation(1)"},
		{"no way there", patch(`{"op":"add","path":"/none/x","value":1}`), 400, "For Operation(1)"},
		{"index beyond", patch(`{"op":"add","path":"/list/9","value":1}`), 400, "For Operation(1)"},
		{"incr a string", patch(`{"op":"incr","path":"/s","value":1}`), 400, "not a number"},
		{"incr by a string", patch(`{"op":"incr","path":"/n","value":"1"}`), 400, "not a number"},
		{"id", patch(`{"op":"set","path":"/id","value":"2"}`), 400, "id"},
		{"inside id", patch(`{"op":"set","path":"/id/x","value":"2"}`), 400, "id"},
		{"id by move", patch(`{"op":"move","from":"/s","path":"/id"}`), 400, "id"},
		{"id away by move", patch(`{"op":"move","from":"/id","path":"/s"}`), 400, "id"},
		{"partition key", patch(`{"op":"set","path":"/pk","value":"b"}`), 400, "partition key"},
		{"partition key removed", patch(`{"op":"remove","path":"/pk"}`), 400, "partition key"},
		{"deep partition key", deep(`{"op":"set","path":"/k/v","value":"b"}`), 400, "partition key"},
		{"around a partition key", deep(`{"op":"set","path":"/k","value":{"v":"b"}}`), 400, "PartitionKey"},
		{"_ts", patch(`{"op":"set","path":"/_ts","value":1}`), 400, "system property"},
		{"_etag", patch(`{"op":"remove","path":"/_etag"}`), 400, "system property"},
		{"condition not met", d.item("PATCH", "1",
			`{"condition":"from c where c.n > 1","operations":[{"op":"set","path":"/n","value":2}]}`), 412,
			"pre-condition"},
		{"condition broken", d.item("PATCH", "1",
			`{"condition":"where c.n > 1","operations":[{"op":"set","path":"/n","value":2}]}`), 400, "SC1001"},
		{"condition no string", d.item("PATCH", "1",
			`{"condition":1,"operations":[{"op":"set","path":"/n","value":2}]}`), 400, "condition"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.a.t = t
			tt.a.want(tt.status).says(tt.says)
		})
	}
	if now := d.item("GET", "1", "").header.Get("etag"); now != etag {
		t.Error("something was written")
	}
	deep(`{"op":"set","path":"/k","value":{"v":"a"}}`).want(200)
	deep(`{"op":"remove","path":"/k/w"}`).want(400)
}

// TestPatchGrowth checks that patches cannot make an item that no client could send.
func TestPatchGrowth(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"1","pk":"a"}`).want(201)
	large, err := json.Marshal(strings.Repeat("x", maxBody/2))
	must(t, err)
	d.item("PATCH", "1", `[{"op":"set","path":"/x","value":`+string(large)+`}]`).want(200)
	d.item("PATCH", "1", `[{"op":"set","path":"/y","value":`+string(large)+`}]`).want(413)
	d.item("PATCH", "1", `[{"op":"set","path":"/x","value":`+string(large)+`}]`).want(200)
}

func FuzzParsePatch(f *testing.F) {
	d := newItems(f)
	c, err := d.api.catalog.ContainerByID(1)
	must(f, err)
	v, err := c.Enter(f.Context(), 1000)
	must(f, err)
	item := conditionDocument(f)
	f.Add(`[{"op":"add","path":"/a/0","value":1},{"op":"move","from":"/o","path":"/n"}]`)
	f.Add(`{"condition":"from c where c.n=3","operations":[{"op":"incr","path":"/n","value":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		body, err := doc.ValueFromJSON([]byte(text))
		if err != nil {
			return
		}
		p, err := parsePatch(t.Context(), v, body)
		if err != nil {
			return
		}
		if body, err := p.edit(*item); err == nil {
			if err := body.Validate(); err != nil {
				t.Fatalf("%s makes what is no BSON: %v", text, err)
			}
		}
	})
}
