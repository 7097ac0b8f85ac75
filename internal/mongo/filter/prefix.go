package filter

import (
	"strings"
	"unicode/utf8"
)

// describe finds what strings that match a regular expression begin with. It is
// careful: no prefix where there may be a choice or another case.
func describe(text, options string) Pattern {
	if strings.Trim(options, "su") != "" || strings.Contains(text, "|") {
		return Pattern{}
	}
	rest, ok := strings.CutPrefix(text, "^")
	if !ok {
		if rest, ok = strings.CutPrefix(text, `\A`); !ok {
			return Pattern{}
		}
	}
	var prefix strings.Builder
	for {
		literal, size := literalAt(rest)
		after := rest[size:]
		if size == 0 || after != "" && strings.IndexByte("*?{", after[0]) >= 0 {
			break
		}
		prefix.WriteString(literal)
		rest = after
		if strings.HasPrefix(after, "+") {
			break
		}
	}
	if rest == ".*" {
		rest = ""
	}
	return Pattern{Prefix: prefix.String(), Exact: rest == ""}
}

// literalAt is the character that an expression begins with, and how long its text is,
// 0 when it begins with something else.
func literalAt(text string) (literal string, size int) {
	if text == "" || strings.IndexByte(`.[](){}*+?^$`, text[0]) >= 0 {
		return "", 0
	}
	if text[0] == '\\' {
		if len(text) < 2 || text[1] >= utf8.RuneSelf || isAlphanumeric(text[1]) {
			return "", 0
		}
		return text[1:2], 2
	}
	_, size = utf8.DecodeRuneInString(text)
	return text[:size], size
}

func isAlphanumeric(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}
