package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// A match is $match.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/match/
type match struct {
	query  doc.Doc
	filter *filter.Filter
}

func (s *match) name() string { return "$match" }

func (s *match) mapper(r *run) mapFunc {
	scope := r.scope()
	needs := s.filter.NeedsScope()
	return func(d doc.Doc) (doc.Doc, bool, error) {
		if needs {
			scope.Reset(doc.Object(d))
		}
		ok, err := s.filter.Match(d, scope)
		return d, ok, err
	}
}

func parseMatch(c *compiler, arg doc.Value) (stage, error) {
	query, ok := doc.AsDoc(arg)
	if !ok {
		return nil, code.New(15959, "the match filter must be an expression in an object")
	}
	f, err := filter.Compile(query, filter.Options{Names: c.names})
	if err != nil {
		return nil, err
	}
	return &match{query, f}, nil
}
