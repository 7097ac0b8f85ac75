package syntax

// Walk visits n and everything below it, parents first, in the order of the text, including selections, sources,
// subqueries and sort keys. If visit returns false, it skips the children. The nodes are *Query, *Select, *Item,
// *Source, *SortKey, *ObjectMember and the expressions; nil nodes are skipped.
func Walk(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	down(n, func(child Node) bool {
		Walk(child, visit)
		return true
	})
}

// Children yields the direct children of n, as Walk visits them, until yield returns false.
func Children(n Node, yield func(Node) bool) { down(n, yield) }

// down is Children, and reports whether it completed.
func down(n Node, yield func(Node) bool) bool {
	switch n := n.(type) {
	case *Query:
		return clauses(n, yield)
	case *Select:
		return one(n.Top, yield) && one(n.Value, yield) && several(n.Items, yield)
	case *Item:
		return one(n.Expr, yield)
	case *Source:
		return each(n.Path, yield) && (n.Query == nil || yield(n.Query))
	case *SortKey:
		return one(n.Expr, yield)
	case *ObjectMember:
		return one(n.X, yield)
	case *Member:
		return one(n.Of, yield)
	case *Index:
		return one(n.Of, yield) && one(n.Index, yield)
	case *Unary:
		return one(n.X, yield)
	case *Binary:
		return one(n.X, yield) && one(n.Y, yield)
	case *Conditional:
		return one(n.Cond, yield) && one(n.Then, yield) && one(n.Else, yield)
	case *Between:
		return one(n.X, yield) && one(n.Low, yield) && one(n.High, yield)
	case *In:
		return one(n.X, yield) && each(n.List, yield)
	case *Like:
		return one(n.X, yield) && one(n.Pattern, yield) && one(n.Escape, yield)
	case *Call:
		return each(n.Args, yield)
	case *Array:
		return each(n.Items, yield)
	case *Object:
		return several(n.Members, yield)
	case *Subquery:
		return yield(n.Query)
	}
	return true
}

func clauses(q *Query, yield func(Node) bool) bool {
	return yield(&q.Select) && several(q.From, yield) && one(q.Where, yield) && each(q.GroupBy, yield) &&
		several(q.OrderBy, yield) && one(q.Rank, yield) && one(q.Offset, yield) && one(q.Limit, yield)
}

// one yields an expression that may be absent.
func one(x Expr, yield func(Node) bool) bool { return x == nil || yield(x) }

func each(items []Expr, yield func(Node) bool) bool {
	for _, x := range items {
		if !one(x, yield) {
			return false
		}
	}
	return true
}

// several yields pointers to the elements of a list.
func several[T any, P interface {
	*T
	Node
}](items []T, yield func(Node) bool) bool {
	for i := range items {
		if !yield(P(&items[i])) {
			return false
		}
	}
	return true
}
