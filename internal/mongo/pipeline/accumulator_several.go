package pipeline

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// severalParser parses {n: expression, input: expression}.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/firstN/
func severalParser(noObject code.Code, create func(n int) accumulator) accumulatorParser {
	return func(s *statement, arg doc.Value, names *expression.Names) (err error) {
		if !isObject(arg) {
			return code.New(noObject, "specification must be an object; found %s: %s", s.operator, code.Show(arg))
		}
		for name, v := range doc.Members(arg.Data) {
			switch name {
			case "n":
				s.n, err = expression.Compile(v, names)
			case "input":
				s.argument, err = expression.Compile(v, names)
			default:
				err = code.New(5787901, "Unknown argument for 'n' operator: %s", name)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case s.n == nil:
			return code.New(5787906, "Missing value for 'n'")
		case s.argument == nil:
			return code.New(5787907, "Missing value for 'input'")
		}
		s.create = create
		return nil
	}
}

// valueBytes is what a value takes in addition to its data.
const valueBytes = 40

// A firstValues is $firstN.
type firstValues struct {
	n    int
	list list
}

func (f *firstValues) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	if f.list.n == f.n {
		return 0, nil
	}
	before := cap(f.list.buf)
	f.list.add(orNull(v))
	return cap(f.list.buf) - before, nil
}

func (f *firstValues) value(m *work.Meter) doc.Value {
	_ = m.Spend(work.Copied(len(f.list.buf)))
	return f.list.value()
}

// A lastValues is $lastN: a ring of the last n values.
type lastValues struct {
	n    int
	ring []kept
	next int // the oldest, once the ring is full
}

func (l *lastValues) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	v = orNull(v)
	if len(l.ring) < l.n {
		l.ring = append(l.ring, kept{})
		return l.ring[len(l.ring)-1].set(v) + valueBytes, nil
	}
	grown := l.ring[l.next].set(v)
	l.next = (l.next + 1) % l.n
	return grown, nil
}

func (l *lastValues) value(m *work.Meter) doc.Value {
	var all list
	for i := range l.ring {
		if m.Spend(work.Element+work.Copied(len(l.ring[i].data))) != nil {
			break
		}
		all.add(l.ring[(l.next+i)%len(l.ring)].get())
	}
	return all.value()
}

// An extremes is $minN or, with sign -1, $maxN: the values in order. It ignores null and missing ones.
type extremes struct {
	n, sign int
	values  []doc.Value
}

func (e *extremes) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	if nullish(v) {
		return 0, nil
	}
	at, _ := slices.BinarySearchFunc(e.values, v, func(a, b doc.Value) int {
		if c := m.Compare(a, b) * e.sign; c != 0 {
			return c
		}
		return -1 // after equal values
	})
	if at == e.n {
		return 0, nil
	}
	grown := len(v.Data) + valueBytes
	if len(e.values) == e.n {
		grown -= len(e.values[e.n-1].Data) + valueBytes
		e.values = e.values[:e.n-1]
	}
	e.values = slices.Insert(e.values, at, doc.Clone(v))
	return grown, m.Spend(work.Copied(valueBytes * (len(e.values) - at)))
}

func (e *extremes) value(m *work.Meter) doc.Value {
	var all list
	for _, v := range e.values {
		if m.Spend(work.Element+work.Copied(len(v.Data))) != nil {
			break
		}
		all.add(v)
	}
	return all.value()
}
