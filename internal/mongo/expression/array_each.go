package expression

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// The operators that evaluate an expression for each element of an array.

var (
	mapShape = shape{name: "$map", word: "parameter", object: 16878, unknown: 16879, missing: 16880,
		required: []string{"input"}, optional: []string{"in", "as"}}
	filterShape = shape{name: "$filter", word: "parameter", object: 28646, unknown: 28647, missing: 28648,
		required: []string{"input"}, optional: []string{"cond", "as", "limit"}}
)

// elementName assigns a slot to the variable for an element.
func elementName(op string, as doc.Value, names *Names) (*Names, int, error) {
	name := "this"
	if as.Type != 0 {
		text, ok := doc.AsString(as)
		if !ok {
			return nil, 0, code.New(code.TypeMismatch, "%s: 'as' must be a string, found: %s", op, code.TypeName(as))
		}
		if err := checkVariable(text, true); err != nil {
			return nil, 0, err
		}
		name = strings.Clone(text)
	}
	inner, slot := names.With(name)
	return inner, slot, nil
}

// compileMap reads {input, as, in}.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/map/
func compileMap(arg doc.Value, names *Names, depth int) (*Expression, error) {
	parts, err := mapShape.values(arg)
	if err != nil {
		return nil, err
	}
	if parts[1].Type == 0 {
		return nil, code.New(16882, "Missing 'in' parameter to $map")
	}
	input, err := compile(parts[0], names, depth)
	if err != nil {
		return nil, err
	}
	inner, slot, err := elementName("$map", parts[2], names)
	if err != nil {
		return nil, err
	}
	body, err := compile(parts[1], inner, depth)
	if err != nil {
		return nil, err
	}
	return &Expression{run: func(s *Scope) (doc.Value, error) {
		array, err := input.run(s)
		if err != nil || nullish(array) {
			return null, err
		}
		if !doc.IsArray(array) {
			return doc.Value{}, code.New(16883, "input to $map must be an array not %s", code.TypeName(array))
		}
		return each(s, array, slot, body, 0, (*builder).addMapped)
	}}, nil
}

func (b *builder) addMapped(_, mapped doc.Value) error { return b.add(mapped) }

// addIf adds the elements whose condition is true.
func (b *builder) addIf(e, condition doc.Value) error {
	if !truthy(condition) {
		return nil
	}
	return b.add(e)
}

// each evaluates body for each element, with the element in the slot, and passes both to add. It ends at limit results,
// unless that is 0.
func each(
	s *Scope, array doc.Value, slot int, body *Expression, limit int, add func(b *builder, e, v doc.Value) error,
) (doc.Value, error) {
	b := s.array()
	for e := range doc.Elements(array) {
		if err := s.spend(work.Operator); err != nil {
			return doc.Value{}, err
		}
		s.setVariable(slot, e)
		mark := s.mark()
		v, err := body.run(s)
		if err != nil {
			return v, err
		}
		if err := add(b, e, v); err != nil {
			return doc.Value{}, err
		}
		s.release(mark)
		if b.len() == limit && limit > 0 {
			break
		}
	}
	return b.done()
}

// compileFilter reads {input, as, cond, limit}.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/filter/
func compileFilter(arg doc.Value, names *Names, depth int) (*Expression, error) {
	parts, err := filterShape.values(arg)
	if err != nil {
		return nil, err
	}
	if parts[1].Type == 0 {
		return nil, code.New(28650, "Missing 'cond' parameter to $filter")
	}
	input, err := compile(parts[0], names, depth)
	if err != nil {
		return nil, err
	}
	limit := literal(null)
	if parts[3].Type != 0 {
		if limit, err = compile(parts[3], names, depth); err != nil {
			return nil, err
		}
	}
	inner, slot, err := elementName("$filter", parts[2], names)
	if err != nil {
		return nil, err
	}
	cond, err := compile(parts[1], inner, depth)
	if err != nil {
		return nil, err
	}
	return &Expression{run: func(s *Scope) (doc.Value, error) {
		array, err := input.run(s)
		if err != nil || nullish(array) {
			return null, err
		}
		if !doc.IsArray(array) {
			return doc.Value{}, code.New(28651, "input to $filter must be an array not %s", code.TypeName(array))
		}
		n, err := filterLimit(s, limit)
		if err != nil {
			return doc.Value{}, err
		}
		return each(s, array, slot, cond, n, (*builder).addIf)
	}}, nil
}

// filterLimit is the value of limit, 0 for no limit.
func filterLimit(s *Scope, limit *Expression) (int, error) {
	v, err := limit.run(s)
	if err != nil || nullish(v) {
		return 0, err
	}
	n, ok := whole32(v)
	switch {
	case !ok:
		return 0, code.New(327391, "$filter: limit must be represented as a 32-bit integral value: %s", code.Show(v))
	case n < 1:
		return 0, code.New(327392, "$filter: limit must be greater than 0: %d", n)
	}
	return int(n), nil
}

// compileReduce reads {input, initialValue, in}.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/reduce/
func compileReduce(arg doc.Value, names *Names, depth int) (*Expression, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, code.New(40075, "$reduce requires an object as an argument, found: %s", code.TypeName(arg))
	}
	inner, this := names.With("this")
	inner, value := inner.With("value")
	var input, initial, body *Expression
	for name, v := range doc.Members(arg.Data) {
		var err error
		switch name {
		case "input":
			input, err = compile(v, names, depth)
		case "initialValue":
			initial, err = compile(v, names, depth)
		case "in":
			body, err = compile(v, inner, depth)
		default:
			err = code.New(40076, "$reduce found an unknown argument: %s", name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case input == nil:
		return nil, code.New(40077, "$reduce requires 'input' to be specified")
	case initial == nil:
		return nil, code.New(40078, "$reduce requires 'initialValue' to be specified")
	case body == nil:
		return nil, code.New(40079, "$reduce requires 'in' to be specified")
	}
	return &Expression{run: func(s *Scope) (doc.Value, error) {
		array, err := input.run(s)
		if err != nil || nullish(array) {
			return null, err
		}
		if !doc.IsArray(array) {
			return doc.Value{}, code.New(40080, "$reduce requires that 'input' be an array, found: %s",
				code.TypeName(array))
		}
		v, err := initial.run(s)
		if err != nil {
			return v, err
		}
		mark := s.mark()
		for e := range doc.Elements(array) {
			if err := s.spend(work.Operator); err != nil {
				return doc.Value{}, err
			}
			s.setVariable(this, e)
			s.setVariable(value, v)
			if v, err = body.run(s); err != nil {
				return v, err
			}
			v = s.keep(mark, v)
			if err := s.spend(work.Copied(len(v.Data))); err != nil {
				return doc.Value{}, err
			}
		}
		return v, nil
	}}, nil
}
