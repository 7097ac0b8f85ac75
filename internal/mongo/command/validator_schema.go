package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// title writes the texts of a schema that are meant for people.
func (p *failureDetails) title(a *answer, schema doc.Doc) {
	for _, name := range []string{"title", "description"} {
		if s, ok := doc.AsString(doc.Lookup(schema, name)); ok {
			a.string(name, s)
		}
	}
}

// schema writes the keywords of a schema that the value at a path does not satisfy. An empty path is the whole
// document.
func (p *failureDetails) schema(a *answer, list string, schema doc.Doc, path []string) {
	p.depth++
	defer func() { p.depth-- }()
	a.array(list)
	defer a.close()
	for name, arg := range doc.Members(schema) {
		if !p.fails(schemaAt(path, keywordAlone(schema, name, arg))) || !p.another() {
			continue
		}
		a.object(a.index())
		a.string("operatorName", name)
		switch name {
		case "properties":
			p.properties(a, arg, path)
		case "required":
			p.required(a, arg, path)
		default:
			p.keyword(a, name, arg, path)
		}
		a.close()
	}
}

// keywordAlone gives a schema of one keyword, with the others that it needs.
func keywordAlone(schema doc.Doc, name string, arg doc.Value) doc.Doc {
	a := newAnswer(nil)
	a.value(name, arg)
	for _, with := range [][2]string{
		{"maximum", "exclusiveMaximum"}, {"minimum", "exclusiveMinimum"}, {"additionalProperties", "properties"},
		{"additionalProperties", "patternProperties"}, {"additionalItems", "items"},
	} {
		if name == with[0] {
			a.value(with[1], doc.Lookup(schema, with[1]))
		}
	}
	return a.end()
}

// schemaAt gives a query that demands a schema of the value at a path.
func schemaAt(path []string, schema doc.Doc) doc.Doc {
	for i := len(path) - 1; i >= 0; i-- {
		schema = one("properties", doc.Object(one(path[i], doc.Object(schema))))
	}
	return one("$jsonSchema", doc.Object(schema))
}

// at gives the value at a path.
func (p *failureDetails) at(path []string) doc.Value {
	v := doc.Object(p.d)
	for _, name := range path {
		d, ok := doc.AsDoc(v)
		if !ok {
			return doc.Value{}
		}
		v = doc.Lookup(d, name)
	}
	return v
}

func (p *failureDetails) properties(a *answer, arg doc.Value, path []string) {
	a.array("propertiesNotSatisfied")
	defer a.close()
	properties, _ := doc.AsDoc(arg)
	for name, v := range doc.Members(properties) {
		schema, ok := doc.AsDoc(v)
		inner := append(path[:len(path):len(path)], name)
		if !ok || !p.fails(schemaAt(inner, schema)) || !p.another() {
			continue
		}
		a.object(a.index())
		a.string("propertyName", name)
		p.title(a, schema)
		p.schema(a, "details", schema, inner)
		a.close()
	}
}

func (p *failureDetails) required(a *answer, arg doc.Value, path []string) {
	a.doc("specifiedAs", one("required", arg))
	have, _ := doc.AsDoc(p.at(path))
	a.array("missingProperties")
	for v := range doc.Elements(arg) {
		if name, ok := doc.AsString(v); ok && doc.Lookup(have, name).Type == 0 && p.another() {
			a.string(a.index(), name)
		}
	}
	a.close()
}

// keywordReasons are MongoDB's texts about a keyword that is not satisfied.
var keywordReasons = map[string]string{
	"bsonType":      "type did not match",
	"type":          "type did not match",
	"enum":          "value was not found in enum",
	"minimum":       "comparison failed",
	"maximum":       "comparison failed",
	"minLength":     "specified string length was not satisfied",
	"maxLength":     "specified string length was not satisfied",
	"pattern":       "regular expression did not match",
	"multipleOf":    "considered value is not a multiple of the specified value",
	"uniqueItems":   "found a duplicate item",
	"minItems":      "array did not match specified length",
	"maxItems":      "array did not match specified length",
	"minProperties": "specified number of properties was not satisfied",
	"maxProperties": "specified number of properties was not satisfied",
	"not":           "child expression matched",
}

func (p *failureDetails) keyword(a *answer, name string, arg doc.Value, path []string) {
	a.doc("specifiedAs", one(name, arg))
	if reason := keywordReasons[name]; reason != "" {
		a.string("reason", reason)
	}
	if name == "additionalProperties" {
		return
	}
	v := p.at(path)
	if v.Type == 0 || len(path) == 0 {
		return
	}
	a.considered(v)
	if name == "bsonType" || name == "type" {
		a.string("consideredType", code.TypeName(v))
	}
}
