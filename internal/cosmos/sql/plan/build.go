package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// rules are what is tried for every query, in this order. A rule looks at what
// the filter still says, and takes from it what it puts into the access. None
// changes what a query answers.
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
	{"order of the page before", (*builder).resumedWalk},
	{"composite filter", (*builder).compositeFilter},
	{"range walk", (*builder).rangeWalk},
	{"index filter", (*builder).indexFilter},
	{"sort", (*builder).sort},
	{"count only", (*builder).countOnly},
}

// scanning are the rules that need no index.
var scanning = map[string]bool{"sort": true}

// Build checks a query and decides how it is answered. Errors are
// *syntax.Error. The plan shares q, which stays as it is.
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
		if (!env.NoIndex || scanning[rule.name]) && rule.apply(b) {
			b.plan.Rules = append(b.plan.Rules, rule.name)
		}
	}
	if !env.NoIndex && env.Schema.Indexed != nil {
		b.recommend()
	}
	return b.plan, nil
}

// A builder is a plan in the making.
type builder struct {
	resolver
	env   Environment
	plan  *Plan
	query *syntax.Query
	scope *scope

	// parts are what the filter says of documents and no rule has used yet: all
	// of it holds. exact tells that they are all that the filter says.
	parts []condition
	exact bool
	// said are the parts as they were in the beginning.
	said []condition

	keys []sortKey // of ORDER BY
	// inMemory tells that no index has the order.
	inMemory bool
	// behind and matched are composite indexes that have the order: behind columns
	// that the filter fixes, and for just the keys if there are several.
	behind, matched *compositeMatch
	// countsPath tells that the path of COUNT(path) is among the parts.
	countsPath bool
}

// read reduces the filter.
func (b *builder) read() {
	r := reducer{resolver: b.resolver, left: maxReduced}
	c := r.rows(b.query)
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

// use takes parts away that the access now holds to. The rest stays in the same memory.
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

// indexed reports whether index entries tell all of the values at a path.
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

// natural is the order in which the documents of the access come.
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

// documents reports whether a query is about documents of the container at all.
func documents(q *syntax.Query) bool {
	return len(q.From) > 0 && (q.From[0].Query == nil || documents(q.From[0].Query))
}
