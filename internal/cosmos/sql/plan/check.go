package plan

import (
	"fmt"
	"strings"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// maxMistakes is the largest number of mistakes in an error.
const maxMistakes = 16

// A checker finds mistakes that the grammar allows. Codes and messages are the service's where public sources show
// them.
type checker struct {
	resolver
	mistakes []syntax.Mistake
}

func (c *checker) wrong(code string, at syntax.Span, format string, args ...any) {
	if len(c.mistakes) < maxMistakes {
		c.mistakes = append(c.mistakes, syntax.Mistake{Code: code, Message: fmt.Sprintf(format, args...), Span: at})
	}
}

func (c *checker) err() error {
	if len(c.mistakes) == 0 {
		return nil
	}
	return &syntax.Error{Mistakes: c.mistakes}
}

// query checks a query within an outer scope. inner is true for subqueries.
func (c *checker) query(q *syntax.Query, outer *scope, inner bool) {
	s := c.from(q, outer)
	c.clauses(q, inner)
	c.keys(q, s)
	c.names(q)
	if q.Where != nil {
		c.plain(q.Where, s, "SC2103", "the WHERE clause")
	}
	for _, e := range q.GroupBy {
		c.plain(e, s, "SC2111", "the GROUP BY clause")
	}
	for _, e := range rowExprs(q) {
		c.expr(e, s)
		c.nested(e)
	}
	c.grouped(q, s)
	for i := range q.OrderBy {
		c.plain(q.OrderBy[i].Expr, s, "SC2104", "the ORDER BY clause")
	}
	if q.Rank != nil {
		c.expr(q.Rank, s)
	}
	c.amount(q.Select.Top, "TOP")
	c.amount(q.Offset, "OFFSET")
	c.amount(q.Limit, "LIMIT")
}

// rowExprs lists the expressions of SELECT.
func rowExprs(q *syntax.Query) []syntax.Expr {
	if q.Select.Value != nil {
		return []syntax.Expr{q.Select.Value}
	}
	list := make([]syntax.Expr, len(q.Select.Items))
	for i := range q.Select.Items {
		list[i] = q.Select.Items[i].Expr
	}
	return list
}

// from checks the sources. Names to the left of a source are visible in it.
func (c *checker) from(q *syntax.Query, outer *scope) *scope {
	s := &scope{outer: outer}
	for i := range q.From {
		f := &q.From[i]
		switch {
		case f.Query != nil:
			c.query(f.Query, s, true)
		case !s.empty():
			if _, _, ok := s.find(f.Root); !ok {
				c.unresolved(f.Root, f.Span)
			}
		}
		name := f.Name()
		for _, b := range s.names {
			if b.name == name && name != "" {
				c.wrong("SC2021", f.Span, "The input alias '%s' is specified more than once in the FROM clause.", name)
			}
		}
		s.names = append(s.names, binding{name, c.source(f, s)})
	}
	if len(s.names) == 0 {
		// Without FROM there is no container.
		s.names = append(s.names, binding{})
	}
	return s
}

func (c *checker) unresolved(name string, at syntax.Span) {
	c.wrong("SC2001", at, "Identifier '%s' could not be resolved.", name)
}

// clauses checks which clauses may be combined.
func (c *checker) clauses(q *syntax.Query, inner bool) {
	limited := q.Offset != nil || q.Limit != nil
	if inner {
		if len(q.OrderBy) > 0 || q.Rank != nil {
			c.wrong("SC2202", q.Span, "'ORDER BY' is not supported in subqueries.")
		}
		if q.Select.Top != nil {
			c.wrong("SC2203", q.Select.Span, "'TOP' is not supported in subqueries.")
		}
		if limited {
			c.wrong("SC2204", q.Span, "'OFFSET LIMIT' clause is not supported in subqueries.")
		}
		return
	}
	if q.Select.Top != nil && limited {
		c.wrong("SC2205", q.Select.Span, "'TOP' cannot be used together with an 'OFFSET LIMIT' clause.")
	}
}

// names checks SELECT: the use of *, and the aliases. A condition, which begins with FROM, has an implicit * that is
// not checked.
func (c *checker) names(q *syntax.Query) {
	if q.Select.Star && q.Select.Span != (syntax.Span{}) {
		star := syntax.Span{Start: max(q.Select.Start, q.Select.End-1), End: q.Select.End}
		switch {
		case len(q.From) == 0:
			c.wrong("SC1021", star, "Syntax error, 'SELECT *' is not valid if FROM clause is omitted.")
		case len(q.From) > 1:
			c.wrong("SC2040", star, "'SELECT *' is only valid with a single input set.")
		case len(q.GroupBy) > 0:
			c.wrong("SC2041", star, "'SELECT *' is not allowed with GROUP BY.")
		}
	}
	seen := map[string]bool{}
	for i := range q.Select.Items {
		item := &q.Select.Items[i]
		name := item.Name()
		if name != "" && seen[name] {
			c.wrong("SC2022", item.Span, "The property name '%s' is specified more than once in the SELECT clause.",
				name)
		}
		seen[name] = true
	}
}

// plain checks an expression of a clause that applies to single rows.
func (c *checker) plain(e syntax.Expr, s *scope, code, where string) {
	c.expr(e, s)
	walk(e, func(e syntax.Expr) bool {
		if call, ok := e.(*syntax.Call); ok && !call.UDF && Aggregate(call.Name) {
			c.wrong(code, call.Span, "Aggregate function '%s' is not allowed in %s.", strings.ToUpper(call.Name), where)
			return false
		}
		return true
	})
}

// expr checks the names and calls in an expression, including subqueries.
func (c *checker) expr(e syntax.Expr, s *scope) {
	walk(e, func(e syntax.Expr) bool {
		switch x := e.(type) {
		case *syntax.Name:
			if _, _, ok := s.find(x.Name); !ok && !s.constant(x.Name) {
				c.unresolved(x.Name, x.Span)
			}
		case *syntax.Call:
			c.call(x)
		case *syntax.Subquery:
			c.query(x.Query, s, true)
		}
		return true
	})
}

// scoring are the functions of ORDER BY RANK.
var scoring = map[string]bool{"FULLTEXTSCORE": true, "RRF": true}

func (c *checker) call(x *syntax.Call) {
	if x.UDF {
		return
	}
	name, low, high := strings.ToUpper(x.Name), 1, 1
	f, known := function.Lookup(name)
	switch {
	case known:
		low, high = f.Min, f.Max
	case scoring[name]:
		low, high = 2, -1
	case !Aggregate(name):
		at := syntax.Span{Start: x.Start, End: min(x.Start+len(x.Name), x.End)}
		c.wrong("SC2005", at, "'%s' is not a recognized built-in function name.", x.Name)
		return
	}
	switch n := len(x.Args); {
	case n >= low && (n <= high || high < 0):
	case low == high:
		c.wrong("SC2050", x.Span, "The %s function requires %d argument(s).", name, low)
	case high < 0:
		c.wrong("SC2050", x.Span, "The %s function requires at least %d argument(s).", name, low)
	default:
		c.wrong("SC2050", x.Span, "The %s function requires %d to %d argument(s).", name, low, high)
	}
}

// amount checks the value of TOP, OFFSET or LIMIT, with parameters.
func (c *checker) amount(e syntax.Expr, clause string) {
	if e == nil {
		return
	}
	if v, ok := c.constant(e); ok && doc.IsNumber(v) {
		if n, ok := doc.AsInt(v); ok && n >= 0 {
			return
		}
	}
	c.wrong("", e.Pos(), "The value of %s must be a non-negative integer.", clause)
}
