package expression

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// takeN is an operator that takes {n, input} and gives up to n elements. object is the code of the error for an
// argument that is not an object. take may change the list.
func takeN(name string, object code.Code, take func(s *Scope, list []doc.Value, n int) []doc.Value) operator {
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := readN(name, object, arg, names, depth)
		if err != nil {
			return nil, err
		}
		return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
			n, err := count(args[0])
			if err != nil {
				return doc.Value{}, err
			}
			if !doc.IsArray(args[1]) {
				return doc.Value{}, code.New(5788200, "Input must be an array")
			}
			list, err := s.collect(args[1])
			if err != nil {
				return doc.Value{}, err
			}
			v, err := s.arrayOf(take(s, list, n))
			s.drop(len(list))
			return v, cmp.Or(s.Meter.Err(), err)
		}), nil
	}
}

func readN(name string, object code.Code, arg doc.Value, names *Names, depth int) ([]*Expression, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, code.New(object, "specification must be an object; found %s: %s", name, code.Show(arg))
	}
	args := make([]*Expression, 2)
	for part, v := range doc.Members(arg.Data) {
		i := slices.Index([]string{"n", "input"}, part)
		if i < 0 {
			return nil, code.New(5787901, "Unknown argument for 'n' operator: %s", part)
		}
		x, err := compile(v, names, depth)
		if err != nil {
			return nil, err
		}
		args[i] = x
	}
	switch {
	case args[0] == nil:
		return nil, code.New(5787906, "Missing value for 'n'")
	case args[1] == nil:
		return nil, code.New(5787907, "Missing value for 'input'")
	}
	return args, nil
}

// count is the argument n of an operator.
func count(v doc.Value) (int, error) {
	if !doc.IsNumberBSON(v) {
		return 0, code.New(5787902, "Value for 'n' must be of integral type, but found %s", code.Show(v))
	}
	n, ok := wholeNumber(v)
	switch {
	case !ok:
		return 0, code.New(5787903, "Value for 'n' must be of integral type, but found %s", code.Show(v))
	case n < 1:
		return 0, code.New(5787908, "'n' must be greater than 0, found %d", n)
	}
	return int(min(n, many)), nil
}

func firstN(_ *Scope, list []doc.Value, n int) []doc.Value { return list[:min(n, len(list))] }

func lastN(_ *Scope, list []doc.Value, n int) []doc.Value { return list[max(0, len(list)-n):] }

func maxN(s *Scope, list []doc.Value, n int) []doc.Value { return s.extremes(list, n, -1) }

func minN(s *Scope, list []doc.Value, n int) []doc.Value { return s.extremes(list, n, 1) }

// extremes are the first n values in an order, without null and missing ones.
func (s *Scope) extremes(list []doc.Value, n, direction int) []doc.Value {
	list = slices.DeleteFunc(list, nullish)
	slices.SortStableFunc(list, func(a, b doc.Value) int { return direction * s.Meter.Compare(a, b) })
	return list[:min(n, len(list))]
}
