package plan

import (
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A place is the origin of a value in a document.
type place struct {
	// known reports that the value is the one at path. The path of the whole document is empty. An element step
	// stands for one element, the same for all uses of an alias.
	known bool
	path  access.Path
	// members, if not nil, are the members of an object that a subquery constructs.
	members map[string]place
}

// member is the place of a member of the value.
func (p place) member(name string) place {
	if p.members != nil {
		return p.members[name]
	}
	return p.step(access.Step{Name: name})
}

func (p place) step(s access.Step) place {
	if !p.known || len(p.path) == maxPath {
		return place{}
	}
	return place{known: true, path: append(slices.Clip(p.path), s)}
}

// maxPath is the longest path that is resolved. Documents cannot be nested deeper.
const maxPath = doc.MaxDepth

// repeated reports whether a document may have several values at a path.
func repeated(p access.Path) bool {
	return slices.ContainsFunc(p, func(s access.Step) bool { return s.Element })
}

// A scope is the names introduced by one FROM, and the enclosing scope.
type scope struct {
	outer *scope
	names []binding
}

type binding struct {
	name string
	place
}

// find finds a name, the innermost first. own reports that it is in the innermost FROM.
func (s *scope) find(name string) (b binding, own, ok bool) {
	for at := s; at != nil; at = at.outer {
		for _, b := range at.names {
			if b.name == name {
				return b, at == s, true
			}
		}
	}
	return binding{}, false, false
}

// NamedNumber is the number for a name that no source has: NaN or Infinity ("TOSTRING" and "STRINGTONUMBER" of the
// reference, examples).
func NamedNumber(name string) (f float64, ok bool) {
	switch name {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	}
	return 0, false
}

// constant reports whether a name stands for a number.
func (s *scope) constant(name string) bool {
	_, number := NamedNumber(name)
	_, _, bound := s.find(name)
	return number && !bound
}

// empty reports that no name is visible, so that FROM refers to the container.
func (s *scope) empty() bool {
	for at := s; at != nil; at = at.outer {
		if len(at.names) > 0 {
			return false
		}
	}
	return true
}

// bind makes the scope of a query's FROM. Unresolved names get unknown places; the checker reports them.
func (r *resolver) bind(q *syntax.Query, outer *scope) *scope {
	s := &scope{outer: outer}
	for i := range q.From {
		s.names = append(s.names, binding{q.From[i].Name(), r.source(&q.From[i], s)})
	}
	return s
}

// A resolver finds places. constant is Environment.Constant.
type resolver struct {
	constant func(syntax.Expr) (doc.Value, bool)
}

func (r *resolver) source(f *syntax.Source, s *scope) place {
	var p place
	switch {
	case f.Query != nil:
		p = r.row(f.Query, s)
	case s.empty():
		p = place{known: true}
	default:
		b, _, _ := s.find(f.Root)
		p = b.place
	}
	for _, step := range f.Path {
		p = r.index(p, step)
	}
	if f.In {
		p = p.step(access.Step{Element: true})
	}
	return p
}

// row is the place of a row of a subquery, if it is part of one document.
func (r *resolver) row(q *syntax.Query, outer *scope) place {
	if len(q.GroupBy) > 0 || q.Select.Distinct || aggregates(q) {
		return place{}
	}
	s := r.bind(q, outer)
	switch {
	case q.Select.Star && len(s.names) == 1:
		return s.names[0].place
	case q.Select.Star:
		return place{}
	case q.Select.Value != nil:
		return r.place(q.Select.Value, s)
	}
	p := place{members: map[string]place{}}
	for i := range q.Select.Items {
		if name := q.Select.Items[i].Name(); name != "" {
			p.members[name] = r.place(q.Select.Items[i].Expr, s)
		}
	}
	return p
}

// place is the origin of the value of an expression.
func (r *resolver) place(e syntax.Expr, s *scope) place {
	switch x := e.(type) {
	case *syntax.Name:
		b, _, _ := s.find(x.Name)
		return b.place
	case *syntax.Member:
		return r.place(x.Of, s).member(x.Name)
	case *syntax.Index:
		return r.index(r.place(x.Of, s), x.Index)
	case *syntax.Object:
		p := place{members: map[string]place{}}
		for _, m := range x.Members {
			p.members[m.Name] = r.place(m.X, s)
		}
		return p
	}
	return place{}
}

// index is the place of a member or an element of p. It does not record which element, because index entries do not
// have that.
func (r *resolver) index(p place, step syntax.Expr) place {
	v, ok := r.constant(step)
	if !ok {
		return place{}
	}
	if name, ok := doc.AsString(v); ok {
		return p.member(name)
	}
	if _, ok := doc.AsInt(v); ok && p.members == nil {
		return p.step(access.Step{Element: true})
	}
	return place{}
}

// aggregates reports whether a query's own SELECT has an aggregate.
func aggregates(q *syntax.Query) bool {
	found := false
	each := func(e syntax.Expr) {
		walk(e, func(e syntax.Expr) bool {
			call, ok := e.(*syntax.Call)
			found = found || ok && !call.UDF && Aggregate(call.Name)
			_, inner := e.(*syntax.Subquery)
			return !inner
		})
	}
	if q.Select.Value != nil {
		each(q.Select.Value)
	}
	for i := range q.Select.Items {
		each(q.Select.Items[i].Expr)
	}
	return found
}

// walk visits e and the expressions below it. If visit returns false, it skips the expressions below. It does not
// enter the query of a Subquery.
func walk(e syntax.Expr, visit func(syntax.Expr) bool) {
	syntax.Walk(e, func(n syntax.Node) bool {
		if e, ok := n.(syntax.Expr); ok {
			return visit(e)
		}
		_, query := n.(*syntax.Query)
		return !query
	})
}
