// Package explain shows how a command would find its documents. It compiles the command as its execution does, runs its
// reads if that is asked for, and writes nothing: what a write would do is found out on copies.
// https://www.mongodb.com/docs/v7.0/reference/command/explain/
package explain

import (
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// A Request is the command that is explained.
type Request struct {
	*call.Request
	MayRun query.MayRun // decides whether the client may run the pipeline of a view
}

// explainers are the commands that can be explained.
var explainers = map[string]func(r *Request, x *query.Explanation) error{
	"aggregate":     explainAggregate,
	"count":         explainCount,
	"delete":        explainDelete,
	"distinct":      explainDistinct,
	"find":          explainFind,
	"findAndModify": explainFindAndModify,
	"update":        explainUpdate,
}

// Knows reports whether a command can be explained.
func Knows(command string) bool { return explainers[command] != nil }

// Explain writes the plan of a command that can be explained.
func (r *Request) Explain(x *query.Explanation) error { return explainers[r.Name](r, x) }

func explainAggregate(r *Request, x *query.Explanation) error {
	over, err := query.ReadAggregation(r.Request)
	if err != nil {
		return err
	}
	return x.Aggregate(&r.Operation, over)
}
