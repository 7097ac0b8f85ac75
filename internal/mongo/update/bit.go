package update

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A bitwise is one step of $bit.
type bitwise struct {
	apply func(a, b int64) int64
	arg   doc.Value
}

var bitOperators = map[string]func(a, b int64) int64{
	"and": func(a, b int64) int64 { return a & b },
	"or":  func(a, b int64) int64 { return a | b },
	"xor": func(a, b int64) int64 { return a ^ b },
}

// {$bit: {path: {and: 5, or: 1}}} applies the steps in order; a missing value counts as 0.
func compileBit(_ string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	d, ok := doc.AsDoc(arg)
	if !ok {
		return nil, code.New(code.BadValue, "The $bit modifier is not compatible with a %s. "+
			"You must pass in an embedded document: {$bit: {field: {and/or/xor: #}}", code.TypeName(arg))
	}
	var steps []bitwise
	for name, v := range doc.Members(d) {
		apply := bitOperators[name]
		if apply == nil {
			return nil, code.New(code.BadValue,
				"The $bit modifier only supports 'and', 'or', and 'xor', not '%s' which is an unknown operator: {%s}",
				name, elementText(name, v))
		}
		if !isWhole(v) {
			return nil, code.New(code.BadValue,
				"The $bit modifier field must be an Integer(32/64 bit); a '%s' is not supported here: {%s}",
				code.TypeName(v), elementText(name, v))
		}
		steps = append(steps, bitwise{apply, v})
	}
	if len(steps) == 0 {
		return nil, code.New(code.BadValue,
			"You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}")
	}
	return &leaf{creates: true,
		change: func(x *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
			return changeBits(x, dst, old, steps)
		}}, nil
}

func changeBits(x *run, dst []byte, old doc.Value, steps []bitwise) ([]byte, bsoncore.Type, outcome, error) {
	v := old
	if doc.IsUndefined(old) {
		v = zero
	}
	if !isWhole(v) {
		return dst, 0, kept, code.New(code.BadValue,
			"Cannot apply $bit to a value of non-integral type.%s has the field %s of non-integer type %s",
			x.idText(), x.path[len(x.path)-1], code.TypeName(old))
	}
	if err := x.in.Meter.Spend(len(steps)); err != nil {
		return dst, 0, kept, err
	}
	for _, step := range steps {
		a, _ := doc.AsInt(v)
		b, _ := doc.AsInt(step.arg)
		v = wholeNumber(v, step.arg, step.apply(a, b))
	}
	if unchanged(v, old) {
		return dst, 0, kept, nil
	}
	return append(dst, v.Data...), v.Type, written, nil
}
