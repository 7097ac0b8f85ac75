package update

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$max: {path: value}} sets value if it is greater than the old one, in MongoDB's order of all values.
func compileMax(_ string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	return extreme(arg, +1), nil
}
