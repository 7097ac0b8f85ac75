package function

import (
	"strings"
	"unicode"

	"github.com/mayflydb/mayfly/internal/doc"
)

func length(c *Call, args []doc.Value) doc.Value {
	s, ok := doc.AsString(args[0])
	if !ok {
		return undefined
	}
	return scratchOf(c).int(units(s))
}

func left(c *Call, args []doc.Value) doc.Value {
	return part(c, args[0], doc.Int(0), args[1])
}

func substring(c *Call, args []doc.Value) doc.Value {
	return part(c, args[0], args[1], args[2])
}

// part is n units of a string from a position on. Positions and lengths that are not whole numbers make the result
// undefined; negative ones make it an empty string.
func part(c *Call, v, from, n doc.Value) doc.Value {
	s, ok := doc.AsString(v)
	start, whole := doc.AsInt(from)
	count, wholeCount := doc.AsInt(n)
	switch {
	case !ok || !doc.IsNumber(from) || !doc.IsNumber(n):
		return undefined
	case s == "":
		return emptyText
	case !whole || !wholeCount:
		return undefined
	case start < 0 || count <= 0:
		return emptyText
	}
	return cut(scratchOf(c), v, s, start, count)
}

// cut is v itself if nothing is cut off.
func cut(r *scratch, v doc.Value, s string, start, count int64) doc.Value {
	if start == 0 && count >= int64(len(s)) {
		return v
	}
	return r.text(appendUnits(r.begin(), s, start, count))
}

func right(c *Call, args []doc.Value) doc.Value {
	s, ok := doc.AsString(args[0])
	count, whole := doc.AsInt(args[1])
	switch {
	case !ok || !whole:
		return undefined
	case count <= 0:
		return emptyText
	}
	total := units(s)
	return cut(scratchOf(c), args[0], s, max(total-count, 0), total)
}

// trimmed returns a function that removes white space, or the characters of the second argument, from the ends.
func trimmed(front, back bool) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		s, ok := doc.AsString(args[0])
		drop := unicode.IsSpace
		if ok && len(args) > 1 {
			var set string
			set, ok = doc.AsString(args[1])
			drop = among(set)
		}
		if !ok {
			return undefined
		}
		return trim(scratchOf(c), args[0], s, front, back, drop)
	}
}

// among reports whether a character is in the set.
func among(set string) func(rune) bool {
	if len(set) <= 32 {
		return func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	known := map[rune]struct{}{}
	for _, r := range set {
		known[r] = struct{}{}
	}
	return func(r rune) bool {
		_, ok := known[r]
		return ok
	}
}

func trim(r *scratch, v doc.Value, s string, front, back bool, drop func(rune) bool) doc.Value {
	before := len(s)
	if front {
		s = strings.TrimLeftFunc(s, drop)
	}
	if back {
		s = strings.TrimRightFunc(s, drop)
	}
	if len(s) == before {
		return v
	}
	return r.copy(s)
}
