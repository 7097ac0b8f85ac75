package function

import (
	"encoding/binary"
	"unicode/utf8"
)

// The service counts strings in UTF-16 code units, as .NET does, so a character outside the basic plane counts twice
// and can be cut in half. A half becomes U+FFFD, as it does in JSON input.

const highBits = 0x8080808080808080

// asciiPrefix is the length of a prefix of s that is certainly ASCII.
func asciiPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s) && load(s, i)&highBits == 0; i += 8 {
	}
	return i
}

func load(s string, i int) uint64 {
	var b [8]byte
	copy(b[:], s[i:i+8])
	return binary.LittleEndian.Uint64(b[:])
}

// units counts the UTF-16 code units of s.
func units(s string) int64 {
	at := asciiPrefix(s)
	n := int64(at)
	for _, r := range s[at:] {
		n += width(r)
	}
	return n
}

func width(r rune) int64 {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// offset is the byte position in s of unit n, or len(s) if s is shorter. inside reports that n is the second half of
// the character there.
func offset(s string, n int64) (at int, inside bool) {
	if n <= 0 {
		return 0, false
	}
	if at = asciiPrefix(s); int64(at) >= n {
		return int(n), false
	}
	n -= int64(at)
	for at < len(s) && n > 0 {
		r, size := utf8.DecodeRuneInString(s[at:])
		if n < width(r) {
			return at, true
		}
		n -= width(r)
		at += size
	}
	return at, false
}

// appendUnits appends n units of s from a position on.
func appendUnits(dst []byte, s string, from, n int64) []byte {
	if n <= 0 {
		return dst
	}
	at, inside := offset(s, from)
	s = s[at:]
	if inside {
		_, size := utf8.DecodeRuneInString(s)
		dst = append(dst, replacement...)
		s, n = s[size:], n-1
	}
	end, inside := offset(s, n)
	dst = append(dst, s[:end]...)
	if inside {
		dst = append(dst, replacement...)
	}
	return dst
}
