package expression

import (
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// replaceArguments are the arguments of $replaceOne and $replaceAll, with the codes of the errors for a missing one and
// for another type.
var replaceArguments = [3]struct {
	name             string
	missing, mistype code.Code
}{{"input", 51749, 51746}, {"find", 51748, 51745}, {"replacement", 51747, 51744}}

// replace is an operator that replaces up to limit places, all if limit is -1.
func replace(name string, limit int) operator {
	h := shape{name: name, object: 51751, unknown: 51750}
	for _, a := range replaceArguments {
		h.optional = append(h.optional, a.name)
	}
	work := func(s *Scope, args []doc.Value) (doc.Value, error) {
		var texts [3]string
		isNull := false
		for i, v := range args {
			text, ok := doc.AsString(v)
			if !ok && !nullish(v) {
				return doc.Value{}, code.New(replaceArguments[i].mistype,
					"%s requires that '%s' be a string, found: %s", name, replaceArguments[i].name, code.Show(v))
			}
			texts[i], isNull = text, isNull || !ok
		}
		if isNull {
			return null, nil
		}
		return s.replaced(texts[0], texts[1], texts[2], limit)
	}
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := h.read(arg, names, depth)
		if err != nil {
			return nil, err
		}
		for i, x := range args {
			if x == nil {
				return nil, code.New(replaceArguments[i].missing, "%s requires '%s' to be specified", name,
					replaceArguments[i].name)
			}
		}
		return apply(args, work), nil
	}
}

// replaced replaces find by text. An empty find matches before each code point and at the end.
func (s *Scope) replaced(input, find, text string, limit int) (doc.Value, error) {
	n, err := s.count(input, find, limit)
	if err != nil {
		return doc.Value{}, err
	}
	if err := s.room(len(input) + n*(len(text)-len(find)) + 5); err != nil {
		return doc.Value{}, err
	}
	start := s.openText()
	for ; n > 0; n-- {
		at, err := s.Meter.Index(input, find)
		if err != nil {
			return doc.Value{}, err
		}
		s.arena = append(append(s.arena, input[:at]...), text...)
		input = input[at+len(find):]
		if find == "" && input != "" {
			_, size := utf8.DecodeRuneInString(input)
			s.arena = append(s.arena, input[:size]...)
			input = input[size:]
		}
	}
	s.arena = append(s.arena, input...)
	return s.closeText(start)
}

// count is how often text contains another text, up to a limit of 0 or more.
func (s *Scope) count(text, of string, limit int) (n int, err error) {
	if of == "" {
		n, err = utf8.RuneCountInString(text)+1, s.spend(work.Scanned(len(text)))
		if limit >= 0 {
			n = min(n, limit)
		}
		return n, err
	}
	for n != limit {
		at, err := s.Meter.Index(text, of)
		if at < 0 || err != nil {
			return n, err
		}
		text = text[at+len(of):]
		n++
	}
	return n, nil
}

// blanks are the characters that $trim removes by default.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/trim/
const blanks = "\x00\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

func trim(name string, left, right bool) operator {
	h := shape{name: name, object: 50696, unknown: 50694, missing: 50695, required: []string{"input"},
		optional: []string{"chars"}}
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := h.read(arg, names, depth)
		if err != nil {
			return nil, err
		}
		given := args[1] != nil
		return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
			if nullish(args[0]) {
				return null, nil
			}
			text, ok := doc.AsString(args[0])
			if !ok {
				return doc.Value{}, code.New(50699,
					"%s requires its input to be a string, got %s (of type %s) instead.", name, code.Show(args[0]),
					code.TypeName(args[0]))
			}
			if !given {
				return trimmed(s, text, blanks, left, right)
			}
			if nullish(args[1]) {
				return null, nil
			}
			chars, ok := doc.AsString(args[1])
			if !ok {
				return doc.Value{}, code.New(50700, "%s requires 'chars' to be a string, got %s (of type %s) instead.",
					name, code.Show(args[1]), code.TypeName(args[1]))
			}
			return trimmed(s, text, chars, left, right)
		}), nil
	}
}

// trimmed removes characters from the left, the right or both.
func trimmed(s *Scope, text, chars string, left, right bool) (doc.Value, error) {
	var few [utf8.RuneSelf]bool // ASCII
	var many map[rune]bool
	if err := s.spend(work.Scanned(8 * len(chars))); err != nil {
		return doc.Value{}, err
	}
	for _, c := range chars {
		switch {
		case c < utf8.RuneSelf:
			few[c] = true
		case many == nil:
			many = map[rune]bool{c: true}
		default:
			many[c] = true
		}
	}
	trim := func(decode func(string) (rune, int), cut func(size int)) error {
		for text != "" {
			c, size := decode(text)
			if c < utf8.RuneSelf && !few[c] || c >= utf8.RuneSelf && !many[c] {
				return nil
			}
			cut(size)
			if err := s.spend(work.Element); err != nil {
				return err
			}
		}
		return nil
	}
	if left {
		if err := trim(utf8.DecodeRuneInString, func(n int) { text = text[n:] }); err != nil {
			return doc.Value{}, err
		}
	}
	if right {
		if err := trim(utf8.DecodeLastRuneInString, func(n int) { text = text[:len(text)-n] }); err != nil {
			return doc.Value{}, err
		}
	}
	return s.string(text)
}
