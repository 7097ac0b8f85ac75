package expression

import (
	"strings"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pattern"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// regexOperator takes {input, regex, options}. Its result is none if input or regex is nullish. A constant pattern is
// compiled once, any other only if it differs from the one before.
func regexOperator(
	name string, none doc.Value, find func(s *Scope, name, text string, p *pattern.Pattern) (doc.Value, error),
) operator {
	h := shape{name: name, object: 51103, unknown: 31024, optional: []string{"input", "regex", "options"}}
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := h.read(arg, names, depth)
		if err != nil {
			return nil, err
		}
		for i := range 2 {
			if args[i] == nil {
				return nil, code.New(31022+code.Code(i), "%s requires '%s' parameter", name, h.optional[i])
			}
		}
		last := new(atomic.Pointer[sourcePattern])
		if err := compileConstant(name, args, last, names.Work()); err != nil {
			return nil, err
		}
		return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
			text, isText := doc.AsString(args[0])
			if !isText && !nullish(args[0]) {
				return doc.Value{}, code.New(51104, "%s needs 'input' to be of type string", name)
			}
			source, ok, err := readPattern(name, args[1], args[2])
			if err != nil || !ok || !isText {
				return none, err
			}
			p := last.Load()
			if p == nil || p.source != source {
				if err := s.spend(pattern.CompileCost(source.text)); err != nil {
					return doc.Value{}, err
				}
				if p, err = source.compile(name); err != nil {
					return doc.Value{}, err
				}
				last.Store(p)
			}
			return find(s, name, text, p.pattern)
		}), nil
	}
}

// compileConstant compiles a constant pattern, so that errors in it appear when the expression is compiled.
func compileConstant(name string, args []*Expression, last *atomic.Pointer[sourcePattern], m *work.Meter) error {
	regex, ok := args[1].Constant()
	if !ok {
		return nil
	}
	var options doc.Value
	if args[2] != nil {
		if options, ok = args[2].Constant(); !ok {
			return nil
		}
	}
	source, ok, err := readPattern(name, regex, options)
	if err != nil || !ok {
		return err
	}
	if err := m.Spend(pattern.CompileCost(source.text)); err != nil {
		return err
	}
	p, err := source.compile(name)
	last.Store(p)
	return err
}

// A patternSource is the text of a pattern and its options.
type patternSource struct{ text, options string }

// A sourcePattern is a pattern and its source.
type sourcePattern struct {
	source  patternSource
	pattern *pattern.Pattern
}

// compile compiles a copy of the text. Errors: 51108 for an invalid option, 51111 for an invalid pattern.
func (p patternSource) compile(name string) (*sourcePattern, error) {
	p = patternSource{strings.Clone(p.text), strings.Clone(p.options)}
	o, err := pattern.ParseOptions(p.options, name)
	if err != nil {
		return nil, err
	}
	compiled, err := pattern.Compile(p.text, o)
	if err != nil {
		return nil, code.New(51111, "Invalid Regex in %s: %v", name, err)
	}
	return &sourcePattern{p, compiled}, nil
}

// readPattern reads a pattern: a string, or a regular expression with its own options. It is not ok if the pattern is
// nullish.
func readPattern(name string, regex, options doc.Value) (p patternSource, ok bool, err error) {
	switch {
	case regex.Type == bsoncore.TypeRegex:
		p.text, p.options, _ = strings.Cut(strings.TrimSuffix(string(regex.Data), "\x00"), "\x00")
		ok = true
	case !nullish(regex):
		if p.text, ok = doc.AsString(regex); !ok {
			return p, false, code.New(51105, "%s needs 'regex' to be of type string or regex", name)
		}
	}
	if !nullish(options) {
		text, isText := doc.AsString(options)
		if !isText {
			return p, false, code.New(51106, "%s needs 'options' to be of type string", name)
		}
		if p.options != "" {
			return p, false, code.New(51107, "%s: found regex option(s) specified in both 'regex' and 'option' fields",
				name)
		}
		p.options = text
	}
	if strings.Contains(p.text, "\x00") {
		return p, false, code.New(51109, "%s: regular expression cannot contain an embedded null byte", name)
	}
	if strings.Contains(p.options, "\x00") {
		return p, false, code.New(51110, "%s: regular expression options cannot contain an embedded null byte", name)
	}
	return p, ok, nil
}

func regexMatch(s *Scope, name, text string, p *pattern.Pattern) (doc.Value, error) {
	found, err := p.Match(text, s.Meter)
	if err != nil {
		return doc.Value{}, matchFailed(name, err)
	}
	return boolean(found), nil
}

func regexFind(s *Scope, name, text string, p *pattern.Pattern) (doc.Value, error) {
	at, err := p.Find(text, s.Meter)
	if err != nil {
		return doc.Value{}, matchFailed(name, err)
	}
	if at == nil {
		return null, nil
	}
	index, err := s.codePoints(text[:at[0]])
	if err != nil {
		return doc.Value{}, err
	}
	return foundMatch(s, text, at, index)
}

func regexFindAll(s *Scope, name, text string, p *pattern.Pattern) (doc.Value, error) {
	list, err := p.FindAll(text, mostFound(p.Groups()), s.Meter)
	if err != nil {
		return doc.Value{}, matchFailed(name, err)
	}
	b, mark := s.array(), s.mark()
	index, counted := 0, 0
	for _, at := range list {
		n, err := s.codePoints(text[counted:at[0]])
		if err != nil {
			return doc.Value{}, err
		}
		index += n
		counted = at[0]
		v, err := foundMatch(s, text, at, index)
		if err != nil {
			return v, err
		}
		if err = b.add(v); code.Is(err, code.BSONObjectTooLarge) {
			return doc.Value{}, code.New(51151, "%s: the size of buffer to store output exceeded the 64MB limit", name)
		}
		if err != nil {
			return doc.Value{}, err
		}
		s.release(mark)
	}
	return b.done()
}

// mostFound is a number of matches, with that many groups each, that exceeds the largest result.
func mostFound(groups int) int { return MaxResultBytes/(44+3*groups) + 1 }

// matchFailed is the error for a match that was given up.
func matchFailed(name string, err error) error {
	if code.Of(err) != nil {
		return err
	}
	return code.New(51156, "Error occurred while executing the regular expression in %s. Result code: %v", name, err)
}

// foundMatch is a match as {match, idx, captures}, from pairs of byte offsets and the index of
// its first code point.
func foundMatch(s *Scope, text string, at []int, index int) (doc.Value, error) {
	b, mark := s.object(), s.mark()
	for i, name := range [...]string{"match", "idx", "captures"} {
		var v doc.Value
		var err error
		switch i {
		case 0:
			v, err = s.string(text[at[0]:at[1]])
		case 1:
			v = s.int32(int32(index))
		default:
			v, err = captures(s, text, at[2:])
		}
		if err == nil {
			err = b.set(name, v)
		}
		if err != nil {
			return doc.Value{}, err
		}
		s.release(mark)
	}
	return b.done()
}

// captures are the texts of the groups, null for a group that took no part.
func captures(s *Scope, text string, at []int) (doc.Value, error) {
	b := s.array()
	for i := 0; i < len(at); i += 2 {
		var err error
		if at[i] < 0 {
			err = b.add(null)
		} else {
			err = b.addText(text[at[i]:at[i+1]])
		}
		if err != nil {
			return doc.Value{}, err
		}
	}
	return b.done()
}
