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

// compileCost is the cost of compiling an expression without those in it, in units of package work. Constants take most
// of that, see fold.
const compileCost = 64

// compile compiles an expression that is nested in depth others.
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

// compileObject compiles {$operator: argument} or an object literal.
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
		return nil, code.New(15983, "an object representing an expression must have exactly one field: %s",
			code.Show(v))
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

// truthy reports whether v counts as true in a condition.
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

// nullish reports whether v is null, undefined or missing. For such an argument most operators return null.
func nullish(v doc.Value) bool {
	return v.Type == 0 || v.Type == bsoncore.TypeNull || v.Type == bsoncore.TypeUndefined
}

// literal is an expression whose value is a copy of v.
func literal(v doc.Value) *Expression {
	v.Data = slices.Clone(v.Data)
	return &Expression{run: func(*Scope) (doc.Value, error) { return v, nil }, constant: true, value: v}
}

// fold returns the value of x as a literal if all its parts are constant, else x. It also returns x if evaluation
// fails, because MongoDB reports such an error only when the expression is evaluated, and if the value is large or
// takes long to compute: a few bytes of a command could ask for many megabytes, and nothing could stop it.
func fold(x *Expression, args ...*Expression) *Expression {
	constant := true
	x.fixed = true
	for _, a := range args {
		constant, x.fixed = constant && (a == nil || a.constant), x.fixed && (a == nil || a.Fixed())
	}
	if !constant {
		return x
	}
	v, err := x.run(&Scope{folding: true, Meter: work.Limited(maxFoldedCost, tooLong)})
	if err != nil || len(v.Data) > maxFolded {
		return x
	}
	return literal(v)
}

// A function computes an operator from the values of its arguments; missing ones are the zero Value. It must be pure
// and must not keep args. It makes results with the scope's constructors.
type function func(s *Scope, args []doc.Value) (doc.Value, error)

// apply is the expression f(args), with args evaluated in order. A nil among args is an optional argument that was not
// given; its value is missing. Constants are folded.
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

// fixed is an operator of exactly n arguments: {$name: [a, b]}, or {$name: a} if n is 1.
func fixed(name string, n int, f function) operator { return between(name, n, n, f) }

// one is fixed for one argument. It needs no slice of arguments.
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

// two is fixed for two arguments. It needs no slice of arguments.
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

// many is the maximum for operators without a limit.
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

// variadic is an operator of any number of arguments, including none.
func variadic(name string, f function) operator { return between(name, 0, many, f) }

// arguments compiles the arguments of an operator: the elements of an array, or any other value as the only argument.
// It fails if there are not between min and max.
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
	return code.New(28667, "Expression %s takes at least %d arguments, and at most %d, but %d were passed in.", name,
		min, max, n)
}

// A shape describes the object of named arguments that an operator takes:
//
//	shape{name: "$dateToString", object: 18629, unknown: 18534, missing: 18628,
//		required: []string{"date"}, optional: []string{"format", "timezone", "onNull"}}
type shape struct {
	name string
	word string // for an argument in errors, "argument" if empty
	// of the errors for a value that is not an object, for an unknown name and for a missing argument
	object, unknown, missing code.Code
	required, optional       []string
}

// read compiles the named arguments: one for each of required, then one for each of optional, nil if it is not given.
// The result is for apply.
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

// values is read without compiling. The zero Value stands for an argument that is not given.
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

// maxShown limits how many bytes of a client's text an error quotes.
const maxShown = 200
