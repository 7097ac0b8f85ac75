// Package pattern compiles the regular expressions that clients send, in queries and in scripts, with a
// matcher that backtracks: within limits of the time that a match takes and of the memory that compiling
// takes. It knows neither language.
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
		return nil, fault.New(fault.Invalid, "A regular expression is wrong: %v.", err)
	}
	x.MatchTimeout = limit
	return x, nil
}

// maxRepeated is how many copies the matcher may make of a part of a pattern.
const maxRepeated = 1 << 14

// copies is how often the matcher writes out a part that is repeated a fixed number of times, when it looks for what
// every match begins with (regexp2 v2.5: tryFindPrefix).
const copies = 4

// Check refuses a pattern that would take the memory of the process to compile: the matcher copies what a
// counted repetition holds, for each level of nesting. It fails with fault.Invalid.
func Check(text string) error {
	// inside[d] is the most copies that are made of anything in the groups that are open at depth d.
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

var errRepeated = fault.New(fault.Invalid, "A regular expression repeats too much within repetitions. Write counts such as {9} on fewer levels.")

// repeated is how often a group is copied that this text follows.
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
