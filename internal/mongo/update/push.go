package update

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A push is {$push: {path: value}}, or {path: {$each: [values], $position: p, $sort: s,
// $slice: n}}: the values are inserted at p, then the array is sorted, then cut.
type push struct {
	values   []doc.Value
	position int64 // from the end if negative
	slice    int64 // how many of the first elements stay, or of the last if negative
	order    *order
}

func compilePush(_ string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	p := &push{position: math.MaxInt64, slice: math.MaxInt64}
	d, _ := doc.AsDoc(arg)
	if doc.IsUndefined(doc.Lookup(d, "$each")) {
		p.values = []doc.Value{arg}
	} else if err := p.clauses(d); err != nil {
		return nil, err
	}
	return &leaf{creates: true, depth: deepest(p.values), change: p.change}, nil
}

func (p *push) clauses(d doc.Doc) error {
	met := map[string]bool{}
	for name, v := range doc.Members(d) {
		if met[name] {
			return code.New(code.BadValue, "Only one %s is supported.", name)
		}
		met[name] = true
		var err error
		switch name {
		case "$each":
			if !doc.IsArray(v) {
				return code.New(code.BadValue, "The argument to $each in $push must be an array but it was of type: %s",
					code.TypeName(v))
			}
			p.values = slices.Collect(doc.Elements(v))
		case "$position":
			if p.position, err = integer(noName, v); err != nil {
				return code.New(code.BadValue, "The value for $position must be an integer value, not of type: %s",
					code.TypeName(v))
			}
		case "$slice":
			if p.slice, err = integer(noName, v); err != nil {
				return code.New(code.BadValue, "The value for $slice must be an integer value but was given type: %s",
					code.TypeName(v))
			}
		case "$sort":
			if p.order, err = compileOrder(v); err != nil {
				return err
			}
		default:
			return code.New(code.BadValue, "Unrecognized clause in $push: %s", name)
		}
	}
	return nil
}

func noName() string { return "" }

func (p *push) change(x *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
	if doc.IsUndefined(old) {
		return p.write(x, dst, nil), bsoncore.TypeArray, written, nil
	}
	if !doc.IsArray(old) {
		return dst, 0, kept, code.New(code.BadValue,
			"The field '%s' must be an array but is of type %s in document {%s}",
			x.dotted(), code.TypeName(old), x.idText())
	}
	n := int64(length(old))
	if p.order == nil && p.position >= n && p.slice >= n+int64(len(p.values)) {
		return p.extend(x, dst, old, int(n))
	}
	dst = p.write(x, dst, slices.AppendSeq(make([]doc.Value, 0, n), doc.Elements(old)))
	if len(p.values) == 0 && p.order == nil && p.holds(n) {
		return dst, 0, kept, nil
	}
	return dst, bsoncore.TypeArray, written, nil
}

// extend appends to an array of n elements without decoding it.
func (p *push) extend(x *run, dst []byte, old doc.Value, n int) ([]byte, bsoncore.Type, outcome, error) {
	if len(p.values) == 0 {
		return dst, 0, kept, nil
	}
	a := resume(dst, old, n)
	for _, v := range p.values {
		if err := x.spend(len(v.Data)); err != nil {
			return dst, 0, kept, err
		}
		a.add(v)
	}
	return a.end(), bsoncore.TypeArray, written, nil
}

// holds reports whether $slice leaves n elements as they are.
func (p *push) holds(n int64) bool { return p.slice >= n || p.slice <= -n && p.slice < 0 }

func (p *push) write(x *run, dst []byte, values []doc.Value) []byte {
	const valueBytes = 40
	if x.spend(valueBytes*(len(values)+len(p.values))) != nil {
		return dst
	}
	values = slices.Insert(values, p.place(int64(len(values))), p.values...)
	if p.order != nil {
		slices.SortStableFunc(values, func(a, b doc.Value) int { return p.order.compare(x.in.Meter, a, b) })
	}
	switch n := int64(len(values)); {
	case p.holds(n):
	case p.slice >= 0:
		values = values[:p.slice]
	default:
		values = values[n+p.slice:]
	}
	a := beginArray(dst)
	for _, v := range values {
		if x.spend(len(v.Data)) != nil {
			break
		}
		a.add(v)
	}
	return a.end()
}

// place is the index among n elements at which the new ones go.
func (p *push) place(n int64) int {
	switch {
	case p.position >= n:
		return int(n)
	case p.position >= 0:
		return int(p.position)
	}
	return int(max(0, n+p.position))
}
