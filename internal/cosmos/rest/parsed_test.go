package rest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// TestParsedQueries keeps trees of texts that come again, within its limit.
func TestParsedQueries(t *testing.T) {
	var p parsedQueries
	text := []byte("SELECT VALUE 1")
	first, err := p.parse(string(text))
	must(t, err)
	text[13] = '2'
	if first.text != "SELECT VALUE 1" {
		t.Errorf("the text has become %s", first.text)
	}
	if again, _ := p.parse("SELECT VALUE 1"); again != first {
		t.Error("the same text was parsed again")
	}
	if other, _ := p.parse("SELECT VALUE  1"); other == first {
		t.Error("another text has the same tree")
	}
	if _, err := p.parse("SELECT"); err == nil {
		t.Error("half a query is parsed")
	}
	if _, err := p.parse("SELECT"); err == nil {
		t.Error("half a query is parsed the second time")
	}
	long := "SELECT VALUE '" + strings.Repeat("x", maxParsedText) + "'"
	if a, _ := p.parse(long); p.known[a.text] != nil {
		t.Error("a long text is kept")
	}
	for i := range 2 * maxParsed / 1000 {
		_, err := p.parse(fmt.Sprintf("SELECT VALUE '%01000d'", i))
		must(t, err)
		held := 0
		for text := range p.known {
			held += len(text)
		}
		if held > maxParsed || held != p.bytes {
			t.Fatalf("%d bytes of text are kept, %d counted", held, p.bytes)
		}
	}
}

// TestParsedQueriesTogether has requests with the same texts at the same time, in containers of different policies. The
// race detector finds one that changes a tree.
func TestParsedQueriesTogether(t *testing.T) {
	a := newTestAPI(t)
	a.do("POST", "/dbs", `{"id":"d"}`).want(201)
	plain := `"partitionKey":{"paths":["/pk"],"kind":"Hash"}`
	a.do("POST", "/dbs/d/colls", `{"id":"plain",`+plain+`}`).want(201)
	a.do("POST", "/dbs/d/colls", `{"id":"computed",`+plain+`,"computedProperties":[{"name":"k",
		"query":"SELECT VALUE UPPER(c.id) FROM c"}]}`).want(201)
	for _, c := range []string{"plain", "computed"} {
		a.do("POST", "/dbs/d/colls/"+c+"/docs", `{"id":"a","pk":1,"n":2}`, hPK, "[1]").want(201)
	}
	const query = `{"query":"SELECT c.k, c.n, COUNT(1) AS m FROM c WHERE c.n >= @n GROUP BY c.k, c.n",
		"parameters":[{"name":"@n","value":%d}]}`
	asQuery := []string{"x-ms-documentdb-isquery", "true", "x-ms-documentdb-query-enablecrosspartition", "true"}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := range 20 {
				for c, row := range map[string]string{"plain": "map[m:1 n:2]", "computed": "map[k:A m:1 n:2]"} {
					want := "[" + row + "]"
					if (i+n)%4 > 2 {
						want = "[]"
					}
					got := a.do("POST", "/dbs/d/colls/"+c+"/docs", fmt.Sprintf(query, (i+n)%4), asQuery...)
					if rows := fmt.Sprint(got.rows("Documents")); got.status != 200 || rows != want {
						t.Errorf("%s: %d, %s, want %s", c, got.status, rows, want)
					}
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkParse(b *testing.B) {
	text := `SELECT VALUE COUNT(1) FROM c WHERE c["group"] = @v`
	b.Run("again", func(b *testing.B) {
		var p parsedQueries
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := syntax.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
