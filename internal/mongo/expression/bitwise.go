package expression

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#bitwise-operators
func init() {
	register(map[string]operator{
		"$bitAnd": variadic("$bitAnd", bitwise("$bitAnd", -1, func(a, b int64) int64 { return a & b })),
		"$bitOr":  variadic("$bitOr", bitwise("$bitOr", 0, func(a, b int64) int64 { return a | b })),
		"$bitXor": variadic("$bitXor", bitwise("$bitXor", 0, func(a, b int64) int64 { return a ^ b })),
		"$bitNot": one("$bitNot", bitNot),
	})
}

func isInteger(v doc.Value) bool {
	return v.Type == bsoncore.TypeInt32 || v.Type == bsoncore.TypeInt64
}

// bitwise joins integers, beginning with the one that changes nothing. The answer is an
// int64 when one of them is.
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
	case !isNumber(v):
		return notNumeric("$bitNot", v)
	case !isInteger(v):
		return doc.Value{}, code.New(code.TypeMismatch, "$bitNot only supports int and long, not: %s.", typeName(v))
	}
	return s.sized(^asInt(v), v.Type, 0), nil
}
