package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A documents is $documents: rows that the pipeline itself contains.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/documents/
type documents struct{ value *expression.Expression }

func (s *documents) name() string { return "$documents" }

func (s *documents) open(r *run) Rows {
	return func(yield func(doc.Doc, error) bool) {
		scope := r.scope()
		scope.Reset(doc.Object(doc.Empty))
		v, err := s.value.Evaluate(scope)
		if err == nil && !doc.IsArray(v) {
			err = code.New(5858203, "an array is expected")
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for e := range doc.Elements(v) {
			if !isObject(e) {
				yield(nil,
					code.New(40228, "'newRoot' expression  must evaluate to an object, but resulting value was: %s. "+
						"Type of resulting value: '%s'. Input document: {}", code.Show(e), code.TypeName(e)))
				return
			}
			if !yield(e.Data, nil) {
				return
			}
		}
	}
}

func parseDocuments(c *compiler, arg doc.Value) (stage, error) {
	x, err := expression.Compile(arg, c.names)
	return &documents{x}, err
}
