package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A GatewayEnvironment is the context of a plan for a client.
type GatewayEnvironment struct {
	// Constant computes an expression that does not depend on a document, as in Environment.
	Constant func(syntax.Expr) (v doc.Value, ok bool)

	// Partition lists the paths of the partition key, as in access.Schema. Without paths the range is always the
	// whole key space. Hierarchical reports that a key prefix selects a range too.
	Partition    []access.Path
	Hierarchical bool

	// EPK returns the effective partition key, in upper-case hex, of values for the first paths. Undefined stands for
	// everything that cannot be part of a key.
	EPK func(values []doc.Value) string

	// Distance returns the distance function of the container's vector policy for a path, or "". If it is nil, the
	// container has no vectors.
	Distance func(access.Path) string

	// OnePartition reports that the request has a whole partition key, so that nothing has to be merged.
	OnePartition bool

	// Supported are the client's features. They matter here only if the plan has a choice; see Features.Check.
	Supported Features
}

// A GatewayPlan tells a client which ranges of partition keys to query, with which text, and how to merge the
// results. It has either Query or Hybrid.
type GatewayPlan struct {
	Query  *GatewayQuery // nil if Hybrid is set
	Ranges []GatewayRange
	Hybrid *GatewayHybrid // for ORDER BY RANK
}

// A GatewayRange is an interval of effective partition keys in hex.
type GatewayRange struct {
	Min, Max                   string
	MinInclusive, MaxInclusive bool
}

// A GatewayQuery is the query to send and how to merge its rows. The names of kinds are those of
// Microsoft.Azure.Cosmos.Query.Core.QueryPlan.QueryInfo in the .NET SDK.
type GatewayQuery struct {
	Distinct           string // None, Unordered, or Ordered, in which equal rows are neighbours
	Top, Offset, Limit *int64
	OrderBy            []string // Ascending or Descending, one for each of OrderByExpressions
	OrderByExpressions []string

	GroupByExpressions []string
	// GroupByAliases are the members of a row of a query with GROUP BY or aggregates. AliasAggregates has the
	// aggregate of each, or "".
	GroupByAliases  []string
	AliasAggregates []string
	Aggregates      []string // for SELECT VALUE

	Rewritten      string // the query to send; "" for the original
	HasSelectValue bool
	// DCount is the member for the number of distinct rows, or "" for SELECT VALUE. It is nil if they are not
	// counted.
	DCount       *string
	NonStreaming bool // the rows of different ranges cannot be merged as streams
}

// A GatewayHybrid is the plan of ORDER BY RANK: statistics first, then one query for each score, then ranking.
type GatewayHybrid struct {
	GlobalStatisticsQuery    string
	Components               []GatewayQuery
	Weights                  []float64
	Skip, Take               *int64
	RequiresGlobalStatistics bool
}

// The kinds of GatewayQuery.Distinct.
const (
	gatewayNotDistinct = "None"
	gatewayUnordered   = "Unordered"
	gatewayOrdered     = "Ordered"
)

// Gateway makes the plan for a client that merges partitions itself. q must have passed the checks of Build, and is
// not modified. Errors are a *syntax.Error, or fault.Invalid for queries that clients cannot merge.
func Gateway(q *syntax.Query, env GatewayEnvironment) (*GatewayPlan, error) {
	g := gatewayPlanner{GatewayEnvironment: env, q: q, left: maxGatewayText}
	if err := g.bindCounts(); err != nil {
		return nil, err
	}
	ranges, one := g.ranges()
	p := &GatewayPlan{Ranges: ranges}
	var err error
	if q.Rank != nil {
		p.Hybrid, err = g.hybrid()
	} else {
		p.Query, err = g.query(one || env.OnePartition)
	}
	switch {
	case err != nil:
		return nil, err
	case g.left < 0:
		return nil, errGatewayText
	}
	return p, nil
}

// point reports a range of one effective partition key.
func (r GatewayRange) point() bool { return r.Min == r.Max && r.MinInclusive && r.MaxInclusive }

type gatewayPlanner struct {
	GatewayEnvironment
	q                  *syntax.Query
	top, offset, limit *int64
	left               int // bytes of text that the plan may still use; negative if it has too many
}

// maxGatewayText is the total length of the texts of one plan. They repeat parts of the query; those of a rank are in
// each of its components.
const maxGatewayText = 8 * syntax.MaxText

var errGatewayText = fault.New(fault.TooLarge,
	"The plan of the query has more than %d MiB of text. Use shorter expressions in ORDER BY and in aggregates.",
	maxGatewayText>>20)

// print is the text of a part of the plan.
func (g *gatewayPlanner) print(n syntax.Node) string {
	text, ok := syntax.PrintWithin(n, g.left)
	if g.left -= len(text); !ok {
		g.left = -1
	}
	return text
}

// maxGatewayCount is the largest value of TOP, OFFSET and LIMIT: 32 bits.
const maxGatewayCount = 1<<32 - 1

func (g *gatewayPlanner) bindCounts() (err error) {
	q := g.q
	if g.top, err = g.count(q.Select.Top, "SC2060",
		"The count value provided for a TOP clause must be an integer."); err != nil {
		return err
	}
	if g.offset, err = g.count(q.Offset, "SC2062",
		"The OFFSET count value exceeds the maximum allowed value."); err != nil {
		return err
	}
	g.limit, err = g.count(q.Limit, "SC2061", "The LIMIT count value exceeds the maximum allowed value.")
	return err
}

func (g *gatewayPlanner) count(e syntax.Expr, code, message string) (*int64, error) {
	if e == nil {
		return nil, nil
	}
	v, _ := g.Constant(e)
	n, ok := doc.AsInt(v)
	if !ok || n < 0 || n > maxGatewayCount {
		return nil, syntax.Wrong(code, e.Pos(), "%s", message)
	}
	return &n, nil
}

// An Unserved is the reason for which a query over all partitions needs a client that merges.
type Unserved uint8

// How the service's gateway handles a query over all partitions.
const (
	// Served queries are answered by the gateway itself.
	Served Unserved = iota
	// NeedsClient queries are rejected with the plan, so that clients can merge.
	NeedsClient
	// NeedsValue queries are rejected without a plan: aggregates must use VALUE.
	NeedsValue
)

// Message is the service's text.
func (u Unserved) Message() string {
	switch u {
	case NeedsClient:
		return "The provided cross partition query can not be directly served by the gateway. " +
			"This is a first chance (internal) exception that all newer clients will know how to handle gracefully. " +
			"This exception is traced, but unless you see it bubble up as an exception (which only happens on older " +
			"SDK clients), " +
			"then you can safely ignore this message."
	case NeedsValue:
		return "Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates"
	}
	return ""
}

// ServedByGateway is how the service's gateway handles a query with neither a partition key nor a range, as recorded
// from a hosted account.
func ServedByGateway(q *syntax.Query) Unserved {
	_, value := gatewayAggregate(q.Select.Value)
	switch {
	case len(q.From) == 0:
		return Served
	case len(q.GroupBy) > 0, aggregates(q) && !value:
		return NeedsValue
	case value, q.Rank != nil, len(q.OrderBy) > 0, q.Select.Top != nil, q.Select.Distinct, q.Limit != nil:
		return NeedsClient
	}
	return Served
}

// errGatewayComposition is the service's error for aggregates within other expressions.
func errGatewayComposition() error {
	return fault.New(fault.Invalid, "Compositions of aggregates and other expressions are not allowed.")
}
