package expression

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// The set operators. A set is an array in which order and repetition do not matter.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#set-expression-operators

// elementsTrue looks for an element whose truth is decisive.
func elementsTrue(name string, number code.Code, decisive bool) func(*Scope, doc.Value) (doc.Value, error) {
	return func(s *Scope, array doc.Value) (doc.Value, error) {
		if !doc.IsArray(array) {
			return doc.Value{}, code.New(number, "%s's argument must be an array, but is %s", name,
				code.TypeName(array))
		}
		for e := range doc.Elements(array) {
			if truthy(e) == decisive {
				return boolean(decisive), nil
			}
			if err := s.spend(work.Element); err != nil {
				return doc.Value{}, err
			}
		}
		return boolean(!decisive), nil
	}
}

// distinct sorts values and removes duplicates.
func (s *Scope) distinct(list []doc.Value) ([]doc.Value, error) {
	slices.SortFunc(list, s.Meter.Compare)
	list = slices.CompactFunc(list, s.Meter.Equal)
	return list, s.Meter.Err()
}

// set returns the distinct elements of an array, and how many values of the stack they take.
func (s *Scope) set(array doc.Value) (list []doc.Value, taken int, err error) {
	all, err := s.collect(array)
	if err != nil {
		return nil, 0, err
	}
	list, err = s.distinct(all)
	return list, len(all), err
}

// has reports whether a distinct list has v.
func (s *Scope) has(list []doc.Value, v doc.Value) (bool, error) {
	_, found := slices.BinarySearchFunc(list, v, s.Meter.Compare)
	return found, s.Meter.Err()
}

func setUnion(s *Scope, args []doc.Value) (doc.Value, error) {
	for _, v := range args {
		if nullish(v) {
			return null, nil
		}
		if !doc.IsArray(v) {
			return doc.Value{}, code.New(17043, "All operands of $setUnion must be arrays. One argument is of type: %s",
				code.TypeName(v))
		}
	}
	base := len(s.stack)
	for _, v := range args {
		if _, err := s.collect(v); err != nil {
			return doc.Value{}, err
		}
	}
	all := s.stack[base:]
	list, err := s.distinct(all)
	if err != nil {
		return doc.Value{}, err
	}
	union, err := s.arrayOf(list)
	s.drop(len(all))
	return union, err
}

func setIntersection(s *Scope, args []doc.Value) (doc.Value, error) {
	for _, v := range args {
		if nullish(v) {
			return null, nil
		}
		if !doc.IsArray(v) {
			return doc.Value{}, code.New(17047,
				"All operands of $setIntersection must be arrays. One argument is of type: %s", code.TypeName(v))
		}
	}
	if len(args) == 0 {
		return s.arrayOf(nil)
	}
	shared, taken, err := s.set(args[0])
	if err != nil {
		return doc.Value{}, err
	}
	for _, v := range args[1:] {
		list, n, err := s.set(v)
		if err != nil {
			return doc.Value{}, err
		}
		shared = slices.DeleteFunc(shared, func(v doc.Value) bool {
			found, _ := s.has(list, v)
			return !found
		})
		if err := s.Meter.Err(); err != nil {
			return doc.Value{}, err
		}
		s.drop(n)
	}
	v, err := s.arrayOf(shared)
	s.drop(taken)
	return v, err
}

// setDifference keeps the order of the first array.
func setDifference(s *Scope, a, b doc.Value) (doc.Value, error) {
	switch {
	case nullish(a) || nullish(b):
		return null, nil
	case !doc.IsArray(a):
		return doc.Value{}, code.New(17048,
			"both operands of $setDifference must be arrays. First argument is of type: %s", code.TypeName(a))
	case !doc.IsArray(b):
		return doc.Value{}, code.New(17049,
			"both operands of $setDifference must be arrays. Second argument is of type: %s", code.TypeName(b))
	}
	without, all, err := s.set(b)
	if err != nil {
		return doc.Value{}, err
	}
	mine, own, err := s.set(a)
	if err != nil {
		return doc.Value{}, err
	}
	given := make([]bool, len(mine))
	out := s.array()
	for e := range doc.Elements(a) {
		i, _ := slices.BinarySearchFunc(mine, e, s.Meter.Compare)
		if err := s.Meter.Err(); err != nil {
			return doc.Value{}, err
		}
		if given[i] {
			continue
		}
		removed, err := s.has(without, e)
		if err != nil {
			return doc.Value{}, err
		}
		if removed {
			continue
		}
		given[i] = true
		if err := out.add(e); err != nil {
			return doc.Value{}, err
		}
	}
	s.drop(all + own)
	return out.done()
}

func setIsSubset(s *Scope, a, b doc.Value) (doc.Value, error) {
	switch {
	case !doc.IsArray(a):
		return doc.Value{}, code.New(17046,
			"both operands of $setIsSubset must be arrays. First argument is of type: %s", code.TypeName(a))
	case !doc.IsArray(b):
		return doc.Value{}, code.New(17042,
			"both operands of $setIsSubset must be arrays. Second argument is of type: %s", code.TypeName(b))
	}
	list, taken, err := s.set(b)
	if err != nil {
		return doc.Value{}, err
	}
	subset := true
	for e := range doc.Elements(a) {
		if subset, err = s.has(list, e); err != nil {
			return doc.Value{}, err
		}
		if !subset {
			break
		}
	}
	s.drop(taken)
	return boolean(subset), nil
}

func compileSetEquals(arg doc.Value, names *Names, depth int) (*Expression, error) {
	args, err := arguments("$setEquals", arg, 0, many, names, depth)
	if err == nil && len(args) < 2 {
		err = code.New(17045, "$setEquals needs at least two arguments had: %d", len(args))
	}
	if err != nil {
		return nil, err
	}
	return apply(args, setEquals), nil
}

func setEquals(s *Scope, args []doc.Value) (doc.Value, error) {
	for i, v := range args {
		if !doc.IsArray(v) {
			return doc.Value{}, code.New(17044,
				"All operands of $setEquals must be arrays. %d-th argument is of type: %s", i+1, code.TypeName(v))
		}
	}
	first, taken, err := s.set(args[0])
	if err != nil {
		return doc.Value{}, err
	}
	same := true
	for _, v := range args[1:] {
		list, n, err := s.set(v)
		if err != nil {
			return doc.Value{}, err
		}
		same = same && slices.EqualFunc(first, list, s.Meter.Equal)
		s.drop(n)
	}
	s.drop(taken)
	return boolean(same), s.Meter.Err()
}
