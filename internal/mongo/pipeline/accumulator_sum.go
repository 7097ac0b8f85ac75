package pipeline

import (
	"math"
	"math/bits"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A sum is $sum: exact for integers, and of the widest type among the values. It ignores values that are not numbers.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/sum/
type sum struct {
	widest  breadth
	hi      int64 // the integers, in 128 bits
	lo      uint64
	doubles compensated
	decimal doc.Value
}

type breadth uint8

const (
	narrow breadth = iota // 32 bits
	wide                  // 64 bits
	double
	decimal
)

func (s *sum) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	switch v.Type {
	case bsoncore.TypeInt32:
		i, _ := doc.AsInt(v)
		s.addWhole(i)
	case bsoncore.TypeInt64:
		i, _ := doc.AsInt(v)
		s.addWhole(i)
		s.widest = max(s.widest, wide)
	case bsoncore.TypeDouble:
		f, _ := doc.AsFloat(v)
		s.doubles.add(f)
		s.widest = max(s.widest, double)
	case bsoncore.TypeDecimal128:
		s.widest = decimal
		if err := m.Spend(stepCost); err != nil {
			return 0, err
		}
		var err error
		s.decimal, err = addDecimals(s.decimal, v)
		return 0, err
	}
	return 0, nil
}

func (s *sum) addWhole(i int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(i), 0)
	s.hi += i>>63 + int64(carry)
}

// whole is the sum of the integers. It is not ok if the sum does not fit into 64 bits.
func (s *sum) whole() (int64, bool) {
	i := int64(s.lo)
	return i, i>>63 == s.hi
}

// float is the sum of all values but decimals.
func (s *sum) float() float64 {
	total := s.doubles
	if i, ok := s.whole(); ok {
		high := i >> 32 << 32
		total.add(float64(high))
		total.add(float64(i - high))
	} else {
		total.add(math.Ldexp(float64(s.hi), 64))
		total.add(float64(s.lo))
	}
	return total.sum()
}

func (s *sum) value(*work.Meter) doc.Value {
	whole, fits := s.whole()
	switch {
	case s.widest == decimal:
		v, err := s.asDecimal()
		if err != nil {
			return null
		}
		return v
	case s.widest == double || !fits:
		return doc.Double(s.float())
	case s.widest == narrow:
		return integer(whole)
	}
	return doc.Int(whole)
}

// asDecimal is the sum of all values.
func (s *sum) asDecimal() (doc.Value, error) {
	whole, fits := s.whole()
	rest := doc.Int(whole)
	if !fits || s.doubles != (compensated{}) {
		rest = doc.Double(s.float())
	}
	return addDecimals(s.decimal, rest)
}

// compensated is a sum of doubles and of its rounding errors, found by Knuth's TwoSum. It is about as precise as 106
// bits.
type compensated struct{ high, low float64 }

func (c *compensated) add(f float64) {
	total := c.high + f
	part := total - c.high
	c.low += c.high - (total - part) + (f - part)
	c.high = total
}

func (c *compensated) sum() float64 {
	if math.IsInf(c.high, 0) || math.IsNaN(c.high) {
		return c.high
	}
	return c.high + c.low
}

// An arithmetic is an operator of expressions on the variables a and b. It serves for decimals.
type arithmetic struct{ *expression.Expression }

func newArithmetic(operator string) arithmetic {
	names, _ := expression.NewNames().With("a")
	names, _ = names.With("b")
	var args list
	args.add(doc.String("$$a"))
	args.add(doc.String("$$b"))
	spec, at := beginDoc(nil)
	spec = endDoc(doc.AppendElement(spec, operator, args.value()), at)
	x, err := expression.Compile(doc.Object(spec), names)
	if err != nil {
		panic("pipeline: " + err.Error())
	}
	return arithmetic{x}
}

func (x arithmetic) of(a, b doc.Value) (doc.Value, error) {
	return x.Evaluate(&expression.Scope{Vars: []doc.Value{a, b}})
}

var (
	plus      = newArithmetic("$add")
	dividedBy = newArithmetic("$divide")
)

func addDecimals(a, b doc.Value) (doc.Value, error) {
	if a.Type == 0 {
		return doc.Clone(b), nil
	}
	v, err := plus.of(a, b)
	return doc.Clone(v), err
}

// An average is $avg of the numbers, null if there are none.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/avg/
type average struct {
	sum
	n int64
}

func (a *average) add(m *work.Meter, v doc.Value, d doc.Doc) (int, error) {
	if doc.IsNumberBSON(v) {
		a.n++
	}
	return a.sum.add(m, v, d)
}

func (a *average) value(*work.Meter) doc.Value {
	if a.n == 0 {
		return null
	}
	if a.widest == decimal {
		total, err := a.asDecimal()
		if err == nil {
			total, err = dividedBy.of(total, doc.Int(a.n))
		}
		if err != nil {
			return null
		}
		return doc.Clone(total)
	}
	return doc.Double(a.float() / float64(a.n))
}

// parseCounting parses {$count: {}}, which is {$sum: 1}.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/count-accumulator/
func parseCounting(s *statement, arg doc.Value, _ *expression.Names) (err error) {
	if !isObject(arg) || size(arg.Data) > 0 {
		return code.New(code.TypeMismatch, "$count takes no arguments, i.e. $count:{}")
	}
	s.create = func(int) accumulator { return &sum{} }
	s.argument, err = expression.Compile(doc.Int32(1), nil)
	return err
}
