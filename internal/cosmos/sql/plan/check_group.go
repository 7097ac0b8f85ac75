package plan

import (
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// nested finds aggregates of aggregates and of subqueries.
func (c *checker) nested(e syntax.Expr) {
	walk(e, func(e syntax.Expr) bool {
		call, ok := e.(*syntax.Call)
		if !ok || call.UDF || !Aggregate(call.Name) {
			return true
		}
		for _, arg := range call.Args {
			walk(arg, func(e syntax.Expr) bool {
				inner, ok := e.(*syntax.Call)
				_, subquery := e.(*syntax.Subquery)
				if subquery || ok && !inner.UDF && Aggregate(inner.Name) {
					c.wrong("SC2101", call.Span, "Cannot perform an aggregate function on an expression containing an "+
						"aggregate or a subquery.")
					return false
				}
				return true
			})
		}
		return false
	})
}

// keys checks the expressions of GROUP BY: each must refer to its row, and must not have a subquery (reference,
// "GROUP BY", arguments and remarks).
func (c *checker) keys(q *syntax.Query, s *scope) {
	for _, e := range q.GroupBy {
		names, subqueries := false, false
		walk(e, func(e syntax.Expr) bool {
			switch e := e.(type) {
			case *syntax.Name:
				names = names || !s.constant(e.Name)
			case *syntax.Subquery:
				subqueries = true
			}
			return true
		})
		switch {
		case subqueries:
			c.wrong("SC2111", e.Pos(), "A subquery is not allowed in the GROUP BY clause.")
		case !names:
			c.wrong("SC2110", e.Pos(),
				"Each expression of the GROUP BY clause must contain at least one property reference.")
		}
	}
}

// grouped checks that rows of groups consist of group keys and aggregates. Names of enclosing queries are constant
// within a group.
func (c *checker) grouped(q *syntax.Query, s *scope) {
	if len(q.GroupBy) == 0 && !aggregates(q) {
		return
	}
	keys := syntax.NewTable(q.GroupBy)
	for _, e := range rowExprs(q) {
		c.ungrouped(e, keys, s, "SC2102", "select list")
	}
	if len(q.GroupBy) == 0 || len(q.OrderBy) == 0 {
		return
	}
	before := len(c.mistakes)
	for i := range q.OrderBy {
		c.ungrouped(q.OrderBy[i].Expr, keys, s, "SC2102", "ORDER BY clause")
	}
	if len(c.mistakes) == before {
		c.wrong("SC2120", q.OrderBy[0].Span, "'ORDER BY' is not supported in presence of GROUP BY.")
	}
}

// ungrouped finds references to single rows.
func (c *checker) ungrouped(e syntax.Expr, keys *syntax.Table, s *scope, code, where string) {
	walk(e, func(e syntax.Expr) bool {
		if keys.Has(e) {
			return false
		}
		switch x := e.(type) {
		case *syntax.Call:
			return x.UDF || !Aggregate(x.Name)
		case *syntax.Name, *syntax.Member, *syntax.Index:
			if name, ok := base(e); ok {
				if _, own, _ := s.find(name); own && !ofKey(e, keys) {
					c.wrong(code, e.Pos(), "Property reference '%s' is invalid in the %s because it is not contained "+
						"in either an aggregate function or the GROUP BY clause.", syntax.Print(e), where)
				}
				return false
			}
		}
		return true
	})
}

// ofKey reports that a reference is a group key or below one.
func ofKey(e syntax.Expr, keys *syntax.Table) bool {
	for e != nil {
		if keys.Has(e) {
			return true
		}
		switch x := e.(type) {
		case *syntax.Member:
			e = x.Of
		case *syntax.Index:
			e = x.Of
		default:
			return false
		}
	}
	return false
}

// base is the first name of a reference.
func base(e syntax.Expr) (name string, ok bool) {
	for {
		switch x := e.(type) {
		case *syntax.Name:
			return x.Name, true
		case *syntax.Member:
			e = x.Of
		case *syntax.Index:
			e = x.Of
		default:
			return "", false
		}
	}
}
