package pattern

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	errEscape      = errors.New(`unrecognized character follows \`)
	errPerlOnly    = errors.New(`PCRE2 does not support \F, \L, \l, \N{name}, \U, or \u`)
	errTooBig      = errors.New(`character code point value in \x{} or \o{} is too large`)
	errSurrogate   = errors.New(`disallowed Unicode code point (>= 0xd800 && <= 0xdfff)`)
	errInClass     = errors.New(`escape sequence is invalid in character class`)
	errHexadecimal = errors.New(`non-hex character in \x{} (closing brace missing?)`)
	errOctal       = errors.New(`non-octal character in \o{} (closing brace missing?)`)
)

// Sets of characters that PCRE2 has a letter for. The capital letter is the complement.
var letterSets = map[byte]set{
	'd': {ranges: []span{{'0', '9'}}},
	'w': {ranges: []span{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
	's': {ranges: []span{{'\t', '\r'}, {' ', ' '}}},
	'h': {ranges: []span{{'\t', '\t'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200A},
		{0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}}},
	'v': {ranges: []span{{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}},
}

// unicodeSets are the sets of letters that (*UCP) changes.
var unicodeSets = map[byte]set{
	'd': {properties: []property{{"Nd", false}}},
	'w': {ranges: []span{{'_', '_'}}, properties: []property{{"L", false}, {"N", false}}},
	's': {ranges: []span{{'\t', '\r'}, {0x85, 0x85}, {0x180E, 0x180E}}, properties: []property{{"Z", false}}},
}

// letterSet is the set of a letter, if it has one; not reports a capital letter.
func (t *translator) letterSet(letter byte) (s set, not, ok bool) {
	lower := letter | 0x20
	if t.ucp {
		if s, ok = unicodeSets[lower]; ok {
			return s, letter != lower, true
		}
	}
	s, ok = letterSets[lower]
	return s, letter != lower, ok
}

// escape reads what follows a backslash.
func (t *translator) escape() error {
	if t.at == len(t.text) {
		return errors.New(`\ at end of pattern`)
	}
	r := t.next()
	if r >= utf8.RuneSelf || !isWord(byte(r)) || r == '_' {
		t.literal(r)
		return nil
	}
	letter := byte(r)
	if s, not, ok := t.letterSet(letter); ok {
		t.set(s, not)
		return nil
	}
	switch letter {
	case 'Q':
		t.quote()
	case 'E':
	case 'N':
		return t.notNewline()
	case 'R':
		t.lineBreak()
	case 'p', 'P':
		s, err := t.property(letter == 'P')
		if err == nil {
			t.set(s, false)
		}
		return err
	case 'K':
		t.keepHere()
	case 'b', 'B':
		t.boundary(letter == 'B')
	case 'A':
		t.textStart()
		t.item = -1
	case 'Z':
		t.lastLineEnd()
		t.item = -1
	case 'z':
		t.prefix.close()
		t.textEnd = true
		t.assert(`\z`)
		t.item = -1
	case 'G':
		t.prefix.close()
		t.differs = true
		t.assert(`\G`)
		t.item = -1
	case 'X', 'C':
		return unsupported(`\` + string(letter))
	case 'g':
		return t.groupReference()
	case 'k':
		return t.namedBackReference()
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return t.numberedReference()
	default:
		r, err := t.character(letter)
		if err != nil {
			return err
		}
		t.literal(r)
	}
	return nil
}

func (t *translator) quote() {
	quoted, after, _ := strings.Cut(t.rest(), `\E`)
	t.at = len(t.text) - len(after)
	for _, r := range quoted {
		t.literal(r)
	}
}

// notNewline reads the rest of \N or \N{U+41}.
func (t *translator) notNewline() error {
	if !strings.HasPrefix(t.rest(), "{") {
		t.set(set{ranges: []span{{'\n', '\n'}}}, true)
		return nil
	}
	if t.take("{U+") {
		r, err := t.braced(16, errHexadecimal)
		if err == nil {
			t.literal(r)
		}
		return err
	}
	at := t.at
	t.at++
	_, _, ok, err := t.counts()
	t.at = at
	if err != nil {
		return err
	}
	if !ok {
		return errPerlOnly
	}
	t.set(set{ranges: []span{{'\n', '\n'}}}, true)
	return nil
}

// lineBreak writes \R. It is atomic: once it has matched CRLF it does not give back the LF.
func (t *translator) lineBreak() {
	t.prefix.close()
	single := `[\n\r]`
	if !t.ansiBreak {
		single = string(letterSets['v'].append(nil, false, t.linear))
	}
	if t.linear {
		// Whether the matchers agree depends on what follows.
		t.differs = true
		t.write(`(?:\r\n|` + single + `)`)
		return
	}
	t.write(`(?>\r\n|` + single + `)`)
}

// keepHere writes \K, which moves the start of the match.
func (t *translator) keepHere() {
	for _, g := range t.open {
		if g.kind == look {
			t.late = errors.New(`\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)`)
		}
	}
	t.prefix.close()
	t.moved, t.keeps = true, true
	t.begin()
	if !t.linear {
		t.out = append(t.out, "(?<"+strconv.Itoa(keepGroup)+">)"...)
	}
	t.item = -1
}

// boundary writes \b or \B. In regexp2 it is written out, because the \b there has another set of word characters.
func (t *translator) boundary(not bool) {
	t.prefix.close()
	w, _, _ := t.letterSet('w')
	class := string(w.append(nil, false, t.linear))
	switch {
	case t.linear && !not:
		t.differs = t.differs || t.ucp
		t.assert(`\b`)
	case t.linear:
		t.differs = t.differs || t.ucp
		t.assert(`\B`)
	case not:
		t.assert(`(?:(?<=` + class + `)(?=` + class + `)|(?<!` + class + `)(?!` + class + `))`)
	default:
		t.assert(`(?:(?<=` + class + `)(?!` + class + `)|(?<!` + class + `)(?=` + class + `))`)
	}
	t.item = -1
}

// groupReference reads the rest of \g1, \g{-1} or \g{name}.
func (t *translator) groupReference() error {
	if t.take("<") || t.take("'") {
		return unsupported("a subroutine call")
	}
	if !t.take("{") {
		n := len(t.rest()) - len(strings.TrimLeft(t.rest(), "+-0123456789"))
		s := t.rest()[:n]
		t.at += n
		if !isDigits(strings.TrimLeft(s, "+-")) {
			return errors.New(`a numbered reference must not be zero`)
		}
		return t.reference(t.relative(s))
	}
	inside, after, ok := strings.Cut(t.rest(), "}")
	if ok && isDigits(strings.TrimLeft(inside, "+-")) {
		t.at = len(t.text) - len(after)
		return t.reference(t.relative(inside))
	}
	return t.namedReference("}")
}

func (t *translator) namedBackReference() error {
	for open, end := range map[string]string{"{": "}", "<": ">", "'": "'"} {
		if t.take(open) {
			return t.namedReference(end)
		}
	}
	return errors.New(`\k is not followed by a braced, angle-bracketed, or quoted name`)
}

// numberedReference reads \1 after its first digit. With two digits or more it is a character in octal, unless that
// many groups come before it.
func (t *translator) numberedReference() error {
	t.at--
	n := len(t.rest()) - len(strings.TrimLeft(t.rest(), "0123456789"))
	digits := t.rest()[:n]
	number, err := strconv.Atoi(digits)
	if err == nil && (number < 10 || digits[0] >= '8' || number <= t.groups) {
		t.at += n
		return t.reference(number)
	}
	if digits[0] >= '8' {
		return errors.New("number is too big")
	}
	t.literal(t.octal(3))
	return nil
}

// octal reads up to most octal digits.
func (in *source) octal(most int) (r rune) {
	for ; most > 0 && in.at < len(in.text) && in.text[in.at] >= '0' && in.text[in.at] <= '7'; most-- {
		r = r*8 + rune(in.text[in.at]-'0')
		in.at++
	}
	return r
}

// character reads an escape that stands for a character, in a class or outside.
func (in *source) character(letter byte) (rune, error) {
	switch letter {
	case 'a':
		return '\a', nil
	case 'e':
		return 0x1B, nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case '0':
		return in.octal(2), nil
	case 'o':
		if !in.take("{") {
			return 0, errors.New(`missing opening brace after \o`)
		}
		return in.braced(8, errOctal)
	case 'x':
		if in.take("{") {
			return in.braced(16, errHexadecimal)
		}
		return in.hexadecimal(), nil
	case 'c':
		return in.control()
	case 'F', 'L', 'l', 'U', 'u':
		return 0, errPerlOnly
	}
	return 0, errEscape
}

// hexadecimal reads up to two digits.
func (in *source) hexadecimal() (r rune) {
	for range 2 {
		if in.at == len(in.text) {
			break
		}
		d, err := strconv.ParseUint(in.text[in.at:in.at+1], 16, 8)
		if err != nil {
			break
		}
		r = r*16 + rune(d)
		in.at++
	}
	return r
}

// braced reads digits and the closing brace.
func (in *source) braced(base int, malformed error) (rune, error) {
	digits, after, ok := strings.Cut(in.rest(), "}")
	if ok && digits == "" {
		return 0, errors.New(`digits missing in \x{} or \o{} or \N{U+}`)
	}
	n, err := strconv.ParseUint(digits, base, 64)
	switch {
	case !ok || errors.Is(err, strconv.ErrSyntax):
		return 0, malformed
	case err != nil || n > 0x10FFFF:
		return 0, errTooBig
	case n >= 0xD800 && n <= 0xDFFF:
		return 0, errSurrogate
	}
	in.at = len(in.text) - len(after)
	return rune(n), nil
}

func (in *source) control() (rune, error) {
	if in.at == len(in.text) {
		return 0, errors.New(`\c at end of pattern`)
	}
	c := in.text[in.at]
	if c < ' ' || c > '~' {
		return 0, errors.New(`\c must be followed by a printable ASCII character`)
	}
	in.at++
	if c >= 'a' && c <= 'z' {
		c -= 0x20
	}
	return rune(c ^ 0x40), nil
}
