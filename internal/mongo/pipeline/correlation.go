package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A correlation is {$expr: {$eq: ["$path", "$$variable"]}} in the first $match of a join's pipeline. With it the join
// reads only the documents with that value, which an index may find. The $match still runs and decides.
type correlation struct {
	path     path
	text     string
	variable *expression.Expression
}

// correlated finds the first correlation of a pipeline, or nil.
func correlated(p *Pipeline, names *expression.Names) *correlation {
	if len(p.stages) == 0 {
		return nil
	}
	first, ok := p.stages[0].(*match)
	if !ok {
		return nil
	}
	for name, v := range doc.Members(first.query) {
		switch {
		case name == "$expr":
			if c := inExpression(v, names, 0); c != nil {
				return c
			}
		case name == "$and":
			for q := range doc.Elements(v) {
				if !isObject(q) {
					continue
				}
				if c := inExpression(doc.Lookup(q.Data, "$expr"), names, 0); c != nil {
					return c
				}
			}
		}
	}
	return nil
}

// inExpression looks for a correlation in {$eq: [...]} and {$and: [...]}.
func inExpression(v doc.Value, names *expression.Names, depth int) *correlation {
	if !isObject(v) || depth > MaxDepth {
		return nil
	}
	if all := doc.Lookup(v.Data, "$and"); doc.IsArray(all) {
		for e := range doc.Elements(all) {
			if c := inExpression(e, names, depth+1); c != nil {
				return c
			}
		}
	}
	var sides []string
	for e := range doc.Elements(doc.Lookup(v.Data, "$eq")) {
		text, _ := doc.AsString(e)
		sides = append(sides, text)
	}
	if len(sides) != 2 {
		return nil
	}
	if strings.HasPrefix(sides[0], "$$") {
		sides[0], sides[1] = sides[1], sides[0]
	}
	return newCorrelation(sides[0], sides[1], names)
}

func newCorrelation(field, variable string, names *expression.Names) *correlation {
	if !strings.HasPrefix(field, "$") || strings.HasPrefix(field, "$$") || !strings.HasPrefix(variable, "$$") {
		return nil
	}
	name, _, _ := strings.Cut(variable[2:], ".")
	if _, ours := names.Slot(name); !ours {
		return nil // $$ROOT and similar ones differ from document to document
	}
	p, err := parsePath(field[1:])
	if err != nil {
		return nil
	}
	x, err := expression.Compile(doc.String(variable), names)
	if err != nil {
		return nil
	}
	return &correlation{p, field[1:], x}
}

// value returns the variable's value. It is not ok if the documents with that value cannot be looked up. A lookup also
// finds arrays with the value as an element, and missing fields for null, which $eq does not accept. So it may return
// too many documents, never too few.
func (c *correlation) value(scope *expression.Scope) (doc.Value, bool) {
	v, err := c.variable.Evaluate(scope)
	if err != nil || v.Type == 0 || v.Type == bsoncore.TypeUndefined || v.Type == bsoncore.TypeRegex {
		return doc.Value{}, false
	}
	return v, true
}

// compileOneOf is the filter {path: {$in: values}}.
func compileOneOf(m *work.Meter, path string, values []doc.Value, patterns bool) (*filter.Filter, error) {
	return filter.Compile(oneOfQuery(path, values, patterns), filter.Options{Meter: m})
}
