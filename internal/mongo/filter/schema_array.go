package filter

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

var arrays = setOf(bsoncore.TypeArray)

// itemCount is minItems and maxItems.
func itemCount(_ *schema, name string, arg doc.Value) (rule, error) {
	return counted(arrays, name, arg, length)
}

// counted compares a count with the argument of a keyword, a maximum or a minimum.
func counted(kinds types, name string, arg doc.Value, count func(doc.Value, *work.Meter) int64) (rule, error) {
	limit, err := countNumber(name, arg)
	if err != nil {
		return nil, err
	}
	within := func(v doc.Value, m *work.Meter) bool { return count(v, m) >= limit }
	if strings.HasPrefix(name, "max") {
		within = func(v doc.Value, m *work.Meter) bool { return count(v, m) <= limit }
	}
	return onType(kinds, check(within).holds()), nil
}

// uniqueItems asks that no two elements are equal.
func uniqueItems(_ *schema, name string, arg doc.Value) (rule, error) {
	unique, ok := doc.AsBool(arg)
	if !ok {
		return nil, wrongType(name, "a boolean")
	}
	if !unique {
		return nil, nil
	}
	return onType(arrays, check(func(v doc.Value, m *work.Meter) bool {
		set := &valueSet{}
		for e := range doc.Elements(v) {
			set.add(e, m)
		}
		return !set.repeats(m)
	}).holds()), nil
}

// items is a schema for all elements, or an array with a schema for each.
func items(s *schema, name string, arg doc.Value) (rule, error) {
	switch arg.Type {
	case bsoncore.TypeEmbeddedDocument:
		r, err := s.inner(arg)
		if err != nil {
			return nil, err
		}
		return elementsFrom(0, r), nil
	case bsoncore.TypeArray:
		return firstItems(s, name, arg)
	}
	return nil, wrongType(name, "an array or an object, not "+code.TypeName(arg))
}

func firstItems(s *schema, name string, arg doc.Value) (rule, error) {
	var list []rule
	for e := range doc.Elements(arg) {
		if e.Type != bsoncore.TypeEmbeddedDocument {
			return nil, code.New(code.TypeMismatch,
				"$jsonSchema keyword '%s' requires that each element of the array is an object, but found a %s",
				name, code.TypeName(e))
		}
		r, err := s.inner(e)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return onType(arrays, func(v doc.Value, m *work.Meter) (bool, error) {
		n := 0
		for e := range doc.Elements(v) {
			if n == len(list) {
				break
			}
			if err := m.Spend(work.Element); err != nil {
				return false, err
			}
			if ok, err := list[n](e, m); !ok || err != nil {
				return false, err
			}
			n++
		}
		return true, nil
	}), nil
}

// additionalItems is the schema for elements beyond those of items, if that is an array.
func additionalItems(s *schema, name string, arg doc.Value) (rule, error) {
	r, err := schemaOrBool(s, name, arg, "either an object or a boolean, but got a "+code.TypeName(arg))
	if first := s.keywords["items"]; err == nil && first.Type == bsoncore.TypeArray {
		return elementsFrom(length(first, s.c.meter), r), nil
	}
	return nil, err
}

// schemaOrBool compiles a schema, or a boolean: true accepts anything, false nothing.
func schemaOrBool(s *schema, name string, arg doc.Value, what string) (rule, error) {
	if allowed, ok := doc.AsBool(arg); ok {
		return check(func(doc.Value, *work.Meter) bool { return allowed }).holds(), nil
	}
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, wrongType(name, what)
	}
	return s.inner(arg)
}

// elementsFrom is a rule for the elements of an array from an index on.
func elementsFrom(index int64, r rule) rule {
	return onType(arrays, func(v doc.Value, m *work.Meter) (bool, error) {
		n := int64(0)
		for e := range doc.Elements(v) {
			if err := m.Spend(work.Element); err != nil {
				return false, err
			}
			if n++; n <= index {
				continue
			}
			if ok, err := r(e, m); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	})
}
