package plan

import (
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/fault"
)

// WithComputed replaces each mention of a computed property of the container with the expression that computes it
// ("Computed properties" of the reference): `SELECT VALUE <expression> FROM <alias>`. It does not modify q. It fails
// with fault.TooLarge if the query would become longer than a query may be.
func WithComputed(q *syntax.Query, properties map[string]*syntax.Query) (*syntax.Query, error) {
	alias, left := containerAlias(q), syntax.MaxText
	if len(properties) == 0 || alias == "" {
		return q, nil
	}
	mention := func(x syntax.Expr) (*syntax.Query, string) {
		m, ok := x.(*syntax.Member)
		if !ok {
			return nil, ""
		}
		if of, ok := m.Of.(*syntax.Name); !ok || of.Name != alias {
			return nil, ""
		}
		return properties[m.Name], m.Name
	}
	out := syntax.Replace(q, func(x syntax.Expr) syntax.Expr {
		p, _ := mention(x)
		if p == nil {
			return nil
		}
		if left -= p.End - p.Start; left < 0 {
			return x
		}
		return computing(p, alias)
	})
	if left < 0 {
		return nil, errComputed
	}
	for i, item := range q.Select.Items {
		if p, name := mention(item.Expr); p != nil && item.Alias == "" {
			out.Select.Items[i].Alias = name
		}
	}
	return out, nil
}

var errComputed = fault.New(fault.TooLarge,
	"With the expressions of its computed properties the query exceeds the maximum of %d bytes. Name fewer of them.",
	syntax.MaxText)

// containerAlias is a query's name for the documents of the container, or "" if it reads parts of them.
func containerAlias(q *syntax.Query) string {
	if len(q.From) == 0 {
		return ""
	}
	from := &q.From[0]
	switch {
	case from.In || len(from.Path) > 0 || from.Query != nil:
		return ""
	case from.Alias != "":
		return from.Alias
	}
	return from.Root
}

// computing is the expression of a property for the documents called alias.
func computing(p *syntax.Query, alias string) syntax.Expr {
	own := containerAlias(p)
	return syntax.ReplaceExpr(p.Select.Value, func(x syntax.Expr) syntax.Expr {
		if name, ok := x.(*syntax.Name); ok && name.Name == own {
			return &syntax.Name{Span: name.Span, Name: alias}
		}
		return nil
	})
}
