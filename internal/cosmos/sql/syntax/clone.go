package syntax

// Clone copies a query with everything below it, so that a copy can be rewritten.
func Clone(q *Query) *Query {
	if q == nil {
		return nil
	}
	c := *q
	c.Select = cloneSelect(q.Select)
	c.From = cloneSources(q.From)
	c.Where, c.Rank = CloneExpr(q.Where), CloneExpr(q.Rank)
	c.GroupBy = cloneList(q.GroupBy)
	c.OrderBy = append([]SortKey(nil), q.OrderBy...)
	for i := range c.OrderBy {
		c.OrderBy[i].Expr = CloneExpr(c.OrderBy[i].Expr)
	}
	c.Offset, c.Limit = CloneExpr(q.Offset), CloneExpr(q.Limit)
	return &c
}

func cloneSelect(s Select) Select {
	s.Top, s.Value = CloneExpr(s.Top), CloneExpr(s.Value)
	s.Items = append([]Item(nil), s.Items...)
	for i := range s.Items {
		s.Items[i].Expr = CloneExpr(s.Items[i].Expr)
	}
	return s
}

func cloneSources(sources []Source) []Source {
	list := append([]Source(nil), sources...)
	for i := range list {
		list[i].Path = cloneList(list[i].Path)
		list[i].Query = Clone(list[i].Query)
	}
	return list
}

func cloneList(items []Expr) []Expr {
	list := append([]Expr(nil), items...)
	for i := range list {
		list[i] = CloneExpr(list[i])
	}
	return list
}

// CloneExpr copies an expression with everything below it; nil stays nil.
func CloneExpr(x Expr) Expr {
	switch x := x.(type) {
	case *Literal:
		return shallow(x)
	case *Parameter:
		return shallow(x)
	case *Name:
		return shallow(x)
	case *Member:
		c := shallow(x)
		c.Of = CloneExpr(x.Of)
		return c
	case *Index:
		c := shallow(x)
		c.Of, c.Index = CloneExpr(x.Of), CloneExpr(x.Index)
		return c
	case *Call:
		c := shallow(x)
		c.Args = cloneList(x.Args)
		return c
	case *Array:
		c := shallow(x)
		c.Items = cloneList(x.Items)
		return c
	case *Object:
		c := shallow(x)
		c.Members = append([]ObjectMember(nil), x.Members...)
		for i := range c.Members {
			c.Members[i].X = CloneExpr(c.Members[i].X)
		}
		return c
	case *Subquery:
		c := shallow(x)
		c.Query = Clone(x.Query)
		return c
	}
	return cloneOperator(x)
}

func cloneOperator(x Expr) Expr {
	switch x := x.(type) {
	case *Unary:
		c := shallow(x)
		c.X = CloneExpr(x.X)
		return c
	case *Binary:
		c := shallow(x)
		c.X, c.Y = CloneExpr(x.X), CloneExpr(x.Y)
		return c
	case *Conditional:
		c := shallow(x)
		c.Cond, c.Then, c.Else = CloneExpr(x.Cond), CloneExpr(x.Then), CloneExpr(x.Else)
		return c
	case *Between:
		c := shallow(x)
		c.X, c.Low, c.High = CloneExpr(x.X), CloneExpr(x.Low), CloneExpr(x.High)
		return c
	case *In:
		c := shallow(x)
		c.X, c.List = CloneExpr(x.X), cloneList(x.List)
		return c
	case *Like:
		c := shallow(x)
		c.X, c.Pattern, c.Escape = CloneExpr(x.X), CloneExpr(x.Pattern), CloneExpr(x.Escape)
		return c
	}
	return nil
}

func shallow[T any](x *T) *T {
	c := *x
	return &c
}
