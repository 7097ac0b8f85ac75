package update

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$set: {path: value}}. It changes nothing if the old value has the same type and bytes.
func compileSet(_ string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	return constant(arg), nil
}
