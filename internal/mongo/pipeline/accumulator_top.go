package pipeline

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// topParser parses {n: expression, output: expression, sortBy: sort}; without n if single is set.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/topN/
func topParser(operator string, first, single bool) accumulatorParser {
	return func(s *statement, arg doc.Value, names *expression.Names) (err error) {
		if !isObject(arg) {
			return code.New(5788001, "specification must be an object; found %s: %s", operator, code.Show(arg))
		}
		var by *Sort
		for name, v := range doc.Members(arg.Data) {
			switch {
			case name == "n" && !single:
				s.n, err = expression.Compile(v, names)
			case name == "output":
				s.argument, err = expression.Compile(v, names)
			case name == "sortBy" && !isObject(v):
				err = code.New(10065, "invalid parameter: expected an object (sortBy)")
			case name == "sortBy":
				by, err = CompileSort(v.Data)
			default:
				err = code.New(5788002, "Unknown argument to %s '%s'", operator, name)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case s.n == nil && !single:
			return code.New(5788003, "Missing value for 'n'")
		case s.argument == nil:
			return code.New(5788004, "Missing value for 'output'")
		case by == nil:
			return code.New(5788005, "Missing value for 'sortBy'")
		}
		s.create = func(n int) accumulator {
			return &top{by: by, first: first, single: single, n: max(n, 1)}
		}
		return nil
	}
}

// A top is $topN or, if first is not set, $bottomN: the outputs of the documents that sort first or last, in that
// order. Among equal ones, earlier documents stay.
type top struct {
	by            *Sort
	first, single bool
	n             int
	entries       []topEntry
	keys          []doc.Value
}

type topEntry struct {
	keys   []doc.Value
	output doc.Value
}

func (e topEntry) bytes() int {
	n := len(e.output.Data) + valueBytes
	for _, k := range e.keys {
		n += len(k.Data) + valueBytes
	}
	return n
}

func (t *top) add(m *work.Meter, v doc.Value, d doc.Doc) (grown int, err error) {
	if t.keys, err = t.by.keys(m, t.keys[:0], d); err != nil {
		return 0, err
	}
	at, _ := slices.BinarySearchFunc(t.entries, t.keys, func(e topEntry, keys []doc.Value) int {
		if c := t.by.compareKeys(m, e.keys, keys); c != 0 {
			return c
		}
		return -1 // after equal entries
	})
	if len(t.entries) == t.n {
		gone := t.n - 1
		if !t.first {
			gone = 0
			if at == 0 || t.by.compareKeys(m, t.entries[0].keys, t.keys) == 0 {
				return 0, nil
			}
			at--
		} else if at == t.n {
			return 0, nil
		}
		grown -= t.entries[gone].bytes()
		t.entries = slices.Delete(t.entries, gone, gone+1)
	}
	e := topEntry{keys: make([]doc.Value, len(t.keys)), output: doc.Clone(orNull(v))}
	for i, k := range t.keys {
		e.keys[i] = doc.Clone(k)
	}
	t.entries = slices.Insert(t.entries, at, e)
	return grown + e.bytes(), m.Spend(work.Copied(64 * (len(t.entries) - at)))
}

func (t *top) value(m *work.Meter) doc.Value {
	if t.single {
		if len(t.entries) == 0 {
			return null
		}
		return t.entries[0].output
	}
	var all list
	for _, e := range t.entries {
		if m.Spend(work.Element+work.Copied(len(e.output.Data))) != nil {
			break
		}
		all.add(e.output)
	}
	return all.value()
}
