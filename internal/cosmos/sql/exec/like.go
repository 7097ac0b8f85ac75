package exec

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A pattern is a pattern of LIKE: segments of single characters, with any text between them. The first segment is at
// the start of the text and the last at the end.
type pattern struct {
	segments []segment
}

// A segment is a sequence of characters. If all are literal, it is plain text.
type segment struct {
	text  string
	plain bool
	chars []char
}

// A char matches one character.
type char struct {
	any    bool // _
	not    bool // [^…]
	ranges []rune
}

// literalChar is a char that matches r only.
func literalChar(r rune) char { return char{ranges: []rune{r, r}} }

func (c char) matches(r rune) bool {
	if c.any {
		return true
	}
	for i := 0; i+1 < len(c.ranges); i += 2 {
		if c.ranges[i] <= r && r <= c.ranges[i+1] {
			return !c.not
		}
	}
	return c.not
}

const (
	charBytes       = 48  // memory of one character of a pattern
	maxKnownPattern = 256 // longest pattern that is cached for the next row
)

// parsePattern parses a pattern of LIKE. A bracket that is not closed is literal.
func parsePattern(text string, escape rune) *pattern {
	p := &pattern{}
	var chars []char
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		rest := text[size:]
		switch {
		case escape != 0 && r == escape && rest != "":
			r, size = utf8.DecodeRuneInString(rest)
			chars, rest = append(chars, literalChar(r)), rest[size:]
		case r == '%':
			p.segments, chars = append(p.segments, newSegment(chars)), nil
		case r == '_':
			chars = append(chars, char{any: true})
		case r == '[':
			if c, after, ok := parseClass(rest); ok {
				chars, rest = append(chars, c), after
				break
			}
			chars = append(chars, literalChar(r))
		default:
			chars = append(chars, literalChar(r))
		}
		text = rest
	}
	p.segments = append(p.segments, newSegment(chars))
	return p
}

// parseClass parses [abc], [a-f] or [^a-f] after the opening bracket.
func parseClass(text string) (c char, rest string, ok bool) {
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return c, text, false
	}
	inside := []rune(text[:end])
	if len(inside) > 0 && inside[0] == '^' {
		c.not, inside = true, inside[1:]
	}
	for i := 0; i < len(inside); i++ {
		low, high := inside[i], inside[i]
		if i+2 < len(inside) && inside[i+1] == '-' {
			high = inside[i+2]
			i += 2
		}
		c.ranges = append(c.ranges, low, high)
	}
	return c, text[end+1:], true
}

func newSegment(chars []char) segment {
	var text strings.Builder
	for _, c := range chars {
		if c.any || c.not || len(c.ranges) != 2 || c.ranges[0] != c.ranges[1] {
			return segment{chars: chars}
		}
		text.WriteRune(c.ranges[0])
	}
	return segment{text: text.String(), plain: true}
}

// match reports whether the whole of s matches. Each segment is matched at the first possible place, so the work is
// at most that of finding each segment once.
func (p *pattern) match(f *frame, s string) bool {
	first, last := p.segments[0], p.segments[len(p.segments)-1]
	at, ok := first.prefix(s)
	if !ok {
		return false
	}
	s = s[at:]
	if len(p.segments) == 1 {
		return s == ""
	}
	if at, ok = last.suffix(s); !ok {
		return false
	}
	s = s[:at]
	for _, r := range p.segments[1 : len(p.segments)-1] {
		at, ok := r.find(f, s)
		if !ok {
			return false
		}
		s = s[at:]
	}
	return true
}

// prefix returns the end of the segment if s begins with it.
func (r segment) prefix(s string) (end int, ok bool) {
	if r.plain {
		return len(r.text), strings.HasPrefix(s, r.text)
	}
	at := 0
	for _, c := range r.chars {
		if at == len(s) {
			return 0, false
		}
		ch, size := utf8.DecodeRuneInString(s[at:])
		if !c.matches(ch) {
			return 0, false
		}
		at += size
	}
	return at, true
}

// suffix returns the start of the segment if s ends with it.
func (r segment) suffix(s string) (start int, ok bool) {
	if r.plain {
		return len(s) - len(r.text), strings.HasSuffix(s, r.text)
	}
	at := len(s)
	for _, c := range slices.Backward(r.chars) {
		if at == 0 {
			return 0, false
		}
		ch, size := utf8.DecodeLastRuneInString(s[:at])
		if !c.matches(ch) {
			return 0, false
		}
		at -= size
	}
	return at, true
}

// find returns the end of the first match of the segment in s. Segments with wildcards are tried at every place,
// which counts as work.
func (r segment) find(f *frame, s string) (end int, ok bool) {
	if r.plain {
		at := strings.Index(s, r.text)
		return at + len(r.text), at >= 0
	}
	for at := 0; at <= len(s); {
		if end, ok := r.prefix(s[at:]); ok {
			return at + end, true
		}
		if at == len(s) || !f.step(1+len(r.chars)/16) {
			break
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return 0, false
}

func (c *compiler) like(x *syntax.Like, s *scope) (node, error) {
	n, err := c.list([]syntax.Expr{x.X, x.Pattern}, s)
	if err != nil {
		return node{}, err
	}
	escape, err := c.escape(x, s)
	if err != nil {
		return node{}, err
	}
	t := c.pattern(n[0].eval(), n[1], escape)
	if x.Not {
		t = negation(t)
	}
	return c.fold(condition(t), n...), nil
}

// escape is the character of ESCAPE, or 0.
func (c *compiler) escape(x *syntax.Like, s *scope) (rune, error) {
	if x.Escape == nil {
		return 0, nil
	}
	n, err := c.expr(x.Escape, s)
	if err != nil {
		return 0, err
	}
	text, ok := doc.AsString(n.value)
	if r, size := utf8.DecodeRuneInString(text); ok && n.constant && size > 0 && size == len(text) {
		return r, nil
	}
	return 0, syntax.Wrong("", x.Escape.Pos(), "The ESCAPE of a LIKE expression must be a string of one character.")
}

// pattern is x LIKE p, or undefined unless both are strings.
func (c *compiler) pattern(x eval, p node, escape rune) test {
	if p.constant {
		text, ok := doc.AsString(p.value)
		if !ok {
			return func(*frame) tri { return unknown }
		}
		c.keep(charBytes * len(text))
		if c.spend(charBytes * len(text)); c.err != nil {
			return nil
		}
		known := parsePattern(text, escape)
		return func(f *frame) tri {
			s, ok := doc.AsString(x(f))
			if !ok || !f.spend(len(s)) {
				return unknown
			}
			return triOf(known.match(f, s))
		}
	}
	get := p.eval()
	var text string
	var known *pattern
	return func(f *frame) tri {
		s, ok := doc.AsString(x(f))
		if !ok {
			return unknown
		}
		t, ok := doc.AsString(get(f))
		if !ok || !f.spend(len(s)+charBytes*len(t)) {
			return unknown
		}
		if len(t) > maxKnownPattern {
			return triOf(parsePattern(t, escape).match(f, s))
		}
		if known == nil || t != text {
			text = strings.Clone(t)
			known = parsePattern(text, escape)
		}
		return triOf(known.match(f, s))
	}
}
