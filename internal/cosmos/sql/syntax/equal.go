package syntax

import "strings"

// Equal reports whether two expressions are the same except for position and spelling: c.x equals c["x"], 1.0 equals
// 1, and names of built-in functions are case-insensitive. Both may be nil.
func Equal(a, b Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	switch a := a.(type) {
	case *Subquery:
		b, ok := b.(*Subquery)
		return ok && a.Kind == b.Kind && EqualQueries(a.Query, b.Query)
	case *Object:
		b, ok := b.(*Object)
		return ok && sameMembers(a.Members, b.Members)
	}
	return sameNode(a, b) && sameChildren(a, b)
}

// sameNode compares two expressions without their children.
func sameNode(a, b Expr) bool {
	switch a := a.(type) {
	case *Literal:
		b, ok := b.(*Literal)
		return ok && sameLiteral(a, b)
	case *Parameter:
		b, ok := b.(*Parameter)
		return ok && a.Name == b.Name
	case *Name:
		b, ok := b.(*Name)
		return ok && a.Name == b.Name
	case *Member:
		b, ok := b.(*Member)
		return ok && a.Name == b.Name
	case *Unary:
		b, ok := b.(*Unary)
		return ok && a.Op == b.Op
	case *Binary:
		b, ok := b.(*Binary)
		return ok && a.Op == b.Op
	case *Call:
		b, ok := b.(*Call)
		return ok && a.UDF == b.UDF && (a.Name == b.Name || !a.UDF && strings.EqualFold(a.Name, b.Name))
	}
	return sameForm(a, b)
}

// sameForm compares expressions that have little more than children.
func sameForm(a, b Expr) bool {
	switch a := a.(type) {
	case *Index:
		_, ok := b.(*Index)
		return ok
	case *Conditional:
		_, ok := b.(*Conditional)
		return ok
	case *Array:
		_, ok := b.(*Array)
		return ok
	case *Between:
		b, ok := b.(*Between)
		return ok && a.Not == b.Not
	case *In:
		b, ok := b.(*In)
		return ok && a.Not == b.Not
	case *Like:
		b, ok := b.(*Like)
		return ok && a.Not == b.Not
	}
	return false
}

func sameLiteral(a, b *Literal) bool {
	if a.Kind != b.Kind || a.Text != b.Text {
		return false
	}
	if a.Whole && b.Whole {
		return a.Int == b.Int
	}
	return a.Float == b.Float && a.Big == b.Big
}

// sameChildren compares the children of two nodes of the same type, if they are expressions.
func sameChildren(a, b Expr) bool {
	left, right := below(a), below(b)
	if len(left) != len(right) {
		return false
	}
	for i := range left {
		if !Equal(left[i], right[i]) {
			return false
		}
	}
	return true
}

func below(x Expr) (list []Expr) {
	down(x, func(n Node) bool {
		if x, ok := n.(Expr); ok {
			list = append(list, x)
		}
		return true
	})
	return list
}

func sameMembers(a, b []ObjectMember) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !Equal(a[i].X, b[i].X) {
			return false
		}
	}
	return true
}

// EqualQueries reports whether two queries are equal in the sense of Equal. An explicit ASC makes no difference.
func EqualQueries(a, b *Query) bool {
	return sameSelect(&a.Select, &b.Select) && sameSources(a.From, b.From) && Equal(a.Where, b.Where) &&
		sameList(a.GroupBy, b.GroupBy) && sameKeys(a.OrderBy, b.OrderBy) && Equal(a.Rank, b.Rank) &&
		Equal(a.Offset, b.Offset) && Equal(a.Limit, b.Limit)
}

func sameSelect(a, b *Select) bool {
	if a.Distinct != b.Distinct || a.Star != b.Star || len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Items {
		if a.Items[i].Alias != b.Items[i].Alias || !Equal(a.Items[i].Expr, b.Items[i].Expr) {
			return false
		}
	}
	return Equal(a.Top, b.Top) && Equal(a.Value, b.Value)
}

func sameSources(a, b []Source) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameSource(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

func sameSource(a, b *Source) bool {
	if a.Root != b.Root || a.Alias != b.Alias || a.In != b.In || (a.Query == nil) != (b.Query == nil) {
		return false
	}
	return sameList(a.Path, b.Path) && (a.Query == nil || EqualQueries(a.Query, b.Query))
}

func sameList(a, b []Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameKeys(a, b []SortKey) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Descending != b[i].Descending || !Equal(a[i].Expr, b[i].Expr) {
			return false
		}
	}
	return true
}
