// Package pattern compiles regular expressions with the meaning that PCRE2 gives them, for
// $regex, $jsonSchema and the $regexMatch family alike. One translator reads PCRE2's syntax
// and writes the same for two matchers: package regexp, which is linear in time, wherever
// that can say it, and regexp2, which backtracks under a limit of time, for the rest.
// https://www.pcre.org/current/doc/html/pcre2pattern.html
package pattern

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"

	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Limits on a pattern: of its text, of what is written for the matchers, of the ranges that its classes are
// made of, of what PCRE2 would make of it, which writes a group as often as it is repeated, and of the time
// that one match may take where it needs backtracking.
const (
	maxBytes   = 32764
	maxWritten = 1 << 20
	maxSpans   = 1 << 20
	maxSize    = 1 << 16

	// A match that needs backtracking cannot be stopped, so its time is short, unless the text is so large that
	// to look at it takes as long. The matcher gives up to a tenth of a second more.
	maxTime      = 50 * time.Millisecond
	maxLargeTime = time.Second
	largeText    = 512 << 10 // bytes
)

// Errors of a match that has not come to an end. Their texts are those of PCRE2.
var (
	ErrTime  = errors.New("match limit exceeded")
	ErrDepth = errors.New("backtracking limit exceeded")
)

// Options are the letters i, m, s, x and u that a regular expression may have.
type Options struct{ caseless, multiline, dotAll, extended bool }

// ParseOptions reads letters for an operator, which may be "". Error: 51108.
// mongodb/mongo: src/mongo/util/pcre_util.cpp
func ParseOptions(letters, operator string) (o Options, err error) {
	for _, letter := range letters {
		switch letter {
		case 'i':
			o.caseless = true
		case 'm':
			o.multiline = true
		case 's':
			o.dotAll = true
		case 'x':
			o.extended = true
		case 'u': // every text is UTF-8
		default:
			return o, code.New(51108, "%s invalid flag in regex options: %c", operator, letter)
		}
	}
	return o, nil
}

// A Pattern is a compiled regular expression. It is safe for concurrent use.
type Pattern struct {
	prefix string
	exact  bool

	groups int

	linear  *regexp.Regexp // nil where it cannot say the same
	places  bool           // linear finds the same places and groups
	void    bool           // linear may match nothing, which lists of matches show otherwise
	newline bool           // linear says something else of a text that ends in a newline …
	shorter bool           // … but tells whether there is a match, if asked without that newline too
	full    func() (*regexp2.Regexp, error)
	patient func() (*regexp2.Regexp, error) // full, for large texts
	behind  func() *regexp.Regexp           // linear, see behind
	size    int                             // of linear, in instructions
	moved   bool                            // full has a group that stands where \K does
}

// CompileCost is what it costs to compile a pattern, in units of package work. One that repeats may cost more: some tens of
// milliseconds for 20 bytes.
func CompileCost(text string) int {
	cost := 256 * (1 + len(text))
	if strings.IndexByte(text, '{') >= 0 {
		cost += 1 << 14
	}
	return cost
}

// Compile reads a pattern. The texts of errors are those of PCRE2.
func Compile(text string, o Options) (*Pattern, error) {
	if len(text) > maxBytes {
		return nil, errTooLarge
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("invalid UTF-8")
	}
	first := translator{text: text, flags: flagsOf(o), linear: true}
	if err := first.run(); err != nil {
		return nil, err
	}
	p := &Pattern{prefix: first.prefix.text(), exact: first.prefix.exact(), groups: first.groups, moved: first.keeps}
	names := first.names // and nothing else of first is kept
	within := func(limit time.Duration) func() (*regexp2.Regexp, error) {
		return sync.OnceValues(func() (*regexp2.Regexp, error) {
			second := translator{text: text, flags: flagsOf(o), names: names}
			return second.compile(limit)
		})
	}
	p.full, p.patient = within(maxTime), within(maxLargeTime)
	if !first.differs {
		p.compileLinear(&first)
	}
	if p.linear == nil {
		if _, err := p.full(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Pattern) compileLinear(t *translator) {
	tree, err := syntax.Parse(string(t.out), syntax.Perl)
	if err != nil {
		return
	}
	written := string(t.out)
	p.linear, _ = regexp.Compile(written)
	p.behind = sync.OnceValue(func() *regexp.Regexp { return behind(written) })
	p.size = instructions(tree)
	p.places = !t.moved && !emptyTurns(tree)
	p.void = mayBeEmpty(tree)
	p.newline = t.lastLine || t.firstOfLine
	p.shorter = p.newline && !t.firstOfLine && !t.inner && !t.textEnd
}

// compile writes the pattern for the matcher that backtracks, and compiles that.
func (t *translator) compile(limit time.Duration) (*regexp2.Regexp, error) {
	if err := t.run(); err != nil {
		return nil, err
	}
	re, err := regexp2.Compile(string(t.out), regexp2.RE2)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = limit
	return re, nil
}

// Prefix is what every text with a match begins with, "" when the pattern does not say. Exact:
// every text that begins so has a match.
func (p *Pattern) Prefix() (prefix string, exact bool) { return p.prefix, p.exact }

// Linear reports whether the time of Match is linear in the length of the text.
func (p *Pattern) Linear() bool { return p.linear != nil }

// Match reports whether a text has a match. Errors: ErrTime, ErrDepth, those of m.
func (p *Pattern) Match(text string, m *work.Meter) (bool, error) {
	if !strings.HasPrefix(text, p.prefix) {
		return false, nil
	}
	if p.exact {
		return true, nil
	}
	ended := p.newline && strings.HasSuffix(text, "\n")
	switch {
	case p.linear != nil && !ended:
		return p.linearMatch(text, m)
	case p.linear != nil && p.shorter:
		if found, err := p.linearMatch(text, m); found || err != nil {
			return found, err
		}
		return p.linearMatch(text[:len(text)-1], m)
	}
	re, err := p.backtracking(text, m)
	if err != nil {
		return false, err
	}
	found, err := re.MatchRunes([]rune(text)) // with a string, v2.5 loses matches of a(?>\r\n|\n){2}b
	return found, limited(err)
}

// backtrackingCost is what a match that needs backtracking counts beside its text: Stop is asked before each
// that may be slow.
const backtrackingCost = 1 << 10

// backtracking is the matcher that backtracks, for one match in a text.
func (p *Pattern) backtracking(text string, m *work.Meter) (*regexp2.Regexp, error) {
	if err := m.Spend(backtrackingCost + 4*len(text)); err != nil {
		return nil, err
	}
	if len(text) > largeText {
		return p.patient()
	}
	return p.full()
}

// limited is an error of the matcher that backtracks as one of this package.
func limited(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
		return ErrDepth
	}
	return ErrTime
}

// emptyTurns reports whether something that may match nothing is repeated: the matchers
// disagree about the place and the groups of such a match.
func emptyTurns(x *syntax.Regexp) bool {
	switch x.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		if mayBeEmpty(x.Sub[0]) {
			return true
		}
	}
	for _, sub := range x.Sub {
		if emptyTurns(sub) {
			return true
		}
	}
	return false
}

// mayBeEmpty reports whether a pattern may match nothing.
func mayBeEmpty(x *syntax.Regexp) bool {
	switch x.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return mayBeEmpty(x.Sub[0])
	case syntax.OpRepeat:
		return x.Min == 0 || mayBeEmpty(x.Sub[0])
	case syntax.OpConcat:
		for _, sub := range x.Sub {
			if !mayBeEmpty(sub) {
				return false
			}
		}
	case syntax.OpAlternate:
		for _, sub := range x.Sub {
			if mayBeEmpty(sub) {
				return true
			}
		}
		return false
	}
	return true
}
