package filter

import (
	"regexp"
	"strings"
)

// A translator writes a regular expression of PCRE as one of the two matchers reads it.
// https://www.pcre.org/current/doc/html/pcre2pattern.html
type translator struct {
	text      string
	at        int
	out       strings.Builder
	linear    bool // for package regexp, else for regexp2
	multiline bool
	class     bool // between [ and ]
	depth     int  // of parentheses
	differs   bool // package regexp has no such thing
}

// translate reports false when the expression cannot mean the same to package regexp.
func translate(text, flags string, linear bool) (string, bool) {
	t := &translator{text: text, linear: linear, multiline: strings.Contains(flags, "m")}
	t.differs = linear && strings.Contains(flags, "x")
	for t.at < len(t.text) && !(t.differs && linear) {
		t.step()
	}
	return t.out.String(), !t.differs
}

// step translates what begins at the next byte.
func (t *translator) step() {
	c := t.text[t.at]
	switch {
	case c == '\\' && t.at+1 < len(t.text):
		t.escape(t.text[t.at+1])
		return
	case t.class:
		t.inClass(c)
		return
	case c == '[':
		t.openClass()
		return
	case c == '$' && !t.multiline:
		t.at++
		t.end()
		return
	case c == '(':
		t.depth++
		t.group()
	case c == ')':
		t.depth--
	}
	t.out.WriteByte(c)
	t.at++
}

// openClass takes a ] at the beginning of a class for what it is, a character.
func (t *translator) openClass() {
	t.class = true
	n := 1
	if strings.HasPrefix(t.text[t.at+n:], "^") {
		n++
	}
	t.out.WriteString(t.text[t.at : t.at+n])
	t.at += n
	if strings.HasPrefix(t.text[t.at:], "]") {
		t.out.WriteString(`\]`)
		t.at++
	}
}

// inClass takes a class as it is, such as [[:alpha:]].
func (t *translator) inClass(c byte) {
	n := 1
	if strings.HasPrefix(t.text[t.at:], "[:") {
		if end := strings.Index(t.text[t.at:], ":]"); end > 0 {
			n = end + 2
		}
	}
	if c == ']' {
		t.class = false
	}
	t.out.WriteString(t.text[t.at : t.at+n])
	t.at += n
}

// end is a $, or \Z, which have been read: PCRE's is also before a newline that ends the text.
func (t *translator) end() {
	rest := t.text[t.at:]
	if !t.linear {
		t.out.WriteString(`(?=\n?\z)`)
		return
	}
	last := strings.Trim(rest, ")") == "" || t.depth == 0 && rest[0] == '|'
	t.differs = t.differs || !last
	t.out.WriteString(`(?:\n?\z)`)
}

// group looks at the options that a group sets.
func (t *translator) group() {
	rest, ok := strings.CutPrefix(t.text[t.at:], "(?")
	if !ok {
		return
	}
	set := rest[:len(rest)-len(strings.TrimLeft(rest, "imsxnUJ-"))]
	t.multiline = t.multiline || strings.Contains(set, "m")
	t.differs = t.differs || t.linear && strings.Contains(set, "x")
}

// Sets of characters that PCRE has a letter for, as they stand in a class.
var letterClasses = map[byte]string{
	's': `\s\v`,
	'h': `\t\p{Zs}`,
	'v': `\n\v\f\r\x{85}\x{2028}\x{2029}`,
}

// escape is a backslash and what follows it.
func (t *translator) escape(letter byte) {
	lower := letter | 0x20
	set, isSet := letterClasses[lower]
	t.at += 2
	switch {
	case letter == 'Q' && !t.class:
		quoted, _, _ := strings.Cut(t.text[t.at:], `\E`)
		t.at = min(t.at+len(quoted)+2, len(t.text))
		t.out.WriteString(regexp.QuoteMeta(quoted))
	case letter == 'E' || letter == 'K':
	case letter == 'Z' && !t.class:
		t.end()
	case letter == 'N' && !t.class:
		t.out.WriteString(`[^\n]`)
	case letter == 'R' && !t.class:
		t.out.WriteString(`(?:\r\n|[\n\v\f\r\x{85}\x{2028}\x{2029}])`)
	case letter == 'e':
		t.out.WriteString(`\x1b`)
	case letter == 'b' && t.class:
		t.out.WriteString(`\x08`)
	case isSet && letter == lower && t.class:
		t.out.WriteString(set)
	case isSet && letter == lower:
		t.out.WriteString("[" + set + "]")
	case isSet && !t.class:
		t.out.WriteString("[^" + set + "]")
	default:
		t.differs = t.differs || letter >= '1' && letter <= '9' || isSet
		t.out.WriteByte('\\')
		t.out.WriteByte(letter)
	}
}
