package plan

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A reducer reduces filters to conditions in three-valued logic: an expression is true, false or undefined, so if it
// is not true it need not be false.
type reducer struct {
	resolver
	test  func(e syntax.Expr, want bool) access.Test // Environment.Test; may be nil
	tests int                                        // that were made

	left   int  // number of expressions and values that may still be examined
	counts bool // documents are only counted, so a range may have most of them
}

// maxReduced is how many expressions and values of a filter are examined. The rest of the filter is treated as
// unknown.
const maxReduced = 1 << 16

// spend counts n of them, and reports that there are too many.
func (r *reducer) spend(n int) bool {
	r.left -= n
	return r.left < 0
}

// reduce is the condition of documents that have a row for which e evaluates to want, which is true or false.
func (r *reducer) reduce(e syntax.Expr, want bool, s *scope) condition {
	if r.spend(1) {
		return unknown
	}
	c := r.ranges(e, want, s)
	if c.kind == everything && !c.exact {
		return r.tested(e, want, s)
	}
	return c
}

// ranges is reduce to conditions on ranges of values.
func (r *reducer) ranges(e syntax.Expr, want bool, s *scope) condition {
	switch x := e.(type) {
	case *syntax.Unary:
		if x.Op == syntax.Not {
			return r.reduce(x.X, !want, s)
		}
	case *syntax.Binary:
		switch x.Op {
		case syntax.And, syntax.Or:
			// AND is false as soon as one side is, and OR true.
			sides := r.sides(x, want, s)
			if (x.Op == syntax.And) == want {
				return both(sides...)
			}
			return either(sides...)
		}
	}
	if v, ok := r.constant(e); ok {
		if b, is := doc.AsBool(v); is && b == want {
			return always()
		}
		return never()
	}
	switch x := e.(type) {
	case *syntax.Binary:
		return r.counted(r.comparison(x.Op, x.X, x.Y, want, s))
	case *syntax.Between:
		low := r.comparison(syntax.Ge, x.X, x.Low, want != x.Not, s)
		high := r.comparison(syntax.Le, x.X, x.High, want != x.Not, s)
		if want != x.Not {
			return both(low, high)
		}
		return either(low, high)
	case *syntax.In:
		if want != x.Not {
			return r.counted(r.in(x, s))
		}
		return r.counted(r.notIn(x, s))
	case *syntax.Like:
		if want != x.Not {
			return r.like(x, s)
		}
	case *syntax.Call:
		if want && !x.UDF {
			return r.counted(r.call(strings.ToUpper(x.Name), x.Args, s))
		}
	case *syntax.Subquery:
		if want && x.Kind == syntax.Exists {
			return r.exists(x.Query, s)
		}
	case *syntax.Name, *syntax.Member, *syntax.Index:
		return equals(r.place(e, s), doc.Bool(want))
	}
	return unknown
}

// counted is c, or unknown if there are too many conditions in total.
func (r *reducer) counted(c condition) condition {
	if r.spend(c.size()) {
		return unknown
	}
	return c
}

// sides reduces the operands of a chain of one operator.
func (r *reducer) sides(x *syntax.Binary, want bool, s *scope) []condition {
	operands := []syntax.Expr{x.Y}
	left := x.X
	for b, ok := left.(*syntax.Binary); ok && b.Op == x.Op; b, ok = left.(*syntax.Binary) {
		operands, left = append(operands, b.Y), b.X
	}
	list := []condition{r.reduce(left, want, s)}
	for _, operand := range slices.Backward(operands) {
		list = append(list, r.reduce(operand, want, s))
	}
	return list
}

// opposites are the comparisons that are true for two values of one type exactly when the other one is false, except
// for NaN.
var opposites = map[syntax.Op]syntax.Op{
	syntax.Eq: syntax.Ne, syntax.Ne: syntax.Eq,
	syntax.Lt: syntax.Ge, syntax.Ge: syntax.Lt,
	syntax.Gt: syntax.Le, syntax.Le: syntax.Gt,
}

// mirrors are the comparisons with swapped operands.
var mirrors = map[syntax.Op]syntax.Op{
	syntax.Eq: syntax.Eq, syntax.Ne: syntax.Ne,
	syntax.Lt: syntax.Gt, syntax.Gt: syntax.Lt,
	syntax.Le: syntax.Ge, syntax.Ge: syntax.Le,
}

func (r *reducer) comparison(op syntax.Op, x, y syntax.Expr, want bool, s *scope) condition {
	opposite, ok := opposites[op]
	if !ok {
		return unknown
	}
	holdsForNaN := (op == syntax.Ne) == want
	if !want {
		op = opposite
	}
	v, ok := r.constant(y)
	if !ok {
		if v, ok = r.constant(x); !ok {
			return unknown
		}
		x, op = y, mirrors[op]
	}
	switch {
	case doc.IsUndefined(v):
		return never()
	case function.IsNaN(v): // != is true for NaN, and the other comparisons are false
		if holdsForNaN {
			return unknown
		}
		return never()
	}
	p := r.place(x, s)
	switch op {
	case syntax.Eq:
		return equals(p, v)
	case syntax.Ne:
		if doc.RankOf(v) == doc.RankNull { // other values would leave most documents
			return span(p, &access.Bound{Value: v, Open: true}, nil, true)
		}
		return r.unequal(p, []doc.Value{v})
	}
	return compares(p, op, v)
}

// in treats IN as equality with one of the list.
func (r *reducer) in(x *syntax.In, s *scope) condition {
	if len(x.List) > maxAlternatives || r.spend(len(x.List)) {
		return unknown
	}
	list := make([]condition, len(x.List))
	for i, y := range x.List {
		list[i] = r.equal(x.X, y, s)
	}
	return either(list...)
}

// notIn treats NOT IN as the ranges between the values of the list. Undefined and NaN equal no value.
func (r *reducer) notIn(x *syntax.In, s *scope) condition {
	if !r.counts || len(x.List) > maxAlternatives || r.spend(len(x.List)) {
		return unknown
	}
	var values []doc.Value
	for _, y := range x.List {
		v, ok := r.constant(y)
		if !ok {
			return unknown
		}
		if !doc.IsUndefined(v) && !function.HasNaN(v) {
			values = append(values, v)
		}
	}
	return r.unequal(r.place(x.X, s), values)
}

// unequal is the condition that there is a value at p, of any type, that is none of the values. These are sorted.
func (r *reducer) unequal(p place, values []doc.Value) condition {
	if !r.counts || slices.ContainsFunc(values, func(v doc.Value) bool { return !counts(v) }) {
		return unknown
	}
	slices.SortFunc(values, access.Compare)
	var low *access.Bound
	parts := make([]condition, 0, len(values)+1)
	for _, v := range values {
		bound := &access.Bound{Value: v, Open: true}
		if compareEdges(lowEdge(low), highEdge(bound)) < 0 {
			parts = append(parts, span(p, low, bound, true))
		}
		low = bound
	}
	return either(append(parts, span(p, low, nil, true))...)
}

func (r *reducer) equal(x, y syntax.Expr, s *scope) condition {
	a, isA := r.constant(x)
	b, isB := r.constant(y)
	if !isA || !isB {
		return r.comparison(syntax.Eq, x, y, true, s)
	}
	if !doc.IsUndefined(a) && function.Equal(a, b) {
		return always()
	}
	return never()
}

func (r *reducer) like(x *syntax.Like, s *scope) condition {
	pattern, ok := r.text(x.Pattern)
	if !ok {
		return unknown
	}
	escape := ""
	if x.Escape != nil {
		if escape, ok = r.text(x.Escape); !ok {
			return unknown
		}
	}
	p := r.place(x.X, s)
	prefix, rest := likePrefix(pattern, escape)
	switch {
	case rest == "":
		return equals(p, doc.String(prefix))
	case strings.Trim(rest, "%") == "":
		return begins(p, prefix)
	case prefix == "":
		return unknown
	}
	return begins(p, prefix).roughly()
}

// likePrefix splits a pattern at its first wildcard. Wildcards are ASCII, so bytes of multi-byte characters never
// match them.
func likePrefix(pattern, escape string) (prefix, rest string) {
	var text strings.Builder
	for i := 0; i < len(pattern); i++ {
		if escape != "" && strings.HasPrefix(pattern[i:], escape) && i+len(escape) < len(pattern) {
			i += len(escape)
		} else if strings.IndexByte("%_[", pattern[i]) >= 0 {
			return text.String(), pattern[i:]
		}
		text.WriteByte(pattern[i])
	}
	return text.String(), ""
}

// text is the value of a constant string expression.
func (r *reducer) text(e syntax.Expr) (string, bool) {
	v, ok := r.constant(e)
	if !ok {
		return "", false
	}
	s, ok := doc.AsString(v)
	return s, ok
}

// exists reduces EXISTS over parts of a document to the condition in its filter. A subquery with an aggregate always
// has a row.
func (r *reducer) exists(q *syntax.Query, s *scope) condition {
	if len(q.From) == 0 || aggregates(q) {
		return unknown
	}
	inner := r.bind(q, s)
	if q.Where != nil {
		return r.reduce(q.Where, true, inner).roughly()
	}
	last := inner.names[len(inner.names)-1]
	return span(last.place, nil, nil, false)
}

// rows is the condition of documents that can contribute to a query over the container, through all subqueries in
// FROM.
func (r *reducer) rows(q *syntax.Query) condition {
	c := always()
	if len(q.From) > 0 && q.From[0].Query != nil {
		c = r.rows(q.From[0].Query).roughly()
	}
	if q.Where == nil {
		return c
	}
	return both(c, r.reduce(q.Where, true, r.bind(q, nil)))
}

// defined is the condition that there is a value at p.
func defined(p place) condition {
	if p.known && len(p.path) == 0 {
		return always()
	}
	return span(p, nil, nil, true)
}
