package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A prefilter is a text that every match contains, "" if none is known: a text without it has no match. Package regexp
// looks for one only if all matches begin with it, in the same case.
type prefilter struct {
	text string
	fold bool // in any case; text has lower case, and no characters but ASCII
	wide bool // and other characters than ASCII may stand for some of it: ſ for s, and the Kelvin sign for k
}

// longEnough is the length from which a prefilter of several parts does not grow.
const longEnough = 64

// prefilterOf is the longest literal of a pattern that is neither optional nor an alternative.
func prefilterOf(x *syntax.Regexp) (best prefilter) {
	switch x.Op {
	case syntax.OpLiteral, syntax.OpCharClass:
		return literal(x)
	case syntax.OpCapture, syntax.OpPlus:
		return prefilterOf(x.Sub[0])
	case syntax.OpRepeat:
		if x.Min > 0 {
			return prefilterOf(x.Sub[0])
		}
	case syntax.OpConcat:
		var run prefilter // what is in any case may be in several parts, one after the other
		for _, sub := range x.Sub {
			part := literal(sub)
			if part.text == "" {
				best, run = longer(best, prefilterOf(sub)), prefilter{}
				continue
			}
			best = longer(best, part)
			switch {
			case !isASCII(part.text):
				run = prefilter{}
			case len(run.text) < longEnough:
				run = prefilter{text: run.text + strings.ToLower(part.text), fold: true, wide: run.wide || part.wide}
				best = longer(best, run)
			}
		}
	}
	return best
}

func longer(a, b prefilter) prefilter {
	if len(b.text) > len(a.text) {
		return b
	}
	return a
}

// literal is the text that a part of a pattern matches alone: in any case, if it is ASCII. The parser makes an item of
// each character that has more than two cases.
func literal(x *syntax.Regexp) (f prefilter) {
	switch {
	case x.Op == syntax.OpLiteral && x.Flags&syntax.FoldCase == 0:
		return prefilter{text: string(x.Rune)}
	case x.Op == syntax.OpLiteral:
		f.text = strings.ToLower(string(x.Rune))
		f.wide = strings.ContainsAny(f.text, wideLetters)
	case x.Op == syntax.OpCharClass:
		for _, r := range wideLetters {
			if slices.Equal(x.Rune, casesOf(r)) {
				f = prefilter{text: string(r), wide: true}
			}
		}
	}
	if f.fold = true; f.text == "" || !isASCII(f.text) {
		return prefilter{}
	}
	return f
}

// wideLetters are the letters of ASCII of which one case is not in ASCII.
const wideLetters = "ks"

// casesOf is a class of all cases of a character, as ranges in order.
func casesOf(r rune) (class []rune) {
	cases := []rune{r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		cases = append(cases, other)
	}
	slices.Sort(cases)
	for _, one := range cases {
		class = append(class, one, one)
	}
	return class
}

// rejects reports that a text has no match, because f is not in it.
func (f *prefilter) rejects(text string) bool {
	if !f.fold {
		return !strings.Contains(text, f.text)
	}
	first := f.text[0]
	for i := 0; i+len(f.text) <= len(text); i++ {
		if lower[text[i]] == first && equalLower(text[i:i+len(f.text)], f.text) {
			return false
		}
	}
	return !f.wide || isASCII(text)
}

// equalLower reports whether a text is, in lower case, another one of the same length.
func equalLower(text, low string) bool {
	for i := range len(low) {
		if lower[text[i]] != low[i] {
			return false
		}
	}
	return true
}

// lower has the lower case of each byte.
var lower = func() (table [256]byte) {
	for i := range table {
		table[i] = byte(i)
	}
	for c := byte('A'); c <= 'Z'; c++ {
		table[c] = c - 'A' + 'a'
	}
	return table
}()

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
