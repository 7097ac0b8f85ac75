package expression

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

// order is a document of everyday size.
func order() string {
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf(`{"sku": "sku-%d", "price": %d.5, "quantity": %d}`, i, i, i%4))
	}
	return `{"_id": 1, "customer": {"name": "Ada", "city": "London"}, "status": "open", "total": 120, "tax": 0.2, ` +
		`"lines": [` +
		strings.Join(lines, ", ") + `]}`
}

func BenchmarkEvaluate(b *testing.B) {
	cases := []struct{ name, expression string }{
		{"path", `"$customer.city"`},
		{"path-array", `"$lines.price"`},
		{"arithmetic", `{"$add": ["$total", {"$multiply": ["$total", "$tax"]}, 1]}`},
		{"compare", `{"$and": [{"$gt": ["$total", 100]}, {"$eq": ["$status", "open"]}]}`},
		{"cond", `{"$cond": [{"$gte": ["$total", 100]}, "$customer.name", "none"]}`},
		{"map", `{"$map": {"input": "$lines", "in": {"$multiply": ["$$this.price", "$$this.quantity"]}}}`},
		{"filter", `{"$filter": {"input": "$lines", "as": "l", "cond": {"$gt": ["$$l.quantity", 1]}}}`},
		{"reduce", `{"$reduce": {"input": "$lines", "initialValue": 0, "in": {"$add": ["$$value", "$$this.price"]}}}`},
		{"sum", `{"$sum": "$lines.price"}`},
		{"object", `{"name": "$customer.name", "due": {"$subtract": ["$total", 20]}}`},
		{"merge", `{"$mergeObjects": ["$customer", {"x": "$total"}]}`},
		{"decimal", `{"$add": ["$total", {"$numberDecimal": "1.10"}]}`},
	}
	root := doc.Object(document(b, order()))
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			names := NewNames()
			x, err := Compile(parse(b, c.expression), names)
			if err != nil {
				b.Fatal(err)
			}
			s := &Scope{Vars: make([]doc.Value, names.Slots())}
			b.ReportAllocs()
			for b.Loop() {
				s.Reset(root)
				if _, err := x.Evaluate(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	v := parse(b,
		`{"$cond": [{"$and": [{"$gt": ["$total", 100]}, {"$eq": ["$status", "open"]}]}, {"$add": ["$total", 1]}, `+
			`"$customer.name"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(v, NewNames()); err != nil {
			b.Fatal(err)
		}
	}
}
