package plan

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A sortKey is a key of ORDER BY as a path of the document.
type sortKey struct {
	path       access.Path
	descending bool
}

// order resolves ORDER BY. It rejects orders that no index supports, as the service does.
func (b *builder) order() error {
	if !b.ordered() {
		return nil
	}
	if b.query.Rank != nil {
		b.plan.Order, b.inMemory = Order{Kind: ByRank}, true
		return nil
	}
	if key, ok := b.distance(); ok {
		b.plan.Order, b.inMemory = Order{Kind: ByValue, Keys: []syntax.SortKey{key}, Ties: key.Descending}, true
		return nil
	}
	for i := range b.query.OrderBy {
		key := &b.query.OrderBy[i]
		path, err := b.sortPath(key)
		if err != nil {
			return err
		}
		b.keys = append(b.keys, sortKey{path, key.Descending})
		b.inMemory = b.inMemory || system(path) && !isStamp(path)
	}
	b.plan.Order = Order{Kind: ByValue, Keys: b.query.OrderBy, Ties: b.keys[0].descending, Stamps: len(b.keys) == 1 &&
		isStamp(b.keys[0].path)}
	if err := b.allowed(); err != nil {
		return err
	}
	if b.behind = b.behindFixed(); b.behind != nil {
		b.plan.Order.Ties = b.behind.reverse
	}
	if b.resumes(ByValue) {
		b.plan.Order.Ties = b.env.Resume.Ties
	}
	return nil
}

// allowed checks that an index has the order. The stamp needs none, and a query that is being continued keeps its
// order even if the policy has changed. Feeds without a policy, such as that of containers, can be sorted by
// anything.
//
// Rows with equal keys come in the order of the index, the latest first if it is read backward. That order must not
// depend on whether the index is used.
func (b *builder) allowed() error {
	if b.env.Schema.Indexed == nil {
		b.inMemory = true
		return nil
	}
	if len(b.keys) > 1 {
		return b.severalKeys()
	}
	path := b.keys[0].path
	switch {
	case isStamp(path) || b.indexed(path):
	case b.resumes(ByValue), len(path) == 1 && path[0].Name == "_rid": // which no policy covers
		b.inMemory = true
	default:
		return syntax.Wrong("", b.query.OrderBy[0].Span,
			"The index path corresponding to the specified order-by item is excluded.")
	}
	return nil
}

// severalKeys checks that a composite index has the same paths, with all directions equal or all opposite ("Indexing
// policies: ORDER BY queries on multiple properties"). System properties are not indexed: a composite index with one
// allows the order but cannot serve it.
func (b *builder) severalKeys() error {
	b.matched = b.compositeFor(b.keys)
	switch {
	case b.matched != nil:
		b.plan.Order.Ties = b.matched.reverse
	case !b.resumes(ByValue):
		return syntax.Wrong("", b.query.OrderBy[0].Span,
			"The order by query does not have a corresponding composite index that it can be served from.")
	}
	if b.matched == nil || slices.ContainsFunc(b.keys, func(k sortKey) bool { return system(k.path) }) {
		b.inMemory = true
	}
	return nil
}

// sortPath converts a sort key to a path.
func (b *builder) sortPath(key *syntax.SortKey) (access.Path, error) {
	p := b.place(key.Expr, b.scope)
	switch {
	case p.known && len(p.path) > 0 && !repeated(p.path):
		return p.path, nil
	case b.correlated(key.Expr):
		return nil, syntax.Wrong("", key.Span, "Order-by over correlated collections is not supported.")
	}
	return nil, syntax.Wrong("SC2206", key.Span,
		"Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.")
}

// correlated reports that an expression refers to array elements.
func (b *builder) correlated(e syntax.Expr) bool {
	name, ok := base(e)
	if !ok {
		return false
	}
	at, _, _ := b.scope.find(name)
	return at.known && repeated(at.path)
}

// distance accepts an order by a distance or a score, which the service allows although it is not a path;
// _FULLTEXTSCORE occurs in the queries of its own plans. The most similar vectors come first: the highest score, or
// the least Euclidean distance ("VectorDistance").
func (b *builder) distance() (syntax.SortKey, bool) {
	key := b.query.OrderBy[0]
	call, ok := key.Expr.(*syntax.Call)
	if !ok || call.UDF || len(b.query.OrderBy) > 1 {
		return key, false
	}
	switch strings.ToUpper(call.Name) {
	case "ST_DISTANCE", "_FULLTEXTSCORE":
		return key, true
	case "VECTORDISTANCE", "_VECTORSCORE":
		if !key.Written {
			key.Descending = !b.euclidean(call)
		}
		return key, true
	}
	return key, false
}

func (b *builder) euclidean(call *syntax.Call) bool {
	if len(call.Args) < 4 {
		return false
	}
	v, _ := b.constant(call.Args[3])
	options, _ := doc.AsDoc(v)
	if options == nil {
		return false
	}
	name, _ := doc.AsString(doc.Lookup(options, "distanceFunction"))
	return strings.EqualFold(name, "euclidean")
}
