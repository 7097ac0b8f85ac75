package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A countStage is $count: one document with the number of documents, or no document if there are none.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/count/
type countStage struct{ field string }

func (s *countStage) name() string { return "$count" }

func (s *countStage) rows(_ *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		n := int64(0)
		for _, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			n++
		}
		if n > 0 {
			yield(s.document(n), nil)
		}
	}
}

func (s *countStage) document(n int64) doc.Doc {
	out, at := beginDoc(nil)
	return endDoc(doc.AppendElement(out, s.field, integer(n)), at)
}

func parseCount(c *compiler, arg doc.Value) (stage, error) {
	field, ok := doc.AsString(arg)
	switch {
	case !ok || arg.Type != bsoncore.TypeString:
		return nil, code.New(40156, "the count field must be a non-empty string")
	case field == "":
		return nil, code.New(40157, "the count field must be a non-empty string")
	case field[0] == '$':
		return nil, code.New(40158, "the count field cannot be a $-prefixed path")
	case strings.IndexByte(field, 0) >= 0:
		return nil, code.New(40159, "the count field cannot contain a null byte")
	case strings.Contains(field, "."):
		return nil, code.New(40160, "the count field cannot contain '.'")
	}
	return &countStage{field}, nil
}
