package plan

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Features are the parts of query plans that a client supports. The names are those of
// Microsoft.Azure.Cosmos.Query.Core.QueryPlan.QueryFeatures in the .NET SDK.
type Features uint32

// The features that plans of this package may need, in the order in which the service lists missing ones.
const (
	featureAggregate Features = 1 << iota
	featureCompositeAggregate
	featureDistinct
	featureGroupBy
	featureMultipleAggregates
	featureMultipleOrderBy
	featureOffsetAndLimit
	featureOrderBy
	featureTop
	featureNonValueAggregate
	featureDCount
	featureNonStreamingOrderBy
	featureListAndSetAggregate
	featureCountIf
	featureHybridSearch
	featureWeightedRankFusion
)

var featureNames = [...]string{
	"Aggregate", "CompositeAggregate", "Distinct", "GroupBy", "MultipleAggregates", "MultipleOrderBy",
	"OffsetAndLimit", "OrderBy", "Top", "NonValueAggregate", "DCount", "NonStreamingOrderBy",
	"ListAndSetAggregate", "CountIf", "HybridSearch", "WeightedRankFusion",
}

// ParseFeatures parses the header x-ms-cosmos-supported-query-features: names separated by commas. It ignores unknown
// names.
func ParseFeatures(header string) Features {
	var f Features
	for name := range strings.SplitSeq(header, ",") {
		name = strings.TrimSpace(name)
		for i, known := range featureNames {
			if strings.EqualFold(name, known) {
				f |= 1 << i
			}
		}
	}
	return f
}

// Check rejects a plan that needs features missing in f, with the service's text and fault.Invalid.
func (f Features) Check(p *GatewayPlan) error {
	missing := p.Features() &^ f
	if missing == 0 {
		return nil
	}
	text := "Query contains 1 or more unsupported features. " +
		"Upgrade your SDK to a version that does support the requested features:"
	for i, name := range featureNames {
		if missing&(1<<i) != 0 {
			text += "\r\nQuery contained " + name + ", which the calling client does not support."
		}
	}
	return fault.New(fault.Invalid, "%s", text)
}

// Features are the features that a client needs for the plan.
func (p *GatewayPlan) Features() Features {
	if p.Query != nil {
		return p.Query.features()
	}
	needed := featureHybridSearch
	if len(p.Hybrid.Weights) > 0 {
		needed |= featureWeightedRankFusion
	}
	return needed
}

func (q *GatewayQuery) features() Features {
	needed := q.aggregateFeatures()
	for _, f := range []struct {
		needed  bool
		feature Features
	}{
		{q.Distinct != gatewayNotDistinct, featureDistinct},
		{len(q.GroupByExpressions) > 0, featureGroupBy},
		{q.Offset != nil, featureOffsetAndLimit},
		{len(q.OrderBy) == 1, featureOrderBy},
		{len(q.OrderBy) > 1, featureMultipleOrderBy},
		{q.Top != nil, featureTop},
		{q.DCount != nil, featureDCount},
		{q.NonStreaming, featureNonStreamingOrderBy},
	} {
		if f.needed {
			needed |= f.feature
		}
	}
	return needed
}

func (q *GatewayQuery) aggregateFeatures() (needed Features) {
	count := 0
	for _, kinds := range [][]string{q.Aggregates, q.AliasAggregates} {
		for _, kind := range kinds {
			switch kind {
			case "":
				continue
			case "CountIf":
				needed |= featureCountIf
			case "MakeList", "MakeSet":
				needed |= featureListAndSetAggregate
			}
			count++
		}
	}
	switch {
	case count > 1:
		needed |= featureMultipleAggregates | featureNonValueAggregate
	case count == 1 && q.HasSelectValue:
		needed |= featureAggregate
	case count == 1:
		needed |= featureNonValueAggregate
	}
	return needed
}
