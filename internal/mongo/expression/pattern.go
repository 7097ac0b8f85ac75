package expression

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits on a pattern: of its text, and of the time that one match may take where
// it needs backtracking.
const (
	maxPatternBytes = 32764
	maxPatternTime  = time.Second
)

// A pattern is a compiled regular expression, with the meaning that PCRE gives it. Package regexp,
// which is linear in time, does the work wherever it means the same.
type pattern struct {
	source    patternSource
	linear    *regexp.Regexp // nil when it means something else
	lastLine  bool           // linear means something else in a text that ends in a newline
	maybeVoid bool           // linear may match nothing, which is listed otherwise
	full      func() (*regexp2.Regexp, error)
}

// compilePattern compiles a pattern for an operator. Errors: 51111.
func compilePattern(name string, source patternSource) (*pattern, error) {
	if len(source.text) > maxPatternBytes {
		return nil, code.New(51111, "Invalid Regex in %s: regular expression is too large", name)
	}
	p := &pattern{source: source}
	p.full = sync.OnceValues(p.compileFull)
	if !strings.Contains(source.options, "x") {
		p.compileLinear()
	}
	if p.linear == nil {
		if _, err := p.full(); err != nil {
			return nil, code.New(51111, "Invalid Regex in %s: %v", name, err)
		}
	}
	return p, nil
}

func (p *pattern) compileLinear() {
	text := p.source.text
	if flags := strings.ReplaceAll(p.source.options, "u", ""); flags != "" {
		text = "(?" + flags + ")" + text
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil || !p.sameMeaning(tree) {
		return
	}
	p.maybeVoid = mayBeEmpty(tree)
	p.linear, _ = regexp.Compile(text)
}

// sameMeaning reports whether RE2 and PCRE find the same with a pattern that both take.
func (p *pattern) sameMeaning(x *syntax.Regexp) bool {
	switch x.Op {
	case syntax.OpEndText:
		p.lastLine = p.lastLine || x.Flags&syntax.WasDollar != 0
	case syntax.OpBeginLine, syntax.OpEndLine:
		p.lastLine = true
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		if x.MaxCap() > 0 && mayBeEmpty(x.Sub[0]) {
			return false // turns that match nothing change captures
		}
	}
	for _, sub := range x.Sub {
		if !p.sameMeaning(sub) {
			return false
		}
	}
	return true
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

// compileFull compiles for the engine that backtracks.
func (p *pattern) compileFull() (*regexp2.Regexp, error) {
	options := regexp2.RE2 // for the classes \d, \s and \w
	for _, c := range p.source.options {
		switch c {
		case 'i':
			options |= regexp2.IgnoreCase
		case 'm':
			options |= regexp2.Multiline
		case 's':
			options |= regexp2.Singleline
		case 'x':
			options |= regexp2.IgnorePatternWhitespace
		}
	}
	text := p.source.text
	if options&regexp2.Multiline == 0 {
		text = dollars(text)
	}
	re, err := regexp2.Compile(text, options, regexp2.OptionMaintainCaptureOrder())
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = maxPatternTime
	return re, nil
}

// manyLines finds a flag that gives $ another meaning.
var manyLines = regexp.MustCompile(`\(\?[a-z]*m`)

// dollars makes each $ one that also stands before a newline at the end, which the
// engine does not do where it takes RE2's classes.
func dollars(text string) string {
	if !strings.Contains(text, "$") || manyLines.MatchString(text) {
		return text
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			b.WriteByte(text[i])
			continue
		case c == '[' && !class:
			class = true
			b.WriteByte(c)
			for i+1 < len(text) && (text[i+1] == '^' || text[i+1] == ']') {
				i++ // a ] that is first belongs to the class
				b.WriteByte(text[i])
			}
			continue
		case c == '[' && strings.HasPrefix(text[i:], "[:"):
			end := strings.Index(text[i:], ":]")
			if end < 0 {
				end = 0
			}
			b.WriteString(text[i : i+end])
			i += end
			b.WriteByte(text[i])
			continue
		case c == ']':
			class = false
		case c == '$' && !class:
			b.WriteString(`(?=\n?\z)`)
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// usesLinear reports whether a text is for the linear engine.
func (p *pattern) usesLinear(text string) bool {
	return p.linear != nil && !(p.lastLine && strings.HasSuffix(text, "\n"))
}

// engine is the full one, nil when only the linear one takes the pattern.
func (p *pattern) engine() (*regexp2.Regexp, error) {
	re, err := p.full()
	if err != nil && p.linear != nil {
		return nil, nil
	}
	return re, err
}

func (p *pattern) matches(text string) (bool, error) {
	if !p.usesLinear(text) {
		if re, err := p.engine(); re != nil || err != nil {
			return re.MatchString(text)
		}
	}
	return p.linear.MatchString(text), nil
}

// first finds the first match: pairs of byte offsets of it and of its groups, -1 where a
// group took no part; nil when there is none.
func (p *pattern) first(text string) ([]int, error) {
	if !p.usesLinear(text) {
		if re, err := p.engine(); re != nil || err != nil {
			m, err := re.FindStringMatch(text)
			return offsets(m), err
		}
	}
	return p.linear.FindStringSubmatchIndex(text), nil
}

// all finds all matches, as first gives them, or so many that no answer holds them. One that is empty at the end of a text is
// not among them, unless the text is empty. An error of stop ends the search.
func (p *pattern) all(text string, stop func() error) ([][]int, error) {
	if p.usesLinear(text) && !p.maybeVoid {
		return p.linear.FindAllStringSubmatchIndex(text, mostFound(p.linear.NumSubexp())), nil
	}
	re, err := p.engine()
	if err != nil {
		return nil, err
	}
	var list [][]int
	if re == nil {
		list = p.linear.FindAllStringSubmatchIndex(text, mostFound(p.linear.NumSubexp()))
	} else if list, err = allFull(re, text, stop); err != nil {
		return nil, err
	}
	if n := len(list) - 1; n >= 0 && text != "" && list[n][0] == len(text) {
		list = list[:n]
	}
	return list, nil
}

func allFull(re *regexp2.Regexp, text string, stop func() error) (list [][]int, err error) {
	m, err := re.FindStringMatch(text)
	for m != nil && err == nil && len(list) < mostFound(m.GroupCount()-1) {
		list = append(list, offsets(m))
		if err = stop(); err == nil {
			m, err = re.FindNextMatch(m)
		}
	}
	return list, err
}

// mostFound is a number of matches with so many groups that are too large to answer.
func mostFound(groups int) int { return MaxResultBytes/(44+3*groups) + 1 }

// offsets are those of a match and of its groups.
func offsets(m *regexp2.Match) []int {
	if m == nil {
		return nil
	}
	at := make([]int, 0, 2*m.GroupCount())
	for i := range m.GroupCount() {
		g := m.GroupByNumber(i)
		if g == nil || len(g.Captures) == 0 {
			at = append(at, -1, -1)
			continue
		}
		start, size := g.ByteRange()
		at = append(at, start, start+size)
	}
	return at
}

// failed is the error of a match that has not come to an end.
func (p *pattern) failed(name string, err error) error {
	if code.Of(err) != nil {
		return err
	}
	what := "match limit exceeded"
	if errors.Is(err, regexp2.ErrBacktrackingStackLimit) {
		what = "backtracking limit exceeded"
	}
	return code.New(51156, "Error occurred while executing the regular expression in %s. Result code: %s", name, what)
}
