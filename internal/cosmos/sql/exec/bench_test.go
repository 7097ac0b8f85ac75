package exec

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A repeated source returns the same documents of 1 KiB repeatedly.
type repeated struct {
	*sliceSource
	n int
}

func (r repeated) Scan(context.Context, access.Access) iter.Seq2[*access.Document, error] {
	return func(yield func(*access.Document, error) bool) {
		var d access.Document
		var position [8]byte
		for i := range r.n {
			d = r.docs[i%len(r.docs)]
			d.Number = uint64(i + 1)
			d.Position = access.NumberPosition(position[:0], d.Number)
			if !yield(&d, nil) {
				return
			}
		}
	}
}

// kibibytes makes documents of about 1 KiB that differ in a few members.
func kibibytes(b testing.TB, n int) repeated {
	var texts []string
	for i := range 64 {
		var s strings.Builder
		fmt.Fprintf(&s, `{"id":"item-%d","pk":"p%d","kind":"event","n":%d,"price":%d.25,"ok":%v`, i, i%8, i*37%100, i,
			i%2 == 0)
		for m := range 12 {
			fmt.Fprintf(&s, `,"member%d":"some text of the usual length, number %d of many"`, m, i*m)
		}
		fmt.Fprintf(&s, `,"address":{"city":"city %d","zip":%d},"tags":["red","green","t%d"],"name":"name %d"}`, i%10,
			10000+i, i%5, i)
		texts = append(texts, s.String())
	}
	return repeated{newSource(b, texts...), n}
}

func benchmarkQuery(b *testing.B, query string) {
	tree, err := syntax.Parse(query)
	if err != nil {
		b.Fatal(err)
	}
	q, err := Prepare(tree, Environment{NoIndex: true,
		Schema: access.Schema{Indexed: func(access.Path) bool { return true }}, Now: testNow}, nil)
	if err != nil {
		b.Fatal(err)
	}
	source := kibibytes(b, b.N)
	b.SetBytes(int64(len(source.docs[0].Body)))
	b.ReportAllocs()
	b.ResetTimer()
	limit := Limit{Bytes: 1 << 40, Memory: 1 << 30}
	if q.mode == modeSorted || q.mode == modeDistinct || q.mode == modeGroups {
		limit.Rows = 100
	}
	if _, _, err := q.Run(context.Background(), source, limit, make([]byte, 0, 1<<20)); err != nil {
		b.Fatal(err)
	}
}

// The figures are per document of 1 KiB.
func BenchmarkQuery(b *testing.B) {
	for _, c := range []struct{ name, query string }{
		{"filter", `SELECT VALUE c.id FROM c WHERE c.n = 1000`},
		{"filter text", `SELECT VALUE c.id FROM c WHERE c.kind = "other"`},
		{"filter last", `SELECT VALUE c.id FROM c WHERE c.name = "other"`},
		{"filter three", `SELECT VALUE c.id FROM c WHERE c.kind = "event" AND c.n > 50 AND c.price < 0`},
		{"filter in", `SELECT VALUE c.id FROM c WHERE c.id IN ("a", "b", "c", "d", "e", "f", "g", "h")`},
		{"filter like", `SELECT VALUE c.id FROM c WHERE c.name LIKE "%other%"`},
		{"filter arithmetic", `SELECT VALUE c.id FROM c WHERE c.n * 2 + c.price > 1000`},
		{"filter exists", `SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = "blue")`},
		{"filter function", `SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, "blue")`},
		{"star", `SELECT * FROM c WHERE c.n < 1`},
		{"projection", `SELECT c.id, c.n, c.address.city AS city FROM c WHERE c.n < 10`},
		{"join", `SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags WHERE t = "red"`},
		{"count", `SELECT VALUE COUNT(1) FROM c WHERE c.ok`},
		{"sum", `SELECT VALUE SUM(c.price) FROM c`},
		{"group", `SELECT c.pk, COUNT(1) AS n, SUM(c.n) AS s FROM c GROUP BY c.pk`},
		{"sort", `SELECT VALUE c.id FROM c ORDER BY c.n`},
		{"distinct", `SELECT DISTINCT VALUE c.pk FROM c`},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkQuery(b, c.query) })
	}
}

func BenchmarkPrepare(b *testing.B) {
	schema := access.Schema{Partition: []access.Path{{{Name: "pk"}}}, Indexed: func(access.Path) bool { return true }}
	for _, c := range []struct{ name, query string }{
		{"page", `SELECT c.id, c.n FROM c WHERE c.kind = "event" AND c.n > 50 ORDER BY c.n OFFSET 0 LIMIT 10`},
		{"equality", `SELECT * FROM c WHERE c.kind = "event"`},
		{"two equalities", `SELECT * FROM c WHERE c.kind = "event" AND c.n = 1`},
		{"range", `SELECT * FROM c WHERE c.n > 50`},
		{"id", `SELECT * FROM c WHERE c.pk = "p" AND c.id = "1"`},
		{"partition", `SELECT * FROM c WHERE c.pk = "p"`},
	} {
		tree, err := syntax.Parse(c.query)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Prepare(tree, Environment{Parameters: map[string]doc.Value{}, Schema: schema},
					nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
