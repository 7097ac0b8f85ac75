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
	if len(p.stages) == 0 {
		return nil, nil, false
	}
	switch s := p.stages[0].(type) {
	case *countStage:
		made = s.document
	case *group:
		made = s.counts
	}
	if made == nil {
		return nil, nil, false
	}
	return made, &Pipeline{stages: p.stages[1:], names: p.names, specs: p.specs[min(1, len(p.specs)):]}, true
}

// countingGroup makes the only group of a $group whose _id is a constant and whose fields are all {$sum: 1}. It is nil
// for every other one.
func countingGroup(spec doc.Value) (made func(n int64) doc.Doc) {
	key, fields := doc.Value{}, []string(nil)
	for name, v := range doc.Members(spec.Data) {
		if name == "_id" {
			if key = v; !isConstant(v) {
				return nil
			}
			continue
		}
		sum, _ := doc.AsDoc(v)
		one := doc.Lookup(sum, "$sum")
		if n, _ := doc.AsInt(one); one.Type != bsoncore.TypeInt32 || n != 1 {
			return nil
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
	}
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
