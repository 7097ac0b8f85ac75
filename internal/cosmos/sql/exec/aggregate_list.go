package exec

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// listValue is the values in order of their rows' creation.
func (a *accumulator) listValue(f *frame) doc.Value {
	inOrder := func(x, y listed) int {
		switch {
		case x.at.before(y.at):
			return -1
		case y.at.before(x.at):
			return 1
		}
		return 0
	}
	if !slices.IsSortedFunc(a.list, inOrder) {
		slices.SortStableFunc(a.list, inOrder)
	}
	b := f.open()
	for _, l := range a.list {
		b.element(l.value)
	}
	return b.close(bsoncore.TypeArray)
}

// setValue is the values in their own order.
func (a *accumulator) setValue(f *frame) doc.Value {
	b := f.open()
	for _, key := range slices.Sorted(maps.Keys(a.set)) {
		b.element(a.set[key])
	}
	return b.close(bsoncore.TypeArray)
}
