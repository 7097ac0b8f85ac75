package update

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// {$pullAll: {path: [values]}} removes the elements that are equal to one of them.
func compilePullAll(_ string, arg doc.Value) (*leaf, error) {
	if !doc.IsArray(arg) {
		return nil, code.New(code.BadValue, "$pullAll requires an array argument but was given a %s", typeName(arg.Type))
	}
	values := slices.Collect(doc.Elements(arg))
	slices.SortFunc(values, doc.CompareBSON)
	return cull(func(_ *run, e doc.Value) (bool, error) {
		_, found := slices.BinarySearchFunc(values, e, doc.CompareBSON)
		return found, nil
	}), nil
}
