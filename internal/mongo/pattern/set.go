package pattern

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"sync"
	"unicode"
)

// A set is the characters that an item of a pattern accepts: ranges, and Unicode properties whose names both matchers
// know.
type set struct {
	ranges     []span
	properties []property
}

// A span is a range of characters.
type span struct{ low, high rune }

// A property is \p{name}, or \P{name} if not is set.
type property struct {
	name string
	not  bool
}

func (s *set) add(low, high rune) { s.ranges = append(s.ranges, span{low, high}) }

func (s *set) join(t set) {
	s.ranges = append(s.ranges, t.ranges...)
	s.properties = append(s.properties, t.properties...)
}

// addFolded adds a range and, if caseless is set, the other cases of its characters.
func (s *set) addFolded(low, high rune, caseless bool) {
	s.add(low, high)
	if !caseless {
		return
	}
	all := cased()
	for _, r := range all[sort.Search(len(all), func(i int) bool { return all[i] >= low }):] {
		if r > high {
			break
		}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			s.add(f, f)
		}
	}
}

// cased lists the characters that have another case, sorted.
var cased = sync.OnceValue(func() (list []rune) {
	for r := rune('A'); r <= 0x1E943; r++ {
		if unicode.SimpleFold(r) != r {
			list = append(list, r)
		}
	}
	return list
})

// ranges are the characters of a property.
func (p property) ranges() []span {
	table := unicode.Categories[p.name]
	if table == nil {
		table = unicode.Scripts[p.name]
	}
	found, ok := expanded.Load(p)
	if !ok {
		s := tables(table)
		if p.not {
			s = s.not()
		}
		found, _ = expanded.LoadOrStore(p, s.ranges)
	}
	return found.([]span)
}

// expanded caches the []span of properties, at most two for each name.
var expanded sync.Map

var everything = span{0, unicode.MaxRune}

// withoutSurrogates removes the surrogates, which no UTF-8 text has. With them, regexp2 v2.5 takes a set that lacks one
// character for [^c], and then looks for the wrong first character of [ab]?[^c].
func withoutSurrogates(ranges []span) (list []span) {
	for _, r := range ranges {
		if r.low > 0xDFFF || r.high < 0xD800 {
			list = append(list, r)
			continue
		}
		if r.low < 0xD800 {
			list = append(list, span{r.low, 0xD7FF})
		}
		if r.high > 0xDFFF {
			list = append(list, span{0xE000, r.high})
		}
	}
	return list
}

// tidy sorts and merges ranges.
func tidy(ranges []span) []span {
	slices.SortFunc(ranges, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	n := 0
	for _, r := range ranges {
		if n > 0 && r.low <= ranges[n-1].high+1 {
			ranges[n-1].high = max(ranges[n-1].high, r.high)
			continue
		}
		ranges[n] = r
		n++
	}
	return ranges[:n]
}

// not is the complement of the set.
func (s set) not() set {
	if len(s.properties) == 1 && len(s.ranges) == 0 {
		p := s.properties[0]
		return set{properties: []property{{p.name, !p.not}}}
	}
	ranges := slices.Clone(s.ranges)
	for _, p := range s.properties {
		ranges = append(ranges, p.ranges()...)
	}
	var t set
	next := rune(0)
	for _, r := range tidy(ranges) {
		if r.low > next {
			t.add(next, r.low-1)
		}
		next = r.high + 1
	}
	if next <= unicode.MaxRune {
		t.add(next, unicode.MaxRune)
	}
	return t
}

// append writes the set as a class, in the syntax of package regexp if linear is set, else of regexp2.
func (s set) append(dst []byte, negated, linear bool) []byte {
	if negated {
		s = s.not()
	}
	ranges := tidy(slices.Clone(s.ranges))
	if len(ranges) == 0 && len(s.properties) == 0 {
		return append(dst, `[^\x00-\x{10ffff}]`...)
	}
	if !linear && (len(ranges) > 1 || ranges != nil && ranges[0] != everything) {
		ranges = withoutSurrogates(ranges)
	}
	dst = append(dst, '[')
	for _, r := range ranges {
		dst = appendRune(dst, r.low)
		if r.high > r.low {
			dst = append(dst, '-')
			dst = appendRune(dst, r.high)
		}
	}
	for _, p := range s.properties {
		if p.not {
			dst = append(dst, `\P{`...)
		} else {
			dst = append(dst, `\p{`...)
		}
		dst = append(append(dst, p.name...), '}')
	}
	return append(dst, ']')
}

// appendRune writes a character as a literal, escaped if need be.
func appendRune(dst []byte, r rune) []byte {
	if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return append(dst, byte(r))
	}
	dst = append(dst, `\x{`...)
	dst = strconv.AppendInt(dst, int64(r), 16)
	return append(dst, '}')
}
