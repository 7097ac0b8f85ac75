package pattern

import (
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"

	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Find returns the first match as pairs of byte offsets: of the whole match, then of each group, -1 for a group that
// took no part. It returns nil if there is no match. Its errors are ErrTime, ErrDepth and those of m.
func (p *Pattern) Find(text string, m *work.Meter) ([]int, error) {
	if p.usesLinear(text) {
		large, err := p.isLarge(text, m)
		switch {
		case err != nil:
			return nil, err
		case large:
			return p.linearFind(text, 0, m)
		}
		return p.linear.FindStringSubmatchIndex(text), nil
	}
	s, err := p.search(text, m)
	if err != nil {
		return nil, err
	}
	return s.next(0)
}

// FindAll returns up to most matches that do not overlap, each as Find returns it. An empty match at the end of a text
// that is not empty is left out. Its errors are ErrTime, ErrDepth and those of m, whose Stop it calls before each match
// that backtracks.
func (p *Pattern) FindAll(text string, most int, m *work.Meter) ([][]int, error) {
	if p.usesLinear(text) && !p.void {
		return p.linearFindAll(text, most, m)
	}
	s, err := p.search(text, m)
	if err != nil {
		return nil, err
	}
	var list [][]int
	for start := 0; len(list) < most && (start < len(s.runes) || start == 0); {
		if err := m.Ask(); err != nil {
			return nil, err
		}
		at, err := s.next(start)
		if at == nil || err != nil {
			return list, err
		}
		if at[0] == len(text) && text != "" {
			break
		}
		list = append(list, at)
		start = max(s.end, s.begin+1)
	}
	return list, nil
}

// Groups is the number of groups in the pattern.
func (p *Pattern) Groups() int { return p.groups }

// usesLinear reports whether the linear matcher finds the right places of matches in the text.
func (p *Pattern) usesLinear(text string) bool {
	return p.linear != nil && p.places && !(p.newline && strings.HasSuffix(text, "\n"))
}

// A search looks for matches in one text with the matcher that backtracks.
type search struct {
	p          *Pattern
	re         *regexp2.Regexp
	runes      []rune
	offsets    []int // the byte offset of each rune; nil if all are ASCII
	begin, end int   // the last match, in runes
}

func (p *Pattern) search(text string, m *work.Meter) (*search, error) {
	re, err := p.backtracking(text, m)
	if err != nil {
		return nil, err
	}
	s := &search{p: p, re: re, runes: []rune(text)}
	if len(s.runes) == len(text) {
		return s, nil
	}
	s.offsets = make([]int, 0, len(s.runes)+1)
	for at := 0; at < len(text); {
		s.offsets = append(s.offsets, at)
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	s.offsets = append(s.offsets, len(text))
	return s, nil
}

// next finds the first match at or after a rune.
func (s *search) next(start int) ([]int, error) {
	m, err := s.re.FindRunesMatchStartingAt(s.runes, start)
	if m == nil || err != nil {
		return nil, limited(err)
	}
	s.begin, s.end = m.RuneIndex, m.RuneIndex+m.RuneLength
	if s.p.moved {
		if g := m.GroupByNumber(keepGroup); g != nil && len(g.Captures) > 0 {
			s.begin = g.RuneIndex
		}
	}
	at := make([]int, 0, 2+2*s.p.groups)
	at = append(at, s.byte(s.begin), s.byte(s.end))
	for i := range s.p.groups {
		g := m.GroupByNumber(i + 1)
		if g == nil || len(g.Captures) == 0 {
			at = append(at, -1, -1)
			continue
		}
		at = append(at, s.byte(g.RuneIndex), s.byte(g.RuneIndex+g.RuneLength))
	}
	return at, nil
}

func (s *search) byte(rune int) int {
	if s.offsets == nil {
		return rune
	}
	return s.offsets[rune]
}
