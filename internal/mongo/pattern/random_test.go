//go:build pcre2

package pattern

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRandomAgainstPCRE2 asks pcre2test the same: `go test -tags pcre2`, with Debian's package pcre2-utils.
func TestRandomAgainstPCRE2(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	letters := strings.Split("a|b|c|ab|\n|\r|\r\n|\t| |\v|\u00a0|\u2028|é|É|k|K|\u212a|s|ſ|ß|1|_|-|.|\x1b|\x00", "|")
	all := make([]question, 5000)
	for i := range all {
		q := &all[i]
		q.text = randomText(r, pieces, 6)
		for n := strings.Count(q.text, "(") - strings.Count(q.text, ")"); n > 0; n-- {
			q.text += ")"
		}
		if r.IntN(20) > 0 {
			q.subject = randomText(r, letters, 7)
		}
		for _, o := range "imsx" {
			if r.IntN(5) == 0 {
				q.options += string(o)
			}
		}
	}
	answers := askPCRE2(t, all)
	wrong := 0
	for i, q := range all {
		got := q.answer()
		if strings.Contains(q.text, "(?*") {
			continue // an assertion that is not atomic, which is not supported
		}
		if strings.HasPrefix(got, "error: ") && strings.HasPrefix(answers[i], "error: ") {
			continue // the table compares texts; of two mistakes, another one may come first
		}
		if got != answers[i] && answers[i] != "" {
			t.Errorf("seed %d: %q %q %q\ngives %s\nwant  %s", seed, q.text, q.options, q.subject, got, answers[i])
			if wrong++; wrong > 20 {
				return
			}
		}
	}
}

var pieces = strings.Fields(`a b c ab . ^ $ \A \Z \z \b \B \d \D \w \W \s \S \h \H \v \V \R \N \K \n \r\n \x0b \t [ab] [^a] [\h] [^\s] [\d_-] [\S] [[:alpha:]] [[:^space:]a] []a] [^]b]
	(a) (b) (?:a|b) (a|b) ( ) (?: (?= (?! (?<=a) (?<!b) (?> (?i) (?s) (?m) (?-i) (?x: (?|(a)|(b)) (?<n>a) \k<n> \1 \2 \g{-1} (?(1)a|b) | | * + ? *? +? ++ ?+ {2} {0,2} {,2} {1,}
	é É k K s ß \x{e9} \Qa.\E \E (?#r) \p{L} \P{Lu} \x20 \e \0 - = _ 1 (?i:k) [k-m] (?i)[^k]`)

func randomText(r *rand.Rand, pieces []string, most int) string {
	var b strings.Builder
	for range 1 + r.IntN(most) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}
