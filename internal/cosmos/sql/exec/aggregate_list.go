package exec

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/doc"
)

// listValue is the array of values in the order in which their rows were created.
func (a *accumulator) listValue(f *frame) doc.Value {
	inOrder := func(x, y listed) int {
		switch {
		case !f.work(sortUnits):
			return 0
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

// setValue is the array of values in the order of values.
func (a *accumulator) setValue(f *frame) doc.Value {
	b := f.open()
	compare := func(x, y string) int {
		if !f.work(sortUnits + min(len(x), len(y))/(4*function.BytesPerUnit)) {
			return 0
		}
		return strings.Compare(x, y)
	}
	for _, key := range slices.SortedFunc(maps.Keys(a.set), compare) {
		b.element(a.set[key])
	}
	return b.close(bsoncore.TypeArray)
}
