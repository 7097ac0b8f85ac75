package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A skip is $skip.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/skip/
type skip struct{ n int64 }

func (s *skip) name() string { return "$skip" }

func (s *skip) rows(_ *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		left := s.n
		for d, err := range in {
			if err == nil && left > 0 {
				left--
				continue
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

func parseSkip(c *compiler, arg doc.Value) (stage, error) {
	if !doc.IsNumberBSON(arg) {
		return nil, code.New(5107200, "invalid argument to $skip stage: Expected a number in: $skip: %s",
			code.Show(arg))
	}
	n, ok := doc.AsInt64Exact(arg)
	switch {
	case !ok:
		return nil, code.New(5107200, "invalid argument to $skip stage: Expected an integer: $skip: %s", code.Show(arg))
	case n < 0:
		return nil, code.New(5107200, "invalid argument to $skip stage: Expected a non-negative number in: $skip: %s",
			code.Show(arg))
	}
	return &skip{n}, nil
}
