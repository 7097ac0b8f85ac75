package expression

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// The conditional operators.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#conditional-expression-operators

// compileCond compiles [if, then, else] or an object of the three.
func compileCond(arg doc.Value, names *Names, depth int) (*Expression, error) {
	var args []*Expression
	var err error
	if arg.Type == bsoncore.TypeEmbeddedDocument {
		args, err = readCond(arg, names, depth)
	} else {
		args, err = arguments("$cond", arg, 3, 3, names, depth)
	}
	if err != nil {
		return nil, err
	}
	return choose(args[0], args[1], args[2]), nil
}

func readCond(arg doc.Value, names *Names, depth int) ([]*Expression, error) {
	args := make([]*Expression, 3)
	for name, v := range doc.Members(arg.Data) {
		x, err := compile(v, names, depth)
		if err != nil {
			return nil, err
		}
		switch name {
		case "if":
			args[0] = x
		case "then":
			args[1] = x
		case "else":
			args[2] = x
		default:
			return nil, code.New(17083, "Unrecognized parameter to $cond: %s", name)
		}
	}
	for i, name := range []string{"if", "then", "else"} {
		if args[i] == nil {
			return nil, code.New(17080+code.Code(i), "Missing '%s' parameter to $cond", name)
		}
	}
	return args, nil
}

// choose evaluates one of two expressions.
func choose(test, then, otherwise *Expression) *Expression {
	if v, ok := test.Constant(); ok {
		if truthy(v) {
			return then
		}
		return otherwise
	}
	return &Expression{run: func(s *Scope) (doc.Value, error) {
		v, err := test.run(s)
		if err != nil {
			return v, err
		}
		if err := s.spend(work.Operator); err != nil {
			return v, err
		}
		if truthy(v) {
			return then.run(s)
		}
		return otherwise.run(s)
	}}
}

// compileIfNull compiles a list of expressions. The result is the first value that is not null, undefined or missing,
// else the value of the last one.
func compileIfNull(arg doc.Value, names *Names, depth int) (*Expression, error) {
	args, err := arguments("$ifNull", arg, 0, many, names, depth)
	if err == nil && len(args) < 2 {
		err = code.New(1257300, "$ifNull needs at least two arguments, had: %d", len(args))
	}
	if err != nil {
		return nil, err
	}
	return fold(&Expression{run: func(s *Scope) (v doc.Value, err error) {
		for _, x := range args {
			if v, err = x.run(s); err != nil || !nullish(v) {
				break
			}
			if err = s.spend(work.Operator); err != nil {
				break
			}
		}
		return v, err
	}}, args...), nil
}

// A branch is one case of $switch.
type branch struct{ test, then *Expression }

// compileSwitch reads {branches: [{case, then}, ...], default}.
func compileSwitch(arg doc.Value, names *Names, depth int) (*Expression, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, code.New(40060, "$switch requires an object as an argument, found: %s", code.TypeName(arg))
	}
	var branches []branch
	var otherwise *Expression
	for name, v := range doc.Members(arg.Data) {
		var err error
		switch name {
		case "branches":
			branches, err = readBranches(v, names, depth)
		case "default":
			otherwise, err = compile(v, names, depth)
		default:
			err = code.New(40067, "$switch found an unknown argument: %s", name)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(branches) == 0 {
		return nil, code.New(40068, "$switch requires at least one branch.")
	}
	return &Expression{run: func(s *Scope) (doc.Value, error) {
		for _, b := range branches {
			v, err := b.test.run(s)
			if err != nil {
				return v, err
			}
			if err := s.spend(work.Operator); err != nil {
				return v, err
			}
			if truthy(v) {
				return b.then.run(s)
			}
		}
		if otherwise == nil {
			return doc.Value{}, code.New(40066,
				"$switch could not find a matching branch for an input, and no default was specified.")
		}
		return otherwise.run(s)
	}}, nil
}

func readBranches(v doc.Value, names *Names, depth int) (branches []branch, err error) {
	if v.Type != bsoncore.TypeArray {
		return nil, code.New(40061, "$switch expected an array for 'branches', found: %s", code.TypeName(v))
	}
	for e := range doc.Elements(v) {
		b, err := readBranch(e, names, depth)
		if err != nil {
			return nil, err
		}
		branches = append(branches, b)
	}
	return branches, nil
}

func readBranch(v doc.Value, names *Names, depth int) (b branch, err error) {
	if v.Type != bsoncore.TypeEmbeddedDocument {
		return b, code.New(40062, "$switch expected each branch to be an object, found: %s", code.TypeName(v))
	}
	for name, part := range doc.Members(v.Data) {
		switch name {
		case "case":
			b.test, err = compile(part, names, depth)
		case "then":
			b.then, err = compile(part, names, depth)
		default:
			err = code.New(40063, "$switch found an unknown argument to a branch: %s", name)
		}
		if err != nil {
			return b, err
		}
	}
	switch {
	case b.test == nil:
		err = code.New(40064, "$switch requires each branch have a 'case' expression")
	case b.then == nil:
		err = code.New(40065, "$switch requires each branch have a 'then' expression.")
	}
	return b, err
}
