package plan

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// maxConditions is how many conditions of one conjunction are looked at; others narrow nothing down.
const maxConditions = 1000

// A condition is what a filter asks of one path, and what an index on it needs to know.
type condition struct {
	node   *filter.Node
	path   string // from the document on
	within *scope // the innermost $elemMatch, nil outside

	// The values of entries, one of which a document has that is accepted. Nil is all; that
	// narrows nothing down.
	spans   []span
	exact   bool // whoever has an entry in spans is accepted
	missing bool // documents without a value may be accepted
	read    bool // the above is known
	only    [2]span
}

// A scope is an $elemMatch: all conditions in it are about one element.
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

// ofElement tells that a condition is about an element itself, {$elemMatch: {$gt: 1}}, and
// not about what is in it.
func (c *condition) ofElement() bool { return c.within != nil && c.node.Path == "" }

// A conjunction is conditions that all have to hold.
type conjunction struct {
	list    []*condition
	ors     []*filter.Node
	nothing bool // they cannot
}

// add takes apart what a filter asks. What no index helps with is left out.
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
	}
}

func (a *conjunction) one(n *filter.Node, in *scope) {
	a.nothing = a.nothing || isImpossible(n)
	// In an element that is an array, a number is an index of that.
	if len(a.list) < maxConditions && (in == nil || !startsWithNumber(n.Path) && !hasNumber(n.Path)) {
		a.list = append(a.list, &condition{node: n, path: in.join(n.Path), within: in})
	}
}

// element takes an $elemMatch apart. What is asked of an element of an element that is an array has no entries.
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

// isImpossible reports whether no document can be accepted, as {a: {$in: []}} says.
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

// asIn is an $or of equalities of one path as the $in that it is, nil if it is none.
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

// hasNumber reports whether a name behind the first may be the index of an element.
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

// apart reports whether a document with several entries in an index has one for each pair of
// values of two columns, so that one entry may be asked for both. It has unless an
// array lies on both paths: in what the two conditions share, which is the document or
// the element of an $elemMatch, their paths begin with other names.
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

// asksOf reports whether a condition is about a path.
func (a *conjunction) asksOf(path string) bool {
	for _, c := range a.list {
		if c.path == path {
			return true
		}
	}
	return false
}

// excludesMissing reports whether a document that is accepted has a value at one of an index's columns.
func (a *conjunction) excludesMissing(path string) bool {
	for _, c := range a.list {
		if c.path == path && !c.bounds().missing {
			return true
		}
	}
	return false
}

// isLarge tells values that entries may keep only a part of, so that two of them may share an entry.
func isLarge(v doc.Value) bool { return len(v.Data) > maxExact }

// maxExact is in bytes; the form of a value in an entry is up to about twice as long.
const maxExact = 400
