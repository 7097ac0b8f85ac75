package write

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// title writes the texts of a schema that are there for people.
func (p *mismatch) title(a *doc.Writer, schema doc.Doc) {
	for _, name := range []string{"title", "description"} {
		if s, ok := doc.AsString(doc.Lookup(schema, name)); ok {
			a.String(name, s)
		}
	}
}

// schema writes the keywords of a schema that the value at a path does not obey; the whole
// document at an empty path.
func (p *mismatch) schema(a *doc.Writer, list string, schema doc.Doc, path []string) {
	p.depth++
	defer func() { p.depth-- }()
	a.Array(list)
	defer a.Close()
	for name, arg := range doc.Members(schema) {
		// Each keyword is tried as a schema of its own on the whole document: the filter that refused the document also
		// says why, so the two cannot disagree.
		if !p.fails(schemaAt(path, keywordAlone(schema, name, arg))) || !p.hasRoom() {
			continue
		}
		a.Object(a.Index())
		a.String("operatorName", name)
		switch name {
		case "properties":
			p.properties(a, arg, path)
		case "required":
			p.required(a, arg, path)
		default:
			p.keyword(a, name, arg, path)
		}
		a.Close()
	}
}

// keywordAlone gives a schema of one keyword, with the others that it needs.
func keywordAlone(schema doc.Doc, name string, arg doc.Value) doc.Doc {
	a := doc.NewWriter(nil)
	a.Value(name, arg)
	// These keywords mean nothing, or something else, without their partners.
	for _, with := range [][2]string{
		{"maximum", "exclusiveMaximum"}, {"minimum", "exclusiveMinimum"}, {"additionalProperties", "properties"},
		{"additionalProperties", "patternProperties"}, {"additionalItems", "items"},
	} {
		if name == with[0] {
			a.Value(with[1], doc.Lookup(schema, with[1]))
		}
	}
	return a.End()
}

// schemaAt gives a query that demands a schema of the value at a path.
func schemaAt(path []string, schema doc.Doc) doc.Doc {
	for i := len(path) - 1; i >= 0; i-- {
		schema = doc.Single("properties", doc.Object(doc.Single(path[i], doc.Object(schema))))
	}
	return doc.Single("$jsonSchema", doc.Object(schema))
}

// at is the value at a path.
func (p *mismatch) at(path []string) doc.Value {
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

func (p *mismatch) properties(a *doc.Writer, arg doc.Value, path []string) {
	a.Array("propertiesNotSatisfied")
	defer a.Close()
	properties, _ := doc.AsDoc(arg)
	for name, v := range doc.Members(properties) {
		schema, ok := doc.AsDoc(v)
		// Siblings share the memory of path, so its capacity is cut and append copies.
		inner := append(path[:len(path):len(path)], name)
		if !ok || !p.fails(schemaAt(inner, schema)) || !p.hasRoom() {
			continue
		}
		a.Object(a.Index())
		a.String("propertyName", name)
		p.title(a, schema)
		p.schema(a, "details", schema, inner)
		a.Close()
	}
}

func (p *mismatch) required(a *doc.Writer, arg doc.Value, path []string) {
	a.Doc("specifiedAs", doc.Single("required", arg))
	have, _ := doc.AsDoc(p.at(path))
	a.Array("missingProperties")
	for v := range doc.Elements(arg) {
		if name, ok := doc.AsString(v); ok && doc.Lookup(have, name).Type == 0 && p.hasRoom() {
			a.String(a.Index(), name)
		}
	}
	a.Close()
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

func (p *mismatch) keyword(a *doc.Writer, name string, arg doc.Value, path []string) {
	a.Doc("specifiedAs", doc.Single(name, arg))
	if reason := keywordReasons[name]; reason != "" {
		a.String("reason", reason)
	}
	if name == "additionalProperties" {
		return
	}
	v := p.at(path)
	if v.Type == 0 || len(path) == 0 {
		return
	}
	writeConsidered(a, v)
	if name == "bsonType" || name == "type" {
		a.String("consideredType", code.TypeName(v))
	}
}
