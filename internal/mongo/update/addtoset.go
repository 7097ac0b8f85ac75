package update

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// {$addToSet: {path: value}} or {path: {$each: [values]}} appends the values that are not equal to an element, in their
// order.
func compileAddToSet(_ string, arg doc.Value, names *expression.Names) (*leaf, error) {
	values, err := setValues(arg)
	if err != nil {
		return nil, err
	}
	s := newSet(values, names.Work())
	if err := names.Work().Err(); err != nil {
		return nil, err
	}
	return &leaf{creates: true, depth: deepest(s.values), change: s.change}, nil
}

func setValues(arg doc.Value) ([]doc.Value, error) {
	d, _ := doc.AsDoc(arg)
	n := 0
	var each doc.Value
	for name, v := range doc.Members(d) {
		if n == 0 && name != "$each" {
			break
		}
		if n == 0 {
			each = v
		}
		n++
	}
	switch {
	case n == 0:
		return []doc.Value{arg}, nil
	case !doc.IsArray(each):
		return nil, code.New(code.TypeMismatch,
			"The argument to $each in $addToSet must be an array but it was of type %s", code.TypeName(each))
	case n > 1:
		return nil, code.New(code.BadValue, "Found unexpected fields after $each in $addToSet: %s", valueText(arg))
	}
	return slices.Collect(doc.Elements(each)), nil
}

// A set is values without duplicates, in the order given; sorted has their indexes in MongoDB's order.
type set struct {
	values []doc.Value
	sorted []int
}

func newSet(all []doc.Value, m *work.Meter) *set {
	places := make([]int, len(all))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(i, j int) int { return m.Compare(all[i], all[j]) })
	places = slices.CompactFunc(places, func(i, j int) bool { return m.Equal(all[i], all[j]) })
	const kept = -1
	to := make([]int, len(all)) // the index of each; the first of equal ones is kept
	for _, from := range places {
		to[from] = kept
	}
	s := &set{values: make([]doc.Value, 0, len(places)), sorted: places}
	for from, v := range all {
		if to[from] == kept {
			to[from] = len(s.values)
			s.values = append(s.values, v)
		}
	}
	for i, from := range places {
		s.sorted[i] = to[from]
	}
	return s
}

// find returns the place of a value, or false if the set does not have it.
func (s *set) find(v doc.Value, m *work.Meter) (int, bool) {
	if len(s.values) == 1 {
		return 0, m.Equal(s.values[0], v)
	}
	i, ok := slices.BinarySearchFunc(s.sorted, v, func(i int, v doc.Value) int { return m.Compare(s.values[i], v) })
	if !ok {
		return 0, false
	}
	return s.sorted[i], true
}

func (s *set) change(x *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
	a := beginArray(dst)
	var room [2]uint64
	have := seen(room[:])
	if len(s.values) > 64*len(room) {
		have = make(seen, (len(s.values)+63)/64)
	}
	left := len(s.values)
	if !doc.IsUndefined(old) {
		if !doc.IsArray(old) {
			return dst, 0, kept, code.New(code.BadValue,
				"Cannot apply $addToSet to non-array field. Field named '%s' has non-array type %s",
				x.path[len(x.path)-1], code.TypeName(old))
		}
		n := 0
		for e := range doc.Elements(old) {
			n++
			if err := x.spend(0); err != nil {
				return dst, 0, kept, err
			}
			if i, ok := s.find(e, x.in.Meter); ok && !have.has(i) {
				have.add(i)
				left--
			}
		}
		if left == 0 {
			return dst, 0, kept, nil
		}
		a = resume(dst, old, n)
	}
	for i, v := range s.values {
		if err := x.spend(len(v.Data)); err != nil {
			return dst, 0, kept, err
		}
		if !have.has(i) {
			a.add(v)
		}
	}
	return a.end(), bsoncore.TypeArray, written, nil
}

// deepest counts the levels that values add below the array that they are in.
func deepest(values []doc.Value) int {
	depth := 0
	for _, v := range values {
		depth = max(depth, 1+depthOf(v))
	}
	return depth
}
