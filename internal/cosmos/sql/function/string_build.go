package function

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
)

// maxReplicated is the limit of REPLICATE in characters, as documented.
const maxReplicated = 10_000

func concat(c *Call, args []doc.Value) doc.Value {
	r := scratchOf(c)
	b := r.begin()
	for _, arg := range args {
		s, ok := doc.AsString(arg)
		if !ok {
			return undefined
		}
		if len(b)+len(s) > maxTextBytes {
			return failText(c)
		}
		b = append(b, s...)
	}
	return r.text(b)
}

func lower(c *Call, args []doc.Value) doc.Value {
	return mapped(c, args[0], &lowerASCII, unicode.ToLower)
}

func upper(c *Call, args []doc.Value) doc.Value {
	return mapped(c, args[0], &upperASCII, unicode.ToUpper)
}

// mapped converts each character. It returns v itself if nothing changes.
func mapped(c *Call, v doc.Value, ascii *[256]byte, to func(rune) rune) doc.Value {
	s, ok := doc.AsString(v)
	if !ok {
		return undefined
	}
	first := 0
	for first < len(s) && s[first] < utf8.RuneSelf && ascii[s[first]] == s[first] {
		first++
	}
	if first == len(s) {
		return v
	}
	r := scratchOf(c)
	b := append(r.begin(), s[:first]...)
	for _, char := range s[first:] {
		if char < utf8.RuneSelf {
			b = append(b, ascii[char])
		} else {
			b = utf8.AppendRune(b, to(char))
		}
	}
	return r.text(b)
}

// replace is undefined if the search string is empty.
func replace(c *Call, args []doc.Value) doc.Value {
	s, old, ok := texts(args)
	put, isText := doc.AsString(args[2])
	switch {
	case !ok || !isText || old == "":
		return undefined
	case !strings.Contains(s, old):
		return args[0]
	}
	r := scratchOf(c)
	b := r.begin()
	for {
		at := strings.Index(s, old)
		if at < 0 || len(b) > maxTextBytes {
			break
		}
		b = append(append(b, s[:at]...), put...)
		s = s[at+len(old):]
	}
	if len(b)+len(s) > maxTextBytes {
		return failText(c)
	}
	return r.text(append(b, s...))
}

// replicate ignores the fraction of the count.
func replicate(c *Call, args []doc.Value) doc.Value {
	s, ok := doc.AsString(args[0])
	count, isNumber := doc.AsFloat(args[1])
	if !ok || !isNumber || math.IsNaN(count) || math.IsInf(count, 0) || count < 0 {
		return undefined
	}
	count = math.Trunc(count)
	if s == "" {
		return emptyText
	}
	if count*float64(units(s)) > maxReplicated {
		return undefined
	}
	r := scratchOf(c)
	b := r.begin()
	for range int(count) {
		b = append(b, s...)
	}
	return r.text(b)
}

// reverse does not split characters, including those outside the basic plane.
func reverse(c *Call, args []doc.Value) doc.Value {
	s, ok := doc.AsString(args[0])
	if !ok {
		return undefined
	}
	r := scratchOf(c)
	b := r.begin()
	for len(s) > 0 {
		_, size := utf8.DecodeLastRuneInString(s)
		b = append(b, s[len(s)-size:]...)
		s = s[:len(s)-size]
	}
	return r.text(b)
}

// stringJoin is undefined for an array with anything but strings.
func stringJoin(c *Call, args []doc.Value) doc.Value {
	separator, ok := doc.AsString(args[1])
	if !ok || !doc.IsArray(args[0]) {
		return undefined
	}
	r := scratchOf(c)
	b := r.begin()
	first := true
	for v := range doc.Elements(args[0]) {
		s, ok := doc.AsString(v)
		if !ok {
			return undefined
		}
		if len(b)+len(separator)+len(s) > maxTextBytes {
			return failText(c)
		}
		if !first {
			b = append(b, separator...)
		}
		b, first = append(b, s...), false
	}
	return r.text(b)
}

// stringSplit returns the whole string for an empty separator.
func stringSplit(c *Call, args []doc.Value) doc.Value {
	s, separator, ok := texts(args)
	if !ok {
		return undefined
	}
	r := scratchOf(c)
	parts := r.list()
	for separator != "" {
		before, after, found := strings.Cut(s, separator)
		if !found {
			break
		}
		parts.addText(before)
		s = after
		if len(parts.b) > maxArrayBytes {
			return failArray(c)
		}
	}
	parts.addText(s)
	return r.array(c, parts)
}
