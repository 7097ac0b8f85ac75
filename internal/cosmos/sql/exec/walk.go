package exec

import "github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"

// walk visits an expression and everything below it, except subqueries.
func walk(e syntax.Expr, visit func(syntax.Expr)) {
	if e == nil {
		return
	}
	syntax.Walk(e, func(n syntax.Node) bool {
		if e, ok := n.(syntax.Expr); ok {
			visit(e)
		}
		_, inner := n.(*syntax.Subquery)
		return !inner
	})
}

// hasAggregate reports whether a query's own SELECT has an aggregate.
func hasAggregate(q *syntax.Query) bool {
	found := false
	visit := func(e syntax.Expr) {
		_, ok := aggregate(e)
		found = found || ok
	}
	walk(q.Select.Value, visit)
	for i := range q.Select.Items {
		walk(q.Select.Items[i].Expr, visit)
	}
	return found
}
