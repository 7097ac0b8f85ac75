package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A needed is a text that every match contains, "" if none is known. Package regexp looks for one only if all matches
// begin with it, in the same case.
type needed struct {
	text string
	fold bool // in any case; text has lower case, and no characters but ASCII
	wide bool // and other characters than ASCII may stand for some of it: ſ for s, and the Kelvin sign for k
}

// longEnough is the length from which a text that is needed in any case does not grow.
const longEnough = 64

// neededBy finds what all matches contain: the longest literal that is neither optional nor an alternative.
func neededBy(x *syntax.Regexp) (best needed) {
	switch x.Op {
	case syntax.OpLiteral, syntax.OpCharClass:
		return literal(x)
	case syntax.OpCapture, syntax.OpPlus:
		return neededBy(x.Sub[0])
	case syntax.OpRepeat:
		if x.Min > 0 {
			return neededBy(x.Sub[0])
		}
	case syntax.OpConcat:
		var run needed // what is in any case may be in several parts, one after the other
		for _, sub := range x.Sub {
			part := literal(sub)
			if part.text == "" {
				best, run = longer(best, neededBy(sub)), needed{}
				continue
			}
			best = longer(best, part)
			switch {
			case !isASCII(part.text):
				run = needed{}
			case len(run.text) < longEnough:
				run = needed{text: run.text + strings.ToLower(part.text), fold: true, wide: run.wide || part.wide}
				best = longer(best, run)
			}
		}
	}
	return best
}

func longer(a, b needed) needed {
	if len(b.text) > len(a.text) {
		return b
	}
	return a
}

// literal is the text that a part of a pattern matches alone: in any case, if it is ASCII. The parser makes an item of
// each character that has more than two cases.
func literal(x *syntax.Regexp) (n needed) {
	switch {
	case x.Op == syntax.OpLiteral && x.Flags&syntax.FoldCase == 0:
		return needed{text: string(x.Rune)}
	case x.Op == syntax.OpLiteral:
		n.text = strings.ToLower(string(x.Rune))
		n.wide = strings.ContainsAny(n.text, wideLetters)
	case x.Op == syntax.OpCharClass:
		for _, r := range wideLetters {
			if slices.Equal(x.Rune, casesOf(r)) {
				n = needed{text: string(r), wide: true}
			}
		}
	}
	if n.fold = true; n.text == "" || !isASCII(n.text) {
		return needed{}
	}
	return n
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

// absent reports whether a text lacks n, so that it has no match.
func (n *needed) absent(text string) bool {
	if !n.fold {
		return !strings.Contains(text, n.text)
	}
	first := n.text[0]
	for i := 0; i+len(n.text) <= len(text); i++ {
		if lower[text[i]] == first && equalLower(text[i:i+len(n.text)], n.text) {
			return false
		}
	}
	return !n.wide || isASCII(text)
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
