package filter

import (
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits on a regular expression: of its text, and of the time that it may take with
// one value when it cannot be matched in linear time.
const (
	maxPatternBytes = 32764
	maxPatternTime  = time.Second
)

// A pattern is a compiled regular expression, as PCRE understands it. Most mean the same
// to package regexp, which is safe from patterns that take for ever; others are for a
// matcher that tries and goes back.
type pattern struct {
	text, options string
	described     Pattern
	linear        *regexp.Regexp
	slow          *regexp2.Regexp
}

// newPattern compiles. Errors: 51108 for an option that is none, 51091 for a wrong pattern,
// BadValue for a NUL.
func newPattern(text, options string) (*pattern, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, code.New(code.BadValue, "Regular expression cannot contain an embedded null byte")
	}
	for _, o := range options {
		if !strings.ContainsRune("imsxu", o) {
			return nil, code.New(51108, "invalid flag in regex options: %c", o)
		}
	}
	if len(text) > maxPatternBytes {
		return nil, code.New(51091, "Regular expression is invalid: regular expression is too large")
	}
	p := &pattern{text: text, options: options, described: describe(text, options)}
	if p.described.Exact {
		return p, nil
	}
	return p, p.compile()
}

func (p *pattern) compile() error {
	flags := strings.ReplaceAll(p.options, "u", "")
	if linear, ok := translate(p.text, flags, true); ok {
		if flags != "" {
			linear = "(?" + flags + ")" + linear
		}
		var err error
		if p.linear, err = regexp.Compile(linear); err == nil {
			return nil
		}
	}
	slow, _ := translate(p.text, flags, false)
	x, err := regexp2.Compile(slow, slowOptions(flags))
	if err != nil {
		return code.New(51091, "Regular expression is invalid: %s", err)
	}
	p.slow = x
	p.slow.MatchTimeout = maxPatternTime
	return nil
}

// slowOptions are the flags, with PCRE's meaning of \d, \w and named groups.
func slowOptions(flags string) regexp2.RegexOptions {
	options := regexp2.RE2
	for _, f := range flags {
		options |= map[rune]regexp2.RegexOptions{
			'i': regexp2.IgnoreCase, 'm': regexp2.Multiline, 's': regexp2.Singleline, 'x': regexp2.IgnorePatternWhitespace,
		}[f]
	}
	return options
}

// match reports whether a text has a match.
func (p *pattern) match(subject string) (bool, error) {
	if !strings.HasPrefix(subject, p.described.Prefix) {
		return false, nil
	}
	switch {
	case p.described.Exact:
		return true, nil
	case p.linear != nil:
		return p.linear.MatchString(subject), nil
	}
	found, err := p.slow.MatchString(subject)
	if err != nil {
		return false, code.New(code.OperationFailed, "The regular expression %q takes too long on a value", p.text)
	}
	return found, nil
}
