package function

import (
	"strings"
	"unsafe"

	"github.com/mayflydb/mayfly/internal/doc"
)

// viewOf is b as a string, valid as long as b stays as it is.
func viewOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// searched makes a function of two strings and whether case is ignored.
func searched(plain func(s, other string) bool, folded func(r *room, s, other string) bool) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		s, other, ok := texts(args)
		ignore, known := flag(args, 2)
		switch {
		case !ok || !known:
			return undefined
		case ignore:
			return truth(folded(roomOf(c), s, other))
		}
		return truth(plain(s, other))
	}
}

var (
	contains   = searched(strings.Contains, foldedContains)
	endsWith   = searched(strings.HasSuffix, func(_ *room, s, other string) bool { return foldedSuffix(s, other) })
	startsWith = searched(strings.HasPrefix, func(_ *room, s, other string) bool {
		_, ok := foldedPrefix(s, other)
		return ok
	})
	stringEquals = searched(
		func(s, other string) bool { return s == other },
		func(_ *room, s, other string) bool {
			end, ok := foldedPrefix(s, other)
			return ok && end == len(s)
		})
)

// containsMany is CONTAINS of each further argument, joined by OR (any) or AND.
func containsMany(anyOf, ignoreCase bool) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		s, isText := doc.AsString(args[0])
		o := verdict{decisive: anyOf}
		for _, arg := range args[1:] {
			needle, ok := doc.AsString(arg)
			if ok = ok && isText; c.spendBytes(len(s) + len(needle)) {
				return undefined
			}
			found := ok && (ignoreCase && foldedContains(roomOf(c), s, needle) || !ignoreCase && strings.Contains(s, needle))
			if o.take(found, ok) {
				return truth(anyOf)
			}
		}
		return o.none()
	}
}

// indexOf counts in UTF-16 code units; -1 is nowhere.
func indexOf(c *Call, args []doc.Value) doc.Value {
	s, needle, ok := texts(args)
	from, known := optionalInt(args, 2, 0)
	if !ok || !known {
		return undefined
	}
	at := 0
	if from > 0 {
		if from > units(s) {
			return roomOf(c).int(-1)
		}
		at = wholeOffset(s, from)
	}
	n := strings.Index(s[at:], needle)
	if n < 0 {
		return roomOf(c).int(-1)
	}
	return roomOf(c).int(units(s[:at+n]))
}

// lastIndexOf looks from a place backwards to the start: the match ends there
// at the latest.
func lastIndexOf(c *Call, args []doc.Value) doc.Value {
	s, needle, ok := texts(args)
	length := units(s)
	from, known := optionalInt(args, 2, length)
	if !ok || !known {
		return undefined
	}
	if from < 0 {
		return roomOf(c).int(-1)
	}
	if from < length {
		end, _ := offset(s, from+1)
		s = s[:end]
	}
	n := strings.LastIndex(s, needle)
	if n < 0 {
		return roomOf(c).int(-1)
	}
	return roomOf(c).int(units(s[:n]))
}

// wholeOffset is offset, behind the character when n is inside of it.
func wholeOffset(s string, n int64) int {
	at, inside := offset(s, n)
	if inside {
		at += 4 // what counts twice has four bytes
	}
	return at
}

func optionalInt(args []doc.Value, at int, otherwise int64) (int64, bool) {
	if len(args) <= at {
		return otherwise, true
	}
	return doc.AsInt(args[at])
}

// around makes one of SUBSTRINGBEFORE, SUBSTRINGAFTER and their LAST forms.
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
			return roomOf(c).copy(s[at+len(delimiter):])
		}
		return roomOf(c).copy(s[:at])
	}
}
