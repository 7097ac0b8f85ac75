package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// rules are tried for every query, in this order. A rule uses the conditions that are left of the filter, and removes
// those that it moves into the access. No rule changes the result of a query.
var rules = []struct {
	name  string
	apply func(*builder) bool
}{
	{"contradiction", (*builder).contradiction},
	{"partition key", (*builder).partitionKey},
	{"point lookup", (*builder).pointLookup},
	{"counted path", (*builder).countedPath},
	{"composite order", (*builder).compositeOrder},
	{"index order", (*builder).indexOrder},
	{"shortcut", (*builder).shortcut},
	{"order of the page before", (*builder).resumedWalk},
	{"composite filter", (*builder).compositeFilter},
	{"range walk", (*builder).rangeWalk},
	{"index filter", (*builder).indexFilter},
	{"sort", (*builder).sort},
	{"count only", (*builder).countOnly},
}

// Build checks and plans a query. Errors are *syntax.Error. The plan shares q, which is not modified.
func Build(q *syntax.Query, env Environment) (*Plan, error) {
	r := resolver{env.Constant}
	c := checker{resolver: r}
	c.query(q, nil, false)
	if err := c.err(); err != nil {
		return nil, err
	}
	b := &builder{
		env: env, resolver: r, query: q, scope: r.bind(q, nil),
		plan: &Plan{Query: q},
	}
	if span, ok := env.Base.(*access.Span); env.Base != nil && !(ok && len(span.Low)+len(span.High) == 0) {
		b.plan.Access.Of = env.Base
	}
	b.read()
	if err := b.order(); err != nil {
		return nil, err
	}
	for _, rule := range rules {
		if (!env.NoIndex || b.scans(rule.name)) && rule.apply(b) {
			b.plan.Rules = append(b.plan.Rules, rule.name)
		}
	}
	if !env.NoIndex && env.Schema.Indexed != nil {
		b.recommend()
	}
	return b.plan, nil
}

// A builder is the state of planning one query.
type builder struct {
	resolver
	env   Environment
	plan  *Plan
	query *syntax.Query
	scope *scope

	// parts are the conditions of the filter that no rule has used yet; all must hold. exact reports that the filter
	// has no others.
	parts []condition
	exact bool
	// said are the original parts.
	said []condition

	keys []sortKey // the keys of ORDER BY
	// inMemory reports that no index has the order.
	inMemory bool
	// behind and matched are composite indexes that have the order: after columns that the filter fixes, and of
	// exactly the sort keys, if there are several.
	behind, matched *compositeMatch
	// countsPath reports that the path of COUNT(path) is among the parts.
	countsPath bool
}

// scans reports that a rule does not use an index. A page that continues in the order of partitions has to be of the
// same ones as the page before, because positions are parts of their keys.
func (b *builder) scans(rule string) bool {
	return rule == "sort" || rule == "partition key" && b.resumes(ByPartition)
}

// read reduces the filter to conditions.
func (b *builder) read() {
	c := unknown
	if b.countable() {
		r := reducer{resolver: b.resolver, test: b.env.Test, left: maxReduced, counts: true}
		c = r.rows(b.query)
	}
	if !c.exact {
		r := reducer{resolver: b.resolver, test: b.env.Test, left: maxReduced}
		c = r.rows(b.query)
	}
	b.exact = c.exact
	switch c.kind {
	case everything:
	case all:
		b.parts = c.parts
	default:
		b.parts = []condition{c}
	}
	b.said = append(b.said, b.parts...)
	b.plan.Exact = b.exact && len(b.parts) == 0
}

// use removes parts that the access now guarantees.
func (b *builder) use(used func(*condition) bool) {
	rest := b.parts[:0]
	for i := range b.parts {
		if !used(&b.parts[i]) {
			rest = append(rest, b.parts[i])
		}
	}
	b.parts = rest
	b.plan.Exact = b.exact && len(rest) == 0
}

// indexed reports whether the index has complete values at a path.
func (b *builder) indexed(p access.Path) bool {
	return b.env.Schema.Indexed != nil && b.env.Schema.Indexed(p)
}

// in is the part of the container that the access is limited to.
func (b *builder) in() access.Scope { return access.ScopeOf(b.plan.Access.Of) }

// partition is the partition, or the prefix of one, that the access is limited to.
func (b *builder) partition() (access.Partition, bool) {
	p, ok := b.in().(access.Partition)
	return p, ok
}

// inPartition reports that there is one.
func (b *builder) inPartition() bool {
	_, ok := b.partition()
	return ok
}

// chosen reports that a rule has already chosen an access other than all documents of a
// part of the container.
func (b *builder) chosen() bool {
	_, scope := b.plan.Access.Of.(access.Scope)
	return b.plan.Nothing || b.plan.Access.Of != nil && !scope
}

// natural is the order of the access without sorting.
func (b *builder) natural() OrderKind {
	switch of := b.plan.Access.Of.(type) {
	case *access.Walk:
		return ByValue
	case *access.Span:
		return ByPartition
	case access.Partition:
		if len(of) != len(b.env.Schema.Partition) {
			return ByPartition
		}
	}
	return ByCreation
}

// documents reports whether a query reads documents of the container.
func documents(q *syntax.Query) bool {
	return len(q.From) > 0 && (q.From[0].Query == nil || documents(q.From[0].Query))
}
