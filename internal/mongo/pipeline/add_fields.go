package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// An addFields is $addFields or its alias $set. New members come last; existing ones change in place, and are removed
// if the new value is missing.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/addFields/
type addFields struct {
	stage string
	root  *node
}

func (s *addFields) name() string { return s.stage }

func (s *addFields) mapper(r *run) mapFunc {
	scope := r.scope()
	var buf []byte
	return func(d doc.Doc) (doc.Doc, bool, error) {
		scope.Reset(doc.Object(d))
		out, err := appendAdded(buf[:0], s.root, d, scope)
		if err != nil {
			return nil, false, err
		}
		buf = out
		return out, true, nil
	}
}

// appendAdded appends d with the members that n computes.
func appendAdded(dst []byte, n *node, d doc.Doc, s *expression.Scope) ([]byte, error) {
	dst, at := beginDoc(dst)
	var err error
	m := s.Work()
	for name, v := range doc.Members(d) {
		if err = m.Spend(work.Element); err != nil {
			return nil, err
		}
		c := n.child(name)
		switch {
		case c == nil:
			dst = doc.AppendElement(dst, name, v)
		case c.kind == compute:
			if v, err = c.value.Evaluate(s); err == nil {
				dst = appendMember(dst, name, v)
			}
		case doc.IsArray(v):
			dst, err = addToElements(appendHead(dst, v.Type, name), c, v, s)
		default:
			dst, err = appendAdded(appendHead(dst, bsoncore.TypeEmbeddedDocument, name), c, objectOrEmpty(v), s)
		}
		if err != nil {
			return nil, err
		}
	}
	has := n.membersOf(m, d)
	for _, c := range n.children {
		if err = m.Spend(work.Element); err != nil {
			return nil, err
		}
		if has.get(c.name).Type != 0 {
			continue
		}
		if c.kind == inside {
			dst, err = appendAdded(appendHead(dst, bsoncore.TypeEmbeddedDocument, c.name), c, doc.Empty, s)
		} else {
			var v doc.Value
			if v, err = c.value.Evaluate(s); err == nil {
				dst = appendMember(dst, c.name, v)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return endDoc(dst, at), nil
}

// objectOrEmpty is v if it is an object, else an empty object.
func objectOrEmpty(v doc.Value) doc.Doc {
	if d, ok := doc.AsDoc(v); ok {
		return d
	}
	return doc.Empty
}

func addToElements(dst []byte, n *node, array doc.Value, s *expression.Scope) ([]byte, error) {
	dst, at := beginDoc(dst)
	i := 0
	for e := range doc.Elements(array) {
		var err error
		if doc.IsArray(e) {
			dst, err = addToElements(appendIndex(dst, e.Type, i), n, e, s)
		} else {
			dst, err = appendAdded(appendIndex(dst, bsoncore.TypeEmbeddedDocument, i), n, objectOrEmpty(e), s)
		}
		if err != nil {
			return nil, err
		}
		i++
	}
	return endDoc(dst, at), nil
}

func addFieldsParser(stageName string) parser {
	return func(c *compiler, arg doc.Value) (stage, error) {
		if !isObject(arg) {
			return nil, code.New(40272, "%s specification stage must be an object, got %s", stageName,
				code.TypeName(arg))
		}
		root, err := parseAdded(c, arg.Data)
		if err != nil {
			return nil, within("Invalid "+stageName, err)
		}
		return &addFields{stageName, root}, nil
	}
}

func parseAdded(c *compiler, spec doc.Doc) (*node, error) {
	root := &node{kind: inside}
	for name, v := range doc.Members(spec) {
		if err := addNode(c, root, root, name, v, 0); err != nil {
			return nil, err
		}
	}
	if len(root.children) == 0 {
		return nil, code.New(40177, "specification must have at least one field")
	}
	return root, nil
}

func addNode(c *compiler, root, parent *node, name string, v doc.Value, depth int) error {
	switch {
	case depth > expression.MaxPathNames:
		return code.New(code.Overflow, "specification is nested too deeply")
	case parent != root && strings.Contains(name, "."):
		return code.New(40183, "cannot use dotted field name '%s' in a sub object", name)
	case isObject(v) && !isExpression(v):
		return addInside(c, root, parent, name, v, depth)
	}
	x, err := expression.Compile(v, c.names)
	if err != nil {
		return err
	}
	return putAdded(parent, name, &node{kind: compute, value: x})
}

// addInside parses name: {a: ..., b: ...}, which sets members of an object and leaves its others.
func addInside(c *compiler, root, parent *node, name string, v doc.Value, depth int) error {
	n := 0
	for range doc.Members(v.Data) {
		n++
	}
	if n == 0 {
		return code.New(40180, "an empty object is not a valid value. Found empty object at path %s", name)
	}
	sub := &node{kind: inside}
	if err := putAdded(parent, name, sub); err != nil {
		return err
	}
	for m, a := range doc.Members(v.Data) {
		if strings.HasPrefix(m, "$") {
			return code.New(40182,
				"FieldPath field names may not start with '$'. Consider using $getField or $setField. "+
					"Found '%s' while parsing object at path '%s'", m, name)
		}
		if err := addNode(c, root, sub, m, a, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// isExpression reports whether an object's first member begins with $.
func isExpression(v doc.Value) bool {
	for m := range doc.Members(v.Data) {
		return strings.HasPrefix(m, "$")
	}
	return false
}

func putAdded(parent *node, name string, n *node) error {
	err := put(parent, name, n)
	if code.Is(err, 31249) || code.Is(err, 31250) {
		return code.New(40176,
			"specification contains two conflicting paths. Cannot specify both '%s' and a path before or under it",
			name)
	}
	return err
}
