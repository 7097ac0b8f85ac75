package plan

import (
	"fmt"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

const gatewayEuclidean = "euclidean"

// MaxScores is the largest number of scores in ORDER BY RANK.
const MaxScores = 32

// ErrManyScores rejects more scores than MaxScores.
var ErrManyScores = fault.New(fault.Invalid, "RRF takes at most %d scores.", MaxScores)

// minGatewayCandidates is the minimum number of rows per score, because ranks among few candidates are unreliable.
const minGatewayCandidates = 120

// Placeholders that clients replace with statistics over all partitions. The last two exist for each full-text score.
const (
	gatewayDocuments = "{documentdb-formattablehybridsearchquery-totaldocumentcount}"
	gatewayWords     = "{documentdb-formattablehybridsearchquery-totalwordcount-%d}"
	gatewayHits      = "{documentdb-formattablehybridsearchquery-hitcountsarray-%d}"
)

// distance recognizes VECTORDISTANCE and returns its distance function in lower case: from the call's options, or
// else from the vector policy, or else cosine. The most similar vectors come first, whatever direction the query has.
func (g *gatewayPlanner) distance(e syntax.Expr) (name string, ok bool) {
	call, ok := e.(*syntax.Call)
	if !ok || call.UDF || !strings.EqualFold(call.Name, "VECTORDISTANCE") {
		return "", false
	}
	if len(call.Args) > 3 {
		options, _ := g.Constant(call.Args[3])
		if d, ok := doc.AsDoc(options); ok {
			if name, ok := doc.AsString(doc.Lookup(d, "distanceFunction")); ok {
				return strings.ToLower(name), true
			}
		}
	}
	if g.Distance != nil && len(g.q.From) > 0 {
		s := gatewayScope{gatewayPlanner: g, root: g.q.From[0].Name()}
		for _, arg := range call.Args[:min(2, len(call.Args))] {
			if names, ok := s.path(arg); ok {
				if name := g.Distance(gatewayAccess(names)); name != "" {
					return strings.ToLower(name), true
				}
			}
		}
	}
	return "cosine", true
}

func gatewayAccess(names []string) access.Path {
	path := make(access.Path, len(names))
	for i, name := range names {
		path[i].Name = name
	}
	return path
}

// A gatewayScore is one component of a rank.
type gatewayScore struct {
	expr       syntax.Expr // the expression for a partition
	missing    string      // replaces an undefined score; worse than any score
	descending bool
	written    bool // the direction is written in the query; that of vectors is implicit
}

// hybrid plans ORDER BY RANK.
func (g *gatewayPlanner) hybrid() (*GatewayHybrid, error) {
	calls, weights, err := g.rank()
	if err != nil {
		return nil, err
	}
	h := &GatewayHybrid{Weights: weights, Skip: g.offset, Take: g.limit}
	if g.top != nil {
		h.Take = g.top
	}
	statistics := &syntax.Array{}
	scores := make([]gatewayScore, len(calls))
	for i, call := range calls {
		if distance, ok := g.distance(call); ok {
			scores[i] = gatewayVector(call, distance)
			continue
		}
		h.RequiresGlobalStatistics = true
		scores[i] = gatewayText(call, len(statistics.Items), len(weights) > 0 && weights[i] < 0)
		statistics.Items = append(statistics.Items, g.statistics(call))
	}
	h.GlobalStatisticsQuery = g.print(&syntax.Query{
		Select: syntax.Select{Items: []syntax.Item{
			{Expr: &syntax.Call{Name: "COUNT", Args: []syntax.Expr{gatewayInt(1)}}, Alias: "documentCount"},
			{Expr: statistics, Alias: "fullTextStatistics"},
		}},
		From: g.q.From,
	})
	payload := g.scoredPayload(scores)
	for _, score := range scores {
		h.Components = append(h.Components, g.component(score, payload))
	}
	return h, nil
}

// rank lists the scores of ORDER BY RANK, and the weights of RRF if there are any.
func (g *gatewayPlanner) rank() (calls []*syntax.Call, weights []float64, err error) {
	parts := []syntax.Expr{g.q.Rank}
	if call, ok := g.q.Rank.(*syntax.Call); ok && !call.UDF && strings.EqualFold(call.Name, "RRF") {
		parts = call.Args
		if last := len(parts) - 1; last > 0 {
			if v, ok := g.Constant(parts[last]); ok && doc.IsArray(v) && function.Finite(v) {
				parts = parts[:last]
				for w := range doc.Elements(v) {
					f, _ := doc.AsFloat(w)
					weights = append(weights, f)
				}
			}
		}
	}
	for _, e := range parts {
		call, ok := e.(*syntax.Call)
		_, vector := g.distance(e)
		if !ok || call.UDF || len(call.Args) < 2 || !vector && !strings.EqualFold(call.Name, "FULLTEXTSCORE") {
			return nil, nil, fault.New(fault.Invalid,
				"ORDER BY RANK needs FULLTEXTSCORE, VECTORDISTANCE or an RRF of these.")
		}
		calls = append(calls, call)
	}
	if len(calls) > MaxScores {
		return nil, nil, ErrManyScores
	}
	if len(weights) > 0 && len(weights) != len(calls) {
		return nil, nil, fault.New(fault.Invalid, "RRF needs as many weights as scores.")
	}
	return calls, weights, nil
}

func gatewayVector(call *syntax.Call, distance string) gatewayScore {
	s := gatewayScore{
		expr: &syntax.Call{Name: "_VectorScore", Args: call.Args}, missing: "-1.79769e+308", descending: true,
	}
	if distance == gatewayEuclidean {
		s.missing, s.descending = "1.79769e+308", false
	}
	return s
}

// gatewayText is a full-text score with statistics number at. A negative weight reverses its order.
func gatewayText(call *syntax.Call, at int, reverse bool) gatewayScore {
	terms := call.Args[1]
	if _, list := terms.(*syntax.Array); !list {
		if _, parameter := terms.(*syntax.Parameter); !parameter || len(call.Args) > 2 {
			terms = &syntax.Array{Items: call.Args[1:]}
		}
	}
	return gatewayScore{
		expr: &syntax.Call{Name: "_FullTextScore", Args: []syntax.Expr{
			call.Args[0], terms,
			&syntax.Parameter{Name: gatewayDocuments},
			&syntax.Parameter{Name: fmt.Sprintf(gatewayWords, at)},
			&syntax.Parameter{Name: fmt.Sprintf(gatewayHits, at)},
		}},
		missing: "-1", descending: !reverse, written: true,
	}
}

// statistics is the expression for each partition's statistics of a full-text score: the number of words, and how
// many documents have each term.
func (g *gatewayPlanner) statistics(call *syntax.Call) syntax.Expr {
	hits := &syntax.Array{}
	for _, term := range g.terms(call.Args[1:]) {
		contains := &syntax.Call{Name: "FullTextContains", Args: []syntax.Expr{call.Args[0], term}}
		hits.Items = append(hits.Items, &syntax.Call{Name: "COUNTIF", Args: []syntax.Expr{contains}})
	}
	words := &syntax.Call{Name: "_FullTextWordCount", Args: call.Args[:1:1]}
	return &syntax.Object{Members: []syntax.ObjectMember{
		{Name: "totalWordCount", X: &syntax.Call{Name: "SUM", Args: []syntax.Expr{words}}},
		{Name: "hitCounts", X: hits},
	}}
}

// terms are the words of a full-text score, as arguments or in one array.
func (g *gatewayPlanner) terms(args []syntax.Expr) []syntax.Expr {
	if len(args) != 1 {
		return args
	}
	if list, ok := args[0].(*syntax.Array); ok {
		return list.Items
	}
	v, ok := g.Constant(args[0])
	if !ok || !doc.IsArray(v) {
		return args
	}
	var terms []syntax.Expr
	for range doc.Elements(v) {
		terms = append(terms, &syntax.Index{Of: args[0], Index: gatewayInt(int64(len(terms)))})
	}
	return terms
}

// scoredPayload is a row with all of its scores, the same for each component.
func (g *gatewayPlanner) scoredPayload(scores []gatewayScore) syntax.Expr {
	all := &syntax.Array{}
	for _, s := range scores {
		all.Items = append(all.Items, &syntax.Binary{
			Op: syntax.Coalesce, X: s.expr, Y: &syntax.Parameter{Name: s.missing},
		})
	}
	return &syntax.Object{Members: []syntax.ObjectMember{
		{Name: "payload", X: g.payload()}, {Name: "componentScores", X: all},
	}}
}

// component is the query for the best rows by one score.
func (g *gatewayPlanner) component(s gatewayScore, payload syntax.Expr) GatewayQuery {
	info := GatewayQuery{
		Distinct:           gatewayNotDistinct,
		OrderBy:            []string{gatewayDirection(s.descending)},
		OrderByExpressions: []string{g.print(s.expr)},
		NonStreaming:       true,
	}
	text := syntax.Query{
		Select:  syntax.Select{Items: g.sortedItems([]syntax.Expr{s.expr}, payload)},
		From:    g.q.From,
		Where:   gatewayAnd(g.q.Where, &syntax.Parameter{Name: gatewayFilter}),
		OrderBy: []syntax.SortKey{{Expr: s.expr, Descending: s.written && s.descending}},
	}
	switch {
	case g.top != nil:
		info.Top = gatewayCandidates(*g.top)
		text.Select.Top = gatewayInt(*info.Top)
	case g.limit != nil:
		info.Offset, info.Limit = new(int64), gatewayCandidates(*g.offset+*g.limit)
		text.Offset, text.Limit = gatewayInt(0), gatewayInt(*info.Limit)
	}
	info.Rewritten = g.print(&text)
	return info
}

// gatewayCandidates is the number of candidates per score for n rows.
func gatewayCandidates(n int64) *int64 {
	n = min(max(2*n, minGatewayCandidates), maxGatewayCount)
	return &n
}
