package exec

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// withDistances adds the distance functions of the container's vector policy to the calls that do not name one, so
// that no other code has to know the policy. It does not modify q; if there is something to add, it returns a copy.
func withDistances(q *syntax.Query, distance func(access.Path) string) *syntax.Query {
	if distance == nil || !slices.ContainsFunc(vectorCalls(q), func(c *syntax.Call) bool {
		return distanceOf(c,
			distance) != ""
	}) {
		return q
	}
	q = syntax.Clone(q)
	for _, call := range vectorCalls(q) {
		name := distanceOf(call, distance)
		if name == "" {
			continue
		}
		options := &syntax.Object{Members: []syntax.ObjectMember{{Name: "distanceFunction",
			X: &syntax.Literal{Kind: syntax.String, Text: name}}}}
		if len(call.Args) == 2 {
			call.Args = append(slices.Clip(call.Args), &syntax.Literal{Kind: syntax.False})
		}
		call.Args = append(slices.Clip(call.Args), options)
	}
	return q
}

// vectorCalls lists the calls that compare vectors without options.
func vectorCalls(q *syntax.Query) (calls []*syntax.Call) {
	syntax.Walk(q, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Call); ok && vectorCall(c) && (len(c.Args) == 2 || len(c.Args) == 3) {
			calls = append(calls, c)
		}
		return true
	})
	return calls
}

func vectorCall(c *syntax.Call) bool {
	return !c.UDF && (strings.EqualFold(c.Name, "VECTORDISTANCE") || strings.EqualFold(c.Name, "_VECTORSCORE"))
}

// distanceOf is the policy's distance function for the vectors of a call, or "".
func distanceOf(c *syntax.Call, distance func(access.Path) string) string {
	for _, arg := range c.Args[:2] {
		var path access.Path
		for m, ok := arg.(*syntax.Member); ok; m, ok = m.Of.(*syntax.Member) {
			path = append(path, access.Step{Name: m.Name})
		}
		slices.Reverse(path)
		if len(path) > 0 {
			if name := distance(path); name != "" {
				return name
			}
		}
	}
	return ""
}
