package plan

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// maxConditions is the number of conditions of one conjunction that are used. Further ones are ignored, which is safe:
// the filter checks each document.
const maxConditions = 1000

// maxCompared is the number of comparisons of one path in an $expr that are used.
const maxCompared = 100

// A condition is what a filter asks of one path, with the bounds that an index on the path can use.
type condition struct {
	node   *filter.Node
	path   string // from the document on
	within *scope // the innermost $elemMatch, nil outside

	// spans are the index entries of accepted documents: each has at least one of them. Nil means all entries, which is
	// of no help.
	spans   []span
	exact   bool // every document with an entry in spans is accepted
	missing bool // documents without a value may be accepted
	read    bool // the fields above are set
	only    [2]span
}

// A scope is an $elemMatch. All conditions in it are about one element.
type scope struct {
	path  string
	depth int
	up    *scope
}

// join is the path of something in a scope, which may be nil.
func (s *scope) join(path string) string {
	switch {
	case s == nil:
		return path
	case path == "":
		return s.path
	}
	return s.path + "." + path
}

// ofElement reports whether a condition is about an element itself, as in {$elemMatch: {$gt: 1}}, not about a field in
// it.
func (c *condition) ofElement() bool { return c.within != nil && c.node.Path == "" }

// A conjunction is a list of conditions that all have to hold.
type conjunction struct {
	list    []*condition
	ors     []*filter.Node
	nothing bool // they contradict each other
}

// add adds the conditions of a filter. It leaves out those that no index helps with.
func (a *conjunction) add(n *filter.Node, in *scope) {
	switch n.Kind {
	case filter.And:
		for _, child := range n.Children {
			a.add(child, in)
		}
	case filter.Or:
		if in == nil {
			a.or(n)
		}
	case filter.Equal, filter.Less, filter.LessEqual, filter.Greater, filter.GreaterEqual,
		filter.In, filter.Exists, filter.Missing, filter.Regex:
		a.one(n, in)
	case filter.All:
		for _, v := range n.Values {
			a.one(&filter.Node{Kind: filter.Equal, Path: n.Path, Value: v}, in)
		}
	case filter.ElemMatch:
		a.element(n, in)
	case filter.Expr:
		for _, child := range n.Children {
			a.compared(child)
		}
	}
}

// compared adds a comparison of an $expr. Equality is stricter there than in a query, and accepts less. Of the others
// on one path it makes one condition.
func (a *conjunction) compared(n *filter.Node) {
	switch n.Kind {
	case filter.Or:
		a.or(n)
		return
	case filter.Equal, filter.In:
		if n.Value.Type != 0 || n.Kind == filter.In && n.Values != nil {
			a.one(n, nil)
		}
		return
	}
	if n.Value.Type == 0 {
		return // it is not known yet
	}
	for i, c := range a.list {
		if c.node.Kind == filter.Expr && c.path == n.Path { // which another conjunction may have, too
			if len(c.node.Children) >= maxCompared {
				return
			}
			all := append(slices.Clone(c.node.Children), n)
			a.list[i] = &condition{node: &filter.Node{Kind: filter.Expr, Path: n.Path, Children: all}, path: n.Path}
			return
		}
	}
	a.one(&filter.Node{Kind: filter.Expr, Path: n.Path, Children: []*filter.Node{n}}, nil)
}

func (a *conjunction) one(n *filter.Node, in *scope) {
	a.nothing = a.nothing || isImpossible(n)
	// If the element is an array, a number in the path is an index of it.
	if len(a.list) < maxConditions && (in == nil || !startsWithNumber(n.Path) && !hasNumber(n.Path)) {
		a.list = append(a.list, &condition{node: n, path: in.join(n.Path), within: in})
	}
}

// element adds the conditions of an $elemMatch. Elements of arrays in arrays have no entries, so conditions on them are
// left out.
func (a *conjunction) element(n *filter.Node, in *scope) {
	if in != nil && (n.Path == "" || startsWithNumber(n.Path) || hasNumber(n.Path)) {
		return
	}
	inner := &scope{path: in.join(n.Path), depth: 1, up: in}
	if in != nil {
		inner.depth = in.depth + 1
	}
	for _, child := range n.Children {
		a.add(child, inner)
	}
}

func (a *conjunction) or(n *filter.Node) {
	if len(n.Children) == 1 {
		a.add(n.Children[0], nil)
	} else if in := asIn(n); in != nil {
		a.one(in, nil)
	} else if isImpossible(n) {
		a.nothing = true
	} else if len(a.ors) < maxConditions {
		a.ors = append(a.ors, n)
	}
}

// isImpossible reports whether a filter accepts no document, as {a: {$in: []}} does.
func isImpossible(n *filter.Node) bool {
	switch n.Kind {
	case filter.In:
		return len(n.Values) == 0 && len(n.Patterns) == 0
	case filter.And:
		return slices.ContainsFunc(n.Children, isImpossible)
	case filter.Or:
		return !slices.ContainsFunc(n.Children, func(branch *filter.Node) bool { return !isImpossible(branch) })
	}
	return false
}

// asIn turns an $or of equalities on one path into the equivalent $in. It returns nil for other filters.
func asIn(or *filter.Node) *filter.Node {
	path := or.Children[0].Path
	in := &filter.Node{Kind: filter.In, Path: path}
	for _, branch := range or.Children {
		if branch.Path != path {
			return nil
		}
		switch branch.Kind {
		case filter.Equal:
			in.Values = append(in.Values, branch.Value)
		case filter.In:
			in.Values, in.Patterns = append(in.Values, branch.Values...), append(in.Patterns, branch.Patterns...)
		default:
			return nil
		}
	}
	return in
}

// hasNumber reports whether a name after the first may be an array index.
func hasNumber(path string) bool {
	_, rest, more := strings.Cut(path, ".")
	for more {
		if startsWithNumber(rest) {
			return true
		}
		_, rest, more = strings.Cut(rest, ".")
	}
	return false
}

func startsWithNumber(path string) bool {
	name, _, _ := strings.Cut(path, ".")
	return name != "" && strings.Trim(name, "0123456789") == ""
}

// apart reports whether a document has an index entry for each pair of values of two columns, so that bounds on both
// columns may be combined. That is so unless one array lies on both paths. It does not if, within what the conditions
// share (the document or the element of an $elemMatch), their paths begin with different names.
func apart(c, d *condition) bool {
	s, t := c.within, d.within
	for s != t {
		if t == nil || s != nil && s.depth >= t.depth {
			s = s.up
		} else {
			t = t.up
		}
	}
	from := 0
	if s != nil {
		from = len(s.path) + 1
	}
	return from < len(c.path) && from < len(d.path) && firstName(c.path[from:]) != firstName(d.path[from:])
}

func firstName(path string) string {
	name, _, _ := strings.Cut(path, ".")
	return name
}

// asksOf reports whether one of the conditions is about a path.
func (a *conjunction) asksOf(path string) bool {
	for _, c := range a.list {
		if c.path == path {
			return true
		}
	}
	return false
}

// excludesMissing reports whether the conditions accept only documents with a value at the path.
func (a *conjunction) excludesMissing(path string) bool {
	for _, c := range a.list {
		if c.path == path && !c.bounds().missing {
			return true
		}
	}
	return false
}

// isLarge reports whether an entry may keep only a part of the value, so that different values may have the same entry.
func isLarge(v doc.Value) bool { return len(v.Data) > MaxExact }

// MaxExact is a size in bytes. The encoding of a value in an entry is up to about twice as long.
const MaxExact = 400
