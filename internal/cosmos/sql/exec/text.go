package exec

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A texts makes the tests of plan.Environment. Tests follow one another, so they share a frame, whose only slot is the
// text: their expressions have no aliases of their own.
type texts struct {
	compiler
	frame frame
	scope scope
}

// newTexts makes the tests of a query, whose meter they use: compiling counts as work, and so does each test.
func newTexts(env Environment, of *compiler) *texts {
	t := &texts{compiler: *newCompiler(env)}
	t.meter, t.function = of.meter, nil // there is no user-defined function in a test
	t.scope.names = []binding{{name: plan.TextName, slot: t.slot()}}
	t.frame.meter, t.frame.slots = of.meter, make([]doc.Value, 1)
	return t
}

// test is plan.Environment.Test. Once the query must stop, nothing is certain.
func (t *texts) test(e syntax.Expr, want bool) access.Test {
	n, err := t.expr(e, &t.scope)
	if err != nil {
		return nil
	}
	f, holds, wanted := &t.frame, n.truth(), triOf(want)
	return func(text doc.Value) (passes, certain bool) {
		f.err = nil
		f.reset()
		f.slots[0] = text
		passes = f.work(rowUnits) && holds(f) == wanted
		if f.slots[0] = (doc.Value{}); f.err != nil {
			return true, false
		}
		return passes, true
	}
}
