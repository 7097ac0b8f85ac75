package doc

import (
	"math"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// ordered holds groups of equal values, each below the next.
func ordered(t testing.TB) [][]Value {
	group := func(texts ...string) (vs []Value) {
		for _, text := range texts {
			vs = append(vs, mustValue(t, text))
		}
		return vs
	}
	return [][]Value{
		group(""),
		group("null"),
		group("false"),
		group("true"),
		{Float(nan)},
		{Float(-inf)},
		group("-1e300"),
		group("-18446744073709551616"),
		group("-9223372036854775808", "-9223372036854775808.0"),
		group("-9223372036854775807"),
		group("-1.5"),
		group("-1", "-1.0"),
		group("-0.5"),
		{Int(0), Float(0), Float(math.Copysign(0, -1)), {Type: bsoncore.TypeInt32, Data: make([]byte, 4)}},
		group("5e-324"),
		group("1", "1.0"),
		group("1.5"),
		group("2"),
		group("9007199254740992", "9007199254740993.0"),
		group("9007199254740993"),
		group("9007199254740994"),
		group("9223372036854775807"),
		group("9223372036854775808", "9223372036854775808.0"),
		group("9223372036854775809"),
		group("18446744073709551615"),
		group("18446744073709551616"),
		group("1e300"),
		{Float(inf)},
		group(`""`),
		group(`"A"`),
		group(`"a"`),
		group(`"a\u0000"`),
		group(`"aa"`),
		group(`"b"`),
		group(`"é"`),
		group(`"\uffff"`),
		group(`"😀"`),
		group(`[]`),
		group(`[1]`, `[1.0]`),
		group(`[1,null]`),
		group(`[1,2]`),
		group(`[2]`),
		group(`["a"]`),
		group(`{}`),
		group(`{"a":1}`),
		group(`{"a":1,"b":2}`, `{"b":2,"a":1.0}`),
		group(`{"a":1,"b":3}`),
		group(`{"a":1,"c":0}`, `{"c":0,"a":1}`),
		group(`{"a":{"x":1,"y":2}}`, `{"a":{"y":2,"x":1}}`),
		group(`{"b":0}`),
		{{Type: bsoncore.TypeObjectID, Data: make([]byte, 12)}},
		{{Type: bsoncore.TypeDecimal128, Data: bsoncore.AppendDecimal128(nil, 0x303e000000000000, 15)}},
	}
}

func TestCompare(t *testing.T) {
	groups := ordered(t)
	for i, as := range groups {
		for j, bs := range groups {
			want := min(max(i-j, -1), 1)
			for _, a := range as {
				for _, b := range bs {
					if got := Compare(a, b); got != want {
						t.Errorf("Compare(%s, %s) = %d, want %d", a, b, got, want)
					}
					if got := Equal(a, b); got != (want == 0) {
						t.Errorf("Equal(%s, %s) = %v", a, b, got)
					}
				}
			}
		}
	}
}

// Objects of the same members in another order, one in another, must not double
// the work with each level.
func TestCompareDeepObjects(t *testing.T) {
	a, b := mustValue(t, `{"x":1,"y":2}`), mustValue(t, `{"y":2,"x":1}`)
	for range MaxDepth - 1 {
		a = Object(With(With(nil, "z", Int(1)), "n", a))
		b = Object(With(With(nil, "n", b), "z", Int(1)))
	}
	if !Equal(a, b) {
		t.Error("not equal")
	}
}

func TestAsInt(t *testing.T) {
	cases := []struct {
		v    Value
		want int64
		ok   bool
	}{
		{mustValue(t, "20"), 20, true},
		{mustValue(t, "20.0"), 20, true},
		{mustValue(t, "2e1"), 20, true},
		{mustValue(t, "20.5"), 0, false},
		{mustValue(t, "-9223372036854775808"), math.MinInt64, true},
		{mustValue(t, "-9223372036854775808.0"), math.MinInt64, true},
		{mustValue(t, "9223372036854775808"), 0, false},
		{mustValue(t, "9223372036854775808.0"), 0, false},
		{mustValue(t, `"20"`), 0, false},
		{Null(), 0, false},
		{Value{}, 0, false},
		{Float(nan), 0, false},
		{Float(inf), 0, false},
		{Value{Type: bsoncore.TypeInt32, Data: bsoncore.AppendInt32(nil, -7)}, -7, true},
		{Value{Type: bsoncore.TypeDecimal128, Data: bsoncore.AppendDecimal128(nil, wholeDecimal, 7)}, 7, true},
		{Value{Type: bsoncore.TypeInt64}, 0, false},
	}
	for _, c := range cases {
		if got, ok := AsInt(c.v); got != c.want || ok != c.ok {
			t.Errorf("AsInt(%s) = %d, %v, want %d, %v", c.v, got, ok, c.want, c.ok)
		}
	}
}

func TestAsFloat(t *testing.T) {
	for in, want := range map[string]float64{"20": 20, "0.5": 0.5, "18446744073709551615": 1 << 64} {
		if got, ok := AsFloat(mustValue(t, in)); got != want || !ok {
			t.Errorf("AsFloat(%s) = %v, %v, want %v", in, got, ok, want)
		}
	}
	if _, ok := AsFloat(Bool(true)); ok {
		t.Error("true is a number")
	}
}

func TestConstructors(t *testing.T) {
	d := With(nil, "n", Null())
	for name, v := range map[string]Value{
		"f": Bool(false), "t": Bool(true), "i": Int(-3), "d": Float(1.5), "s": String("a\x00b"),
		"o": Object(With(nil, "x", Int(1))),
	} {
		d = With(d, name, v)
		if got := Lookup(d, name); !Equal(got, v) {
			t.Errorf("%s: got %s, want %s", name, got, v)
		}
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if b, ok := AsBool(Lookup(d, "t")); !b || !ok {
		t.Error("AsBool")
	}
	if s, ok := AsString(Lookup(d, "s")); s != "a\x00b" || !ok {
		t.Errorf("AsString: %q", s)
	}
	if o, ok := AsDoc(Lookup(d, "o")); !ok || !Equal(Lookup(o, "x"), Int(1)) {
		t.Error("AsDoc")
	}
	if !IsNull(Lookup(d, "n")) || IsNull(Value{}) || !IsUndefined(Lookup(d, "none")) || IsUndefined(Null()) {
		t.Error("null and undefined")
	}
}

func TestWalks(t *testing.T) {
	d := mustDoc(t, `{"a":[1,"x",[2]],"b":{},"c":true}`)
	var got []byte
	for name, v := range Members(d) {
		got = AppendJSONValue(append(append(got, name...), ' '), v)
	}
	for v := range Elements(Lookup(d, "a")) {
		got = AppendJSONValue(append(got, ' '), v)
	}
	for range Elements(Lookup(d, "b")) {
		t.Error("an object has no elements")
	}
	if want := `a [1,"x",[2]]b {}c true 1 "x" [2]`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, v := range Members(d) {
			for range Elements(v) {
			}
		}
		_ = Lookup(d, "c")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever bytes they are given, walks end.
func TestDamagedBytes(t *testing.T) {
	d := mustDoc(t, `{"a":[1,"x",{"b":2.5}],"c":"text","d":18446744073709551615}`)
	for i := range d {
		for _, b := range []byte{0, 1, 2, 4, 5, 0x0b, 0x0f, 0x7f, 0x80, 0xff} {
			damaged := slices.Clone(d)
			damaged[i] = b
			AppendJSON(nil, damaged)
			AppendJSON(nil, damaged[:i])
			Compare(Object(d), Object(damaged))
			With(damaged, "c", Null())
			Without(damaged, "c")
			for _, at := range []Pointer{{"a", "0"}, {"a", "2", "b"}, {"c"}, {"new"}} {
				_, _ = Add(damaged, at, Null())
				_, _ = Remove(damaged, at)
			}
		}
	}
}
