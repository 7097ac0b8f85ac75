package exec

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// textTest is plan.Environment.Test. Compiling counts as work of the query, and so does each test. If the query must
// stop, nothing is certain, and it ends with the first document.
func (c *compiler) textTest(e syntax.Expr, want bool) access.Test {
	slot := c.slot()
	n, err := c.expr(e, &scope{names: []binding{{name: plan.TextName, slot: slot}}})
	if err != nil {
		return nil
	}
	holds, wanted := n.truth(), triOf(want)
	f := &frame{meter: c.meter}
	return func(text doc.Value) (passes, certain bool) {
		if f.slots == nil {
			f.slots = make([]doc.Value, c.slots)
		}
		f.err = nil
		f.reset()
		f.slots[slot] = text
		if passes = f.work(rowUnits) && holds(f) == wanted; f.err != nil {
			return true, false
		}
		return passes, true
	}
}
