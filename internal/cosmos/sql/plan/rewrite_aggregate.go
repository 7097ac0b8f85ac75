package plan

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// gatewayKinds are the clients' names for aggregates.
var gatewayKinds = map[string]string{
	"ARRAY_AGG": "MakeList",
	"AVG":       "Average",
	"COUNT":     "Count",
	"COUNTIF":   "CountIf",
	"MAKELIST":  "MakeList",
	"MAKESET":   "MakeSet",
	"MAX":       "Max",
	"MIN":       "Min",
	"SUM":       "Sum",
}

func gatewayName(call *syntax.Call) string { return strings.ToUpper(call.Name) }

// gatewayAggregate reports whether e is just a call of an aggregate.
func gatewayAggregate(e syntax.Expr) (*syntax.Call, bool) {
	call, ok := e.(*syntax.Call)
	if !ok || call.UDF || len(call.Args) != 1 || gatewayKinds[gatewayName(call)] == "" {
		return nil, false
	}
	return call, true
}

// gatewayPartial is the partial result of an aggregate in one partition, as an object that clients merge. For MIN and
// MAX it includes whether there was a value.
func gatewayPartial(call *syntax.Call) *syntax.Object {
	of := func(name string) *syntax.Call { return &syntax.Call{Name: name, Args: call.Args} }
	switch name := gatewayName(call); name {
	case "AVG":
		return gatewayObject("item", &syntax.Object{Members: []syntax.ObjectMember{
			{Name: "sum", X: of("SUM")}, {Name: "count", X: of("COUNT")},
		}})
	case "MIN", "MAX":
		return &syntax.Object{Members: []syntax.ObjectMember{
			{Name: "item", X: call},
			{Name: "item2", X: &syntax.Object{Members: []syntax.ObjectMember{
				{Name: strings.ToLower(name), X: of(name)}, {Name: "count", X: of("COUNT")},
			}}},
		}}
	}
	return gatewayObject("item", call)
}

// aggregated is the SELECT of a query with GROUP BY or aggregates for one partition. It also fills in how clients
// merge the rows.
func (g *gatewayPlanner) aggregated(info *GatewayQuery) (syntax.Select, error) {
	q := g.q
	payload, err := g.partialRow(info)
	if err != nil {
		return syntax.Select{}, err
	}
	for _, e := range q.GroupBy {
		info.GroupByExpressions = append(info.GroupByExpressions, g.print(e))
	}
	switch {
	case len(q.GroupBy) > 0:
		return syntax.Select{Items: []syntax.Item{
			{Expr: gatewayItems(q.GroupBy), Alias: "groupByItems"}, {Expr: payload, Alias: "payload"},
		}}, nil
	case q.Select.Value != nil:
		return syntax.Select{Value: payload}, nil
	}
	return syntax.Select{Items: []syntax.Item{{Expr: payload, Alias: "payload"}}}, nil
}

// partialRow is a row with the partial results of its aggregates.
func (g *gatewayPlanner) partialRow(info *GatewayQuery) (syntax.Expr, error) {
	s := &g.q.Select
	if s.Value != nil {
		call, ok := gatewayAggregate(s.Value)
		switch {
		case ok:
			info.Aggregates = []string{gatewayKinds[gatewayName(call)]}
			return &syntax.Array{Items: []syntax.Expr{gatewayPartial(call)}}, nil
		case gatewayComposed(s.Value):
			return nil, errGatewayComposition()
		}
		return s.Value, nil
	}
	row := &syntax.Object{}
	for i, name := range gatewayNames(s.Items) {
		x, kind := s.Items[i].Expr, ""
		if call, ok := gatewayAggregate(x); ok {
			x, kind = gatewayPartial(call), gatewayKinds[gatewayName(call)]
		} else if gatewayComposed(x) {
			return nil, errGatewayComposition()
		}
		row.Members = append(row.Members, syntax.ObjectMember{Name: name, X: x})
		info.GroupByAliases = append(info.GroupByAliases, name)
		info.AliasAggregates = append(info.AliasAggregates, kind)
	}
	return row, nil
}

// gatewayComposed reports that e contains an aggregate.
func gatewayComposed(e syntax.Expr) bool {
	return aggregates(&syntax.Query{Select: syntax.Select{Value: e}})
}
