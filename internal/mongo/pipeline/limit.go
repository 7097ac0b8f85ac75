package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A limitStage is $limit.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/limit/
type limitStage struct{ n int64 }

func (s *limitStage) name() string { return "$limit" }

func (s *limitStage) rows(_ *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		left := s.n
		for d, err := range in {
			left--
			if !yield(d, err) || left <= 0 {
				return
			}
		}
	}
}

func parseLimit(c *compiler, arg doc.Value) (stage, error) {
	if !doc.IsNumberBSON(arg) {
		return nil, code.New(5107201, "invalid argument to $limit stage: Expected a number in: $limit: %s",
			code.Show(arg))
	}
	n, ok := doc.AsInt64Exact(arg)
	switch {
	case !ok:
		return nil, code.New(5107201, "invalid argument to $limit stage: Expected an integer: $limit: %s",
			code.Show(arg))
	case n < 0:
		return nil, code.New(5107201, "invalid argument to $limit stage: Expected a non-negative number in: $limit: %s",
			code.Show(arg))
	case n == 0:
		return nil, code.New(15958, "the limit must be positive")
	}
	return &limitStage{n}, nil
}
