package plan

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// mostOthers is how many entries are counted at most, since that is in vain where many documents are left: pages of few
// documents notice it. With a limit a few more than are wanted are counted: if so many are left, a walk soon has those.
const mostOthers = 512

// complement finds an index for $type, and for $ne, $nin and $not, where nothing else helps: the entries of a type, and
// those that the condition in a negation does not have. Most documents satisfy most such conditions, and then a walk
// over all documents is faster. So the entries are counted, and the score is 0 unless they are few.
func (p *planner) complement(all *conjunction) (best candidate) {
	some := conjunction{list: all.list[:len(all.list):len(all.list)]}
	if p.query.Filter != nil {
		some.negate(p.query.Filter.Tree())
		some.close(len(all.list))
	}
	if len(some.list) == len(all.list) {
		return best
	}
	budget := p.budget
	if c, ok := p.bestBefore(&some, false); ok {
		return p.note(c, budget)
	}
	most := mostOthers
	if wanted := p.query.Limit; wanted > 0 && len(p.query.Sort) == 0 && wanted < mostOthers-fewEntries {
		most = fewEntries + int(wanted)
	}
	for i := 0; i < len(p.indexes) && p.count != nil && p.counted < maxCounted; i++ {
		ix := &p.indexes[i]
		if ix.Hidden || ix.Wildcard || !some.asksOf(ix.Columns[0].Path) {
			continue
		}
		p.budget -= len(some.list) * len(ix.Columns)
		r := rival{candidate: p.fit(i, &some, false)}
		if r.score == 0 || len(r.bounds) == 0 || p.countUpTo(&r, most) != nil || !r.counted || !p.isPart(&r) {
			continue
		}
		best, most = r.candidate, r.entries
	}
	return p.note(best, budget)
}

// isPart reports whether the entries are a fourth of those of the index at most, or few.
func (p *planner) isPart(r *rival) bool {
	if r.entries <= fewEntries {
		return true
	}
	n, err := p.count(&access.IndexScan{Index: r.scan.Index}, 4*r.entries)
	p.counted += n
	return err == nil && n == 4*r.entries
}

// negate adds the conditions of a filter that are negations, and whose bounds follow from those of what they negate,
// and those on types.
func (a *conjunction) negate(n *filter.Node) {
	switch n.Kind {
	case filter.And:
		for _, child := range n.Children {
			a.negate(child)
		}
	case filter.Not, filter.Nor:
		for _, child := range n.Children {
			a.outside(child)
		}
	case filter.Type:
		a.ofType(n)
	case filter.NotEqual:
		a.outside(&filter.Node{Kind: filter.Equal, Path: n.Path, Value: n.Value})
	case filter.NotIn:
		a.outside(&filter.Node{Kind: filter.In, Path: n.Path, Values: n.Values, Patterns: n.Patterns})
	}
}

// outside adds the negation of a condition. A document that does not satisfy it has no entry within its bounds if all
// that have one satisfy it, and every document has an entry. Missing values do not satisfy such a condition.
func (a *conjunction) outside(n *filter.Node) {
	switch n.Kind {
	case filter.Equal, filter.In, filter.Less, filter.LessEqual, filter.Greater, filter.GreaterEqual:
	default:
		return
	}
	inner := (&condition{node: n, path: n.Path}).bounds()
	if !inner.exact || inner.missing || hasNumber(n.Path) {
		return
	}
	for _, c := range a.list {
		if c.node.Kind == filter.Not && c.path == n.Path {
			if len(c.spans)+len(inner.spans) <= maxProduct {
				c.spans = append(c.spans, inner.spans...)
			}
			return
		}
	}
	if len(a.list) < maxConditions && len(inner.spans) <= maxProduct {
		a.list = append(a.list, &condition{node: &filter.Node{Kind: filter.Not, Path: n.Path}, path: n.Path,
			spans: slices.Clone(inner.spans), missing: true, read: true})
	}
}

// close turns what documents have no entry of into what they have entries of, in the conditions behind the first.
func (a *conjunction) close(first int) {
	for _, c := range a.list[first:] {
		if c.node.Kind == filter.Not {
			c.spans = between(unite(c.spans))
		}
	}
}

// ofType adds the bounds of the types that $type asks for. It tests the elements of an array and the array, which has
// no entry of its own.
func (a *conjunction) ofType(n *filter.Node) {
	if hasNumber(n.Path) {
		return
	}
	var spans []span
	for _, t := range n.Types {
		kind := doc.CanonicalType(doc.Value{Type: t})
		s, ok := brackets[kind]
		switch {
		case kind == doc.CanonicalNull:
			s = pointSpan(doc.Null())
		case kind == doc.CanonicalNumber:
			s.low.value = notANumber // the lowest
		case !ok:
			return
		}
		s.low.given, s.high.given = true, true
		spans = append(spans, s)
	}
	if len(a.list) < maxConditions {
		a.list = append(a.list, &condition{node: n, path: n.Path, spans: unite(spans), read: true})
	}
}

// between is the values outside of a sorted list.
func between(list []span) (gaps []span) {
	low := edge{value: doc.Value{Type: bsoncore.TypeMinKey}, given: true}
	last := edge{value: doc.Value{Type: bsoncore.TypeMaxKey}, given: true}
	for _, s := range list {
		high := edge{value: s.low.value, open: !s.low.open, given: true}
		if !isEmpty(low, high) {
			gaps = append(gaps, span{low: low, high: high})
		}
		low = edge{value: s.high.value, open: !s.high.open, given: true}
	}
	if !isEmpty(low, last) {
		gaps = append(gaps, span{low: low, high: last})
	}
	return gaps
}
