package update

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// notExactValueField is NotExactValueField of MongoDB's error_codes.yml.
const notExactValueField code.Code = 111

// An equality is a path and the value that a query asks for.
type equality struct {
	path  string
	value doc.Value
}

// Upserted returns the initial document of an upsert by operators: the fields for which the query asks a value. The
// caller applies the update to it with Inserting set. It fails with NotSingleValueField if two conditions are about one
// path.
// https://www.mongodb.com/docs/v7.0/reference/method/db.collection.updateOne/#std-label-upsert-behavior
func Upserted(f *filter.Filter) (doc.Doc, error) {
	list := equalities(nil, f.Tree(), 0)
	slices.SortStableFunc(list, func(a, b equality) int { return cmp.Compare(a.path, b.path) })
	root := &node{}
	for i, e := range list {
		if strings.Count(e.path, ".") >= maxParts {
			return nil, code.New(code.Overflow, "FieldPath is too long")
		}
		if err := checkConflict(list[:i], e.path); err != nil {
			return nil, err
		}
		plant(root, e)
	}
	x := run{in: Input{Inserting: true}}
	d, _, err := x.object(nil, doc.Empty, root)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// UpsertedID is Upserted for a replacement: only the _id comes from the query. A
// condition on a part of the _id is NotExactValueField.
func UpsertedID(f *filter.Filter) (doc.Doc, error) {
	d := doc.Empty
	for _, e := range equalities(nil, f.Tree(), 0) {
		switch {
		case strings.HasPrefix(e.path, idName+"."):
			return nil, code.New(notExactValueField,
				"field at '_id' must be exactly specified, field at sub-path '%s'found", e.path)
		case e.path != idName:
			continue
		case !doc.IsEmpty(d):
			return nil, matchedTwice(idName)
		}
		d = wrap(nil, idName, e.value)
	}
	return d, nil
}

// maxQueryDepth limits the recursion over a query's tree.
const maxQueryDepth = 2 * MaxDepth

// equalities collects the values that n asks for in every case.
func equalities(list []equality, n *filter.Node, level int) []equality {
	if n == nil || level > maxQueryDepth {
		return list
	}
	switch n.Kind {
	case filter.Equal:
		return append(list, equality{n.Path, n.Value})
	case filter.In:
		if len(n.Values) == 1 && len(n.Patterns) == 0 {
			return append(list, equality{n.Path, n.Values[0]})
		}
	case filter.All:
		for _, v := range n.Values {
			list = append(list, equality{n.Path, v})
		}
	case filter.And:
		for _, c := range n.Children {
			list = equalities(list, c, level+1)
		}
	case filter.Or:
		if len(n.Children) == 1 {
			return equalities(list, n.Children[0], level+1)
		}
	}
	return list
}

// checkConflict fails if a path collides with one before it; those are sorted.
func checkConflict(before []equality, path string) error {
	for at := len(path); at > 0; at = strings.LastIndexByte(path[:at], '.') {
		_, found := slices.BinarySearchFunc(before, path[:at], func(e equality, p string) int {
			return cmp.Compare(e.path, p)
		})
		switch {
		case found && at == len(path):
			return matchedTwice(path)
		case found:
			return code.New(code.NotSingleValueField,
				"cannot infer query fields to set, both paths '%s' and '%s' are matched", path, path[:at])
		}
	}
	return nil
}

func matchedTwice(path string) error {
	return code.New(code.NotSingleValueField, "cannot infer query fields to set, path '%s' is matched twice", path)
}

// plant adds a leaf for a value at its path. Every part of the path is a name, since a new document has no arrays.
func plant(root *node, e equality) {
	at := root
	for part := range strings.SplitSeq(e.path, ".") {
		i := at.find(part)
		if i < 0 {
			i = len(at.children)
			at.insert(child{name: part, node: &node{}})
		}
		at = at.children[i].node
	}
	at.leaf = constant(e.value)
}
