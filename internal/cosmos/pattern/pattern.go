// Package pattern compiles the regular expressions that clients send in queries and scripts, with a backtracking
// matcher. It limits the time of a match and the memory of compilation. It depends on neither language.
package pattern

import (
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Compile compiles a pattern whose matches end after limit. It fails with fault.Invalid.
func Compile(text string, options regexp2.RegexOptions, limit time.Duration) (*regexp2.Regexp, error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	x, err := regexp2.Compile(text, options)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The regular expression is invalid: %v.", err)
	}
	x.MatchTimeout = limit
	return x, nil
}

// maxRepeated is how many copies of a part of a pattern the matcher may make.
const maxRepeated = 1 << 14

// copies is how often the matcher expands a part with a fixed repetition count when it determines the prefix of all
// matches (regexp2 v2.5: tryFindPrefix).
const copies = 4

// Check rejects a pattern whose compilation would exhaust the memory of the process: the matcher copies the content
// of a counted repetition, at each level of nesting. It fails with fault.Invalid.
func Check(text string) error {
	// inside[d] is the largest number of copies of anything in the group that is open at depth d.
	inside := []int{1}
	class := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			inside = append(inside, 1)
		case c == ')' && len(inside) > 1:
			last := len(inside) - 1
			n := inside[last] * repeated(text[i+1:])
			if n > maxRepeated {
				return errRepeated
			}
			inside = inside[:last]
			inside[last-1] = max(inside[last-1], n)
		}
	}
	return nil
}

var errRepeated = fault.New(fault.Invalid,
	"The regular expression has too many nested repetitions. Use counts such as {9} on fewer levels.")

// repeated is how often a group is copied, given the text after it.
func repeated(text string) int {
	if len(text) < 2 || text[0] != '{' {
		return 1
	}
	n := 0
	for _, c := range []byte(text[1:]) {
		if c < '0' || c > '9' || n >= copies {
			break
		}
		n = n*10 + int(c-'0')
	}
	return min(max(n, 1), copies)
}
