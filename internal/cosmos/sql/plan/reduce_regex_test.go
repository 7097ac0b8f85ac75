package plan

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/doc"
)

func TestRegexPrefix(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"^user17$", "user17"},
		{"^user17", "user17"},
		{"^ab.*", "ab"},
		{"^ab+", "ab"},
		{"^ab?", "a"},
		{"^ab*c", "a"},
		{"^ab{0,3}", "a"},
		{"^aé?", "a"},
		{"^é+x", "é"},
		{"^a(b|c)", "a"},
		{"^a(b|c)|d", ""},
		{"^a|b", ""},
		{"^a[|]", ""},
		{`^a\|b`, "a|b"},
		{`^a\|b|c`, ""},
		{`^a\.b\\c`, `a.b\c`},
		{`^a\db`, "a"},
		{`^a\bb`, "a"},
		{`^a\<b>`, "a"},
		{`^a\`, "a"},
		{"^(?i)ab", ""},
		{"(?i)^ab", ""},
		{"^a(?i)b", "a"},
		{"^ab(?#x)*", "a"},
		{"^^a", ""},
		{"^*a", ""},
		{"^?a", ""},
		{"^a^b", "a"},
		{"^", ""},
		{"a", ""},
		{"", ""},
		{"^\xff", ""},
		{"^a b#c", "a b#c"},
	} {
		if got, _ := regexPrefix(c.pattern); got != c.want {
			t.Errorf("%q: %q, want %q", c.pattern, got, c.want)
		}
	}
}

// TestRegexPrefixIsCertain holds the prefixes of random patterns against what the patterns match.
func TestRegexPrefixIsCertain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	parts := []string{"a", "b", "a", "b", "é", "(?#x)", "?", "*", "+", "{0}", "{0,2}", "|", "(", ")", "(?:",
		"(?i)", "[", "]",
		"^", "$", ".", `\`, `\.`, `\|`, "\n", "A"}
	f, _ := function.Lookup("REGEXMATCH")
	matches, certain := 0, 0
	for range 20_000 {
		pattern := "^"
		for range 1 + rng.IntN(6) {
			pattern += parts[rng.IntN(len(parts))]
		}
		prefix, rest := regexPrefix(pattern)
		if prefix == "" || !validRegex(pattern) {
			continue
		}
		certain++
		for range 20 {
			text := ""
			for range rng.IntN(5) {
				text += []string{"a", "b", "a", "b", "é", "|", ".", "A", "\n"}[rng.IntN(9)]
			}
			v := f.Run(&function.Call{}, []doc.Value{doc.String(text), doc.String(pattern)})
			if yes, _ := doc.AsBool(v); yes {
				if matches++; !strings.HasPrefix(text, prefix) ||
					rest == "$" && text != prefix && text != prefix+"\n" {
					t.Fatalf("%q matches %q, which is not, or does not begin with, %q", pattern, text, prefix)
				}
			}
		}
	}
	if certain < 300 || matches < 300 {
		t.Errorf("only %d patterns, %d matches", certain, matches)
	}
}
