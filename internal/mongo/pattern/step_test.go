package pattern

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// TestStepsFindTheSame compares matches that are made in steps with those made at once.
func TestStepsFindTheSame(t *testing.T) {
	texts := []string{"", "a", "xay", "é a bb\ncc abab", strings.Repeat("ab é ", 2000) + "z",
		strings.Repeat("aab", 3000), "one two, three; four\nfive"}
	for _, p := range []string{"a", "a+b", "(a)(b)?", `\bz`, `\bt\w+`, `^a`, `(?m)^\w`, `[^z]{1,50}z`, `(é)|(b)`, `\B.`,
		`b$`, `é a`} {
		x, err := Compile(p, Options{})
		if err != nil || x.linear == nil {
			t.Fatalf("%s: %v, or not linear", p, err)
		}
		for _, text := range texts {
			var stepped [][]int
			for from := 0; ; {
				at, err := x.linearFind(text, from, &work.Meter{})
				if err != nil {
					t.Fatal(err)
				}
				if at == nil || at[0] == at[1] {
					break
				}
				stepped = append(stepped, at)
				from = at[1]
			}
			whole := x.linear.FindAllStringSubmatchIndex(text, -1)
			if !slices.EqualFunc(stepped, whole, slices.Equal) {
				t.Errorf("%s in %.30q: %.200v, not %.200v", p, text, stepped, whole)
			}
		}
	}
}
