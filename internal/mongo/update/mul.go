package update

import "github.com/mayflydb/mayfly/internal/doc"

// {$mul: {path: number}} multiplies; what is not there becomes a zero of the
// number's type.
func compileMul(field string, arg doc.Value) (*leaf, error) {
	return arithmetic{name: "$mul", verb: "multiply", apply: multiply}.compile(field, arg)
}
