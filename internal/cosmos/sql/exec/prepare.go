package exec

import (
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A mode is a method of computing pages.
type mode uint8

const (
	modeStream       mode = iota // rows in the order of documents
	modeSorted                   // rows sorted in memory
	modeDistinct                 // distinct rows in order of value
	modeSortedUnique             // distinct rows in an order in which equal rows are neighbours
	modeSortedFirst              // distinct rows in an order in which equal rows may be apart
	modeGroups                   // one row per group, in order of keys
	modeGroupsUnique             // distinct rows of groups, in order of value
	modeAggregate                // one row over everything
	modeRank                     // rows in order of a score over all documents
	modes
)

// Blocking reports that pages of the query read all documents before they have a row, and cannot end early: when the
// time is up they fail.
func (q *Query) Blocking() bool { return q.mode != modeStream || q.inner != nil }

// prepare implements Prepare.
func prepare(q *syntax.Query, env Environment, resume []byte) (*Query, error) {
	out := &Query{compiler: newCompiler(env), schema: env.Schema}
	penv := plan.Environment{Schema: env.Schema, Base: env.Base, NoIndex: env.NoIndex, Constant: Constants(env),
		Test: newTexts(env, out.compiler).test}
	if resume != nil {
		t, err := decodeToken(resume, q.OrderBy)
		if err != nil {
			return nil, err
		}
		out.token = t
		if overDocuments(q) && !fromDerived(q) {
			penv.Resume = t.order
		}
	}
	q = withDistances(q, env.Distance)
	var err error
	if out.plan, err = plan.Build(q, penv); err != nil {
		return nil, env.orStopped(err)
	}
	if out.plan.Sort && out.plan.Order.Kind == plan.ByPartition {
		// Only a walk without an index has the store's own order.
		penv.NoIndex = true
		if out.plan, err = plan.Build(q, penv); err != nil {
			return nil, env.orStopped(err)
		}
	}
	if err := out.compile(q); err != nil {
		return nil, env.orStopped(err)
	}
	if !penv.NoIndex {
		out.table = out.tabulated()
	}
	if out.token == nil {
		out.token = &token{mode: out.mode, skip: out.sel.skip, take: out.sel.take}
	}
	return out, out.checkToken()
}

// orStopped returns the error of Stop in place of a planning error, if there is one: after a stop the planner lacks
// constants and may report misleading errors.
func (env *Environment) orStopped(err error) error {
	if env.Stop != nil {
		if stopped := env.Stop(); stopped != nil {
			return stopped
		}
	}
	return err
}

func newCompiler(env Environment) *compiler {
	return &compiler{parameters: env.Parameters, now: env.Now, function: env.Function,
		meter: &function.Meter{Stop: env.Stop}}
}

// constant computes an expression that does not depend on a document.
func (c *compiler) constant(e syntax.Expr) (doc.Value, bool) {
	if hasName(e) {
		return doc.Value{}, false
	}
	n, err := c.expr(e, &scope{})
	if err != nil || c.err != nil || !n.constant {
		return doc.Value{}, false
	}
	// The planner may read the value character by character, for example for the range of LIKE, so that counts as
	// work. Once the query must stop, there are no constants.
	return n.value, c.meter.Spend(1 + len(n.value.Data))
}

// hasName reports whether an expression is certainly not constant.
func hasName(e syntax.Expr) bool {
	found := false
	walk(e, func(e syntax.Expr) {
		switch x := e.(type) {
		case *syntax.Name, *syntax.Subquery:
			found = true
		case *syntax.Call:
			found = found || x.UDF
		}
	})
	return found
}

// compile compiles the whole query, and the queries it is derived from.
func (q *Query) compile(tree *syntax.Query) (err error) {
	if q.sel, err = q.compiler.selection(tree, &scope{}); err != nil {
		return err
	}
	q.order = q.plan.Order
	if fromDerived(tree) || !overDocuments(tree) {
		q.order = plan.Order{} // rows are ordered by number
	}
	if err := q.compileOrder(); err != nil {
		return err
	}
	q.mode = q.chooseMode(tree)
	if q.mode == modeRank {
		if q.rank, err = q.compiler.ranking(tree.Rank, q.sel.scope); err != nil {
			return err
		}
	}
	at, sel := &q.inner, tree
	for fromDerived(sel) {
		sel = sel.From[0].Query
		inner, err := q.compiler.selection(sel, &scope{})
		if err == nil {
			err = q.compiler.orderBy(sel.OrderBy, inner)
		}
		if err != nil {
			return err
		}
		*at = &inside{selection: inner}
		at = &(*at).inner
	}
	q.documents = overDocuments(sel)
	if q.inner == nil && q.documents && q.plan.Exact && certain(q.plan.Access.Of) {
		q.sel.filters = make([][]test, len(q.sel.sources)) // all that is read satisfies WHERE
	}
	return q.compiler.err
}

// certain reports that a walk visits what is selected and nothing else.
func certain(s access.Selection) bool {
	switch s.(type) {
	case nil, access.Scope, *access.Lookup:
		return true
	}
	return false
}

// fromDerived reports that a query runs over the rows of a query that must read all documents first.
func fromDerived(q *syntax.Query) bool {
	return len(q.From) > 0 && q.From[0].Query != nil && derived(q.From[0].Query)
}

// overDocuments reports whether a query reads documents at all.
func overDocuments(q *syntax.Query) bool {
	return len(q.From) > 0 && (q.From[0].Query == nil || overDocuments(q.From[0].Query))
}

// compileOrder compiles the keys of the plan's order. An implied order refers to the document by its own name.
func (q *Query) compileOrder() error {
	order, sel := &q.order, q.sel
	if order.Implied {
		sel = &selection{scope: &scope{names: []binding{{name: documentName, document: true}}}}
	}
	err := q.compiler.orderBy(order.Keys, sel)
	q.sel.order = sel.order
	return err
}

func (q *Query) chooseMode(tree *syntax.Query) mode {
	ordered := q.order.Kind == plan.ByValue && !q.order.Implied
	switch sel := q.sel; {
	case sel.grouped && len(sel.keys) == 0:
		return modeAggregate
	case sel.grouped && sel.distinct:
		return modeGroupsUnique
	case sel.grouped:
		return modeGroups
	case tree.Rank != nil:
		return modeRank
	case sel.distinct && !ordered:
		return modeDistinct
	case sel.distinct && covered(tree):
		return modeSortedUnique
	case sel.distinct:
		return modeSortedFirst
	case q.plan.Sort && q.order.Kind == q.plan.Order.Kind && overDocuments(tree) && !fromDerived(tree):
		return modeSorted
	}
	return modeStream
}

// covered reports that a row determines its sort keys: each expression of ORDER BY is in SELECT.
func covered(q *syntax.Query) bool {
	if q.Select.Star {
		return true
	}
	shown := []syntax.Expr{q.Select.Value}
	if q.Select.Value == nil {
		shown = make([]syntax.Expr, len(q.Select.Items))
		for i := range q.Select.Items {
			shown[i] = q.Select.Items[i].Expr
		}
	}
	table := syntax.NewTable(shown)
	for i := range q.OrderBy {
		e := q.OrderBy[i].Expr
		for !table.Has(e) {
			m, ok := e.(*syntax.Member)
			if !ok {
				return false
			}
			e = m.Of
		}
	}
	return true
}

// checkToken rejects a token that another query must have created.
func (q *Query) checkToken() error {
	t := q.token
	stream := t.mode == modeStream || t.mode == modeSorted
	if t.mode != q.mode && !(stream && (q.mode == modeStream || q.mode == modeSorted)) {
		return errToken
	}
	switch {
	case t.skip > q.sel.skip, (t.take < 0) != (q.sel.take < 0), t.take > q.sel.take:
		return errToken
	case t.after == nil, q.inner != nil && q.mode == modeStream, q.inner == nil && q.order.Kind == plan.ByPartition:
		return nil
	}
	if q.order.Kind == plan.ByValue || q.mode == modeRank {
		values, _, ok := t.after.Values()
		want := len(q.order.Keys)
		if q.mode == modeRank {
			want = 1
		}
		if !ok || len(values) < want {
			return errToken
		}
		return nil
	}
	if _, ok := t.after.Number(); !ok {
		return errToken
	}
	return nil
}

// match is Match.
func (q *Query) match(ctx context.Context, d *access.Document, system doc.Doc) (found bool, err error) {
	if q.inner != nil || q.sel.grouped {
		return false, fault.New(fault.Invalid, "A condition has FROM and WHERE only.")
	}
	f := q.frame(fixedSystem{system})
	f.meter.Context, f.meter.Err = ctx, nil
	f.begin(d)
	q.sel.each(f, func(int) bool {
		found = true
		return false
	})
	return found && f.err == nil, f.err
}

// frame is a new frame for the query.
func (q *Query) frame(source Source) *frame {
	return &frame{meter: q.compiler.meter, source: source, slots: make([]doc.Value, q.compiler.slots)}
}
