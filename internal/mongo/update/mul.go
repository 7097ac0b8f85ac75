package update

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$mul: {path: number}} multiplies; a missing value becomes a zero of the number's type.
func compileMul(field string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	return arithmetic{name: "$mul", verb: "multiply", apply: multiply}.compile(field, arg)
}
