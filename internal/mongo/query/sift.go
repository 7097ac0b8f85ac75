package query

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// CompileSift compiles a query over documents that a command makes; an empty one selects all.
func CompileSift(r *call.Request, wanted doc.Doc) (func(doc.Doc) (bool, error), error) {
	if doc.IsEmpty(wanted) {
		return func(doc.Doc) (bool, error) { return true, nil }, nil
	}
	f, err := filter.Compile(wanted, filter.Options{Meter: r.Work()})
	if err != nil {
		return nil, err
	}
	q := Selection{Filter: f}
	s := q.Scope(&r.Operation)
	return func(d doc.Doc) (bool, error) { return q.Matches(d, s) }, nil
}
