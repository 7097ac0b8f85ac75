package session

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

// A Trace is what the log tells of a slow operation.
type Trace struct {
	On       bool         // slow operations are logged
	Plan     *plan.Plan   // the first that was followed
	Stats    access.Stats // of all that were followed
	Points   uint64       // documents looked up by _id, which needs no plan
	Returned int64
}

// TracePlan notes a plan that is about to be followed by a.
func (o *Operation) TracePlan(p *plan.Plan, a *access.Access) {
	if o.Trace.Plan == nil {
		o.Trace.Plan = p
	}
	if a.Stats == nil && o.Trace.On {
		a.Stats = &o.Trace.Stats
	}
}
