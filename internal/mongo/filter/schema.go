package filter

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// jsonSchema is {$jsonSchema: schema}: JSON Schema draft 4 for documents.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/jsonSchema/
func jsonSchema(c *compiler, _ string, arg doc.Value, at spot) (condition, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return condition{}, code.New(code.TypeMismatch, "$jsonSchema must be an object")
	}
	r, err := c.schema(arg.Data, at.depth)
	if err != nil {
		return condition{}, err
	}
	valid := func(v doc.Value, s *expression.Scope, _ *Where) (bool, error) { return r(v, s.Work()) }
	return condition{root: valid, one: valid, node: &Node{Kind: Other}}, nil
}

// A rule reports whether a value, which is not missing, obeys a part of a schema.
type rule func(v doc.Value, m *work.Meter) (bool, error)

// onType is a rule for values of some types. Values of other types obey it.
func onType(kinds types, r rule) rule {
	return func(v doc.Value, m *work.Meter) (bool, error) {
		if !kinds.has(v) {
			return true, nil
		}
		return r(v, m)
	}
}

// holds turns a check into a rule.
func (c check) holds() rule {
	return func(v doc.Value, m *work.Meter) (bool, error) { return c(v, m), m.Spend(work.Operator) }
}

// A schema is one object of keywords that is being compiled.
type schema struct {
	c        *compiler
	depth    int
	keywords map[string]doc.Value
}

// A keyword compiles its argument. It returns a nil rule if it asks nothing, or if another keyword's rule includes it.
type keyword func(s *schema, name string, arg doc.Value) (rule, error)

// keywords lists the keywords that MongoDB has, sorted. Nested schemas look them up in the compiler, like operators.
var keywords = map[string]keyword{
	"additionalItems":      additionalItems,
	"additionalProperties": allowedProperties,
	"allOf":                schemaLogic,
	"anyOf":                schemaLogic,
	"bsonType":             schemaType,
	"dependencies":         dependencies,
	"description":          schemaText,
	"enum":                 enum,
	"exclusiveMaximum":     exclusive,
	"exclusiveMinimum":     exclusive,
	"items":                items,
	"maxItems":             itemCount,
	"maxLength":            textLength,
	"maxProperties":        propertyCount,
	"maximum":              bound,
	"minItems":             itemCount,
	"minLength":            textLength,
	"minProperties":        propertyCount,
	"minimum":              bound,
	"multipleOf":           multipleOf,
	"not":                  schemaNot,
	"oneOf":                schemaLogic,
	"pattern":              schemaPattern,
	"patternProperties":    allowedProperties,
	"properties":           properties,
	"required":             required,
	"title":                schemaText,
	"type":                 schemaType,
	"uniqueItems":          uniqueItems,
}

// unsupported are the keywords of draft 4 that MongoDB refuses by name.
var unsupported = []string{"$ref", "$schema", "default", "definitions", "format", "id"}

// schema compiles the keywords of an object.
func (c *compiler) schema(d doc.Doc, depth int) (rule, error) {
	if depth > maxDepth {
		return nil, code.New(code.BadValue, "exceeded depth limit of %d when converting to match expressions", maxDepth)
	}
	if err := c.meter.Spend(nameCost); err != nil {
		return nil, err
	}
	s := &schema{c: c, depth: depth, keywords: map[string]doc.Value{}}
	for name, arg := range doc.Members(d) {
		if err := s.note(name, arg); err != nil {
			return nil, err
		}
	}
	if s.has("type") && s.has("bsonType") {
		return nil, code.New(code.FailedToParse, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
	}
	var list []rule
	for name, arg := range doc.Members(d) {
		r, err := c.keywords[name](s, name, arg)
		if err != nil {
			return nil, err
		}
		if r != nil {
			list = append(list, r)
		}
	}
	return everyRule(list), nil
}

func (s *schema) note(name string, arg doc.Value) error {
	switch {
	case slices.Contains(unsupported, name):
		return code.New(code.FailedToParse, "$jsonSchema keyword '%s' is not currently supported", name)
	case name == "encrypt" || name == "encryptMetadata":
		return code.Unsupported("$jsonSchema keyword '" + name + "'")
	case s.c.keywords[name] == nil:
		return code.New(code.FailedToParse, "Unknown $jsonSchema keyword: %s", name)
	case s.has(name):
		return code.New(code.FailedToParse, "Duplicate $jsonSchema keyword: %s", name)
	}
	s.keywords[name] = arg
	return s.c.count()
}

func (s *schema) has(name string) bool { return s.keywords[name].Type != 0 }

// inner compiles a schema nested in this one.
func (s *schema) inner(arg doc.Value) (rule, error) { return s.c.schema(arg.Data, s.depth+1) }

// everyRule is the conjunction of rules.
func everyRule(list []rule) rule {
	if len(list) == 1 {
		return list[0]
	}
	return func(v doc.Value, m *work.Meter) (bool, error) {
		if err := m.Spend(len(list)); err != nil {
			return false, err
		}
		for _, r := range list {
			if ok, err := r(v, m); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}
}

// wrongType is the error for an argument of the wrong type.
func wrongType(name, what string) error {
	return code.New(code.TypeMismatch, "$jsonSchema keyword '%s' must be %s", name, what)
}

// schemaText is title and description, which may be any text.
func schemaText(_ *schema, name string, arg doc.Value) (rule, error) {
	if arg.Type != bsoncore.TypeString {
		return nil, wrongType(name, "of type string")
	}
	return nil, nil
}

// schemaTypes are the names for the keyword type: those of JSON, except that MongoDB refuses integer.
var schemaTypes = map[string][]bsoncore.Type{
	"array":   {bsoncore.TypeArray},
	"boolean": {bsoncore.TypeBoolean},
	"null":    {bsoncore.TypeNull},
	"number":  numbers,
	"object":  {bsoncore.TypeEmbeddedDocument},
	"string":  {bsoncore.TypeString},
}

// schemaType is type and bsonType: a name or an array of names.
func schemaType(_ *schema, name string, arg doc.Value) (rule, error) {
	aliases := typeAliases
	if name == "type" {
		aliases = schemaTypes
	}
	if arg.Type != bsoncore.TypeString && arg.Type != bsoncore.TypeArray {
		return nil, wrongType(name, "either a string or an array of strings")
	}
	set, err := typesOf(arg, aliases)
	if err := schemaTypeError(name, arg, err); err != nil {
		return nil, err
	}
	if set == (types{}) {
		return nil, code.New(code.FailedToParse, "$jsonSchema keyword '%s' must name at least one type", name)
	}
	return set.check().holds(), nil
}

func schemaTypeError(name string, arg doc.Value, err error) error {
	seen := map[string]bool{}
	for e := range doc.Elements(arg) {
		alias, ok := doc.AsString(e)
		if !ok {
			return code.New(code.TypeMismatch, "$jsonSchema keyword '%s' array elements must be strings", name)
		}
		if seen[alias] {
			return code.New(code.FailedToParse, "$jsonSchema keyword '%s' has duplicate value: %s", name, alias)
		}
		seen[alias] = true
	}
	if alias, _ := doc.AsString(arg); name == "type" && (alias == "integer" || seen["integer"]) {
		return code.New(code.FailedToParse, "$jsonSchema type 'integer' is not currently supported.")
	}
	return err
}
