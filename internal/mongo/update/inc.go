package update

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$inc: {path: number}} adds; a missing value becomes the number.
func compileInc(field string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	return arithmetic{name: "$inc", verb: "increment", apply: add}.compile(field, arg)
}

// An arithmetic is an operator that computes with the old value and a number.
type arithmetic struct {
	name, verb string
	apply      func(old, arg doc.Value) (v doc.Value, ok bool)
}

func (a arithmetic) compile(field string, arg doc.Value) (*leaf, error) {
	if !doc.IsNumberBSON(arg) {
		return nil, code.New(code.TypeMismatch, "Cannot %s with non-numeric argument: {%s}", a.verb,
			elementText(field, arg))
	}
	return &leaf{creates: true,
		change: func(x *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
			return a.change(x, dst, old, arg)
		}}, nil
}

func (a arithmetic) change(x *run, dst []byte, old, arg doc.Value) ([]byte, bsoncore.Type, outcome, error) {
	from := old
	if doc.IsUndefined(old) {
		from = zero
	}
	if !doc.IsNumberBSON(from) {
		return dst, 0, kept, code.New(code.TypeMismatch,
			"Cannot apply %s to a value of non-numeric type. {%s} has the field '%s' of non-numeric type %s",
			a.name, x.idText(), x.path[len(x.path)-1], code.TypeName(old))
	}
	if err := x.in.Meter.Spend(a.cost(from, arg)); err != nil {
		return dst, 0, kept, err
	}
	v, ok := a.apply(from, arg)
	if !ok {
		return dst, 0, kept, code.New(code.BadValue,
			"Failed to apply %s operations to current value ((%s)%s) for document {%s}",
			a.name, longName(from), valueText(from), x.idText())
	}
	if unchanged(v, old) {
		return dst, 0, kept, nil
	}
	return append(dst, v.Data...), v.Type, written, nil
}

// cost is higher for decimals, and highest for adding two of very different size.
func (a arithmetic) cost(old, arg doc.Value) int {
	if old.Type != bsoncore.TypeDecimal128 && arg.Type != bsoncore.TypeDecimal128 {
		return 0
	}
	m, n := asDecimal(old).Exponent, asDecimal(arg).Exponent
	return 100 + 2*max(m-n, n-m)
}
