package function

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Case-insensitive comparison works on single characters and is independent of language, like ordinal comparison in
// .NET. A letter outside ASCII never equals an ASCII letter.

var lowerASCII, upperASCII = func() (low, up [utf8.RuneSelf * 2]byte) {
	for i := range low {
		low[i], up[i] = byte(i), byte(i)
		if i < utf8.RuneSelf {
			low[i], up[i] = byte(unicode.ToLower(rune(i))), byte(unicode.ToUpper(rune(i)))
		}
	}
	return low, up
}()

func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return rune(lowerASCII[r])
	}
	if low := unicode.ToLower(unicode.ToUpper(r)); low >= utf8.RuneSelf {
		return low
	}
	return r
}

func appendFolded(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			dst = append(dst, lowerASCII[b])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, foldRune(r))
		i += size
	}
	return dst
}

func isASCII(s string) bool {
	for i := asciiPrefix(s); i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldedPrefix reports whether s begins with prefix, and returns the end of the prefix in s.
func foldedPrefix(s, prefix string) (end int, ok bool) {
	for i := 0; i < len(prefix); {
		if end >= len(s) {
			return 0, false
		}
		a, b := s[end], prefix[i]
		if a < utf8.RuneSelf && b < utf8.RuneSelf {
			if lowerASCII[a] != lowerASCII[b] {
				return 0, false
			}
			end, i = end+1, i+1
			continue
		}
		ra, na := utf8.DecodeRuneInString(s[end:])
		rb, nb := utf8.DecodeRuneInString(prefix[i:])
		if foldRune(ra) != foldRune(rb) {
			return 0, false
		}
		end, i = end+na, i+nb
	}
	return end, true
}

func foldedSuffix(s, suffix string) bool {
	for len(suffix) > 0 {
		if len(s) == 0 {
			return false
		}
		ra, na := utf8.DecodeLastRuneInString(s)
		rb, nb := utf8.DecodeLastRuneInString(suffix)
		if foldRune(ra) != foldRune(rb) {
			return false
		}
		s, suffix = s[:len(s)-na], suffix[:len(suffix)-nb]
	}
	return true
}

// shortNeedle is the length up to which a search may examine each byte that many times.
const shortNeedle = 32

// foldedContains reports whether s contains needle.
func foldedContains(r *scratch, s, needle string) bool {
	if needle == "" {
		return true
	}
	if len(needle) <= shortNeedle && isASCII(needle) {
		return foldedIndex(s, needle) >= 0
	}
	r.left = appendFolded(r.left[:0], s)
	r.right = appendFolded(r.right[:0], needle)
	return strings.Contains(viewOf(r.left), viewOf(r.right))
}

// foldedIndex finds a non-empty ASCII needle.
func foldedIndex(s, needle string) int {
	low, high := lowerASCII[needle[0]], upperASCII[needle[0]]
	last := len(s) - len(needle)
	nextLow, nextHigh := -1, -1
	for i := 0; i <= last; i++ {
		nextLow, nextHigh = nextByte(s, low, nextLow, i), nextByte(s, high, nextHigh, i)
		if i = min(nextLow, nextHigh); i > last {
			break
		}
		if equalASCII(s[i:i+len(needle)], needle) {
			return i
		}
	}
	return -1
}

// nextByte is the next position of b from i on. known is the result of the previous search.
func nextByte(s string, b byte, known, i int) int {
	if known >= i {
		return known
	}
	if n := strings.IndexByte(s[i:], b); n >= 0 {
		return i + n
	}
	return len(s)
}

func equalASCII(a, b string) bool {
	for i := range len(a) {
		if lowerASCII[a[i]] != lowerASCII[b[i]] {
			return false
		}
	}
	return true
}
