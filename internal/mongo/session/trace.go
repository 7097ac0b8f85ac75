package session

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

// A Trace is what the log tells of a slow operation, and the profiler of any.
type Trace struct {
	On       bool         // slow operations are logged, or a database is profiled
	Plan     *plan.Plan   // the first that was followed
	Stats    access.Stats // of all that were followed
	Points   uint64       // documents looked up by _id, which needs no plan
	Returned int64

	// What the answer says, if On.
	Bytes, N, Modified, CursorID int64
}

// TracePlan notes a plan that is about to be followed by a.
func (o *Operation) TracePlan(p *plan.Plan, a *access.Access) {
	if o.Trace.Plan == nil {
		o.Trace.Plan = p
		if o.Planned != nil {
			o.Planned.Store(p)
		}
	}
	if a.Stats == nil && o.Trace.On {
		a.Stats = &o.Trace.Stats
	}
}

// Answered notes an answer.
func (t *Trace) Answered(d doc.Doc) {
	t.Bytes = int64(len(d))
	t.N, _ = doc.AsInt64Exact(doc.Lookup(d, "n"))
	t.Modified, _ = doc.AsInt64Exact(doc.Lookup(d, "nModified"))
	cursor, _ := doc.AsDoc(doc.Lookup(d, "cursor"))
	t.CursorID, _ = doc.AsInt64Exact(doc.Lookup(cursor, "id"))
}
