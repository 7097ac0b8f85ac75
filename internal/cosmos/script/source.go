package script

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a source, in addition to maxNesting. The parser's time is not linear in these counts, and it cannot be
// interrupted.
const (
	maxArrows   = 5_000 // arrow functions
	maxDefaults = 16    // arrow functions with default values: each nested level doubles the time
	maxLabels   = 1_000 // possible labels with the same name: the parser keeps an error for each nested pair
	maxTree     = 2_500 // levels of the tree
)

var (
	errEmpty    = errors.New("SyntaxError: the script is empty")
	errNesting  = errors.New("SyntaxError: brackets are nested more than 500 deep")
	errArrows   = errors.New("SyntaxError: there are too many arrow functions")
	errDefaults = errors.New("SyntaxError: more than 16 arrow functions have default values. Write some of them as " +
		"functions")
	errLabels = errors.New("SyntaxError: there are too many labels of the same name")
	errTree   = errors.New("SyntaxError: an expression or statement is nested too deep")
)

// parseable rejects sources that would take the parser very long. It treats comments and strings as code, so it can
// only overestimate.
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

// plainParameters reports whether a text ends with the parameters of an arrow function that certainly contain no
// other arrow function.
func plainParameters(text string) bool {
	text = strings.TrimRight(text, " \t")
	list, bracketed := strings.CutSuffix(text, ")")
	if !bracketed {
		return text != "" && isName(rune(text[len(text)-1]))
	}
	start := strings.LastIndexFunc(list, func(c rune) bool {
		return !isName(c) &&
			!strings.ContainsRune(" \t\r\n,.:{}[]", c)
	})
	if start < 0 || list[start] != '(' {
		return false
	}
	if !strings.ContainsAny(list[start:], "\r\n") {
		return true
	}
	line := list[strings.LastIndexAny(list[:start], "\r\n")+1 : start]
	return !strings.Contains(line, "//") // the bracket may be in a comment
}

// labels is the largest number of labels with the same name that a source can have.
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
		case strings.HasSuffix(before, "/"), strings.HasSuffix(before, "}"), strings.HasSuffix(rest, `\`),
			strings.ContainsAny(source[len(before):i], "\n\r\u2028\u2029"):
			strange++ // a comment may come between, or the name may have an escape
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

// isSpace reports whether a character is white space between tokens.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' }

// nesting is the depth of brackets of all kinds in a source.
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
