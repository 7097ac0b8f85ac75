package doc

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

func decimalValue(t testing.TB, text string) Value {
	t.Helper()
	d, ok := ParseDecimal(text)
	if !ok {
		t.Fatalf("%q is no decimal", text)
	}
	return d.Value()
}

func object(members ...any) Value {
	_, d := bsoncore.AppendDocumentStart(nil)
	for i := 0; i < len(members); i += 2 {
		d = AppendElement(d, members[i].(string), members[i+1].(Value))
	}
	d, _ = bsoncore.AppendDocumentEnd(d, 0)
	return Object(d)
}

func array(elements ...Value) Value {
	var members []any
	for i, e := range elements {
		members = append(members, fmt.Sprint(i), e)
	}
	return Array(object(members...).Data)
}

func binaryValue(subtype byte, data string) Value {
	return Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, subtype, []byte(data))}
}

func retyped(kind bsoncore.Type, v Value) Value {
	v.Type = kind
	return v
}

func scoped(code string, around Value) Value {
	return Value{Type: bsoncore.TypeCodeWithScope, Data: bsoncore.AppendCodeWithScope(nil, code, around.Data)}
}

func regex(pattern, options string) Value {
	return Value{Type: bsoncore.TypeRegex, Data: bsoncore.AppendRegex(nil, pattern, options)}
}

// bsonOrder holds groups of equal values, each below the next.
func bsonOrder(t testing.TB) [][]Value {
	d := func(text string) Value { return decimalValue(t, text) }
	tiny, huge := math.SmallestNonzeroFloat64, math.MaxFloat64
	pointer := func(ns string) Value {
		return Value{Type: bsoncore.TypeDBPointer, Data: bsoncore.AppendDBPointer(nil, ns, [12]byte{})}
	}
	return [][]Value{
		{{Type: bsoncore.TypeMinKey}},
		{{}, {Type: bsoncore.TypeUndefined}},
		{Null()},
		{Double(nan), Double(math.Float64frombits(0xFFF8000000000001)), d("NaN")},
		{Double(-inf), d("-Infinity")},
		{d("-9.999999999999999999999999999999999E+6144")},
		{d("-1E+400")},
		{Double(-huge)},
		{d("-1.5E+300")},
		{Double(-1e300)},
		{d("-9223372036854775809")},
		{Int(math.MinInt64), Double(-two63), d("-9223372036854775808"), d("-9223372036854775808.00")},
		{Int(math.MinInt64 + 1), d("-9223372036854775807")},
		{Double(-1.5), d("-1.5"), d("-1.500")},
		{Int32(-1), Int(-1), Double(-1), d("-1"), d("-1.0"), d("-0.1E1")},
		{Double(-0.1)},
		{d("-0.1"), d("-0.10")},
		{Double(-tiny)},
		{d("-1E-400")},
		{Int(0), Int32(0), Double(0), Double(math.Copysign(0, -1)), d("0"), d("-0"), d("0E+100"), d("-0.00")},
		{d("1E-6176")},
		{d("1E-400")},
		{d("4.9E-324")},
		{Double(tiny)},
		{d("4.95E-324")},
		{d("0.1"), d("0.100"), d("1E-1")},
		{Double(0.1)},
		{d("0.25"), Double(0.25)},
		{Int32(1), Int(1), Double(1), d("1"), d("1.00"), d("0.1E1")},
		{d("1.000000000000000000000000000000001")},
		{Double(1 + 0x1p-52)},
		{Double(1.5), d("1.5")},
		{Int32(2)},
		{Int32(10), d("1E1"), d("10")},
		{Int(1 << 53), Double(1 << 53), d("9007199254740992")},
		{Int(1<<53 + 1), d("9007199254740993.0")},
		{d("9007199254740993.5")},
		{Int(1<<53 + 2), Double(1<<53 + 2)},
		{Int(math.MaxInt64), d("9223372036854775807")},
		{Double(two63), d("9223372036854775808")},
		{d("18446744073709551615")},
		{Double(1e22), d("1E22")},
		{d("99999999999999991611391")},
		{Double(1e23), d("99999999999999991611392")},
		{d("1E23")},
		{Double(1e300)},
		{d("1.5E300")},
		{Double(huge)},
		{d("1.8E308")},
		{d("1E400")},
		{d("9.999999999999999999999999999999999E+6144")},
		{Double(inf), d("Infinity")},
		{String(""), retyped(bsoncore.TypeSymbol, String(""))},
		{String("A")},
		{String("a"), retyped(bsoncore.TypeSymbol, String("a"))},
		{String("a\x00")},
		{String("a\x00b")},
		{String("aa")},
		{String("é")},
		{String("\uffff")},
		{String("😀")},
		{object()},
		{object("b", Value{Type: bsoncore.TypeMinKey})},
		{object("a", Null())},
		{object("b", Null())},
		{object("a", Int(1)), object("a", Double(1))},
		{object("a", Int(1), "b", Null())},
		{object("a", Int(1), "b", Int(2)), object("a", d("1.0"), "b", Int32(2))},
		{object("a", Int(2))},
		{object("aa", Int(1))},
		{object("b", Int(1), "a", Int(2))},
		{object("a", String("x"))},
		{object("a", object("x", Int(1)))},
		{object("a", object("x", Int(2)))},
		{object("a", array())},
		{array()},
		{array(Null())},
		{array(Int(1)), array(Int32(1))},
		{array(Int(1), Int(1))},
		{array(Int(1), Int(2))},
		{array(Int(2))},
		{array(object("a", Int(1)))},
		{array(array())},
		{array(array(), Int(1))},
		{binaryValue(0, "")},
		{binaryValue(0, "b")},
		{binaryValue(4, "a")},
		{binaryValue(0, "aa")},
		{ObjectID([12]byte{})},
		{ObjectID([12]byte{11: 1})},
		{ObjectID([12]byte{0: 1})},
		{Bool(false)},
		{Bool(true)},
		{Date(math.MinInt64)},
		{Date(-1)},
		{Date(0)},
		{Date(1700000000000)},
		{Timestamp(0, 1)},
		{Timestamp(1, 0)},
		{Timestamp(math.MaxUint32, 0)},
		{regex("a", "")},
		{regex("a", "i")},
		{regex("ab", "")},
		{pointer("b")},
		{pointer("aa")},
		{retyped(bsoncore.TypeJavaScript, String("f"))},
		{retyped(bsoncore.TypeJavaScript, String("g"))},
		{scoped("f", object("a", Int(1)))},
		{scoped("f", object("a", Int(2)))},
		{scoped("g", object())},
		{{Type: bsoncore.TypeMaxKey}},
	}
}

func TestCompareBSON(t *testing.T) {
	groups := bsonOrder(t)
	for i, as := range groups {
		for j, bs := range groups {
			for _, a := range as {
				for _, b := range bs {
					want := cmpInt(i, j)
					if got := CompareBSON(a, b); got != want {
						t.Errorf("%v, %v: %d, want %d", a, b, got, want)
					}
					if EqualBSON(a, b) != (want == 0) {
						t.Errorf("%v, %v: equal %t", a, b, want != 0)
					}
					same := bytes.Equal(AppendCanonicalBSON(nil, a), AppendCanonicalBSON(nil, b))
					if same != (want == 0) {
						t.Errorf("%v, %v: canonical %x and %x", a, b, AppendCanonicalBSON(nil, a),
							AppendCanonicalBSON(nil, b))
					}
				}
			}
		}
	}
}

func cmpInt(i, j int) int {
	switch {
	case i < j:
		return -1
	case i > j:
		return 1
	}
	return 0
}

// exact is the number that v is, nil for NaN and infinities.
func exact(v Value) *big.Rat {
	if i, ok := v.AsInt64OK(); ok && v.Type != bsoncore.TypeDouble {
		return new(big.Rat).SetInt64(i)
	}
	if f, ok := v.DoubleOK(); ok {
		return new(big.Rat).SetFloat64(f)
	}
	d, _ := AsDecimal(v)
	if d.Form != DecimalFinite {
		return nil
	}
	r := new(big.Rat).SetInt(d.Coefficient())
	scale := new(big.Rat).SetInt(power(10, max(d.Exponent, -d.Exponent)))
	if d.Exponent < 0 {
		return r.Quo(r, scale)
	}
	return r.Mul(r, scale)
}

// someNumber is a number near others that are written in other ways.
func someNumber(r *rand.Rand) Value {
	switch r.IntN(8) {
	case 0:
		return Int32(int32(r.IntN(7) - 3))
	case 1:
		return Int(int64(r.Uint64() >> r.IntN(64)))
	case 2:
		return Int(int64(1<<53) + int64(r.IntN(5)))
	case 3:
		return Double(math.Ldexp(float64(r.IntN(200)-100), r.IntN(40)-20))
	case 4:
		return Double(math.Float64frombits(r.Uint64()))
	case 5:
		return Decimal{Negative: r.IntN(2) == 0, Lo: uint64(r.IntN(1000)), Exponent: r.IntN(8) - 4}.Value()
	case 6:
		f := math.Ldexp(float64(r.IntN(1<<20)), r.IntN(100)-60)
		c, _ := new(big.Float).SetMode(big.ToNearestEven).Mul(big.NewFloat(f), big.NewFloat(1e15)).Int(nil)
		return NewDecimal(c, -15).Value()
	}
	return Decimal{Hi: r.Uint64() >> (15 + r.IntN(30)), Lo: r.Uint64(), Exponent: r.IntN(900) - 450,
		Negative: r.IntN(2) == 0}.Value()
}

func TestCompareBSONNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		a, b := someNumber(r), someNumber(r)
		x, y := exact(a), exact(b)
		if x == nil || y == nil {
			continue
		}
		if got, want := CompareBSON(a, b), x.Cmp(y); got != want {
			t.Fatalf("%v, %v: %d, want %d", a, b, got, want)
		}
		same := bytes.Equal(AppendCanonicalBSON(nil, a), AppendCanonicalBSON(nil, b))
		if same != (x.Cmp(y) == 0) {
			t.Fatalf("%v, %v: canonical %x, %x", a, b, AppendCanonicalBSON(nil, a), AppendCanonicalBSON(nil, b))
		}
	}
}

// someValue is a value of any type, made of few parts so that some are equal.
func someValue(t testing.TB, r *rand.Rand, scalars [][]Value, depth int) Value {
	n := r.IntN(12)
	switch {
	case n == 0 && depth > 0:
		var members []any
		for range r.IntN(4) {
			members = append(members, []string{"a", "b", "ab"}[r.IntN(3)], someMember(t, r, scalars, depth))
		}
		return object(members...)
	case n == 1 && depth > 0:
		var elements []Value
		for range r.IntN(4) {
			elements = append(elements, someMember(t, r, scalars, depth))
		}
		return array(elements...)
	case n == 2 && depth > 0:
		return scoped("f", object("a", someMember(t, r, scalars, depth)))
	}
	group := scalars[r.IntN(len(scalars))]
	return group[r.IntN(len(group))]
}

func someMember(t testing.TB, r *rand.Rand, scalars [][]Value, depth int) Value {
	v := someValue(t, r, scalars, depth-1)
	if v.Type == 0 {
		return Null()
	}
	return v
}

func TestCompareBSONIsAnOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	scalars := bsonOrder(t)
	values := make([]Value, 120)
	for i := range values {
		values[i] = someValue(t, r, scalars, 3)
	}
	for _, a := range values {
		for _, b := range values {
			ab := CompareBSON(a, b)
			if ab != -CompareBSON(b, a) {
				t.Fatalf("%v, %v: %d both ways", a, b, ab)
			}
			if same := bytes.Equal(AppendCanonicalBSON(nil, a), AppendCanonicalBSON(nil, b)); same != (ab == 0) {
				t.Fatalf("%v, %v: %d, though the canonical bytes are the same: %t", a, b, ab, same)
			}
			for _, c := range values {
				if ab <= 0 && CompareBSON(b, c) <= 0 && CompareBSON(a, c) > 0 {
					t.Fatalf("%v, %v, %v are a circle", a, b, c)
				}
			}
		}
	}
}

func TestCompareBSONGivesUpBelowItsDepth(t *testing.T) {
	deep := func(v Value) Value {
		for range 5000 {
			v = array(v)
		}
		return v
	}
	if got := CompareBSON(deep(Int(1)), deep(Int(2))); got != -1 {
		t.Errorf("%d, want -1", got)
	}
	if !EqualBSON(deep(Int(1)), deep(Int(1))) {
		t.Error("a deep value does not equal itself")
	}
	AppendCanonicalBSON(nil, deep(Int(1)))
}

func FuzzCompareBSON(f *testing.F) {
	for _, group := range bsonOrder(f) {
		f.Add(byte(group[0].Type), group[0].Data, byte(group[len(group)-1].Type), group[len(group)-1].Data)
	}
	f.Add(byte(bsoncore.TypeDecimal128), []byte{1}, byte(bsoncore.TypeCodeWithScope),
		[]byte{9, 0, 0, 0, 3, 0, 0, 0, 65, 65, 65})
	f.Fuzz(func(t *testing.T, kind byte, a []byte, other byte, b []byte) {
		v, w := Value{Type: bsoncore.Type(kind), Data: a}, Value{Type: bsoncore.Type(other), Data: b}
		x, y := CompareBSON(v, w), CompareBSON(w, v)
		if x != -y || CompareBSON(v, v) != 0 {
			t.Errorf("%d and %d", x, y)
		}
		if same := bytes.Equal(AppendCanonicalBSON(nil, v), AppendCanonicalBSON(nil, w)); same != (x == 0) {
			t.Errorf("%d, though the canonical bytes are the same: %t", x, same)
		}
	})
}

func BenchmarkCompareBSON(b *testing.B) {
	for _, c := range []struct {
		name string
		a, b Value
	}{
		{"int", Int32(5), Int(6)},
		{"decimal", decimalValue(b, "19.99"), decimalValue(b, "20.00")},
		{"decimal and double", decimalValue(b, "19.99"), Double(19.99)},
		{"string", String("customer-000017"), String("customer-000018")},
		{"object", object("a", Int(1), "b", String("x")), object("a", Int32(1), "b", String("y"))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				CompareBSON(c.a, c.b)
			}
		})
	}
}

func BenchmarkAppendCanonicalBSON(b *testing.B) {
	var buffer []byte
	v := object("a", Int(1), "b", String("x"), "c", decimalValue(b, "19.99"))
	b.ReportAllocs()
	for b.Loop() {
		buffer = AppendCanonicalBSON(buffer[:0], v)
	}
}
