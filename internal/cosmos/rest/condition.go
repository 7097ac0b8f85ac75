package rest

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A condition is the filter predicate of a patch: `FROM c WHERE …` in the query language.
type condition struct {
	ctx   context.Context // of the request
	view  catalog.View
	query *exec.Query
}

// Limits of a condition: its length, and the time from parsing to the last evaluation. Concurrent writes of the item
// cause more evaluations.
const (
	maxCondition  = 64 << 10
	conditionTime = 5 * time.Second
)

// parseCondition parses the member `condition`. It returns nil if there is none.
func parseCondition(ctx context.Context, v catalog.View, text doc.Value) (*condition, error) {
	if doc.IsUndefined(text) || doc.IsNull(text) {
		return nil, nil
	}
	s, ok := doc.AsString(text)
	switch {
	case !ok:
		return nil, fault.New(fault.Invalid,
			"The condition of a patch is a string, such as \"from c where c.taskNum = 3\".")
	case len(s) > maxCondition:
		return nil, fault.New(fault.Invalid, "The condition of the patch has %d bytes, more than the limit of %d.",
			len(s), maxCondition)
	}
	tree, err := syntax.Parse(s)
	if err != nil {
		return nil, err
	}
	if tree.Select.Pos() != (syntax.Span{}) || len(tree.From) != 1 || tree.OrderBy != nil || tree.GroupBy != nil ||
		tree.Limit != nil {
		return nil, fault.New(fault.Invalid,
			"The condition of a patch is FROM and WHERE, such as \"from c where c.taskNum = 3\".")
	}
	stop := stopAfter(ctx, clock.Start(), conditionTime)
	query, err := exec.Prepare(tree, exec.Environment{Now: time.Unix(v.Now, 0), NoIndex: true, Stop: stop}, nil)
	return &condition{ctx, v, query}, err
}

// holds reports whether an item satisfies the condition.
func (c *condition) holds(d *access.Document) (bool, error) {
	system, _ := appendSystem(nil, nil, c.view.Container, d)
	return c.query.Match(c.ctx, d, system)
}
