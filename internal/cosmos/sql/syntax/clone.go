package syntax

// Clone copies a query and everything below it, so that the copy can be modified.
func Clone(q *Query) *Query { return (&cloner{}).query(q) }

// Replace is Clone with substitution: with is called for each expression, outer ones first. A result other than nil
// replaces the expression in the copy.
func Replace(q *Query, with func(Expr) Expr) *Query { return (&cloner{with}).query(q) }

// ReplaceExpr is Replace for an expression.
func ReplaceExpr(x Expr, with func(Expr) Expr) Expr { return (&cloner{with}).expr(x) }

// A cloner copies trees; with is nil for plain copies.
type cloner struct{ with func(Expr) Expr }

func (w *cloner) query(q *Query) *Query {
	if q == nil {
		return nil
	}
	c := *q
	c.Select = w.selection(q.Select)
	c.From = w.sources(q.From)
	c.Where, c.Rank = w.expr(q.Where), w.expr(q.Rank)
	c.GroupBy = w.list(q.GroupBy)
	c.OrderBy = append([]SortKey(nil), q.OrderBy...)
	for i := range c.OrderBy {
		c.OrderBy[i].Expr = w.expr(c.OrderBy[i].Expr)
	}
	c.Offset, c.Limit = w.expr(q.Offset), w.expr(q.Limit)
	return &c
}

func (w *cloner) selection(s Select) Select {
	s.Top, s.Value = w.expr(s.Top), w.expr(s.Value)
	s.Items = append([]Item(nil), s.Items...)
	for i := range s.Items {
		s.Items[i].Expr = w.expr(s.Items[i].Expr)
	}
	return s
}

func (w *cloner) sources(sources []Source) []Source {
	list := append([]Source(nil), sources...)
	for i := range list {
		list[i].Path = w.list(list[i].Path)
		list[i].Query = w.query(list[i].Query)
	}
	return list
}

func (w *cloner) list(items []Expr) []Expr {
	list := append([]Expr(nil), items...)
	for i := range list {
		list[i] = w.expr(list[i])
	}
	return list
}

func (w *cloner) expr(x Expr) Expr {
	if w.with != nil && x != nil {
		if other := w.with(x); other != nil {
			return other
		}
	}
	switch x := x.(type) {
	case *Literal:
		return shallow(x)
	case *Parameter:
		return shallow(x)
	case *Name:
		return shallow(x)
	case *Member:
		c := shallow(x)
		c.Of = w.expr(x.Of)
		return c
	case *Index:
		c := shallow(x)
		c.Of, c.Index = w.expr(x.Of), w.expr(x.Index)
		return c
	case *Call:
		c := shallow(x)
		c.Args = w.list(x.Args)
		return c
	case *Array:
		c := shallow(x)
		c.Items = w.list(x.Items)
		return c
	case *Object:
		c := shallow(x)
		c.Members = append([]ObjectMember(nil), x.Members...)
		for i := range c.Members {
			c.Members[i].X = w.expr(c.Members[i].X)
		}
		return c
	case *Subquery:
		c := shallow(x)
		c.Query = w.query(x.Query)
		return c
	}
	return w.operator(x)
}

func (w *cloner) operator(x Expr) Expr {
	switch x := x.(type) {
	case *Unary:
		c := shallow(x)
		c.X = w.expr(x.X)
		return c
	case *Binary:
		c := shallow(x)
		c.X, c.Y = w.expr(x.X), w.expr(x.Y)
		return c
	case *Conditional:
		c := shallow(x)
		c.Cond, c.Then, c.Else = w.expr(x.Cond), w.expr(x.Then), w.expr(x.Else)
		return c
	case *Between:
		c := shallow(x)
		c.X, c.Low, c.High = w.expr(x.X), w.expr(x.Low), w.expr(x.High)
		return c
	case *In:
		c := shallow(x)
		c.X, c.List = w.expr(x.X), w.list(x.List)
		return c
	case *Like:
		c := shallow(x)
		c.X, c.Pattern, c.Escape = w.expr(x.X), w.expr(x.Pattern), w.expr(x.Escape)
		return c
	}
	return nil
}

func shallow[T any](x *T) *T {
	c := *x
	return &c
}
