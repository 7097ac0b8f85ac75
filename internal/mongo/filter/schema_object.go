package filter

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// nameCost is the cost of adding a name to a map, in units of package work.
const nameCost = 20

var objects = setOf(bsoncore.TypeEmbeddedDocument)

// propertyCount is minProperties and maxProperties.
func propertyCount(_ *schema, name string, arg doc.Value) (rule, error) {
	return counted(objects, name, arg, func(v doc.Value, m *work.Meter) (n int64) {
		for range doc.Members(v.Data) {
			if n++; m.Spend(work.Element) != nil {
				break
			}
		}
		return n
	})
}

// required lists the fields that must exist.
func required(s *schema, name string, arg doc.Value) (rule, error) {
	if arg.Type != bsoncore.TypeArray {
		return nil, wrongType(name, "an array, but found an element of type "+code.TypeName(arg))
	}
	var fields []string
	seen := map[string]bool{}
	for e := range doc.Elements(arg) {
		field, ok := doc.AsString(e)
		if !ok {
			return nil, wrongType(name, "an array of strings, but found an element of type: "+code.TypeName(e))
		}
		if seen[field] {
			return nil, code.New(code.FailedToParse, "$jsonSchema keyword '%s' array cannot contain duplicate values",
				name)
		}
		if err := s.c.meter.Spend(nameCost + work.Scanned(len(field))); err != nil {
			return nil, err
		}
		seen[field] = true
		fields = append(fields, field)
	}
	if len(fields) == 0 {
		return nil, code.New(code.FailedToParse, "$jsonSchema keyword '%s' cannot be an empty array", name)
	}
	return onType(objects, check(hasAll(fields)).holds()), nil
}

func hasAll(fields []string) check {
	return func(v doc.Value, m *work.Meter) bool {
		for _, f := range fields {
			if found, err := m.Lookup(v.Data, f); found.Type == 0 || err != nil {
				return false
			}
		}
		return true
	}
}

// properties has schemas for fields by name. A missing field obeys its schema.
func properties(s *schema, name string, arg doc.Value) (rule, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, wrongType(name, "an object")
	}
	rules := map[string]rule{}
	for field, inner := range doc.Members(arg.Data) {
		if inner.Type != bsoncore.TypeEmbeddedDocument {
			return nil, code.New(code.TypeMismatch, "Nested schema for $jsonSchema property '%s' must be an object",
				field)
		}
		r, err := s.inner(inner)
		if err != nil {
			return nil, err
		}
		rules[field] = r
	}
	return onType(objects, func(v doc.Value, m *work.Meter) (bool, error) {
		for field, value := range doc.Members(v.Data) {
			if err := m.Spend(work.Operator + work.Scanned(len(field))); err != nil {
				return false, err
			}
			r := rules[field]
			if r == nil {
				continue
			}
			if ok, err := r(value, m); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}), nil
}

// A namedRule is a rule for fields whose name matches a pattern.
type namedRule struct {
	name *regularExpression
	rule rule
}

// allowedProperties is patternProperties and additionalProperties, the schema for fields that neither properties nor
// patternProperties mention. The first keyword of the two compiles both.
func allowedProperties(s *schema, name string, _ doc.Value) (rule, error) {
	if name == "additionalProperties" && s.has("patternProperties") {
		return nil, nil
	}
	patterns, err := patternProperties(s)
	if err != nil {
		return nil, err
	}
	other := check(func(doc.Value, *work.Meter) bool { return true }).holds()
	if arg := s.keywords["additionalProperties"]; arg.Type != 0 {
		if other, err = schemaOrBool(s, "additionalProperties", arg, "an object or a boolean"); err != nil {
			return nil, err
		}
	}
	known := map[string]bool{}
	if listed, ok := doc.AsDoc(s.keywords["properties"]); ok {
		for field := range doc.Members(listed) {
			known[field] = true
		}
	}
	return onType(objects, func(v doc.Value, m *work.Meter) (bool, error) {
		for field, value := range doc.Members(v.Data) {
			if err := m.Spend(work.Operator + work.Scanned(len(field))); err != nil {
				return false, err
			}
			if ok, err := allowed(field, value, known[field], patterns, other, m); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}), nil
}

// allowed checks a field by the patterns for its name or, if there are none, by the rule for other fields.
func allowed(field string, value doc.Value, known bool, patterns []namedRule, other rule, m *work.Meter) (bool, error) {
	for _, p := range patterns {
		found, err := p.name.match(field, m)
		if err != nil {
			return false, err
		}
		if !found {
			continue
		}
		known = true
		if ok, err := p.rule(value, m); !ok || err != nil {
			return false, err
		}
	}
	if known {
		return true, nil
	}
	return other(value, m)
}

func patternProperties(s *schema) ([]namedRule, error) {
	const name = "patternProperties"
	arg := s.keywords[name]
	if arg.Type == 0 {
		return nil, nil
	}
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, wrongType(name, "an object")
	}
	var list []namedRule
	for text, inner := range doc.Members(arg.Data) {
		if inner.Type != bsoncore.TypeEmbeddedDocument {
			return nil, code.New(code.TypeMismatch, "$jsonSchema keyword '%s' has property '%s' which is not an object",
				name, text)
		}
		p, err := newRegularExpression(text, "", s.c.meter)
		if err != nil {
			return nil, err
		}
		r, err := s.inner(inner)
		if err != nil {
			return nil, err
		}
		list = append(list, namedRule{p, r})
	}
	return list, nil
}

// dependencies asks for other fields, or for a schema, if a field exists.
func dependencies(s *schema, name string, arg doc.Value) (rule, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, wrongType(name, "an object")
	}
	var list []rule
	for field, what := range doc.Members(arg.Data) {
		then, err := dependency(s, field, what)
		if err != nil {
			return nil, err
		}
		list = append(list, func(v doc.Value, m *work.Meter) (bool, error) {
			if found, err := m.Lookup(v.Data, field); found.Type == 0 || err != nil {
				return true, err
			}
			return then(v, m)
		})
	}
	return onType(objects, everyRule(list)), nil
}

func dependency(s *schema, field string, arg doc.Value) (rule, error) {
	if arg.Type == bsoncore.TypeEmbeddedDocument {
		return s.inner(arg)
	}
	if arg.Type != bsoncore.TypeArray {
		return nil, code.New(code.TypeMismatch,
			"property '%s' in $jsonSchema keyword 'dependencies' must be either an object or an array", field)
	}
	var fields []string
	seen := map[string]bool{}
	for e := range doc.Elements(arg) {
		other, ok := doc.AsString(e)
		if !ok {
			return nil, code.New(code.TypeMismatch,
				"array '%s' in $jsonSchema keyword 'dependencies' can only contain strings, but found element of "+
					"type: %s",
				field, code.TypeName(e))
		}
		if seen[other] {
			return nil, code.New(code.FailedToParse,
				"array '%s' in $jsonSchema keyword 'dependencies' contains duplicate element: %s", field, other)
		}
		if err := s.c.meter.Spend(nameCost + work.Scanned(len(other))); err != nil {
			return nil, err
		}
		seen[other] = true
		fields = append(fields, other)
	}
	if len(fields) == 0 {
		return nil, code.New(code.FailedToParse,
			"property '%s' in $jsonSchema keyword 'dependencies' cannot be an empty array", field)
	}
	return check(hasAll(fields)).holds(), nil
}
