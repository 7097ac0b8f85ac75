package expression

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// compileCost is what it costs to compile an expression, without those in it. Most of it is for constants, see
// fold.
const compileCost = 64

// compile reads an expression that is nested in depth others.
func compile(v doc.Value, names *Names, depth int) (*Expression, error) {
	if depth > maxDepth {
		return nil, code.New(code.Overflow, "Expression exceeds the maximum nesting of %d levels", maxDepth)
	}
	if err := names.Work().Spend(compileCost + work.Copied(len(v.Data))); err != nil {
		return nil, err
	}
	switch v.Type {
	case bsoncore.TypeString:
		return compileString(v, names)
	case bsoncore.TypeArray:
		return compileArray(v, names, depth)
	case bsoncore.TypeEmbeddedDocument:
		return compileObject(v, names, depth)
	}
	return literal(v), nil
}

// compileObject reads {$operator: argument} or an object literal.
func compileObject(v doc.Value, names *Names, depth int) (*Expression, error) {
	first, n := "", 0
	var arg doc.Value
	for name, member := range doc.Members(v.Data) {
		if n == 0 {
			first, arg = name, member
		}
		n++
	}
	if n == 0 || !strings.HasPrefix(first, "$") {
		return compileMembers(v, names, depth)
	}
	if n > 1 {
		return nil, code.New(15983, "an object representing an expression must have exactly one field: %s", show(v))
	}
	op := names.all.operators[first]
	if op == nil {
		return nil, unrecognized(first)
	}
	if err := names.CheckStable(first); err != nil {
		return nil, err
	}
	return op(arg, names, depth+1)
}

// truthy is the condition that v is.
func truthy(v doc.Value) bool {
	switch v.Type {
	case 0, bsoncore.TypeNull, bsoncore.TypeUndefined:
		return false
	case bsoncore.TypeBoolean:
		b, _ := doc.AsBool(v)
		return b
	case bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDouble, bsoncore.TypeDecimal128:
		return !isZero(v)
	}
	return true
}

// nullish reports whether v is null, undefined or missing: what makes most operators
// answer null.
func nullish(v doc.Value) bool {
	return v.Type == 0 || v.Type == bsoncore.TypeNull || v.Type == bsoncore.TypeUndefined
}

// literal is a value that stands for itself. It copies v.
func literal(v doc.Value) *Expression {
	v.Data = slices.Clone(v.Data)
	return &Expression{run: func(*Scope) (doc.Value, error) { return v, nil }, constant: true, value: v}
}

// fold is x, or its value when all that it is made of is constant. Where the value is an
// error the expression stays, so that the error comes only if it is evaluated. So it does
// where the value is large or long in the making: a few bytes of a command could ask for
// megabytes many times, and nothing could stop that.
func fold(x *Expression, args ...*Expression) *Expression {
	for _, a := range args {
		if a != nil && !a.constant {
			return x
		}
	}
	v, err := x.run(&Scope{folding: true, Meter: work.Limited(maxFoldedCost, tooLong)})
	if err != nil || len(v.Data) > maxFolded {
		return x
	}
	return literal(v)
}

// A function is the work of an operator on the values of its arguments; missing ones are
// the zero Value. It must be pure, and may not keep args. Results that it makes
// come from the scope's constructors.
type function func(s *Scope, args []doc.Value) (doc.Value, error)

// apply is f of the values of args, evaluated in order. A nil among args, an optional
// argument that is not there, is missing. Constants fold.
func apply(args []*Expression, f function) *Expression {
	return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
		base := len(s.stack)
		for _, a := range args {
			var v doc.Value
			if a != nil {
				var err error
				if v, err = a.run(s); err != nil {
					s.stack = s.stack[:base]
					return v, err
				}
			}
			s.stack = append(s.stack, v)
		}
		if err := s.spend(work.Operator * (1 + len(args))); err != nil {
			return doc.Value{}, err
		}
		v, err := f(s, s.stack[base:])
		s.stack = s.stack[:base]
		return v, err
	}}, args...)
}

// fixed is an operator of exactly n arguments: {$name: [a, b]}, or {$name: a} when n is 1.
func fixed(name string, n int, f function) operator { return between(name, n, n, f) }

// one is fixed for one argument, without a slice.
func one(name string, f func(s *Scope, v doc.Value) (doc.Value, error)) operator {
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := arguments(name, arg, 1, 1, names, depth)
		if err != nil {
			return nil, err
		}
		of := args[0].run
		return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
			v, err := of(s)
			if err != nil {
				return v, err
			}
			if err := s.spend(work.Operator); err != nil {
				return v, err
			}
			return f(s, v)
		}}, args...), nil
	}
}

// two is fixed for two arguments, without a slice.
func two(name string, f func(s *Scope, a, b doc.Value) (doc.Value, error)) operator {
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := arguments(name, arg, 2, 2, names, depth)
		if err != nil {
			return nil, err
		}
		left, right := args[0].run, args[1].run
		return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
			a, err := left(s)
			if err != nil {
				return a, err
			}
			b, err := right(s)
			if err != nil {
				return b, err
			}
			if err := s.spend(work.Operator); err != nil {
				return a, err
			}
			return f(s, a, b)
		}}, args...), nil
	}
}

// many is the most arguments an operator without a limit takes.
const many = 1 << 30

// between is an operator of min to max arguments.
func between(name string, min, max int, f function) operator {
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := arguments(name, arg, min, max, names, depth)
		if err != nil {
			return nil, err
		}
		return apply(args, f), nil
	}
}

// variadic is an operator of any number of arguments, also none.
func variadic(name string, f function) operator { return between(name, 0, many, f) }

// arguments compiles the arguments of an operator: the elements of an array, or the one
// argument that something else is. Errors: their number is not from min to max.
func arguments(name string, arg doc.Value, min, max int, names *Names, depth int) ([]*Expression, error) {
	if arg.Type != bsoncore.TypeArray {
		if min > 1 {
			return nil, wrongNumber(name, min, max, 1)
		}
		x, err := compile(arg, names, depth)
		return []*Expression{x}, err
	}
	var args []*Expression
	for e := range doc.Elements(arg) {
		x, err := compile(e, names, depth)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	if len(args) < min || len(args) > max {
		return nil, wrongNumber(name, min, max, len(args))
	}
	return args, nil
}

func wrongNumber(name string, min, max, n int) error {
	if min == max {
		return code.New(16020, "Expression %s takes exactly %d arguments. %d were passed in.", name, min, n)
	}
	if max == many {
		return code.New(28667, "Expression %s takes at least %d arguments, but %d were passed in.", name, min, n)
	}
	return code.New(28667, "Expression %s takes at least %d arguments, and at most %d, but %d were passed in.", name, min, max, n)
}

// A shape is the object that an operator with named arguments takes:
//
//	shape{name: "$dateToString", object: 18629, unknown: 18534, missing: 18628,
//		required: []string{"date"}, optional: []string{"format", "timezone", "onNull"}}
type shape struct {
	name                     string
	word                     string    // for an argument in errors, "argument" when empty
	object, unknown, missing code.Code // of the errors: no object, a name that is none, a required one missing
	required, optional       []string
}

// read compiles the named arguments: one for each of required, then one for each of
// optional, nil where it is not there. The result suits apply.
func (h shape) read(arg doc.Value, names *Names, depth int) ([]*Expression, error) {
	values, err := h.values(arg)
	if err != nil {
		return nil, err
	}
	args := make([]*Expression, len(values))
	for i, v := range values {
		if v.Type == 0 {
			continue
		}
		if args[i], err = compile(v, names, depth); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// values is read without compiling; the zero Value stands for what is not there.
func (h shape) values(arg doc.Value) ([]doc.Value, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, code.New(h.object, "%s only supports an object as its argument", h.name)
	}
	values := make([]doc.Value, len(h.required)+len(h.optional))
	for name, v := range doc.Members(arg.Data) {
		i := slices.Index(h.required, name)
		if i < 0 {
			if i = slices.Index(h.optional, name); i < 0 {
				return nil, code.New(h.unknown, "Unrecognized %s to %s: %s", cmp.Or(h.word, "argument"), h.name, name)
			}
			i += len(h.required)
		}
		values[i] = v
	}
	for i, name := range h.required {
		if values[i].Type == 0 {
			return nil, code.New(h.missing, "Missing '%s' parameter to %s", name, h.name)
		}
	}
	return values, nil
}

// typeName is what MongoDB calls the type of a value in errors and in $type.
func typeName(v doc.Value) string { return code.TypeName(v) }

// typeNames are the aliases of BSON's types.
// https://www.mongodb.com/docs/v7.0/reference/bson-types/
var typeNames = map[bsoncore.Type]string{
	bsoncore.TypeDouble: "double", bsoncore.TypeString: "string", bsoncore.TypeEmbeddedDocument: "object", bsoncore.TypeArray: "array",
	bsoncore.TypeBinary: "binData", bsoncore.TypeUndefined: "undefined", bsoncore.TypeObjectID: "objectId", bsoncore.TypeBoolean: "bool",
	bsoncore.TypeDateTime: "date", bsoncore.TypeNull: "null", bsoncore.TypeRegex: "regex", bsoncore.TypeDBPointer: "dbPointer",
	bsoncore.TypeJavaScript: "javascript", bsoncore.TypeSymbol: "symbol", bsoncore.TypeCodeWithScope: "javascriptWithScope",
	bsoncore.TypeInt32: "int", bsoncore.TypeTimestamp: "timestamp", bsoncore.TypeInt64: "long", bsoncore.TypeDecimal128: "decimal",
	bsoncore.TypeMinKey: "minKey", bsoncore.TypeMaxKey: "maxKey",
}

// show is a value as errors quote it.
func show(v doc.Value) string { return code.Show(v) }

// maxShown bounds how much of a client's text errors quote.
const maxShown = 200
