package expression

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// The data size operators.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#data-size-operators

// binarySize counts the bytes of a string or of binary data.
func binarySize(s *Scope, v doc.Value) (doc.Value, error) {
	switch {
	case nullish(v):
		return null, nil
	// both lie between five bytes of length and NUL or subtype
	case v.Type == bsoncore.TypeString || v.Type == bsoncore.TypeBinary:
		return s.int32(int32(len(v.Data) - 5)), nil
	}
	return doc.Value{}, code.New(51276, "$binarySize requires a string or BinData argument, found: %s",
		code.TypeName(v))
}

// bsonSize counts the bytes of a document as BSON.
func bsonSize(s *Scope, v doc.Value) (doc.Value, error) {
	switch {
	case nullish(v):
		return null, nil
	case v.Type == bsoncore.TypeEmbeddedDocument:
		return s.int32(int32(len(v.Data))), nil
	}
	return doc.Value{}, code.New(31393, "$bsonSize requires a document input, found: %s", code.TypeName(v))
}
