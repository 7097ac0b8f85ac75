package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// CompileProjection compiles a projection of find or $project. An empty one keeps all members. Errors: 31253 and 31254
// if it mixes inclusion and exclusion, 31249 and 31250 if two paths collide, and those of expressions. It keeps none of
// spec's memory.
// https://www.mongodb.com/docs/v7.0/reference/command/find/
func CompileProjection(spec doc.Doc, o ProjectionOptions) (*Projection, error) {
	return compileProjection(slices.Clone(spec), o)
}

func compileProjection(spec doc.Doc, o ProjectionOptions) (*Projection, error) {
	c := projectionCompiler{o: o, root: &node{kind: inside}}
	named := false
	for name, v := range doc.Members(spec) {
		named = named || name == "_id" || strings.HasPrefix(name, "_id.")
		if err := c.member(c.root, "", name, v, 0); err != nil {
			return nil, err
		}
	}
	inclusion := c.inclusion()
	if inclusion && !named {
		c.root.adopt(&node{name: "_id", kind: keep})
	}
	c.root.settle()
	return &Projection{root: c.root, inclusion: inclusion, scoped: c.scoped, positional: c.positional}, nil
}

type projectionCompiler struct {
	o    ProjectionOptions
	root *node

	mode         mode
	idIn, idOut  bool // _id: 1, _id: 0
	cuts, firsts bool
	positional   bool
	scoped       bool
}

type mode uint8

const (
	undecided mode = iota
	including
	excluding
)

// inclusion reports whether the projection is an inclusion. If no member says so, the rules of MongoDB's server decide.
func (c *projectionCompiler) inclusion() bool {
	switch {
	case c.mode != undecided:
		return c.mode == including
	case c.cuts:
		return c.idIn
	case c.firsts:
		return true
	}
	return c.idIn
}

// member compiles name: v, where name is relative to parent and may be dotted.
func (c *projectionCompiler) member(parent *node, above, name string, v doc.Value, depth int) error {
	if depth > expression.MaxPathNames {
		return code.New(code.Overflow, "projection is nested too deeply")
	}
	if err := c.o.Names.Work().Spend(indexCost + work.Scanned(len(above)+len(name))); err != nil {
		return err
	}
	positional := strings.HasSuffix(name, ".$")
	switch {
	case positional && !c.o.Find:
		return code.New(31324, "Cannot use positional projection in aggregation projection")
	case strings.Contains(name, ".$."):
		return code.New(31394, "As of 4.4, it's illegal to specify positional operator in the middle of a path."+
			"Positional projection may only be used at the end, for example: a.b.$. If the query previously used a "+
			"form like a.b.$.d, remove the parts following the '$' and the results will be equivalent.")
	}
	switch {
	case isObject(v):
		if positional {
			return code.New(31271, "positional projection cannot be used with an expression or sub object")
		}
		return c.object(parent, above, name, v, depth)
	case doc.IsNumberBSON(v) || v.Type == bsoncore.TypeBoolean:
		switch on := expression.Truthy(v); {
		case on && positional:
			return c.position(parent, above, name)
		case on:
			return c.include(parent, name)
		case positional:
			return code.New(31395, "positional projection cannot be used with exclusion")
		}
		return c.exclude(parent, name)
	case positional:
		return code.New(31308, "positional projection cannot be used with a literal")
	}
	if err := c.expression(parent, name, v); err != nil {
		return err
	}
	if c.mode == excluding {
		return code.New(31310, "Cannot use an expression %s: %s in an exclusion projection", name, code.Show(v))
	}
	c.mode = including
	return nil
}

func (c *projectionCompiler) include(parent *node, name string) error {
	if err := put(parent, name, &node{kind: keep}); err != nil {
		return err
	}
	if name == "_id" && parent == c.root {
		c.idIn = true
		return nil
	}
	return c.decideInclusion(name)
}

func (c *projectionCompiler) decideInclusion(name string) error {
	if c.mode == excluding {
		return code.New(31253, "Cannot do inclusion on field %s in exclusion projection", name)
	}
	c.mode = including
	return nil
}

func (c *projectionCompiler) exclude(parent *node, name string) error {
	if err := put(parent, name, &node{kind: drop}); err != nil {
		return err
	}
	if name == "_id" && parent == c.root {
		c.idOut = true
		return nil
	}
	if c.mode == including {
		return code.New(31254, "Cannot do exclusion on field %s in inclusion projection", name)
	}
	c.mode = excluding
	return nil
}

// object compiles name: {...}: an expression, an operator of find, or members inside.
func (c *projectionCompiler) object(parent *node, above, name string, v doc.Value, depth int) error {
	op, arg, n := "", doc.Value{}, 0
	for m, a := range doc.Members(v.Data) {
		if n == 0 {
			op, arg = m, a
		}
		n++
	}
	if n == 0 {
		return code.New(51270, "An empty sub-projection is not a valid value. Found empty object at path")
	}
	if n == 1 && strings.HasPrefix(op, "$") {
		return c.operator(parent, name, op, arg, v)
	}
	sub := &node{kind: inside}
	if err := put(parent, name, sub); err != nil {
		return err
	}
	if above != "" {
		above += "."
	}
	for m, a := range doc.Members(v.Data) {
		if err := c.member(sub, above+name, m, a, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c *projectionCompiler) operator(parent *node, name, op string, arg, v doc.Value) error {
	switch {
	case op == "$meta":
		return code.Unsupported("$meta")
	case op == "$slice" && c.o.Find:
		n, notCut := parseCut(name, arg)
		if notCut == nil {
			c.cuts = true
			return put(parent, name, n)
		}
		if _, err := expression.Compile(v, c.o.Names); err != nil {
			return within("Invalid $slice syntax. The given syntax "+code.Show(v)+
				" did not match the find() syntax because :: "+
				"Location"+codeText(notCut)+" :: The given syntax did not match the expression $slice syntax.", err)
		}
	case op == "$elemMatch" && c.o.Find:
		return c.first(parent, name, arg, v)
	case op == "$elemMatch":
		return code.New(code.InvalidPipelineOperator, "Cannot use $elemMatch in this context")
	case !expression.IsOperator(op):
		return code.New(31325, "Unknown expression %s", op)
	}
	if c.mode == excluding {
		return code.New(31252, "Cannot use expression other than $meta in exclusion projection")
	}
	c.mode = including
	return c.expression(parent, name, v)
}

func codeText(err error) string {
	e := code.Of(err)
	return strings.TrimPrefix(e.Code.Name(), "Location") + ": " + e.Message
}

func (c *projectionCompiler) expression(parent *node, name string, v doc.Value) error {
	x, err := expression.Compile(v, c.o.Names)
	if err != nil {
		return err
	}
	c.scoped = true
	return put(parent, name, &node{kind: compute, value: x})
}

// first compiles {$elemMatch: {...}}.
func (c *projectionCompiler) first(parent *node, name string, arg, v doc.Value) error {
	switch {
	case !isObject(arg):
		return code.New(31274, "elemMatch: Invalid argument, object required, but got %s", code.TypeName(arg))
	case c.positional:
		return code.New(31255, "Cannot specify positional operator and $elemMatch.")
	case parent != c.root || strings.Contains(name, "."):
		return code.New(31275, "Cannot use $elemMatch projection on a nested field.")
	}
	query, at := beginDoc(nil)
	query = endDoc(doc.AppendElement(query, name, v), at)
	accepts, err := filter.Compile(query, filter.Options{Names: c.o.Names})
	if err != nil {
		return err
	}
	c.firsts, c.scoped = true, true
	return put(parent, name, &node{kind: first, accepts: accepts})
}

// position compiles "a.b.$": 1. It marks all nodes on the path, because the operator applies to the first array on it.
// mongodb/mongo: src/mongo/db/query/projection_parser.cpp, src/mongo/db/exec/projection_executor_utils.cpp
func (c *projectionCompiler) position(parent *node, above, name string) error {
	path := strings.TrimSuffix(name, ".$")
	switch {
	case c.positional:
		return code.New(31276, "Cannot specify more than one positional projection per query.")
	case c.firsts:
		return code.New(31256, "Cannot specify positional operator and $elemMatch.")
	case c.o.Filter == nil:
		return code.New(51050, "Projections with a positional operator require a matcher")
	case path == "":
		return code.New(5392900, "Projection on field %s is invalid", name)
	}
	if err := put(parent, path, &node{kind: keep}); err != nil {
		return err
	}
	if above != "" {
		path = above + "." + path
	}
	at := c.root
	for step := range strings.SplitSeq(path, ".") {
		at = at.child(step)
		at.found = true
	}
	c.positional = true
	return c.decideInclusion(name)
}

// put adds n at a dotted path below parent.
func put(parent *node, name string, n *node) error {
	p, err := parsePath(name)
	if err != nil {
		return err
	}
	for i, step := range p[:len(p)-1] {
		c := parent.child(step)
		if c == nil {
			c = &node{name: step, kind: inside}
			parent.adopt(c)
		}
		if c.kind != inside {
			return code.New(31249, "Path collision at %s remaining portion %s", name, p[i+1:])
		}
		parent = c
	}
	n.name = p[len(p)-1]
	if parent.child(n.name) != nil {
		return code.New(31250, "Path collision at %s", name)
	}
	parent.adopt(n)
	return nil
}
