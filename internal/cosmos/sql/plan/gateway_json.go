package plan

import (
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
)

// gatewayPlanVersion is the version of the JSON format.
const gatewayPlanVersion = 2

// AppendJSON appends the plan in the form of the service's answer to a query plan request: all members, in the
// service's order, and arrays that are never null.
func (p *GatewayPlan) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"partitionedQueryExecutionInfoVersion":`...)
	dst = strconv.AppendInt(dst, gatewayPlanVersion, 10)
	dst = append(dst, `,"queryInfo":`...)
	if p.Query == nil {
		dst = append(dst, "null"...)
	} else {
		dst = p.Query.appendJSON(dst)
	}
	dst = append(dst, `,"queryRanges":`...)
	dst = gatewayList(dst, p.Ranges, GatewayRange.appendJSON)
	dst = append(dst, `,"hybridSearchQueryInfo":`...)
	if p.Hybrid == nil {
		dst = append(dst, "null"...)
	} else {
		dst = p.Hybrid.appendJSON(dst)
	}
	return append(dst, '}')
}

func (q GatewayQuery) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"distinctType":`...)
	dst = doc.AppendJSONString(dst, q.Distinct)
	dst = gatewayNumber(append(dst, `,"top":`...), q.Top)
	dst = gatewayNumber(append(dst, `,"offset":`...), q.Offset)
	dst = gatewayNumber(append(dst, `,"limit":`...), q.Limit)
	dst = gatewayStrings(append(dst, `,"orderBy":`...), q.OrderBy)
	dst = gatewayStrings(append(dst, `,"orderByExpressions":`...), q.OrderByExpressions)
	dst = gatewayStrings(append(dst, `,"groupByExpressions":`...), q.GroupByExpressions)
	dst = gatewayStrings(append(dst, `,"groupByAliases":`...), q.GroupByAliases)
	dst = gatewayStrings(append(dst, `,"aggregates":`...), q.Aggregates)
	dst = q.appendAliasAggregates(append(dst, `,"groupByAliasToAggregateType":`...))
	dst = doc.AppendJSONString(append(dst, `,"rewrittenQuery":`...), q.Rewritten)
	dst = strconv.AppendBool(append(dst, `,"hasSelectValue":`...), q.HasSelectValue)
	dst = append(dst, `,"dCountInfo":`...)
	if q.DCount == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(doc.AppendJSONString(append(dst, `{"dCountAlias":`...), *q.DCount), '}')
	}
	dst = strconv.AppendBool(append(dst, `,"hasNonStreamingOrderBy":`...), q.NonStreaming)
	return append(dst, '}')
}

func (q GatewayQuery) appendAliasAggregates(dst []byte) []byte {
	dst = append(dst, '{')
	for i, alias := range q.GroupByAliases {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(doc.AppendJSONString(dst, alias), ':')
		if kind := q.AliasAggregates[i]; kind != "" {
			dst = doc.AppendJSONString(dst, kind)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}

func (r GatewayRange) appendJSON(dst []byte) []byte {
	dst = doc.AppendJSONString(append(dst, `{"min":`...), r.Min)
	dst = doc.AppendJSONString(append(dst, `,"max":`...), r.Max)
	dst = strconv.AppendBool(append(dst, `,"isMinInclusive":`...), r.MinInclusive)
	dst = strconv.AppendBool(append(dst, `,"isMaxInclusive":`...), r.MaxInclusive)
	return append(dst, '}')
}

func (h *GatewayHybrid) appendJSON(dst []byte) []byte {
	dst = doc.AppendJSONString(append(dst, `{"globalStatisticsQuery":`...), h.GlobalStatisticsQuery)
	dst = gatewayList(append(dst, `,"componentQueryInfos":`...), h.Components, GatewayQuery.appendJSON)
	dst = append(dst, `,"componentWithoutPayloadQueryInfos":[],"projectionQueryInfo":null,"componentWeights":`...)
	dst = gatewayList(dst, h.Weights, func(w float64, dst []byte) []byte {
		return strconv.AppendFloat(dst, w, 'g', -1,
			64)
	})
	dst = gatewayNumber(append(dst, `,"skip":`...), h.Skip)
	dst = gatewayNumber(append(dst, `,"take":`...), h.Take)
	dst = strconv.AppendBool(append(dst, `,"requiresGlobalStatistics":`...), h.RequiresGlobalStatistics)
	return append(dst, '}')
}

func gatewayNumber(dst []byte, n *int64) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, *n, 10)
}

func gatewayStrings(dst []byte, list []string) []byte {
	return gatewayList(dst, list, func(s string, dst []byte) []byte { return doc.AppendJSONString(dst, s) })
}

func gatewayList[T any](dst []byte, list []T, one func(T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i, x := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(x, dst)
	}
	return append(dst, ']')
}
