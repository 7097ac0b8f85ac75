package expression

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// system are the predefined variables. A client may redefine only CURRENT.
// https://www.mongodb.com/docs/v7.0/reference/aggregation-variables/
var system = map[string]eval{
	"ROOT":         func(s *Scope) (doc.Value, error) { return s.Root, nil },
	"CURRENT":      current,
	"REMOVE":       func(*Scope) (doc.Value, error) { return doc.Value{}, nil },
	"NOW":          func(s *Scope) (doc.Value, error) { return s.date(s.Now.UnixMilli()), nil },
	"CLUSTER_TIME": clusterTime,
}

func clusterTime(s *Scope) (doc.Value, error) {
	if s.ClusterTime.Type == 0 {
		return doc.Value{}, code.New(51144, "Builtin variable '$$CLUSTER_TIME' is not available")
	}
	return s.ClusterTime, nil
}

// compileVariable compiles what follows "$$": a variable and an optional path.
func compileVariable(text string, names *Names) (*Expression, error) {
	name, path, dotted := strings.Cut(text, ".")
	if err := checkVariable(name, false); err != nil {
		return nil, err
	}
	var steps []string
	if dotted {
		var err error
		if steps, err = SplitPath(path); err != nil {
			return nil, err
		}
	}
	if slot, ok := names.Slot(name); ok {
		x := walk(variable(slot), steps)
		x.fixed = true
		return x, nil
	}
	from := system[name]
	if from == nil {
		return nil, code.New(17276, "Use of undefined variable: %s", name)
	}
	x := walk(from, steps)
	if name == "CURRENT" {
		x.path = path
	}
	x.fixed = name == "NOW"
	return x, nil
}

// variable is the value in a slot.
func variable(slot int) eval {
	return func(s *Scope) (doc.Value, error) {
		if slot >= len(s.Vars) {
			return doc.Value{}, nil
		}
		return s.Vars[slot], nil
	}
}

// setVariable sets the value of a slot.
func (s *Scope) setVariable(slot int, v doc.Value) {
	for slot >= len(s.Vars) {
		s.Vars = append(s.Vars, doc.Value{})
	}
	s.Vars[slot] = v
}

// checkVariable returns an error if a name is not valid for a variable. With own set, the variable is one that a client
// defines, which begins with a lower-case letter.
func checkVariable(name string, own bool) error {
	if name == "" {
		return code.New(code.FailedToParse, "empty variable names are not allowed")
	}
	if own && name == "CURRENT" {
		return nil
	}
	small, large := name[0] >= 'a' && name[0] <= 'z' || name[0] >= 0x80, name[0] >= 'A' && name[0] <= 'Z'
	if !small && (own || !large) {
		return code.New(code.FailedToParse, "'%s' starts with an invalid character for a user variable name", name)
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && c < 0x80 && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return code.New(code.FailedToParse, "'%s' contains an invalid character for a variable name: '%c'", name, c)
		}
	}
	return nil
}

// compileLet compiles {vars: {name: expression, ...}, in: expression}.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/let/
func compileLet(arg doc.Value, names *Names, depth int) (*Expression, error) {
	vars, in, err := readLet(arg)
	if err != nil {
		return nil, err
	}
	inner := names
	var values []*Expression
	var slots []int
	for name, v := range doc.Members(vars.Data) {
		if err := checkVariable(name, true); err != nil {
			return nil, err
		}
		x, err := compile(v, names, depth)
		if err != nil {
			return nil, err
		}
		if err := inner.Full(); err != nil {
			return nil, err
		}
		var slot int
		inner, slot = inner.With(strings.Clone(name))
		values, slots = append(values, x), append(slots, slot)
	}
	body, err := compile(in, inner, depth)
	if err != nil {
		return nil, err
	}
	if body.constant {
		return body, nil
	}
	return &Expression{run: func(s *Scope) (doc.Value, error) {
		for i, x := range values {
			v, err := x.run(s)
			if err != nil {
				return v, err
			}
			s.setVariable(slots[i], v)
			if err := s.spend(work.Operator); err != nil {
				return v, err
			}
		}
		return body.run(s)
	}}, nil
}

func readLet(arg doc.Value) (vars, in doc.Value, err error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return vars, in, code.New(16874, "$let only supports an object as its argument")
	}
	for name, v := range doc.Members(arg.Data) {
		switch name {
		case "vars":
			vars = v
		case "in":
			in = v
		default:
			return vars, in, code.New(16875, "Unrecognized parameter to $let: %s", name)
		}
	}
	switch {
	case vars.Type == 0:
		err = code.New(16876, "Missing 'vars' parameter to $let")
	case in.Type == 0:
		err = code.New(16877, "Missing 'in' parameter to $let")
	case vars.Type != bsoncore.TypeEmbeddedDocument:
		err = code.New(10065, "invalid parameter: expected an object (vars)")
	}
	return vars, in, err
}

// compileLiteral takes its argument as it is.
func compileLiteral(arg doc.Value, _ *Names, _ int) (*Expression, error) { return literal(arg), nil }

// compileRand compiles {$rand: {}}: a double in [0, 1).
func compileRand(arg doc.Value, _ *Names, _ int) (*Expression, error) {
	empty := arg.Type == bsoncore.TypeEmbeddedDocument || arg.Type == bsoncore.TypeArray
	for range doc.Members(arg.Data) {
		empty = false
		break
	}
	if !empty {
		return nil, code.New(3040501, "$rand does not currently accept arguments")
	}
	return &Expression{run: func(s *Scope) (doc.Value, error) {
		if s.Random == nil {
			return s.double(0), nil
		}
		return s.double(s.Random()), nil
	}}, nil
}
