package filter

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Limits on a query.
const (
	maxDepth      = 100     // of nested conditions: MongoDB's limit
	maxConditions = 100_000 // of all

	// maxPatterns limits the regular expressions. Compiling one may take milliseconds and cannot be stopped.
	maxPatterns = 1_000
)

// A compiler compiles one query.
type compiler struct {
	names      *expression.Names
	meter      *work.Meter
	conditions int
	scoped     bool

	onDocument, onField map[string]operator // the tables of the same names
	keywords            map[string]keyword
}

// A spot is the place of an operator in a query.
type spot struct {
	inElement bool // the paths of a condition begin at an element of an array: $elemMatch
	depth     int
	path      *Path   // for operators on a field
	among     doc.Doc // the operators on the same field: {$regex: ..., $options: ...}
}

func (at spot) deeper() spot {
	at.depth++
	return at
}

// An operator compiles {name: arg}, in a document or in the conditions on a field. A condition whose root is nil
// accepts everything.
type operator func(c *compiler, name string, arg doc.Value, at spot) (condition, error)

func newCompiler(o Options) *compiler {
	c := &compiler{names: o.Names, meter: o.Meter, onDocument: onDocument, onField: onField, keywords: keywords}
	if c.meter == nil {
		c.meter = o.Names.Work()
	}
	return c
}

func compile(query doc.Doc, o Options) (*Filter, error) {
	if patternsIn(doc.Object(query), maxDepth) > maxPatterns {
		return nil, code.New(code.BadValue, "a query has more than %d regular expressions", maxPatterns)
	}
	c := newCompiler(o)
	found, err := c.query(slices.Clone(query), spot{})
	if err = cmp.Or(c.meter.Err(), err); err != nil {
		return nil, err
	}
	return &Filter{test: found.root, node: found.node, scoped: c.scoped}, nil
}

// patternsIn counts the values in a query that may be regular expressions.
func patternsIn(v doc.Value, levels int) (n int) {
	if levels == 0 {
		return 0
	}
	for name, m := range doc.Members(v.Data) {
		switch m.Type {
		case bsoncore.TypeRegex:
			n++
		case bsoncore.TypeString:
			if name == "$regex" || name == "pattern" {
				n++
			}
		case bsoncore.TypeEmbeddedDocument:
			if name == "patternProperties" {
				n += membersOf(m.Data)
			}
			n += patternsIn(m, levels-1)
		case bsoncore.TypeArray:
			n += patternsIn(m, levels-1)
		}
	}
	return n
}

func membersOf(d doc.Doc) (n int) {
	for range doc.Members(d) {
		n++
	}
	return n
}

// query compiles a query on a document. All its conditions have to hold.
func (c *compiler) query(query doc.Doc, at spot) (condition, error) {
	if at.depth > maxDepth {
		return condition{}, code.New(code.BadValue, "exceeded depth limit of %d when converting to match expressions",
			maxDepth)
	}
	var list []condition
	for name, arg := range doc.Members(query) {
		found, err := c.member(name, arg, at)
		if err != nil {
			return condition{}, err
		}
		if found.root != nil {
			list = append(list, found)
		}
	}
	return all(list), nil
}

// member compiles {$and: [...]}, {path: {$gt: 1}}, {path: /x/} or {path: value}.
func (c *compiler) member(name string, arg doc.Value, at spot) (condition, error) {
	if err := c.count(); err != nil {
		return condition{}, err
	}
	if strings.HasPrefix(name, "$") {
		op := c.onDocument[name]
		if op == nil {
			return condition{}, code.New(code.BadValue, "unknown top level operator: %s. "+
				"If you have a field name that starts with a '$' symbol, consider using $getField or $setField.", name)
		}
		return op(c, name, arg, at)
	}
	path, err := ParsePath(name)
	if err != nil {
		return condition{}, err
	}
	at.path = path
	switch {
	case isOperators(arg, false):
		return c.operators(arg.Data, at)
	case arg.Type == bsoncore.TypeRegex:
		return regexValue(c, arg, at)
	}
	return equal(c, "$eq", arg, at)
}

// operators compiles {$gt: 1, $lt: 5}, the conditions on a field.
func (c *compiler) operators(ops doc.Doc, at spot) (condition, error) {
	if at.depth > maxDepth {
		return condition{}, code.New(code.BadValue, "exceeded depth limit of %d when converting to match expressions",
			maxDepth)
	}
	at.among = ops
	var list []condition
	for name, arg := range doc.Members(ops) {
		if err := c.count(); err != nil {
			return condition{}, err
		}
		op := c.onField[name]
		if op == nil {
			return condition{}, code.New(code.BadValue, "unknown operator: %s", name)
		}
		found, err := op(c, name, arg, at)
		if err != nil {
			return condition{}, err
		}
		if found.root != nil {
			list = append(list, found)
		}
	}
	return all(list), nil
}

func (c *compiler) count() error {
	if c.conditions++; c.conditions > maxConditions {
		return code.New(code.BadValue, "a query has more than %d conditions", maxConditions)
	}
	return c.meter.Spend(8 * work.Operator)
}

// isOperators reports whether v has operators, as in {$gt: 1}, and is not an object to compare with. A DBRef is such an
// object: it has $ref and $id or, with partial set, any of $ref, $id and $db.
func isOperators(v doc.Value, partial bool) bool {
	if v.Type != bsoncore.TypeEmbeddedDocument {
		return false
	}
	name, _ := first(v.Data)
	if !strings.HasPrefix(name, "$") {
		return false
	}
	ref, id := has(v.Data, "$ref"), has(v.Data, "$id")
	if partial {
		return !ref && !id && !has(v.Data, "$db")
	}
	return !(ref && id)
}

// first is the first member of a document, missing if it has none.
func first(d doc.Doc) (string, doc.Value) {
	for name, v := range doc.Members(d) {
		return name, v
	}
	return "", doc.Value{}
}

func has(d doc.Doc, name string) bool { return doc.Lookup(d, name).Type != 0 }
