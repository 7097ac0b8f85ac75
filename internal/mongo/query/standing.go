package query

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// CompileStanding compiles a query that no operation evaluates, but the server by itself. The result is safe for
// concurrent use. begin is called for each document. What it returns ends the evaluation by an error, after which the
// document is not selected. The query has no $expr.
func CompileStanding(query doc.Doc, begin func() (stop func() error)) (func(doc.Doc) bool, error) {
	f, err := filter.Compile(bytes.Clone(query), filter.Options{})
	if err != nil {
		return nil, err
	}
	if f.NeedsScope() {
		return nil, code.Unsupported("$expr in a query that the server evaluates by itself")
	}
	return func(d doc.Doc) bool {
		ok, err := f.Match(d, &expression.Scope{Meter: &work.Meter{Stop: begin()}})
		return ok && err == nil
	}, nil
}
