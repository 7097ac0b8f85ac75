package expression

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// The bitwise operators.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#bitwise-operators

func isInteger(v doc.Value) bool {
	return v.Type == bsoncore.TypeInt32 || v.Type == bsoncore.TypeInt64
}

// bitwise joins integers, starting from the neutral one. The result is an int64 if one of them is.
func bitwise(name string, none int64, join func(a, b int64) int64) function {
	return func(s *Scope, args []doc.Value) (doc.Value, error) {
		all, kind := none, bsoncore.TypeInt32
		for _, v := range args {
			switch {
			case nullish(v):
				return null, nil
			case !isInteger(v):
				return doc.Value{}, code.New(code.TypeMismatch, "%s only supports int and long operands.", name)
			}
			all, kind = join(all, asInt(v)), wider(kind, v.Type)
		}
		return s.sized(all, kind, 0), nil
	}
}

func bitNot(s *Scope, v doc.Value) (doc.Value, error) {
	switch {
	case nullish(v):
		return null, nil
	case !doc.IsNumberBSON(v):
		return notNumeric("$bitNot", v)
	case !isInteger(v):
		return doc.Value{}, code.New(code.TypeMismatch, "$bitNot only supports int and long, not: %s.",
			code.TypeName(v))
	}
	return s.sized(^asInt(v), v.Type, 0), nil
}
