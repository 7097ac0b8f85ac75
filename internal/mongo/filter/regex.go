package filter

import (
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/pattern"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A regularExpression is a compiled pattern that keeps its text and its options.
type regularExpression struct {
	text, options string
	pattern       *pattern.Pattern
}

// newRegularExpression compiles a pattern. Errors: 51108 for an invalid option, 51091 for an invalid pattern, BadValue
// for a NUL. mongodb/mongo: src/mongo/db/matcher/expression_leaf.cpp
func newRegularExpression(text, options string, m *work.Meter) (*regularExpression, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, code.New(code.BadValue, "Regular expression cannot contain an embedded null byte")
	}
	if strings.IndexByte(options, 0) >= 0 {
		return nil, code.New(code.BadValue, "Regular expression options string cannot contain an embedded null byte")
	}
	if !utf8.ValidString(text) {
		return nil, code.New(5108300, "Regular expression is invalid UTF-8")
	}
	o, err := pattern.ParseOptions(options, "")
	if err != nil {
		return nil, err
	}
	if err := m.Spend(pattern.CompileCost(text)); err != nil {
		return nil, err
	}
	p, err := pattern.Compile(text, o)
	if err != nil {
		return nil, code.New(51091, "Regular expression is invalid: %v", err)
	}
	return &regularExpression{text, options, p}, nil
}

// described is the pattern as planners see it.
func (r *regularExpression) described() Pattern {
	prefix, exact := r.pattern.Prefix()
	return Pattern{Prefix: prefix, Exact: exact}
}

// match reports whether the text has a match.
func (r *regularExpression) match(subject string, m *work.Meter) (bool, error) {
	found, err := r.pattern.Match(subject, m)
	switch {
	case err == nil:
		return found, nil
	case code.Of(err) != nil:
		return false, err // of m
	default:
		return false, code.New(code.OperationFailed, "The regular expression %q takes too long on a value", r.text)
	}
}

// regex is {$regex: "^a", $options: "i"} and {$regex: /^a/i}.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/regex/
func regex(c *compiler, _ string, arg doc.Value, at spot) (condition, error) {
	text, options, isRegex := splitRegex(arg)
	if !isRegex {
		var ok bool
		if text, ok = doc.AsString(arg); !ok {
			return condition{}, code.New(code.BadValue, "$regex has to be a string")
		}
	}
	also, err := c.meter.Lookup(at.among, "$options")
	if err != nil {
		return condition{}, err
	}
	if also.Type != 0 {
		given, ok := doc.AsString(also)
		if !ok {
			return condition{}, code.New(code.BadValue, "$options has to be a string")
		}
		if options != "" {
			return condition{}, twice(at.among)
		}
		options = given
	}
	return matches(c, text, options, at)
}

// twice is the error for two sets of options. Its code depends on which comes second.
func twice(among doc.Doc) error {
	for name := range doc.Members(among) {
		switch name {
		case "$regex":
			return code.New(51075, "options set in both $regex and $options")
		case "$options":
			return code.New(51074, "options set in both $regex and $options")
		}
	}
	return nil
}

// regexOptions checks that $options has a $regex, which reads it.
func regexOptions(c *compiler, _ string, _ doc.Value, at spot) (condition, error) {
	pattern, err := c.meter.Lookup(at.among, "$regex")
	if err == nil && pattern.Type == 0 {
		err = code.New(code.BadValue, "$options needs a $regex")
	}
	return condition{}, err
}

// regexValue is {path: /x/}.
func regexValue(c *compiler, arg doc.Value, at spot) (condition, error) {
	text, options, _ := splitRegex(arg)
	return matches(c, text, options, at)
}

func matches(c *compiler, text, options string, at spot) (condition, error) {
	r, err := newRegularExpression(text, options, c.meter)
	if err != nil {
		return condition{}, err
	}
	node := &Node{Kind: Regex, Patterns: []Pattern{r.described()}}
	return onPath(at.path, Both, r.test, node), nil
}

// splitRegex returns the pattern and the options of a regular expression value.
func splitRegex(v doc.Value) (text, options string, ok bool) {
	if v.Type != bsoncore.TypeRegex {
		return "", "", false
	}
	text, rest, _ := strings.Cut(string(v.Data), "\x00")
	options, _, _ = strings.Cut(rest, "\x00")
	return text, options, true
}

// regularExpressionOf compiles a value of type regex.
func regularExpressionOf(v doc.Value, m *work.Meter) (*regularExpression, error) {
	text, options, _ := splitRegex(v)
	return newRegularExpression(text, options, m)
}

func (r *regularExpression) test(v doc.Value, s *expression.Scope, _ *Where) (bool, error) {
	return r.accepts(v, s.Work())
}

// accepts matches strings and symbols, and the same regular expression as a value.
func (r *regularExpression) accepts(v doc.Value, m *work.Meter) (bool, error) {
	switch v.Type {
	case bsoncore.TypeSymbol:
		v.Type = bsoncore.TypeString
	case bsoncore.TypeRegex:
		if err := m.Spend(work.Operator + work.Scanned(len(v.Data))); err != nil {
			return false, err
		}
		text, options, _ := splitRegex(v)
		return text == r.text && options == r.options, nil
	}
	subject, ok := doc.AsString(v)
	if !ok {
		return false, nil
	}
	return r.match(subject, m)
}
