package filter

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// mod is {$mod: [divisor, remainder]}. It drops the fractions of its arguments and of values. The remainder has the
// sign of the value.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/mod/
func mod(_ *compiler, _ string, arg doc.Value, at spot) (condition, error) {
	if arg.Type != bsoncore.TypeArray {
		return condition{}, code.New(code.BadValue, "malformed mod, needs to be an array")
	}
	var args []doc.Value
	for e := range doc.Elements(arg) {
		if args = append(args, e); len(args) > 2 {
			return condition{}, code.New(code.BadValue, "malformed mod, too many elements")
		}
	}
	if len(args) < 2 {
		return condition{}, code.New(code.BadValue, "malformed mod, not enough elements")
	}
	divisor, err := modNumber("divisor", args[0])
	if err != nil {
		return condition{}, err
	}
	remainder, err := modNumber("remainder", args[1])
	if err != nil {
		return condition{}, err
	}
	if divisor == 0 {
		return condition{}, code.New(code.BadValue, "divisor cannot be 0")
	}
	leaves := check(func(v doc.Value, _ *work.Meter) bool {
		n, ok := truncated(v)
		return ok && doc.IsNumberBSON(v) && n%divisor == remainder
	})
	return onValues(at.path, Both, leaves, &Node{Kind: Other}), nil
}

func modNumber(what string, v doc.Value) (int64, error) {
	if !doc.IsNumberBSON(v) {
		return 0, code.New(code.BadValue, "malformed mod, %s not a number", what)
	}
	n, ok := truncated(v)
	if ok {
		return n, nil
	}
	reason := "Out of bounds coercing to integral value"
	if d, _ := doc.AsDecimal(v); d.Form != doc.DecimalFinite ||
		v.Type == bsoncore.TypeDouble && (isNaN(v) || math.IsInf(double(v), 0)) {
		reason = "Unable to coerce NaN/Inf to integral type"
	}
	return 0, code.New(code.BadValue, "malformed mod, %s value is invalid :: caused by :: %s", what, reason)
}
