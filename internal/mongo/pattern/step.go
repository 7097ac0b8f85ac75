package pattern

import (
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// largeCost is the cost, in units of package work, up to which a match runs in one call that nothing can stop.
const largeCost = 1 << 20

// matchCost is the highest cost of a match with the linear matcher: every character may meet every instruction.
func (p *Pattern) matchCost(text string) int { return len(text) * (1 + p.size/4) }

// isLarge reports whether a match has to run in steps. If not, it spends the cost of the match.
func (p *Pattern) isLarge(text string, m *work.Meter) (bool, error) {
	cost := p.matchCost(text)
	if m != nil && cost > largeCost {
		return true, nil
	}
	return false, m.Spend(work.Operator + 2*len(text) + cost/8)
}

// linearMatch is linear.MatchString, in steps if the text is large.
func (p *Pattern) linearMatch(text string, m *work.Meter) (bool, error) {
	large, err := p.isLarge(text, m)
	switch {
	case err != nil:
		return false, err
	case !large:
		return !p.prefilter.rejects(text) && p.linear.MatchString(text), nil
	}
	at, err := p.linearFind(text, 0, m)
	return at != nil, err
}

// linearFind is linear.FindStringSubmatchIndex from an offset on, in steps. Anchors and boundaries see the text before
// the offset.
func (p *Pattern) linearFind(text string, from int, m *work.Meter) ([]int, error) {
	if literal, _ := p.linear.LiteralPrefix(); literal != "" {
		i, err := m.Index(text[from:], literal)
		if i < 0 || err != nil {
			return nil, err
		}
		from += i
	}
	r := reader{text: text, m: m, each: 4 + p.size/32}
	if from == 0 {
		at := p.linear.FindReaderSubmatchIndex(&r)
		if err := m.Err(); err != nil {
			return nil, err
		}
		return at, nil
	}
	_, size := utf8.DecodeLastRuneInString(text[:from])
	r.text = text[from-size:]
	at := p.behind().FindReaderSubmatchIndex(&r)
	if err := m.Err(); at == nil || err != nil {
		return nil, err
	}
	at = at[2:] // the first group is the match
	for i := range at {
		if at[i] >= 0 {
			at[i] += from - size
		}
	}
	return at, nil
}

// linearFindAll is linear.FindAllStringSubmatchIndex for a pattern that does not match an empty text.
func (p *Pattern) linearFindAll(text string, most int, m *work.Meter) ([][]int, error) {
	large, err := p.isLarge(text, m)
	switch {
	case err != nil:
		return nil, err
	case !large:
		return p.linear.FindAllStringSubmatchIndex(text, most), nil
	}
	var list [][]int
	for from := 0; len(list) < most; {
		at, err := p.linearFind(text, from, m)
		if at == nil || err != nil {
			return list, err
		}
		list = append(list, at)
		from = at[1]
	}
	return list, nil
}

// behind is the linear pattern for a text whose first character is not part of the search: \b and ^ look back at it.
func behind(linear string) *regexp.Regexp {
	return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + linear + `)`)
}

// instructions estimates how many instructions the linear matcher has for a pattern.
func instructions(x *syntax.Regexp) int {
	n := 1
	for _, sub := range x.Sub {
		n += instructions(sub)
	}
	switch x.Op {
	case syntax.OpLiteral:
		n += len(x.Rune)
	case syntax.OpRepeat:
		n *= max(x.Min, x.Max, 1)
	}
	return n
}

// A reader hands a text to the linear matcher, one character at a time. It ends the text early if the work has to stop.
type reader struct {
	text string
	at   int
	m    *work.Meter
	each int // cost of a character
}

func (r *reader) ReadRune() (c rune, size int, err error) {
	if r.at >= len(r.text) || r.m.Spend(r.each) != nil {
		return 0, 0, io.EOF
	}
	if c := r.text[r.at]; c < utf8.RuneSelf {
		r.at++
		return rune(c), 1, nil
	}
	c, size = utf8.DecodeRuneInString(r.text[r.at:])
	r.at += size
	return c, size, nil
}
