package expression

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Sets are arrays in which order and repetition do not count.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#set-expression-operators
func init() {
	register(map[string]operator{
		"$allElementsTrue": one("$allElementsTrue", elementsTrue("$allElementsTrue", 17040, false)),
		"$anyElementTrue":  one("$anyElementTrue", elementsTrue("$anyElementTrue", 17041, true)),
		"$setDifference":   two("$setDifference", setDifference),
		"$setEquals":       compileSetEquals,
		"$setIntersection": variadic("$setIntersection", setIntersection),
		"$setIsSubset":     two("$setIsSubset", setIsSubset),
		"$setUnion":        variadic("$setUnion", setUnion),
	})
}

// elementsTrue looks for an element whose truth is decisive.
func elementsTrue(name string, number code.Code, decisive bool) func(*Scope, doc.Value) (doc.Value, error) {
	return func(_ *Scope, array doc.Value) (doc.Value, error) {
		if !doc.IsArray(array) {
			return doc.Value{}, code.New(number, "%s's argument must be an array, but is %s", name, typeName(array))
		}
		for e := range doc.Elements(array) {
			if truthy(e) == decisive {
				return boolean(decisive), nil
			}
		}
		return boolean(!decisive), nil
	}
}

// distinct sorts values and takes out those that come again.
func distinct(list []doc.Value) []doc.Value {
	slices.SortFunc(list, doc.CompareBSON)
	return slices.CompactFunc(list, doc.EqualBSON)
}

// has reports whether a distinct list has v.
func has(list []doc.Value, v doc.Value) bool {
	_, found := slices.BinarySearchFunc(list, v, doc.CompareBSON)
	return found
}

func setUnion(s *Scope, args []doc.Value) (doc.Value, error) {
	for _, v := range args {
		if nullish(v) {
			return null, nil
		}
		if !doc.IsArray(v) {
			return doc.Value{}, code.New(17043, "All operands of $setUnion must be arrays. One argument is of type: %s", typeName(v))
		}
	}
	base := len(s.stack)
	for _, v := range args {
		s.collect(v)
	}
	all := s.stack[base:]
	union, err := s.arrayOf(distinct(all))
	s.drop(len(all))
	return union, err
}

func setIntersection(s *Scope, args []doc.Value) (doc.Value, error) {
	for _, v := range args {
		if nullish(v) {
			return null, nil
		}
		if !doc.IsArray(v) {
			return doc.Value{}, code.New(17047, "All operands of $setIntersection must be arrays. One argument is of type: %s", typeName(v))
		}
	}
	if len(args) == 0 {
		return s.arrayOf(nil)
	}
	first := s.collect(args[0])
	shared, taken := distinct(first), len(first)
	for _, v := range args[1:] {
		other := s.collect(v)
		list := distinct(other)
		shared = slices.DeleteFunc(shared, func(v doc.Value) bool { return !has(list, v) })
		s.drop(len(other))
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
		return doc.Value{}, code.New(17048, "both operands of $setDifference must be arrays. First argument is of type: %s", typeName(a))
	case !doc.IsArray(b):
		return doc.Value{}, code.New(17049, "both operands of $setDifference must be arrays. Second argument is of type: %s", typeName(b))
	}
	all, own := s.collect(b), s.collect(a)
	without, mine := distinct(all), distinct(own)
	given := make([]bool, len(mine))
	out := s.array()
	for e := range doc.Elements(a) {
		i, _ := slices.BinarySearchFunc(mine, e, doc.CompareBSON)
		if given[i] || has(without, e) {
			continue
		}
		given[i] = true
		if err := out.add(e); err != nil {
			return doc.Value{}, err
		}
	}
	s.drop(len(all) + len(own))
	return out.done()
}

func setIsSubset(s *Scope, a, b doc.Value) (doc.Value, error) {
	switch {
	case !doc.IsArray(a):
		return doc.Value{}, code.New(17046, "both operands of $setIsSubset must be arrays. First argument is of type: %s", typeName(a))
	case !doc.IsArray(b):
		return doc.Value{}, code.New(17042, "both operands of $setIsSubset must be arrays. Second argument is of type: %s", typeName(b))
	}
	all := s.collect(b)
	list, subset := distinct(all), true
	for e := range doc.Elements(a) {
		if subset = has(list, e); !subset {
			break
		}
	}
	s.drop(len(all))
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
			return doc.Value{}, code.New(17044, "All operands of $setEquals must be arrays. %d-th argument is of type: %s", i+1, typeName(v))
		}
	}
	all := s.collect(args[0])
	first, same := distinct(all), true
	for _, v := range args[1:] {
		other := s.collect(v)
		same = same && slices.EqualFunc(first, distinct(other), doc.EqualBSON)
		s.drop(len(other))
	}
	s.drop(len(all))
	return boolean(same), nil
}
