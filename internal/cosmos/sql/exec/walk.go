package exec

import "github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"

// walk visits an expression and all below it, except what is in subqueries.
func walk(e syntax.Expr, visit func(syntax.Expr)) {
	if e == nil {
		return
	}
	visit(e)
	switch x := e.(type) {
	case *syntax.Member:
		walk(x.Of, visit)
	case *syntax.Index:
		walk(x.Of, visit)
		walk(x.Index, visit)
	case *syntax.Unary:
		walk(x.X, visit)
	case *syntax.Binary:
		walk(x.X, visit)
		walk(x.Y, visit)
	case *syntax.Conditional:
		walk(x.Cond, visit)
		walk(x.Then, visit)
		walk(x.Else, visit)
	case *syntax.Between:
		walk(x.X, visit)
		walk(x.Low, visit)
		walk(x.High, visit)
	case *syntax.In:
		walk(x.X, visit)
		walkAll(x.List, visit)
	case *syntax.Like:
		walk(x.X, visit)
		walk(x.Pattern, visit)
	case *syntax.Call:
		walkAll(x.Args, visit)
	case *syntax.Array:
		walkAll(x.Items, visit)
	case *syntax.Object:
		for i := range x.Members {
			walk(x.Members[i].X, visit)
		}
	}
}

func walkAll(list []syntax.Expr, visit func(syntax.Expr)) {
	for _, e := range list {
		walk(e, visit)
	}
}

// hasAggregate reports whether a query's SELECT has an aggregate of its own.
func hasAggregate(q *syntax.Query) bool {
	found := false
	visit := func(e syntax.Expr) {
		_, ok := aggregate(e)
		found = found || ok
	}
	if q.Select.Value != nil {
		walk(q.Select.Value, visit)
	}
	for i := range q.Select.Items {
		walk(q.Select.Items[i].Expr, visit)
	}
	return found
}
