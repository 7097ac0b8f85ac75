package filter

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// and is {$and: [query, ...]}.
// https://www.mongodb.com/docs/v7.0/reference/operator/query-logical/
func and(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	list, err := c.queries(name, arg, at)
	if err != nil {
		return condition{}, err
	}
	return all(list), nil
}

// or is {$or: [query, ...]}.
func or(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	list, err := c.queries(name, arg, at)
	if err != nil {
		return condition{}, err
	}
	roots, ones, node := apart(list, Or)
	return condition{root: some(roots), one: some(ones), node: node}, nil
}

// nor is {$nor: [query, ...]}.
func nor(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	list, err := c.queries(name, arg, at)
	if err != nil {
		return condition{}, err
	}
	roots, ones, node := apart(list, Nor)
	return condition{root: no(some(roots)), one: no(some(ones)), node: node}, nil
}

// queries compiles the array of queries of $and, $or and $nor.
func (c *compiler) queries(name string, arg doc.Value, at spot) ([]condition, error) {
	if arg.Type != bsoncore.TypeArray {
		return nil, code.New(code.BadValue, "%s must be an array", name)
	}
	var list []condition
	for e := range doc.Elements(arg) {
		if e.Type != bsoncore.TypeEmbeddedDocument {
			return nil, code.New(code.BadValue, "$or/$and/$nor entries need to be full objects")
		}
		found, err := c.query(e.Data, at.deeper())
		if err != nil {
			return nil, err
		}
		list = append(list, found)
	}
	if len(list) == 0 {
		return nil, code.New(code.BadValue, "$and/$or/$nor must be a nonempty array")
	}
	return list, nil
}

func apart(list []condition, kind Kind) (roots, ones []test, node *Node) {
	node = &Node{Kind: kind}
	for _, c := range list {
		roots, ones = append(roots, c.root), append(ones, c.one)
		node.Children = append(node.Children, c.node)
	}
	return roots, ones, node
}

// not is {path: {$not: {$gt: 1}}} and {path: {$not: /x/}}.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/not/
func not(c *compiler, _ string, arg doc.Value, at spot) (condition, error) {
	found, err := c.inner(arg, at)
	if err != nil {
		return condition{}, err
	}
	return negated(found, &Node{Kind: Not, Path: at.path.text, Children: []*Node{found.node}}), nil
}

// inner compiles the argument of $not.
func (c *compiler) inner(arg doc.Value, at spot) (condition, error) {
	if arg.Type == bsoncore.TypeRegex {
		return regexValue(c, arg, at)
	}
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return condition{}, code.New(code.BadValue, "$not needs a regex or a document")
	}
	if name, _ := first(arg.Data); name == "" {
		return condition{}, code.New(code.BadValue, "$not cannot be empty")
	}
	return c.operators(arg.Data, at.deeper())
}
