// Package pattern compiles regular expressions with the meaning that PCRE2 gives them, for $regex, $jsonSchema and the
// $regexMatch family alike. One translator reads PCRE2's syntax and writes it for one of two matchers: package regexp,
// whose time is linear, if it can express the pattern, else regexp2, which backtracks within a time limit.
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

// Limits of a pattern: of its text in bytes, of the translation in bytes, of the ranges in its classes, and of its size
// as PCRE2 counts it, which compiles a group once for each repetition.
const (
	maxBytes   = 32764
	maxWritten = 1 << 20
	maxSpans   = 1 << 20
	maxSize    = 1 << 16

	// Limits of the time of a match that backtracks. Nothing can stop such a match, so its limit is short, unless the
	// text is so large that reading it once takes as long. The matcher may exceed the limit by up to a tenth of a
	// second.
	maxTime      = 50 * time.Millisecond
	maxLargeTime = time.Second
	largeText    = 512 << 10 // bytes
)

// Errors of a match that was given up. Their texts are those of PCRE2.
var (
	ErrTime  = errors.New("match limit exceeded")
	ErrDepth = errors.New("backtracking limit exceeded")
)

// Options are the letters i, m, s, x and u that a regular expression may have.
type Options struct{ caseless, multiline, dotAll, extended bool }

// ParseOptions reads the letters of options. The error, 51108, names the operator, which may be "".
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
		case 'u': // UTF-8, as every text is
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

	linear  *regexp.Regexp // nil if package regexp cannot express the pattern
	places  bool           // linear finds the same places and groups
	void    bool           // linear may match an empty text, which FindAll treats differently
	newline bool           // linear decides differently on a text that ends in a newline …
	shorter bool           // … but is right if it is also asked without that newline
	full    func() (*regexp2.Regexp, error)
	patient func() (*regexp2.Regexp, error) // full, for large texts
	behind  func() *regexp.Regexp           // linear, see behind
	size    int                             // of linear, in instructions (approximate)
	moved   bool                            // full has a group in the place of \K, see keepGroup

	prefilter prefilter // of linear
}

// CompileCost is the cost of compiling a pattern, in units of package work. Repetitions multiply the cost: a pattern of
// 20 bytes may take some tens of milliseconds.
func CompileCost(text string) int {
	cost := 256 * (1 + len(text))
	if strings.IndexByte(text, '{') >= 0 {
		cost += 1 << 14
	}
	return cost
}

// Compile compiles a pattern. The texts of its errors are those of PCRE2.
func Compile(text string, o Options) (*Pattern, error) {
	if len(text) > maxBytes {
		return nil, errTooLarge
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("invalid UTF-8")
	}
	first := translator{source: source{text: text}, flags: flagsOf(o), linear: true}
	if err := first.run(); err != nil {
		return nil, err
	}
	p := &Pattern{prefix: first.prefix.text(), exact: first.prefix.exact(), groups: first.groups, moved: first.keeps}
	names := first.names // so that the closure keeps nothing else of first
	within := func(limit time.Duration) func() (*regexp2.Regexp, error) {
		return sync.OnceValues(func() (*regexp2.Regexp, error) {
			second := translator{source: source{text: text}, flags: flagsOf(o), names: names}
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
	p.prefilter = prefilterOf(tree)
	p.places = !t.moved && !emptyTurns(tree)
	p.void = mayBeEmpty(tree)
	p.newline = t.lastLine || t.firstOfLine
	p.shorter = p.newline && !t.firstOfLine && !t.inner && !t.textEnd
}

// compile translates the pattern for regexp2 and compiles the translation.
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

// Prefix returns what every matching text begins with, or "" if that is not known. If exact, every text with that
// prefix matches.
func (p *Pattern) Prefix() (prefix string, exact bool) { return p.prefix, p.exact }

// Match reports whether the text has a match. Its errors are ErrTime, ErrDepth and those of m.
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
	found, err := re.MatchRunes([]rune(text)) // with a string, regexp2 v2.5 misses matches of a(?>\r\n|\n){2}b
	return found, limited(err)
}

// backtrackingCost is what a match that backtracks spends in addition to the cost of its text. It is high because only
// what runs between matches can stop.
const backtrackingCost = 1 << 10

// backtracking spends the cost of one match in the text and returns the matcher that backtracks.
func (p *Pattern) backtracking(text string, m *work.Meter) (*regexp2.Regexp, error) {
	if err := m.Spend(backtrackingCost + 4*len(text)); err != nil {
		return nil, err
	}
	if len(text) > largeText {
		return p.patient()
	}
	return p.full()
}

// limited maps an error of regexp2 to one of this package.
func limited(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
		return ErrDepth
	}
	return ErrTime
}

// emptyTurns reports whether a part that may match an empty text is repeated. The matchers disagree about the place and
// the groups of such a match.
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

// mayBeEmpty reports whether a pattern may match an empty text.
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
