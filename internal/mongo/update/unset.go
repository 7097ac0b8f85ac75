package update

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$unset: {path: anything}} removes a member; an element of an array becomes null.
func compileUnset(string, doc.Value, *expression.Names) (*leaf, error) {
	return &leaf{lenient: true, change: unset}, nil
}

func unset(_ *run, dst []byte, _ doc.Value) ([]byte, bsoncore.Type, outcome, error) {
	return dst, 0, removed, nil
}
