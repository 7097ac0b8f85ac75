package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// seeds writes a folder.
func seeds(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var shop = map[string]string{
	"shop/carts.json": `{"id":"carts","partitionKey":{"paths":["/customer"]},"defaultTtl":2592000,"_etag":"x"}`,
	"shop/carts.jsonl": `{"id":"fresh","customer":"a"}
{"id":"old","customer":"a","_age":"29d23h59m59s"}
{"id":"middle","customer":"b","_age":"1d","deep":{"_age":"mine"}}
{"id":"gone","customer":"b","_age":"30d"}
`,
	"shop/empty.json": `{"partitionKey":{"paths":["/id"]}}`,
	"app/sessions.json": `{"dialect":"mongodb","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":3600},
		{"key":{"user":1},"name":"user_1","unique":true}]}`,
	"app/sessions.jsonl": `{"_id":{"$oid":"0102030405060708090a0b0c"},"user":1,"_age":"59m59s"}` + "\n",
	"README.md":          "not a seed",
}

func exported(t *testing.T, n *Node, db, container string) string {
	t.Helper()
	code, body := get(t, n.AdminURL()+"_mayfly/v1/databases/"+db+"/containers/"+container+"/export?positions=no")
	if code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	return body
}

func TestSeed(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := Options{Engine: memory(t), Admin: "127.0.0.1:0", Virtual: true, VirtualStart: at, Seed: seeds(t, shop)}
	n := start(t, o)
	want := `{"id":"old","customer":"a","_ts":1769774401}
{"id":"middle","customer":"b","deep":{"_age":"mine"},"_ts":1772280000}
{"id":"fresh","customer":"a","_ts":1772366400}
`
	if got := exported(t, n, "shop", "carts"); got != want {
		t.Errorf("carts are\n%s, want\n%s", got, want)
	}
	sessions := `{"_id":{"$oid":"0102030405060708090a0b0c"},"user":{"$numberInt":"1"},"$ts":1772362801}` + "\n"
	if got := exported(t, n, "app", "sessions"); got != sessions {
		t.Errorf("sessions are %s, want %s", got, sessions)
	}
	if got := exported(t, n, "shop", "empty"); got != "" {
		t.Errorf("empty has %s", got)
	}
	if _, err := n.Move(t.Context(), func(now time.Time) time.Time { return now.Add(time.Second) }); err != nil {
		t.Fatal(err)
	}
	if got := exported(t, n, "app", "sessions"); got != "" {
		t.Errorf("a second later sessions are %s, want none", got)
	}
	if got := exported(t, n, "shop", "carts"); !strings.HasPrefix(got, `{"id":"middle"`) {
		t.Errorf("a second later carts are %s", got)
	}
	for _, c := range n.catalog.AllContainers() {
		if strings.HasSuffix(c.State().Name, seedSuffix) {
			t.Errorf("%s is left", c.State().Name)
		}
	}
}

// kept keeps an engine open, so that a second node can start on it.
type keptEngine struct{ kv.Engine }

func (keptEngine) Close() error { return nil }

func TestSeedLeavesWhatExists(t *testing.T) {
	engine := memory(t)
	defer engine.Close()
	dir := seeds(t, shop)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for range 2 { // the second time nothing is overdue anew, and nothing is there twice
		n := start(t,
			Options{Engine: keptEngine{engine}, Admin: "127.0.0.1:0", Virtual: true, VirtualStart: at, Seed: dir})
		if got := strings.Count(exported(t, n, "shop", "carts"), "\n"); got != 3 {
			t.Errorf("%d carts, want 3", got)
		}
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSeedsThatAreWrong(t *testing.T) {
	definition := `{"partitionKey":{"paths":["/pk"]},"defaultTtl":10}`
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no folder of a database": {map[string]string{"x.json": definition}, "has no seeds"},
		"items alone":             {map[string]string{"d/c.jsonl": ""}, "without a definition"},
		"definition":              {map[string]string{"d/c.json": `{"partitionKey":7}`}, "d/c cannot be made"},
		"member":                  {map[string]string{"d/c.json": `{"defaultTTL":7}`}, `has no "defaultTTL"`},
		"other id":                {map[string]string{"d/c.json": `{"id":"x"}`}, "leave the id out"},
		"no JSON":                 {map[string]string{"d/c.json": `partition`}, "is a JSON object"},
		"line": {map[string]string{"d/c.json": definition,
			"d/c.jsonl": "{\"id\":\"a\"}\n{\"id\":\"b\",\"ttl\":0}\n"}, "line 2"},
		"age": {map[string]string{"d/c.json": definition, "d/c.jsonl": `{"id":"a","_age":3}`},
			"no duration in quotes"},
		"age from the future": {map[string]string{"d/c.json": definition, "d/c.jsonl": `{"id":"a","_age":"-3d"}`},
			"negative"},
		"age without a unit": {map[string]string{"d/c.json": definition, "d/c.jsonl": `{"id":"a","_age":"3"}`},
			"is not a duration"},
	} {
		n, err := Start(t.Context(), Options{Engine: memory(t), Seed: seeds(t, c.files)})
		if err == nil {
			n.Close(t.Context())
		}
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
