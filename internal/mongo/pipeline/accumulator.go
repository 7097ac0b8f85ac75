package pipeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// An accumulator computes a value from the documents of one group.
type accumulator interface {
	// add takes the value of one document, which may be missing, and keeps none of its memory. It returns how many more
	// bytes the accumulator holds.
	add(m *work.Meter, v doc.Value, d doc.Doc) (grown int, err error)
	// value returns the result so far, valid until the next add; a missing one stands for null. If m has failed, the
	// result is meaningless.
	value(m *work.Meter) doc.Value
}

// A statement is name: {$accumulator: argument}.
type statement struct {
	name     string
	operator string
	argument *expression.Expression // of each document
	n        *expression.Expression // of $firstN and similar ones, evaluated once for each group
	create   func(n int) accumulator
}

// An accumulatorParser reads the argument of an accumulator into a statement.
type accumulatorParser func(s *statement, arg doc.Value, names *expression.Names) error

// accumulators lists every accumulator, sorted by name.
var accumulators = map[string]accumulatorParser{
	"$addToSet":     unary(func() accumulator { return &set{} }),
	"$avg":          unary(func() accumulator { return &average{} }),
	"$bottom":       topParser("$bottom", false, true),
	"$bottomN":      topParser("$bottomN", false, false),
	"$count":        parseCounting,
	"$first":        unary(func() accumulator { return &firstValue{} }),
	"$firstN":       severalParser(5787801, func(n int) accumulator { return &firstValues{n: n} }),
	"$last":         unary(func() accumulator { return &lastValue{} }),
	"$lastN":        severalParser(5787801, func(n int) accumulator { return &lastValues{n: n} }),
	"$max":          unary(func() accumulator { return &extreme{sign: 1} }),
	"$maxN":         severalParser(5787900, func(n int) accumulator { return &extremes{n: n, sign: -1} }),
	"$median":       parseMedian,
	"$mergeObjects": unary(func() accumulator { return &merged{} }),
	"$min":          unary(func() accumulator { return &extreme{sign: -1} }),
	"$minN":         severalParser(5787900, func(n int) accumulator { return &extremes{n: n, sign: 1} }),
	"$percentile":   parsePercentile,
	"$push":         unary(func() accumulator { return &pushed{} }),
	"$stdDevPop":    unary(func() accumulator { return &deviation{} }),
	"$stdDevSamp":   unary(func() accumulator { return &deviation{sample: true} }),
	"$sum":          unary(func() accumulator { return &sum{} }),
	"$top":          topParser("$top", true, true),
	"$topN":         topParser("$topN", true, false),
}

// parseStatement reads a computed field of $group and similar stages.
func parseStatement(name string, v doc.Value, names *expression.Names) (*statement, error) {
	op, arg, n := "", doc.Value{}, 0
	if isObject(v) {
		for m, a := range doc.Members(v.Data) {
			if n == 0 {
				op, arg = m, a
			}
			n++
		}
	}
	switch {
	case strings.Contains(name, "."):
		return nil, code.New(40235, "The field name '%s' cannot contain '.'", name)
	case strings.HasPrefix(name, "$"):
		return nil, code.New(40236, "The field name '%s' cannot be an operator name", name)
	case !strings.HasPrefix(op, "$"):
		return nil, code.New(40234, "The field '%s' must be an accumulator object", name)
	case n != 1:
		return nil, code.New(40238, "The field '%s' must specify one accumulator", name)
	case op == "$accumulator":
		return nil, code.Unsupported(op)
	}
	parse := accumulators[op]
	if parse == nil {
		return nil, code.New(15952, "unknown group operator '%s'", op)
	}
	if err := names.CheckStable(op); err != nil {
		return nil, err
	}
	s := &statement{name: name, operator: op}
	return s, parse(s, arg, names)
}

// unary parses an accumulator whose argument is one expression.
func unary(create func() accumulator) accumulatorParser {
	return func(s *statement, arg doc.Value, names *expression.Names) (err error) {
		if doc.IsArray(arg) {
			if count(arg) != 1 {
				return code.New(40237, "The %s accumulator is a unary operator", s.operator)
			}
			for e := range doc.Elements(arg) {
				arg = e
			}
		}
		s.create = func(int) accumulator { return create() }
		s.argument, err = expression.Compile(arg, names)
		return err
	}
}

// begin makes the accumulator of a new group. The expression n may refer to the group's key.
func (s *statement) begin(scope *expression.Scope) (accumulator, error) {
	if s.n == nil {
		return s.create(0), nil
	}
	v, err := s.n.Evaluate(scope)
	if err != nil {
		return nil, err
	}
	n, ok := doc.AsInt64Exact(v)
	switch {
	case !doc.IsNumberBSON(v):
		return nil, code.New(5787902, "Value for 'n' must be of integral type, but found %s", code.Show(v))
	case !ok:
		return nil, code.New(5787903, "Value for 'n' must be of integral type, but found %s", code.Show(v))
	case n <= 0:
		return nil, code.New(5787908, "'n' must be greater than 0, found %d", n)
	}
	return s.create(int(n)), nil
}

// add evaluates the argument for the scope's document.
func (s *statement) add(a accumulator, scope *expression.Scope, d doc.Doc) (int, error) {
	v, err := s.argument.Evaluate(scope)
	if err != nil {
		return 0, err
	}
	m := scope.Work()
	if err := m.Spend(work.Operator + work.Copied(len(v.Data))); err != nil {
		return 0, err
	}
	grown, err := a.add(m, v, d)
	return grown, cmp.Or(err, m.Err())
}

// A kept is a copy of a value. Its memory is reused for the next copy.
type kept struct {
	kind bsoncore.Type
	data []byte
}

// set copies v and returns how many more bytes that takes.
func (k *kept) set(v doc.Value) int {
	before := cap(k.data)
	k.kind, k.data = v.Type, append(k.data[:0], v.Data...)
	return cap(k.data) - before
}

func (k *kept) get() doc.Value { return doc.Value{Type: k.kind, Data: k.data} }

// Accumulators lists the names of all accumulators, sorted.
func Accumulators() []string { return slices.Sorted(maps.Keys(accumulators)) }
