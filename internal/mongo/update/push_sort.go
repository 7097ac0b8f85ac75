package update

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// An order is the argument of $sort. Without keys it orders whole elements.
type order struct {
	sign int
	keys []key
}

type key struct {
	path []string
	sign int
}

// maxKeys is MongoDB's limit on the fields of a sort pattern.
const maxKeys = 32

func compileOrder(v doc.Value) (*order, error) {
	if sign, ok := signOf(v); ok {
		return &order{sign: sign}, nil
	}
	d, ok := doc.AsDoc(v)
	switch {
	case doc.IsNumberBSON(v):
		return nil, code.New(code.BadValue, "The $sort element value must be either 1 or -1")
	case !ok:
		return nil, code.New(code.BadValue,
			"The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields")
	}
	o := &order{}
	for name, v := range doc.Members(d) {
		sign, ok := signOf(v)
		if !ok {
			return nil, code.New(code.BadValue, "The sort element value must be either 1 or -1")
		}
		k, err := compileKey(name, sign)
		if err != nil {
			return nil, err
		}
		if o.keys = append(o.keys, k); len(o.keys) > maxKeys {
			return nil, code.New(code.BadValue, "too many compound keys")
		}
	}
	if len(o.keys) == 0 {
		return nil, code.New(code.BadValue, "The sort pattern is empty when it should be a set of fields.")
	}
	return o, nil
}

func compileKey(name string, sign int) (key, error) {
	if name == "" {
		return key{}, code.New(code.BadValue, "The sort field cannot be empty")
	}
	if strings.Count(name, ".") >= maxParts {
		return key{}, code.New(code.Overflow, "FieldPath is too long")
	}
	path := strings.Split(name, ".")
	for _, part := range path {
		if part == "" {
			return key{}, code.New(code.BadValue, "The sort field is a dotted field but has an empty part: %s", name)
		}
	}
	return key{path, sign}, nil
}

// signOf parses 1 or -1 of any numeric type.
func signOf(v doc.Value) (int, bool) {
	if !doc.IsNumberBSON(v) {
		return 0, false
	}
	i, ok := doc.AsInt64Exact(v)
	return int(i), ok && (i == 1 || i == -1)
}

func (o *order) compare(m *work.Meter, a, b doc.Value) int {
	if len(o.keys) == 0 {
		return o.sign * m.Compare(a, b)
	}
	for _, k := range o.keys {
		if c := m.Compare(k.of(m, a), k.of(m, b)); c != 0 {
			return k.sign * c
		}
	}
	return 0
}

// of is the value that an element sorts by: null if it has none, the array if the path meets one.
func (k key) of(m *work.Meter, v doc.Value) doc.Value {
	for i, part := range k.path {
		d, ok := doc.AsDoc(v)
		if !ok {
			if i > 0 && doc.IsArray(v) {
				return v
			}
			return doc.Null()
		}
		if v, _ = m.Lookup(d, part); doc.IsUndefined(v) {
			return doc.Null()
		}
	}
	return v
}
