package expression

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// The object operators.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#object-expression-operators

// compileGetField compiles {field, input}, or only the field, whose input is then $$CURRENT. The field's name may have
// dots and dollars.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/getField/
func compileGetField(arg doc.Value, names *Names, depth int) (*Expression, error) {
	field, input, err := readGetField(arg)
	if err != nil {
		return nil, err
	}
	name, err := fieldName("$getField", field, names, depth, [3]code.Code{5654600, 5654601, 5654602})
	if err != nil {
		return nil, err
	}
	from, err := compile(input, names, depth)
	if err != nil {
		return nil, err
	}
	return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
		v, err := from.run(s)
		if err != nil || v.Type == bsoncore.TypeNull {
			return v, err
		}
		if v.Type != bsoncore.TypeEmbeddedDocument {
			return doc.Value{}, nil
		}
		return s.Meter.Lookup(v.Data, name)
	}}, from), nil
}

func readGetField(arg doc.Value) (field, input doc.Value, err error) {
	here := doc.String("$$CURRENT")
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return arg, here, nil
	}
	for name, v := range doc.Members(arg.Data) {
		switch {
		case field.Type == 0 && input.Type == 0 && strings.HasPrefix(name, "$"):
			return arg, here, nil
		case name == "field":
			field = v
		case name == "input":
			input = v
		default:
			return field, input, code.New(3041701, "$getField found an unknown argument: %s", name)
		}
	}
	switch {
	case field.Type == 0:
		err = code.New(3041702, "$getField requires 'field' to be specified")
	case input.Type == 0:
		err = code.New(3041703, "$getField requires 'input' to be specified")
	}
	return field, input, err
}

// fieldName is the name of a field, which must be constant. The codes are for a path, for another expression that is
// not constant, and for a constant that is not a string.
func fieldName(op string, field doc.Value, names *Names, depth int, codes [3]code.Code) (string, error) {
	if text, ok := doc.AsString(field); ok && strings.HasPrefix(text, "$") {
		return "", code.New(codes[0],
			"'%s' is a field path reference which is not allowed in this context. Did you mean {$literal: '%s'}?", text,
			text)
	}
	x, err := compile(field, names, depth)
	if err != nil {
		return "", err
	}
	v, ok := x.Constant()
	if !ok {
		return "", code.New(codes[1], "%s requires 'field' to evaluate to a constant, but got a non-constant argument",
			op)
	}
	name, ok := doc.AsString(v)
	if !ok {
		return "", code.New(codes[2], "%s requires 'field' to evaluate to type String, but got %s", op,
			code.TypeName(v))
	}
	if strings.IndexByte(name, 0) >= 0 {
		return "", code.New(16411, "FieldPath field names may not contain '\\0'.")
	}
	return name, nil
}

// compileSetField compiles {field, input, value}, without a value for $unsetField.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/setField/
func compileSetField(op string) operator {
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		parts, err := readSetField(op, arg)
		if err != nil {
			return nil, err
		}
		name, err := fieldName(op, parts[0], names, depth, [3]code.Code{4161108, 4161106, 4161107})
		if err != nil {
			return nil, err
		}
		args := make([]*Expression, 2)
		for i, v := range parts[1:] {
			if v.Type == 0 {
				continue
			}
			if args[i], err = compile(v, names, depth); err != nil {
				return nil, err
			}
		}
		return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
			return setField(s, op, name, args[0], args[1])
		}), nil
	}
}

// readSetField returns the field, the input and the value.
func readSetField(op string, arg doc.Value) (parts [3]doc.Value, err error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return parts, code.New(4161100, "%s only supports an object as its argument", op)
	}
	valued := op == "$setField"
	for name, v := range doc.Members(arg.Data) {
		switch {
		case name == "field":
			parts[0] = v
		case name == "input":
			parts[1] = v
		case name == "value" && valued:
			parts[2] = v
		default:
			return parts, code.New(4161101, "%s found an unknown argument: %s", op, name)
		}
	}
	switch {
	case parts[0].Type == 0:
		err = code.New(4161102, "%s requires 'field' to be specified", op)
	case parts[2].Type == 0 && valued:
		err = code.New(4161103, "%s requires 'value' to be specified", op)
	case parts[1].Type == 0:
		err = code.New(4161109, "%s requires 'input' to be specified", op)
	}
	return parts, err
}

// setField sets a member, or removes it if v is missing.
func setField(s *Scope, op, name string, input, v doc.Value) (doc.Value, error) {
	switch {
	case nullish(input):
		return null, nil
	case input.Type != bsoncore.TypeEmbeddedDocument:
		return doc.Value{}, code.New(4161105, "%s requires 'input' to evaluate to type Object, but got %s", op,
			code.TypeName(input))
	}
	b := s.object()
	found := false
	for k, member := range doc.Members(input.Data) {
		if k == name {
			member, found = v, true
		}
		if err := b.set(k, member); err != nil {
			return doc.Value{}, err
		}
		if err := s.spend(work.Element + work.Scanned(len(k))); err != nil {
			return doc.Value{}, err
		}
	}
	if !found {
		if err := b.set(name, v); err != nil {
			return doc.Value{}, err
		}
	}
	return b.done()
}

// mergeObjects joins the members of all objects. If a name repeats, the last value stays.
func mergeObjects(s *Scope, args []doc.Value) (doc.Value, error) {
	m := s.newMembers()
	for _, v := range args {
		if nullish(v) {
			continue
		}
		if v.Type != bsoncore.TypeEmbeddedDocument {
			return doc.Value{}, code.New(40400, "$mergeObjects requires object inputs, but input %s is of type %s",
				code.Show(v), code.TypeName(v))
		}
		for name, member := range doc.Members(v.Data) {
			m.put(name, member)
			if err := s.spend(memberCost + work.Scanned(len(name))); err != nil {
				return doc.Value{}, err
			}
		}
	}
	return m.object(s)
}

// memberCost is the cost of finding a name among many, in units of package work.
const memberCost = 20

// fewMembers is the number of members up to which a linear search is used.
const fewMembers = 16

// members are the members of an object under construction. A name that repeats keeps its first place.
type members struct {
	names  []string
	values []doc.Value
	index  map[string]int // if there are more than fewMembers
}

// newMembers returns members without any. A scope has only one such table, for one operator at a time.
func (s *Scope) newMembers() *members {
	s.members.names, s.members.values, s.members.index = s.members.names[:0], s.members.values[:0], nil
	return &s.members
}

func (m *members) put(name string, v doc.Value) {
	if i, ok := m.find(name); ok {
		m.values[i] = v
		return
	}
	m.names, m.values = append(m.names, name), append(m.values, v)
	if m.index != nil {
		m.index[name] = len(m.names) - 1
	} else if len(m.names) > fewMembers {
		m.index = make(map[string]int, 2*fewMembers)
		for i, name := range m.names {
			m.index[name] = i
		}
	}
}

func (m *members) find(name string) (int, bool) {
	if m.index != nil {
		i, ok := m.index[name]
		return i, ok
	}
	for i, known := range m.names {
		if known == name {
			return i, true
		}
	}
	return 0, false
}

func (m *members) object(s *Scope) (doc.Value, error) {
	b := s.object()
	for i, name := range m.names {
		if err := b.set(name, m.values[i]); err != nil {
			return doc.Value{}, err
		}
	}
	return b.done()
}
