package update

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$pullAll: {path: [values]}} removes the elements that are equal to one of the values.
func compilePullAll(_ string, arg doc.Value, names *expression.Names) (*leaf, error) {
	if !doc.IsArray(arg) {
		return nil, code.New(code.BadValue, "$pullAll requires an array argument but was given a %s",
			code.TypeName(arg))
	}
	values := slices.Collect(doc.Elements(arg))
	m := names.Work()
	slices.SortFunc(values, m.Compare)
	if err := m.Err(); err != nil {
		return nil, err
	}
	return cull(func(x *run, e doc.Value) (bool, error) {
		_, found := slices.BinarySearchFunc(values, e, x.in.Meter.Compare)
		return found, x.in.Meter.Err()
	}), nil
}
