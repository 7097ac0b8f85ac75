package plan

import (
	"fmt"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// gatewayFilter is a placeholder in queries with ORDER BY. Clients replace it with a condition that begins where the
// previous page ended, or with true.
const gatewayFilter = "({documentdb-formattableorderbyquery-filter})"

// query plans everything but ORDER BY RANK. one reports that a single partition answers: it then applies order,
// offset and limit itself, unless rows still have to be merged in the client.
func (g *gatewayPlanner) query(one bool) (*GatewayQuery, error) {
	q := g.q
	info := &GatewayQuery{
		Distinct: g.distinct(), Top: g.top, Offset: g.offset, Limit: g.limit, HasSelectValue: q.Select.Value != nil,
	}
	if inner, alias, ok := g.distinctCount(); ok {
		info.Distinct, info.DCount, info.Rewritten = gatewayUnordered, &alias, g.print(inner)
		return info, nil
	}
	merged := len(q.GroupBy) > 0 || aggregates(q)
	if one && !merged && !q.Select.Distinct {
		info.Offset, info.Limit = nil, nil
		if len(q.From) == 0 {
			info.Top = nil
		}
		return info, nil
	}
	text := *q
	switch {
	case merged:
		payload, err := g.aggregated(info)
		if err != nil {
			if one {
				return &GatewayQuery{Distinct: gatewayNotDistinct, HasSelectValue: info.HasSelectValue}, nil
			}
			return nil, err
		}
		text.Select = payload
		text.Offset, text.Limit = nil, nil
	case len(q.OrderBy) > 0 && !one:
		g.ordered(info, &text)
		g.bound(&text)
	case q.Limit != nil, q.Select.Distinct && q.Select.Top != nil:
		g.bound(&text)
	default:
		return info, nil
	}
	info.Rewritten = g.print(&text)
	return info, nil
}

// bound limits the rows of one partition to offset plus limit, because any of its rows may be among those that the
// client skips. If the client drops repeated rows there is no bound.
func (g *gatewayPlanner) bound(text *syntax.Query) {
	switch {
	case text.Select.Distinct:
		text.Select.Top, text.Offset, text.Limit = nil, nil, nil
	case text.Limit != nil:
		text.Offset, text.Limit = gatewayInt(0), gatewayInt(*g.offset+*g.limit)
	case text.Select.Top != nil:
		text.Select.Top = gatewayInt(*g.top)
	}
}

// distinct is the kind of DISTINCT: equal rows are neighbours if they are sorted by the distinct values.
func (g *gatewayPlanner) distinct() string {
	s := &g.q.Select
	if !s.Distinct {
		return gatewayNotDistinct
	}
	projected := s.Value
	if len(s.Items) == 1 {
		projected = s.Items[0].Expr
	}
	if projected != nil && len(g.q.OrderBy) > 0 && len(g.q.GroupBy) == 0 && syntax.Equal(projected,
		g.q.OrderBy[0].Expr) {
		return gatewayOrdered
	}
	return gatewayUnordered
}

// ordered rewrites a query with ORDER BY so that rows include their sort keys.
func (g *gatewayPlanner) ordered(info *GatewayQuery, text *syntax.Query) {
	for _, key := range g.q.OrderBy {
		descending := key.Descending
		if distance, ok := g.distance(key.Expr); ok {
			info.NonStreaming = true
			descending = distance != gatewayEuclidean
		}
		info.OrderBy = append(info.OrderBy, gatewayDirection(descending))
		info.OrderByExpressions = append(info.OrderByExpressions, g.print(key.Expr))
	}
	keys := make([]syntax.Expr, len(g.q.OrderBy))
	for i, key := range g.q.OrderBy {
		keys[i] = key.Expr
	}
	text.Where = gatewayAnd(g.q.Where, &syntax.Parameter{Name: gatewayFilter})
	if value := g.q.Select.Value; value != nil {
		text.Where = gatewayAnd(text.Where, &syntax.Call{Name: "IS_DEFINED", Args: []syntax.Expr{value}})
	}
	text.Select = syntax.Select{
		Distinct: g.q.Select.Distinct, Top: g.q.Select.Top, Items: g.sortedItems(keys, g.payload()),
	}
}

// sortedItems are the members of a row for a client that sorts: its identity, its sort keys, and the row of the
// query.
func (g *gatewayPlanner) sortedItems(keys []syntax.Expr, payload syntax.Expr) []syntax.Item {
	return []syntax.Item{
		{Expr: &syntax.Member{Of: g.root(), Name: "_rid"}},
		{Expr: gatewayItems(keys), Alias: "orderByItems"},
		{Expr: payload, Alias: "payload"},
	}
}

func gatewayDirection(descending bool) string {
	if descending {
		return "Descending"
	}
	return "Ascending"
}

// root is the name of the query's first source.
func (g *gatewayPlanner) root() syntax.Expr {
	if len(g.q.From) == 0 {
		return &syntax.Name{Name: "root"}
	}
	return &syntax.Name{Name: g.q.From[0].Name()}
}

// payload is the row of a query as one expression.
func (g *gatewayPlanner) payload() syntax.Expr {
	s := &g.q.Select
	switch {
	case s.Star:
		return g.root()
	case s.Value != nil:
		return s.Value
	}
	row := &syntax.Object{}
	names := gatewayNames(s.Items)
	for i := range s.Items {
		row.Members = append(row.Members, syntax.ObjectMember{Name: names[i], X: s.Items[i].Expr})
	}
	return row
}

// gatewayNames are the names of a row's members. Members without a name are numbered.
func gatewayNames(items []syntax.Item) []string {
	names := make([]string, len(items))
	unnamed := 0
	for i := range items {
		if names[i] = items[i].Name(); names[i] == "" {
			unnamed++
			names[i] = fmt.Sprintf("$%d", unnamed)
		}
	}
	return names
}

// gatewayItems is [{"item": a}, {"item": b}].
func gatewayItems(list []syntax.Expr) *syntax.Array {
	array := &syntax.Array{}
	for _, e := range list {
		array.Items = append(array.Items, gatewayObject("item", e))
	}
	return array
}

func gatewayObject(name string, x syntax.Expr) *syntax.Object {
	return &syntax.Object{Members: []syntax.ObjectMember{{Name: name, X: x}}}
}

// gatewayAnd is x AND y, or y alone.
func gatewayAnd(x, y syntax.Expr) syntax.Expr {
	if x == nil {
		return y
	}
	return &syntax.Binary{Op: syntax.And, X: x, Y: y}
}

func gatewayInt(n int64) *syntax.Literal {
	return &syntax.Literal{Kind: syntax.Number, Int: n, Float: float64(n), Whole: true}
}

// distinctCount recognizes COUNT over the rows of SELECT DISTINCT, if the client can count distinct rows of all
// partitions. Otherwise COUNT is an ordinary aggregate.
func (g *gatewayPlanner) distinctCount() (inner *syntax.Query, alias string, ok bool) {
	q := g.q
	if g.Supported&featureDCount == 0 || len(q.From) != 1 || q.From[0].Query == nil || q.From[0].In ||
		q.Select.Distinct {
		return nil, "", false
	}
	inner = q.From[0].Query
	if q.Where != nil || len(q.GroupBy)+len(q.OrderBy) > 0 || q.Limit != nil || q.Select.Top != nil ||
		!inner.Select.Distinct || inner.Select.Top != nil || inner.Limit != nil || len(inner.GroupBy) > 0 ||
		aggregates(inner) {
		return nil, "", false
	}
	counted := q.Select.Value
	if len(q.Select.Items) == 1 {
		counted, alias = q.Select.Items[0].Expr, gatewayNames(q.Select.Items)[0]
	}
	call, ok := gatewayAggregate(counted)
	if !ok || gatewayKinds[gatewayName(call)] != "Count" {
		return nil, "", false
	}
	if name, ok := call.Args[0].(*syntax.Name); ok {
		return inner, alias, name.Name == q.From[0].Alias
	}
	v, ok := g.Constant(call.Args[0])
	return inner, alias, ok && !doc.IsUndefined(v)
}
