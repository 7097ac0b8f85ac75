package code

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
)

// text is a value that is a string.
func text(s string) doc.Value {
	a := doc.NewWriter(nil)
	a.String("text", s)
	return doc.Lookup(a.End(), "text")
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	for _, s := range []string{"漢", "é", "😀", "a漢é😀"} {
		for n := range 12 {
			v := text(strings.Repeat("x", n) + strings.Repeat(s, 1000))
			for _, shown := range []string{Show(v), Summary(v, 1000), Summary(v, 40)} {
				if !utf8.ValidString(shown) {
					t.Fatalf("%d and %s: %q", n, s, shown)
				}
			}
		}
	}
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"漢字", 6, "漢字"}, {"漢字", 5, "漢"}, {"漢字", 3, "漢"}, {"漢字", 2, ""}, {"abc", 2, "ab"},
		{strings.Repeat("\x80", 20), 10, strings.Repeat("\x80", 6)}, // what is no text stays bounded
	} {
		if got := Cut(c.text, c.limit); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	a := doc.NewWriter(nil)
	a.String("find", "c")
	a.String("name", strings.Repeat("x", 1000))
	for range 1000 {
		a.Int32("n", 1)
	}
	d := doc.Object(a.End())
	got := Summary(d, 3000)
	want := `{ find: "c", name: "` + strings.Repeat("x", 150) + `...", n: 1, n: 1, `
	if len(got) != 3000 || !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if got := Summary(text("short"), 100); got != `"short"` {
		t.Error(got)
	}
}
