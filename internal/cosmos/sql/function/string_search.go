package function

import (
	"strings"
	"unsafe"

	"github.com/mayflydb/mayfly/internal/doc"
)

// viewOf is b as a string without copying. It is valid until b changes.
func viewOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// searched returns a function of two strings and an optional flag to ignore case.
func searched(plain func(s, other string) bool, folded func(r *scratch, s, other string) bool) func(*Call,
	[]doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		s, other, ok := texts(args)
		ignore, known := flag(args, 2)
		switch {
		case !ok || !known:
			return undefined
		case ignore:
			return truth(folded(scratchOf(c), s, other))
		}
		return truth(plain(s, other))
	}
}

var (
	contains   = searched(strings.Contains, foldedContains)
	endsWith   = searched(strings.HasSuffix, func(_ *scratch, s, other string) bool { return foldedSuffix(s, other) })
	startsWith = searched(strings.HasPrefix, func(_ *scratch, s, other string) bool {
		_, ok := foldedPrefix(s, other)
		return ok
	})
	stringEquals = searched(
		func(s, other string) bool { return s == other },
		func(_ *scratch, s, other string) bool {
			end, ok := foldedPrefix(s, other)
			return ok && end == len(s)
		})
)

// containsMany is CONTAINS for each further argument, combined with OR (anyOf) or AND.
func containsMany(anyOf, ignoreCase bool) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		s, isText := doc.AsString(args[0])
		o := verdict{decisive: anyOf}
		for _, arg := range args[1:] {
			needle, ok := doc.AsString(arg)
			if ok = ok && isText; c.spendBytes(len(s) + len(needle)) {
				return undefined
			}
			found := ok && (ignoreCase && foldedContains(scratchOf(c), s, needle) || !ignoreCase &&
				strings.Contains(s, needle))
			if o.take(found, ok) {
				return truth(anyOf)
			}
		}
		return o.none()
	}
}

// indexOf counts in UTF-16 code units. -1 means not found.
func indexOf(c *Call, args []doc.Value) doc.Value {
	s, needle, ok := texts(args)
	from, known := optionalInt(args, 2, 0)
	if !ok || !known {
		return undefined
	}
	at := 0
	if from > 0 {
		if from > units(s) {
			return scratchOf(c).int(-1)
		}
		at = wholeOffset(s, from)
	}
	n := strings.Index(s[at:], needle)
	if n < 0 {
		return scratchOf(c).int(-1)
	}
	return scratchOf(c).int(units(s[:at+n]))
}

// lastIndexOf searches backward from a position to the start: the match ends there at the latest.
func lastIndexOf(c *Call, args []doc.Value) doc.Value {
	s, needle, ok := texts(args)
	length := units(s)
	from, known := optionalInt(args, 2, length)
	if !ok || !known {
		return undefined
	}
	if from < 0 {
		return scratchOf(c).int(-1)
	}
	if from < length {
		end, _ := offset(s, from+1)
		s = s[:end]
	}
	n := strings.LastIndex(s, needle)
	if n < 0 {
		return scratchOf(c).int(-1)
	}
	return scratchOf(c).int(units(s[:n]))
}

// wholeOffset is offset, or the end of the character if n is inside one.
func wholeOffset(s string, n int64) int {
	at, inside := offset(s, n)
	if inside {
		at += 4 // characters of two units have four bytes
	}
	return at
}

func optionalInt(args []doc.Value, at int, otherwise int64) (int64, bool) {
	if len(args) <= at {
		return otherwise, true
	}
	return doc.AsInt(args[at])
}

// around returns SUBSTRINGBEFORE, SUBSTRINGAFTER or one of their LAST forms.
func around(find func(s, delimiter string) int, after bool) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		s, delimiter, ok := texts(args)
		if !ok {
			return undefined
		}
		at := find(s, delimiter)
		switch {
		case at < 0:
			return emptyText
		case after:
			return scratchOf(c).copy(s[at+len(delimiter):])
		}
		return scratchOf(c).copy(s[:at])
	}
}
