package filter

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// schemaLogic is allOf, anyOf and oneOf.
func schemaLogic(s *schema, name string, arg doc.Value) (rule, error) {
	if arg.Type != bsoncore.TypeArray {
		return nil, wrongType(name, "an array")
	}
	var list []rule
	for e := range doc.Elements(arg) {
		if e.Type != bsoncore.TypeEmbeddedDocument {
			return nil, wrongType(name, "an array of objects, but found an element of type "+code.TypeName(e))
		}
		r, err := s.inner(e)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	switch {
	case len(list) == 0:
		return nil, code.New(code.BadValue, "$jsonSchema keyword '%s' must be a non-empty array", name)
	case name == "allOf":
		return everyRule(list), nil
	case name == "anyOf":
		return obeys(list, func(n int) bool { return n > 0 }, 1), nil
	}
	return obeys(list, func(n int) bool { return n == 1 }, 2), nil
}

// obeys counts how many rules a value obeys, and stops counting at enough.
func obeys(list []rule, want func(n int) bool, enough int) rule {
	return func(v doc.Value, m *work.Meter) (bool, error) {
		if err := m.Spend(len(list)); err != nil {
			return false, err
		}
		n := 0
		for _, r := range list {
			ok, err := r(v, m)
			if err != nil {
				return false, err
			}
			if ok {
				if n++; n == enough {
					break
				}
			}
		}
		return want(n), nil
	}
}

// schemaNot is not.
func schemaNot(s *schema, name string, arg doc.Value) (rule, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, wrongType(name, "an object, but found an element of type "+code.TypeName(arg))
	}
	r, err := s.inner(arg)
	if err != nil {
		return nil, err
	}
	return func(v doc.Value, m *work.Meter) (bool, error) {
		ok, err := r(v, m)
		return !ok && err == nil, err
	}, nil
}

// enum lists the allowed values. The order of fields in objects does not matter.
func enum(s *schema, name string, arg doc.Value) (rule, error) {
	if arg.Type != bsoncore.TypeArray {
		return nil, wrongType(name, "an array, but found an element of type "+code.TypeName(arg))
	}
	set := &valueSet{}
	for e := range doc.Elements(arg) {
		set.add(e, s.c.meter)
	}
	if len(set.values) == 0 {
		return nil, code.New(code.FailedToParse, "$jsonSchema keyword '%s' cannot be an empty array", name)
	}
	if set.repeats(s.c.meter) {
		return nil, code.New(code.FailedToParse, "$jsonSchema keyword '%s' array cannot contain duplicate values.",
			name)
	}
	return check(set.has).holds(), nil
}
