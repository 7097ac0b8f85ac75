package slow

import (
	"strings"
	"unicode/utf8"
)

// cut is a copy of the first bytes of a text, as valid UTF-8, with a mark where it was longer.
func cut(text string, most int) string {
	const mark = "…"
	if len(text) <= most {
		return strings.ToValidUTF8(strings.Clone(text), "?")
	}
	end := most - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "?") + mark
}
