package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Counted splits off a first stage that needs nothing but the number of its documents: $count, and a $group of all
// documents that adds up ones, which is what drivers send for countDocuments. made is its only document for a number
// above 0; there is none for 0.
func (p *Pipeline) Counted() (made func(n int64) doc.Doc, rest *Pipeline, ok bool) {
	if len(p.stages) == 0 || len(p.specs) != len(p.stages) {
		return nil, nil, false
	}
	switch s := p.stages[0].(type) {
	case *countStage:
		made, ok = s.document, true
	case *group:
		made, ok = countingGroup(doc.Lookup(p.specs[0], "$group"))
	}
	if !ok {
		return nil, nil, false
	}
	return made, &Pipeline{stages: p.stages[1:], names: p.names, specs: p.specs[1:]}, true
}

// countingGroup reads a $group whose _id is a constant and whose fields are all {$sum: 1}.
func countingGroup(spec doc.Value) (made func(n int64) doc.Doc, ok bool) {
	key, fields := doc.Value{}, []string(nil)
	for name, v := range doc.Members(spec.Data) {
		if name == "_id" {
			if key = v; !isConstant(v) {
				return nil, false
			}
			continue
		}
		sum, _ := doc.AsDoc(v)
		one := doc.Lookup(sum, "$sum")
		if n, _ := doc.AsInt(one); one.Type != bsoncore.TypeInt32 || n != 1 {
			return nil, false
		}
		fields = append(fields, name)
	}
	return func(n int64) doc.Doc {
		out, at := beginDoc(nil)
		out = doc.AppendElement(out, "_id", key)
		for _, name := range fields {
			out = doc.AppendElement(out, name, integer(n))
		}
		return endDoc(out, at)
	}, true
}

// isConstant reports that a value is no expression.
func isConstant(v doc.Value) bool {
	switch v.Type {
	case bsoncore.TypeNull, bsoncore.TypeBoolean, bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDouble:
		return true
	case bsoncore.TypeString:
		s, _ := doc.AsString(v)
		return !strings.HasPrefix(s, "$")
	}
	return false
}
