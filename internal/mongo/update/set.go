package update

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$set: {path: value}}. A value of the same type and bytes is no change.
func compileSet(_ string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	return constant(arg), nil
}
