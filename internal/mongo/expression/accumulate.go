package expression

import (
	"math"
	"math/bits"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// over is an accumulator as an expression: over the elements of the array if its only argument is an array, else over
// its arguments.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#accumulators--in-other-stages-
func over(name string, f func(s *Scope, values []doc.Value) doc.Value) operator {
	return variadic(name, func(s *Scope, args []doc.Value) (doc.Value, error) {
		if len(args) != 1 || !doc.IsArray(args[0]) {
			v := f(s, args)
			return v, s.Meter.Err()
		}
		list, err := s.collect(args[0])
		if err != nil {
			return doc.Value{}, err
		}
		v := f(s, list)
		s.drop(len(list))
		return v, s.Meter.Err()
	})
}

// furthest returns the greatest value, or the least if direction is -1. It returns null if there is none.
func furthest(direction int) func(*Scope, []doc.Value) doc.Value {
	return func(s *Scope, values []doc.Value) doc.Value {
		best := null
		for _, v := range values {
			if !nullish(v) && (nullish(best) || direction*s.Meter.Compare(v, best) > 0) {
				best = v
			}
		}
		return best
	}
}

// sum ignores values that are not numbers. Its type is the widest of theirs, or a wider one if the sum needs it.
func sum(s *Scope, values []doc.Value) doc.Value {
	var t total
	for _, v := range values {
		t.add(v)
		if s.spend(addCost(v)) != nil {
			break
		}
	}
	return t.sum(s)
}

// average is a double, a Decimal128 if one of the numbers is, or null if there are no numbers.
func average(s *Scope, values []doc.Value) doc.Value {
	var t total
	for _, v := range values {
		t.add(v)
		if s.spend(addCost(v)) != nil {
			break
		}
	}
	switch {
	case t.count == 0:
		return null
	case t.kind == bsoncore.TypeDecimal128:
		return s.decimal(divideDecimals(t.asDecimal(), doc.DecimalOf(t.count)))
	}
	return s.double(t.asDouble() / float64(t.count))
}

// addCost is the cost of adding a number, in units of package work.
func addCost(v doc.Value) int {
	if v.Type == bsoncore.TypeDecimal128 {
		return decimalCost
	}
	return work.Element
}

// A total sums numbers without accumulating rounding errors: integers in 128 bits, doubles with the error of each
// addition.
type total struct {
	kind    bsoncore.Type // the widest, 0 stands for int32
	count   int64
	high    int64
	low     uint64
	double  float64
	rest    float64
	plain   float64 // without the rest: right if there are infinities
	decimal decimal
}

func (t *total) add(v doc.Value) {
	if !doc.IsNumberBSON(v) {
		return
	}
	t.count++
	t.kind = wider(t.kind, v.Type)
	switch v.Type {
	case bsoncore.TypeDecimal128:
		t.decimal = addDecimals(t.decimal, asDecimal(v))
	case bsoncore.TypeDouble:
		t.plain += asDouble(v)
		t.addDouble(asDouble(v))
	default:
		i := asInt(v)
		var carry uint64
		t.low, carry = bits.Add64(t.low, uint64(i), 0)
		t.high += i>>63 + int64(carry)
	}
}

// addDouble adds without rounding errors, by Knuth, The Art of Computer Programming, 4.2.2.
func (t *total) addDouble(f float64) {
	sum := t.double + f
	part := sum - t.double
	t.rest += (t.double - (sum - part)) + (f - part)
	t.double = sum
}

func (t *total) fitsInt() bool { return t.high == int64(t.low)>>63 }

// asDouble is the sum of integers and doubles.
func (t *total) asDouble() float64 {
	all := *t
	all.addDouble(math.Ldexp(float64(t.high), 64))
	all.addDouble(math.Ldexp(float64(t.low>>32), 32))
	all.addDouble(float64(t.low & math.MaxUint32))
	if f := all.double + all.rest; !math.IsNaN(f) {
		return f
	}
	return t.plain
}

// asDecimal is the sum of all numbers.
func (t *total) asDecimal() decimal {
	f := t.asDouble()
	switch {
	case f == 0:
		return t.decimal
	case t.fitsInt() && t.plain == 0 && t.double == 0:
		return addDecimals(t.decimal, doc.DecimalOf(int64(t.low)))
	}
	d, _ := doc.ParseDecimal(strconv.FormatFloat(f, 'e', decimalDigits-1, 64))
	return addDecimals(t.decimal, d)
}

func (t *total) sum(s *Scope) doc.Value {
	switch {
	case t.kind == bsoncore.TypeDecimal128:
		return s.decimal(t.asDecimal())
	case t.kind == bsoncore.TypeDouble || !t.fitsInt():
		return s.double(t.asDouble())
	}
	return s.sized(int64(t.low), t.kind, 0)
}

func deviationOfAll(s *Scope, values []doc.Value) doc.Value { return deviation(s, values, 0) }

func deviationOfSample(s *Scope, values []doc.Value) doc.Value { return deviation(s, values, 1) }

// deviation is the standard deviation of the numbers, null if there are too few. less is 1 if they are a sample, else
// 0: what the divisor is less than their count.
func deviation(s *Scope, values []doc.Value, less float64) doc.Value {
	n, mean, squares := 0.0, 0.0, 0.0
	for _, v := range values {
		if !doc.IsNumberBSON(v) {
			continue
		}
		if s.spend(addCost(v)) != nil {
			break
		}
		f := asDouble(v)
		n++
		delta := f - mean
		mean += delta / n
		squares += delta * (f - mean)
	}
	if n <= less {
		return null
	}
	return s.double(math.Sqrt(squares / (n - less)))
}
