package script

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a source, beside maxNesting. The parser takes more than linear time
// for what they count, and looks for no end of its time.
const (
	maxArrows   = 5_000 // arrow functions
	maxDefaults = 16    // of these with default values: each level of them within others takes twice the time
	maxLabels   = 1_000 // labels of one name, or what may be one: of each two of them inside of each other an error is kept
	maxTree     = 2_500 // levels of the tree
)

var (
	errEmpty    = errors.New("SyntaxError: the script is empty")
	errNesting  = errors.New("SyntaxError: brackets are nested more than 500 deep")
	errArrows   = errors.New("SyntaxError: there are too many arrow functions")
	errDefaults = errors.New("SyntaxError: more than 16 arrow functions have default values. Write some of them as functions")
	errLabels   = errors.New("SyntaxError: there are too many labels of the same name")
	errTree     = errors.New("SyntaxError: an expression or statement is nested too deep")
)

// parseable refuses a source that would take the parser very long. It reads comments
// and strings as if they were code, which can only count too much.
func parseable(source string) error {
	if nesting(source) > maxNesting {
		return errNesting
	}
	if labels(source) > maxLabels {
		return errLabels
	}
	arrows, defaults := 0, 0
	for at := 0; ; at += 2 {
		next := strings.Index(source[at:], "=>")
		if next < 0 {
			return nil
		}
		at += next
		if arrows++; arrows > maxArrows {
			return errArrows
		}
		if !plainParameters(source[:at]) {
			if defaults++; defaults > maxDefaults {
				return errDefaults
			}
		}
	}
}

// plainParameters reports whether a text ends with the parameters of an arrow function
// that surely contain no other arrow function.
func plainParameters(text string) bool {
	text = strings.TrimRight(text, " \t")
	list, bracketed := strings.CutSuffix(text, ")")
	if !bracketed {
		return text != "" && isName(rune(text[len(text)-1]))
	}
	start := strings.LastIndexFunc(list, func(c rune) bool { return !isName(c) && !strings.ContainsRune(" \t\r\n,.:{}[]", c) })
	if start < 0 || list[start] != '(' {
		return false
	}
	if !strings.ContainsAny(list[start:], "\r\n") {
		return true
	}
	line := list[strings.LastIndexAny(list[:start], "\r\n")+1 : start]
	return !strings.Contains(line, "//") // the bracket may be in a comment
}

// labels is how many labels of the same name a source has at most.
func labels(source string) int {
	count := map[string]int{}
	most, strange := 0, 0
	for i := range len(source) {
		if source[i] != ':' {
			continue
		}
		before := strings.TrimRightFunc(source[:i], isSpace)
		rest := strings.TrimRightFunc(before, isName)
		name := before[len(rest):]
		switch {
		case strings.HasSuffix(before, "/"), strings.HasSuffix(before, "}"), strings.HasSuffix(rest, `\`), strings.ContainsAny(source[len(before):i], "\n\r\u2028\u2029"):
			strange++ // there may be a comment between, or an escape in the name
		case name != "":
			count[name]++
			most = max(most, count[name])
		}
	}
	return most + strange
}

// isName reports whether a character may be part of a name.
func isName(c rune) bool {
	return c == '$' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) || c >= utf8.RuneSelf && !isSpace(c)
}

// isSpace reports whether a character is space between tokens.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' }

// nesting is how deep brackets of all kinds are nested in a text.
func nesting(source string) (deepest int) {
	depth := 0
	for i := range len(source) {
		switch source[i] {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}
