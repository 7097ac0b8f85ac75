package syntax

import (
	"strings"
	"testing"
)

// FuzzParse checks that any text is either a query or a mistake within the text, that printing and parsing gives the
// same tree, and that nodes are within their parents.
func FuzzParse(f *testing.F) {
	for _, c := range canon {
		f.Add(c.text)
	}
	for _, text := range rewritten {
		f.Add(text)
	}
	for _, text := range []string{"", "SELECT", `SELECT '\`, "SELECT 1e999;", "SELECT -9223372036854775808",
		"SELECT((((("} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			for _, m := range err.(*Error).Mistakes {
				if m.Span.Start < 0 || m.Span.End < m.Span.Start || m.Span.End > len(text) || m.Message == "" {
					t.Errorf("%q: mistake %+v", text, m)
				}
			}
			return
		}
		within(t, text, q, Span{0, len(text)})
		if len(Print(q)) <= MaxText {
			roundTrip(t, text)
		}
	})
}

func within(t *testing.T, text string, n Node, outer Span) {
	s := n.Pos()
	if s.Start < outer.Start || s.End > outer.End || s.Start >= s.End {
		t.Errorf("%q: %T has %v, in %v", text, n, s, outer)
	}
	if strings.TrimSpace(text[s.Start:s.End]) != text[s.Start:s.End] {
		t.Errorf("%q: %T begins or ends with a space: %q", text, n, text[s.Start:s.End])
	}
	down(n, func(child Node) bool {
		if q, ok := n.(*Query); ok && !strings.HasPrefix(strings.ToUpper(text[q.Start:]), "SELECT") {
			if _, ok := child.(*Select); ok {
				return true
			}
		}
		within(t, text, child, s)
		return true
	})
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"point": `SELECT * FROM c WHERE c.id = @id`,
		"filter": `SELECT c.id,` +
			` c.name AS n FROM c WHERE c.type = "order" AND c.total > 10.5 AND ARRAY_CONTAINS(c.tags,` +
			` "x") ORDER BY c.total DESC OFFSET 0 LIMIT 20`,
		"in": `SELECT * FROM c WHERE c.id IN ("a"` + strings.Repeat(`, "abcdef"`, 1000) + `)`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPrint(b *testing.B) {
	q, err := Parse(canon[len(canon)-1].text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		Print(q)
	}
}
