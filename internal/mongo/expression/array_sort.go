package expression

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A sortKey is one key of an order: the value at a path, or the whole element if the path is empty.
type sortKey struct {
	path      []string
	direction int // 1 or -1
}

// compileSortArray reads {input, sortBy}; sortBy is 1, -1, or an object of paths.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/sortArray/
func compileSortArray(arg doc.Value, names *Names, depth int) (*Expression, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, code.New(2942500, "$sortArray requires an object as an argument, found: %s", code.TypeName(arg))
	}
	var input *Expression
	var keys []sortKey
	for name, v := range doc.Members(arg.Data) {
		var err error
		switch name {
		case "input":
			input, err = compile(v, names, depth)
		case "sortBy":
			keys, err = readSort(v)
		default:
			err = code.New(2942501, "$sortArray found an unknown argument: %s", name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case input == nil:
		return nil, code.New(2942502, "$sortArray requires 'input' to be specified")
	case keys == nil:
		return nil, code.New(2942503, "$sortArray requires 'sortBy' to be specified")
	}
	return apply([]*Expression{input}, func(s *Scope, args []doc.Value) (doc.Value, error) {
		return sortArray(s, args[0], keys)
	}), nil
}

func readSort(v doc.Value) ([]sortKey, error) {
	if v.Type != bsoncore.TypeEmbeddedDocument {
		if !doc.IsNumberBSON(v) {
			return nil, code.New(code.BadValue,
				"The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields")
		}
		direction, err := readDirection(2942506, v)
		return []sortKey{{direction: direction}}, err
	}
	var keys []sortKey
	for name, way := range doc.Members(v.Data) {
		path := strings.Split(strings.Clone(name), ".")
		if slices.Contains(path, "") {
			return nil, code.New(code.BadValue, "The $sort field is a dotted field but has an empty part: %s", name)
		}
		direction, err := readDirection(code.BadValue, way)
		if err != nil {
			return nil, err
		}
		keys = append(keys, sortKey{path, direction})
	}
	if len(keys) == 0 {
		return nil, code.New(code.BadValue, "The $sort pattern is empty when it should be a set of fields.")
	}
	return keys, nil
}

func readDirection(number code.Code, v doc.Value) (int, error) {
	if i, ok := wholeNumber(v); ok && (i == 1 || i == -1) {
		return int(i), nil
	}
	return 0, code.New(number, "The $sort element value must be either 1 or -1")
}

func sortArray(s *Scope, array doc.Value, keys []sortKey) (doc.Value, error) {
	switch {
	case nullish(array):
		return null, nil
	case !doc.IsArray(array):
		return doc.Value{}, code.New(2942504, "The input argument to $sortArray must be an array, but was of type: %s",
			code.TypeName(array))
	}
	list, err := s.collect(array)
	if err != nil {
		return doc.Value{}, err
	}
	slices.SortStableFunc(list, func(a, b doc.Value) int {
		for _, k := range keys {
			if c := s.Meter.Compare(k.of(s, a), k.of(s, b)); c != 0 {
				return c * k.direction
			}
		}
		return 0
	})
	if err := s.Meter.Err(); err != nil {
		return doc.Value{}, err
	}
	v, err := s.arrayOf(list)
	s.drop(len(list))
	return v, err
}

// of is the key's value in an element, null if there is none. A number in the path is an index if it meets an array.
func (k sortKey) of(s *Scope, v doc.Value) doc.Value {
	for _, name := range k.path {
		switch v.Type {
		case bsoncore.TypeEmbeddedDocument:
			v, _ = s.Meter.Lookup(v.Data, name)
		case bsoncore.TypeArray:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 {
				return null
			}
			v, _ = s.element(v, i)
		default:
			return null
		}
	}
	if v.Type == 0 {
		return null
	}
	return v
}
