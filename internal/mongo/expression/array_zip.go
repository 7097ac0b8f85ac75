package expression

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A zip turns arrays into an array of rows: the first elements of all, the second ones, and so on.
type zip struct {
	inputs, defaults []*Expression
	longest          bool // as many rows as the longest array has elements, not the shortest
}

// compileZip reads {inputs: [...], useLongestLength, defaults: [...]}.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/zip/
func compileZip(arg doc.Value, names *Names, depth int) (*Expression, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, code.New(34460, "$zip only supports an object as an argument, found %s", code.TypeName(arg))
	}
	var z zip
	for name, v := range doc.Members(arg.Data) {
		var err error
		switch name {
		case "inputs":
			z.inputs, err = zipList(34461, name, v, names, depth)
		case "defaults":
			z.defaults, err = zipList(34462, name, v, names, depth)
		case "useLongestLength":
			var ok bool
			if z.longest, ok = doc.AsBool(v); !ok {
				err = code.New(34463, "useLongestLength must be a bool, found %s", code.TypeName(v))
			}
		default:
			err = code.New(34464, "$zip found an unknown argument: %s", name)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := z.check(); err != nil {
		return nil, err
	}
	return apply(append(z.inputs, z.defaults...), z.run), nil
}

func zipList(number code.Code, name string, v doc.Value, names *Names, depth int) (list []*Expression, err error) {
	if v.Type != bsoncore.TypeArray {
		return nil, code.New(number, "%s must be an array of expressions, found %s", name, code.TypeName(v))
	}
	for e := range doc.Elements(v) {
		x, err := compile(e, names, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func (z *zip) check() error {
	switch {
	case len(z.inputs) == 0:
		return code.New(34465, "$zip requires at least one input array")
	case len(z.defaults) > 0 && !z.longest:
		return code.New(34466, "cannot specify defaults unless useLongestLength is true")
	case len(z.defaults) > 0 && len(z.defaults) != len(z.inputs):
		return code.New(34467, "defaults and inputs must have the same length")
	}
	return nil
}

// run gets the inputs, then the defaults.
func (z *zip) run(s *Scope, args []doc.Value) (doc.Value, error) {
	inputs, defaults := args[:len(z.inputs)], args[len(z.inputs):]
	rows := -1
	for _, v := range inputs {
		if nullish(v) {
			return null, nil
		}
		if !doc.IsArray(v) {
			return doc.Value{}, code.New(34468, "$zip found a non-array expression in input: %s", code.Show(v))
		}
		n, err := s.length(v)
		if err != nil {
			return doc.Value{}, err
		}
		if rows < 0 || z.longest && n > rows || !z.longest && n < rows {
			rows = n
		}
	}
	columns := make([][]doc.Value, len(inputs))
	taken := 0
	for i, v := range inputs {
		var err error
		if columns[i], err = s.collect(v); err != nil {
			return doc.Value{}, err
		}
		taken += len(columns[i])
	}
	b := s.array()
	for row := range rows {
		mark := s.mark()
		v, err := zipRow(s, columns, defaults, row)
		if err == nil {
			err = b.add(v)
		}
		if err != nil {
			return v, err
		}
		s.release(mark)
	}
	s.drop(taken)
	return b.done()
}

func zipRow(s *Scope, columns [][]doc.Value, defaults []doc.Value, row int) (doc.Value, error) {
	b := s.array()
	for i, column := range columns {
		var v doc.Value
		if row < len(column) {
			v = column[row]
		} else if i < len(defaults) {
			v = defaults[i]
		}
		if err := b.add(v); err != nil {
			return v, err
		}
	}
	return b.done()
}
