package update

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

const (
	idName         = "_id"
	positionalName = "$"
	maxParts       = 200 // names in one path
)

// An operator compiles its argument for one field.
type operator func(field string, arg doc.Value, names *expression.Names) (*leaf, error)

// operators lists every operator but $rename, which has two paths, sorted.
var operators = map[string]operator{
	"$addToSet":    compileAddToSet,
	"$bit":         compileBit,
	"$currentDate": compileCurrentDate,
	"$inc":         compileInc,
	"$max":         compileMax,
	"$min":         compileMin,
	"$mul":         compileMul,
	"$pop":         compilePop,
	"$pull":        compilePull,
	"$pullAll":     compilePullAll,
	"$push":        compilePush,
	"$set":         compileSet,
	"$setOnInsert": compileSetOnInsert,
	"$unset":       compileUnset,
}

// A compiler compiles one update.
type compiler struct {
	u       *Update
	filters map[string]*filter.Filter // by identifier
	used    map[string]bool           // identifiers that a path uses
	names   *expression.Names
}

// Compile compiles an update of operators, such as {$set: {a: 1}}. Errors are *code.Error: unknown operators are
// FailedToParse, two operators on one path are ConflictingUpdateOperators.
func Compile(update doc.Doc, o Options) (*Update, error) {
	c := compiler{u: &Update{root: &node{}}, names: o.Names}
	var err error
	if c.filters, err = compileArrayFilters(o.ArrayFilters, o.Names); err != nil {
		return nil, err
	}
	for name, fields := range doc.Members(update) {
		if err := c.modifier(name, fields); err != nil {
			return nil, err
		}
	}
	if err := c.checkUsed(o.ArrayFilters, update); err != nil {
		return nil, err
	}
	c.u.root.sort(c.names.Work())
	return c.u, c.names.Work().Err()
}

// modifier compiles all fields of one operator.
func (c *compiler) modifier(name string, fields doc.Value) error {
	compile, known := operators[name]
	if !known && name != renameName {
		return code.New(code.FailedToParse,
			"Unknown modifier: %s. Expected a valid update modifier or pipeline-style update specified as an array",
			name)
	}
	d, ok := doc.AsDoc(fields)
	if !ok {
		return code.New(code.FailedToParse,
			"Modifiers operate on fields but we found type %s instead. For example: {$mod: {<field>: ...}} not {%s}",
			code.TypeName(fields), elementText(name, fields))
	}
	for field, arg := range doc.Members(d) {
		if err := c.field(compile, field, arg); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) field(compile operator, field string, arg doc.Value) error {
	if err := c.names.Work().Spend(childCost + 8*work.Operator + work.Scanned(len(arg.Data))); err != nil {
		return err
	}
	if compile == nil {
		return c.rename(field, arg)
	}
	path, err := splitPath(field)
	if err != nil {
		return err
	}
	l, err := compile(field, arg, c.names)
	if err != nil {
		return err
	}
	return c.place(path, l)
}

// splitPath parses the path of an operator.
func splitPath(field string) ([]string, error) {
	if field == "" {
		return nil, code.New(code.EmptyFieldName, "An empty update path is not valid.")
	}
	if strings.Count(field, ".") >= maxParts {
		return nil, code.New(code.Overflow, "FieldPath is too long")
	}
	path := strings.Split(field, ".")
	positional := 0
	for _, part := range path {
		if part == "" {
			return nil, code.New(code.EmptyFieldName,
				"The update path '%s' contains an empty field name, which is not allowed.", field)
		}
		if part == positionalName {
			positional++
		}
	}
	switch {
	case positional > 1:
		return nil, code.New(code.BadValue, "Too many positional (i.e. '$') elements found in path '%s'", field)
	case path[0] == positionalName:
		return nil, code.New(code.BadValue,
			"Cannot have positional (i.e. '$') element in the first position in path '%s'", field)
	}
	return path, nil
}

// place puts an operator at its path in the tree.
func (c *compiler) place(path []string, l *leaf) error {
	at := c.u.root
	for i := range path {
		next, err := c.named(path, i)
		if err != nil {
			return err
		}
		last := i == len(path)-1
		each := !last && isIdentifier(path[i+1])
		found := at.child(next.name)
		switch {
		case found == nil:
			next.node = &node{each: each}
			if last {
				next.leaf = l
			}
			at.add(next)
			found = next.node
		case last || found.leaf != nil || found.each != each:
			return code.New(code.ConflictingUpdateOperators, "Updating the path '%s' would create a conflict at '%s'",
				strings.Join(path, "."), strings.Join(path[:i+1], "."))
		}
		at = found
	}
	return nil
}

// named makes a child for one part of a path, without a node.
func (c *compiler) named(path []string, i int) (child, error) {
	if !isIdentifier(path[i]) {
		return child{name: path[i]}, nil
	}
	if i == 0 {
		return child{}, code.New(code.BadValue,
			"Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '%s'",
			strings.Join(path, "."))
	}
	id := path[i][2 : len(path[i])-1]
	if id == "" {
		return child{}, nil
	}
	f := c.filters[id]
	if f == nil {
		return child{}, code.New(code.BadValue, "No array filter found for identifier '%s' in path '%s'", id,
			strings.Join(path, "."))
	}
	if c.used == nil {
		c.used = map[string]bool{}
	}
	c.used[id] = true
	return child{name: id, match: f}, nil
}

// isIdentifier reports whether a part of a path is $[] or $[identifier].
func isIdentifier(part string) bool {
	return len(part) >= 3 && part[:2] == "$[" && part[len(part)-1] == ']'
}

// constant is a leaf that sets a value.
func constant(v doc.Value) *leaf {
	return &leaf{creates: true, depth: depthOf(v),
		change: func(_ *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
			if unchanged(v, old) {
				return dst, 0, kept, nil
			}
			return append(dst, v.Data...), v.Type, written, nil
		}}
}

// Operators lists the names of all operators, sorted.
func Operators() []string {
	list := append(slices.Collect(maps.Keys(operators)), "$rename") // which is compiled separately
	slices.Sort(list)
	return list
}
