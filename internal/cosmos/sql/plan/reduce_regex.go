package plan

import (
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// regexMatch treats REGEXMATCH(path, constant) as STARTSWITH if all matches begin with certain characters, and as
// equality if they have no others. The sign for the end also stands before a line feed that ends the string.
func (r *reducer) regexMatch(args []syntax.Expr, s *scope) condition {
	pattern, ok := r.text(args[1])
	if !ok {
		return unknown
	}
	modifiers := ""
	if len(args) == 3 {
		if modifiers, ok = r.text(args[2]); !ok {
			return unknown
		}
	}
	if strings.Trim(modifiers, "s") != "" { // the others change what the beginning of the pattern means
		return unknown
	}
	prefix, rest := regexPrefix(pattern)
	if prefix == "" || !validRegex(pattern) {
		return unknown
	}
	p := r.place(args[0], s)
	if rest == "$" {
		return either(equals(p, doc.String(prefix)), equals(p, doc.String(prefix+"\n"))).roughly()
	}
	return begins(p, prefix).roughly()
}

// validRegex reports that a pattern is no error, which has to be the answer for any string.
func validRegex(pattern string) bool {
	f, ok := function.Lookup("REGEXMATCH")
	if !ok {
		return false
	}
	var c function.Call
	f.Run(&c, []doc.Value{doc.String(""), doc.String(pattern)})
	return c.Err == nil
}

const (
	// regexSigns have a meaning in a pattern, perhaps together with others.
	regexSigns = `\^$.|?*+()[]{}`
	// regexEscaped are literal behind a backslash, as letters and digits are not, nor < and '.
	regexEscaped = regexSigns + ` -/:;,#&@!%=~"`
)

// regexPrefix is what all matches of a pattern begin with, "" if that is not certain, and the rest of the pattern.
func regexPrefix(pattern string) (prefix, rest string) {
	rest, ok := strings.CutPrefix(pattern, "^")
	if !ok {
		return "", pattern
	}
	var text []byte
	last := 0 // where the last character begins
	for rest != "" {
		char := rest
		if rest[0] == '\\' {
			if char = rest[1:]; char == "" || strings.IndexByte(regexEscaped, char[0]) < 0 {
				break
			}
		} else if strings.IndexByte(regexSigns, rest[0]) >= 0 {
			break
		}
		r, size := utf8.DecodeRuneInString(char)
		if r == utf8.RuneError {
			break
		}
		last, text, rest = len(text), append(text, char[:size]...), char[size:]
	}
	if alternates(rest) {
		return "", pattern
	}
	// It may occur no time: a quantifier counts behind comments, too.
	if rest != "" && strings.IndexByte("?*{", rest[0]) >= 0 || strings.HasPrefix(rest, "(?#") {
		text = text[:last]
	}
	return string(text), rest
}

// alternates reports that a part of a pattern may have an alternative to all of the pattern.
func alternates(rest string) bool {
	if !strings.Contains(rest, "|") {
		return false
	}
	if strings.ContainsAny(rest, `\[`) || strings.Contains(rest, "(?") {
		return true // not every | and parenthesis is a sign
	}
	depth := 0
	for i := range len(rest) {
		switch rest[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth <= 0 {
				return true
			}
		}
	}
	return false
}
