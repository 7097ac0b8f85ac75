package expression

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// The arithmetic operators; arithmetic_*.go has more of them.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#arithmetic-expression-operators

// add sums numbers and at most one date, to which it adds the numbers as milliseconds.
func add(s *Scope, args []doc.Value) (doc.Value, error) {
	var t tally
	for _, v := range args {
		switch {
		case nullish(v):
			return null, nil
		case v.Type == bsoncore.TypeDateTime && t.dated:
			return doc.Value{}, code.New(16612, "only one date allowed in an $add expression")
		case v.Type != bsoncore.TypeDateTime && !doc.IsNumberBSON(v):
			return doc.Value{}, code.New(code.TypeMismatch, "$add only supports numeric or date types, not %s",
				code.TypeName(v))
		}
		if err := t.add(v); err != nil {
			return doc.Value{}, err
		}
	}
	return t.value(s), nil
}

// A tally is a sum in the widest type of its numbers. Integers become a double if an int64 cannot hold the sum. With a
// date, the numbers are whole milliseconds.
type tally struct {
	kind    bsoncore.Type // 0 stands for int32
	dated   bool
	whole   int64
	double  float64
	decimal decimal
}

func (t *tally) add(v doc.Value) error {
	switch {
	case t.dated:
		return t.addTime(v)
	case v.Type == bsoncore.TypeDateTime:
		so := t.value(&Scope{})
		t.dated, t.whole = true, asDate(v)
		return t.addTime(so)
	}
	t.widen(v.Type)
	switch t.kind {
	case bsoncore.TypeDecimal128:
		t.decimal = addDecimals(t.decimal, asDecimal(v))
	case bsoncore.TypeDouble:
		t.double += asDouble(v)
	default:
		sum, ok := addInts(t.whole, asInt(v))
		if !ok {
			t.kind, t.double = bsoncore.TypeDouble, float64(t.whole)+asDouble(v)
		}
		t.whole = sum
	}
	return nil
}

// widen converts the tally to kind, if that is wider than its type.
func (t *tally) widen(kind bsoncore.Type) {
	was := t.kind
	if t.kind = wider(was, kind); t.kind == was {
		return
	}
	switch {
	case t.kind == bsoncore.TypeDouble:
		t.double = float64(t.whole)
	case t.kind == bsoncore.TypeDecimal128 && was == bsoncore.TypeDouble:
		t.decimal = decimalOfDouble(t.double)
	case t.kind == bsoncore.TypeDecimal128:
		t.decimal = doc.DecimalOf(t.whole)
	}
}

// wider is the type of the result of arithmetic on two types.
func wider(a, b bsoncore.Type) bsoncore.Type {
	for _, kind := range [...]bsoncore.Type{bsoncore.TypeDecimal128, bsoncore.TypeDouble, bsoncore.TypeInt64} {
		if a == kind || b == kind {
			return kind
		}
	}
	return bsoncore.TypeInt32
}

func (t *tally) addTime(v doc.Value) error {
	ms, ok := wholeMilliseconds(v)
	if ok {
		t.whole, ok = addInts(t.whole, ms)
	}
	if !ok {
		return code.New(code.Overflow, "date overflow")
	}
	return nil
}

// wholeMilliseconds is a number rounded to an integer, halves away from 0.
func wholeMilliseconds(v doc.Value) (int64, bool) {
	switch v.Type {
	case bsoncore.TypeDouble:
		f := math.Round(asDouble(v))
		return int64(f), f >= -1<<63 && f < 1<<63
	case bsoncore.TypeDecimal128:
		return roundDecimal(asDecimal(v), 0, halfEven).Int64()
	}
	return asInt(v), true
}

func (t *tally) value(s *Scope) doc.Value {
	switch {
	case t.dated:
		return s.date(t.whole)
	case t.kind == bsoncore.TypeDecimal128:
		return s.decimal(t.decimal)
	case t.kind == bsoncore.TypeDouble:
		return s.double(t.double)
	case t.kind == bsoncore.TypeInt64:
		return s.int64(t.whole)
	}
	return s.integer(t.whole)
}

// integer makes an int32, or an int64 if i needs one.
func (s *Scope) integer(i int64) doc.Value {
	if i == int64(int32(i)) {
		return s.int32(int32(i))
	}
	return s.int64(i)
}

// sized makes the result of arithmetic on integers of two types.
func (s *Scope) sized(i int64, a, b bsoncore.Type) doc.Value {
	if a == bsoncore.TypeInt64 || b == bsoncore.TypeInt64 {
		return s.int64(i)
	}
	return s.integer(i)
}

func addInts(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}

func subtractInts(a, b int64) (difference int64, ok bool) {
	difference = a - b
	return difference, (difference < a) == (b > 0)
}

func multiplyInts(a, b int64) (product int64, ok bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	if a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
		return 0, false
	}
	product = a * b
	return product, product/b == a
}

// subtract subtracts numbers, a date from a date, or milliseconds from a date.
func subtract(s *Scope, a, b doc.Value) (doc.Value, error) {
	switch {
	case doc.IsNumberBSON(a) && doc.IsNumberBSON(b):
		return subtractNumbers(s, a, b), nil
	case nullish(a) || nullish(b):
		return null, nil
	case a.Type == bsoncore.TypeDateTime && (doc.IsNumberBSON(b) || b.Type == bsoncore.TypeDateTime):
		return subtractTime(s, a, b)
	}
	from := code.TypeName(a)
	if a.Type == bsoncore.TypeDateTime {
		from = "Date"
	}
	return doc.Value{}, code.New(code.TypeMismatch, "can't $subtract %s from %s", code.TypeName(b), from)
}

func subtractNumbers(s *Scope, a, b doc.Value) doc.Value {
	switch wider(a.Type, b.Type) {
	case bsoncore.TypeDecimal128:
		return s.decimal(subtractDecimals(asDecimal(a), asDecimal(b)))
	case bsoncore.TypeDouble:
		return s.double(asDouble(a) - asDouble(b))
	}
	difference, ok := subtractInts(asInt(a), asInt(b))
	if !ok {
		return s.double(asDouble(a) - asDouble(b))
	}
	return s.sized(difference, a.Type, b.Type)
}

func subtractTime(s *Scope, a, b doc.Value) (doc.Value, error) {
	if b.Type == bsoncore.TypeDateTime {
		difference, ok := subtractInts(asDate(a), asDate(b))
		if !ok {
			return doc.Value{}, code.New(code.Overflow, "date overflow")
		}
		return s.int64(difference), nil
	}
	ms, ok := wholeMilliseconds(b)
	if ok {
		ms, ok = subtractInts(asDate(a), ms)
	}
	if !ok {
		return doc.Value{}, code.New(code.Overflow, "date overflow")
	}
	return s.date(ms), nil
}

func multiply(s *Scope, args []doc.Value) (doc.Value, error) {
	t := tally{kind: bsoncore.TypeInt32, whole: 1, double: 1}
	for _, v := range args {
		switch {
		case nullish(v):
			return null, nil
		case !doc.IsNumberBSON(v):
			return doc.Value{}, code.New(code.TypeMismatch, "$multiply only supports numeric types, not %s",
				code.TypeName(v))
		}
		t.multiply(v)
	}
	return t.value(s), nil
}

// multiply also keeps the product as a double, for when an integer overflows.
func (t *tally) multiply(v doc.Value) {
	double := t.double
	t.widen(v.Type)
	if t.kind == bsoncore.TypeDecimal128 {
		t.decimal = multiplyDecimals(t.decimal, asDecimal(v))
		return
	}
	t.double = double * asDouble(v)
	if t.kind != bsoncore.TypeDouble {
		product, ok := multiplyInts(t.whole, asInt(v))
		if !ok {
			t.kind = bsoncore.TypeDouble
		}
		t.whole = product
	}
}

// divide returns a double, also for integers.
func divide(s *Scope, a, b doc.Value) (doc.Value, error) {
	switch {
	case doc.IsNumberBSON(a) && doc.IsNumberBSON(b):
		if isZero(b) {
			return doc.Value{}, code.New(code.BadValue, "can't $divide by zero")
		}
		if wider(a.Type, b.Type) == bsoncore.TypeDecimal128 {
			return s.decimal(divideDecimals(asDecimal(a), asDecimal(b))), nil
		}
		return s.double(asDouble(a) / asDouble(b)), nil
	case nullish(a) || nullish(b):
		return null, nil
	}
	return doc.Value{}, code.New(code.TypeMismatch, "$divide only supports numeric types, not %s and %s",
		code.TypeName(a), code.TypeName(b))
}

func mod(s *Scope, a, b doc.Value) (doc.Value, error) {
	switch {
	case doc.IsNumberBSON(a) && doc.IsNumberBSON(b):
		return modNumbers(s, a, b)
	case nullish(a) || nullish(b):
		return null, nil
	}
	return doc.Value{}, code.New(16611, "$mod only supports numeric types, not %s and %s", code.TypeName(a),
		code.TypeName(b))
}

// modNumbers is $mod of two numbers. A double without a fraction as the divisor of an integer counts as an int32.
func modNumbers(s *Scope, a, b doc.Value) (doc.Value, error) {
	if wider(a.Type, b.Type) == bsoncore.TypeDecimal128 {
		if isZero(b) {
			return doc.Value{}, code.New(5733415, "can't $mod by zero")
		}
		return s.decimal(modDecimals(asDecimal(a), asDecimal(b))), nil
	}
	if isZero(b) {
		return doc.Value{}, code.New(16610, "can't $mod by zero")
	}
	by, whole := asInt(b), true
	if b.Type == bsoncore.TypeDouble {
		var n int32
		n, whole = whole32(b)
		by = int64(n)
	}
	if a.Type == bsoncore.TypeDouble || !whole {
		return s.double(math.Mod(asDouble(a), asDouble(b))), nil
	}
	if by == -1 { // the least integer has no quotient
		return s.sized(0, a.Type, b.Type), nil
	}
	return s.sized(asInt(a)%by, a.Type, b.Type), nil
}

func abs(s *Scope, v doc.Value) (doc.Value, error) {
	switch v.Type {
	case bsoncore.TypeDecimal128:
		d := asDecimal(v)
		d.Negative = false
		return s.decimal(d), nil
	case bsoncore.TypeDouble:
		return s.double(math.Abs(asDouble(v))), nil
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		i := asInt(v)
		if i == math.MinInt64 {
			return doc.Value{}, code.New(28680, "can't take $abs of long long min")
		}
		return s.sized(max(i, -i), v.Type, 0), nil
	}
	return notNumeric("$abs", v)
}

// notNumeric returns null for null, and an error for other values that are not numbers.
func notNumeric(name string, v doc.Value) (doc.Value, error) {
	if nullish(v) {
		return null, nil
	}
	return doc.Value{}, code.New(28765, "%s only supports numeric types, not %s", name, code.TypeName(v))
}
