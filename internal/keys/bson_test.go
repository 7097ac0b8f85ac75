package keys

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// bsonMakers make values of one type each, of few kinds so that some are equal or have
// the same beginning. Those that nest come last.
var bsonMakers []func(r *rand.Rand, depth int) doc.Value

func init() {
	bsonMakers = []func(r *rand.Rand, depth int) doc.Value{
		func(*rand.Rand, int) doc.Value { return doc.Value{Type: bsoncore.TypeMinKey} },
		func(*rand.Rand, int) doc.Value { return doc.Value{Type: bsoncore.TypeUndefined} },
		func(*rand.Rand, int) doc.Value { return null },
		func(r *rand.Rand, _ int) doc.Value { return someNumber(r) },
		func(r *rand.Rand, _ int) doc.Value { return someNumber(r) },
		func(r *rand.Rand, _ int) doc.Value { return str(someText(r)) },
		func(r *rand.Rand, _ int) doc.Value {
			return doc.Value{Type: bsoncore.TypeSymbol, Data: str(someText(r)).Data}
		},
		func(r *rand.Rand, _ int) doc.Value {
			return doc.Value{Type: bsoncore.TypeBinary,
				Data: bsoncore.AppendBinary(nil, byte(r.IntN(3)), []byte(someText(r)))}
		},
		func(r *rand.Rand, _ int) doc.Value {
			return doc.ObjectID([12]byte{11: byte(r.IntN(3)), 0: byte(r.IntN(3))})
		},
		func(r *rand.Rand, _ int) doc.Value { return doc.Bool(r.IntN(2) == 0) },
		func(r *rand.Rand, _ int) doc.Value { return doc.Date(int64(r.IntN(5)-2) << r.IntN(62)) },
		func(r *rand.Rand, _ int) doc.Value { return doc.Timestamp(r.Uint32()>>r.IntN(32), uint32(r.IntN(3))) },
		func(r *rand.Rand, _ int) doc.Value {
			text := strings.ReplaceAll(someText(r), "\x00", "")
			return doc.Value{Type: bsoncore.TypeRegex, Data: bsoncore.AppendRegex(nil, text, "i"[:r.IntN(2)])}
		},
		func(r *rand.Rand, _ int) doc.Value {
			return doc.Value{Type: bsoncore.TypeDBPointer,
				Data: bsoncore.AppendDBPointer(nil, someText(r), [12]byte{byte(r.IntN(3))})}
		},
		func(r *rand.Rand, _ int) doc.Value {
			return doc.Value{Type: bsoncore.TypeJavaScript, Data: bsoncore.AppendJavaScript(nil, someText(r))}
		},
		func(*rand.Rand, int) doc.Value { return doc.Value{Type: bsoncore.TypeMaxKey} },
		func(r *rand.Rand, depth int) doc.Value {
			return doc.Value{Type: bsoncore.TypeCodeWithScope,
				Data: bsoncore.AppendCodeWithScope(nil, someText(r), someObject(r, depth).Data)}
		},
		someObject, someObject, someArray, someArray,
	}
}

func someText(r *rand.Rand) string {
	texts := []string{"", "\x00", "a", "a\x00", "a\x00\xFF", "a\x00b", "a\x01", "ab", "b", "\xFF", "é"}
	return texts[r.IntN(len(texts))]
}

func someNumber(r *rand.Rand) doc.Value {
	switch r.IntN(9) {
	case 0:
		return doc.Int32(int32(r.IntN(7) - 3))
	case 1:
		return doc.Int(int64(r.Uint64()) >> r.IntN(64))
	case 2:
		return doc.Int([]int64{1 << 53, -1 << 53, 1 << 62, math.MinInt64 + 8, math.MaxInt64 - 8}[r.IntN(5)] +
			int64(r.IntN(9)-4))
	case 3:
		return doc.Double(math.Ldexp(float64(r.IntN(200)-100), r.IntN(100)-30))
	case 4:
		return doc.Double(math.Float64frombits(r.Uint64()))
	case 5:
		return doc.Decimal{Negative: r.IntN(2) == 0, Lo: uint64(r.IntN(1000)), Exponent: r.IntN(8) - 4}.Value()
	case 6: // near a double, of which it has 34 digits
		x := new(big.Float).SetPrec(300).SetFloat64(math.Ldexp(r.Float64()-0.5, r.IntN(140)-60))
		c, _ := x.Mul(x, big.NewFloat(1e22)).Int(nil)
		return doc.NewDecimal(c, -22).Value()
	case 7: // integers with a little more, near the ends of int64 too
		c := big.NewInt([]int64{1 << 53, -1 << 53, math.MinInt64, math.MaxInt64}[r.IntN(4)] - 2)
		c.Add(c.Mul(c, big.NewInt(10)), big.NewInt(int64(r.IntN(45))))
		return doc.NewDecimal(c, -1).Value()
	}
	return doc.Decimal{Hi: r.Uint64() >> (15 + r.IntN(45)), Lo: r.Uint64(), Exponent: r.IntN(12287) - 6176,
		Negative: r.IntN(2) == 0}.Value()
}

func someBSON(r *rand.Rand, depth int) doc.Value {
	n := len(bsonMakers)
	if depth == 0 {
		n -= 5
	}
	return bsonMakers[r.IntN(n)](r, depth)
}

func someObject(r *rand.Rand, depth int) doc.Value {
	var elements [][]byte
	for range r.IntN(4) {
		elements = append(elements,
			doc.AppendElement(nil, []string{"", "a", "ab", "b"}[r.IntN(4)], someBSON(r, max(0, depth-1))))
	}
	return object(elements...)
}

func someArray(r *rand.Rand, depth int) doc.Value {
	var values []doc.Value
	for range r.IntN(4) {
		values = append(values, someBSON(r, max(0, depth-1)))
	}
	return array(values...)
}

// checkBSON holds the forms of two values against their order.
func checkBSON(t *testing.T, a, b doc.Value) {
	t.Helper()
	want := doc.CompareBSON(a, b)
	x, y := AppendBSON(nil, a, false), AppendBSON(nil, b, false)
	if got := bytes.Compare(x, y); got != want {
		t.Fatalf("%v, %v: %d, want %d\n%x\n%x", a, b, got, want, x, y)
	}
	if want != 0 && (bytes.HasPrefix(x, y) || bytes.HasPrefix(y, x)) {
		t.Fatalf("%v, %v: one is a prefix\n%x\n%x", a, b, x, y)
	}
	if got := bytes.Compare(AppendBSON(nil, a, true), AppendBSON(nil, b, true)); got != -want {
		t.Fatalf("%v, %v descending: %d, want %d", a, b, got, -want)
	}
	if x[0] == hashedValues {
		t.Fatalf("%v begins with the mark of hashed values", a)
	}
	checkBSONBytes(t, a)
}

// checkBSONBytes measures the forms of a value that entries have, with something behind them.
func checkBSONBytes(t *testing.T, v doc.Value) {
	t.Helper()
	for _, descending := range []bool{false, true} {
		form, _ := AppendBSONClipped(nil, v, descending)
		for _, behind := range []string{"", "\x00\x00\x00\x00\x00\x00\x00\x01", "\xFF\x00\x01\xFE\xFF\xFE\x01"} {
			if n, err := BSONBytes(append(form, behind...), descending); n != len(form) || err != nil {
				t.Fatalf("%.40v, descending %t: %d bytes, %v, want %d\n%x", v, descending, n, err, len(form), form)
			}
		}
		if len(form) < MaxIndexedBytes {
			if n, err := BSONBytes(form[:len(form)-1], descending); err == nil {
				t.Fatalf("%.40v without its last byte: %d bytes\n%x", v, n, form)
			}
		}
	}
}

func TestBSONFormsKeepTheOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values := []doc.Value{undefined}
		for range 20 {
			values = append(values, someBSON(r, 3))
		}
		for _, a := range values {
			for _, b := range values {
				checkBSON(t, a, b)
			}
		}
	}
}

func TestBSONExamplesAreInOrder(t *testing.T) {
	examples := bsonExamples()
	for i, x := range examples[1:] {
		if bytes.Compare(AppendBSON(nil, examples[i].value, false), AppendBSON(nil, x.value, false)) >= 0 {
			t.Errorf("%s is not below %s", examples[i].name, x.name)
		}
		checkBSON(t, examples[i].value, x.value)
	}
}

func TestBSONFormsOfNumbersKeepTheOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 30000 {
		checkBSON(t, someNumber(r), someNumber(r))
	}
}

// Decimals around a double have to fall on the right side of it.
func TestBSONFormsAroundDoubles(t *testing.T) {
	for _, f := range []float64{0, math.SmallestNonzeroFloat64, 1e-300, 0.1, 1, 1 << 53, 1e17, 1 << 62, two63, two64,
		1e22, 1e23, 1e300, math.MaxFloat64} {
		for _, f := range []float64{f, -f, math.Nextafter(f, 0), math.Nextafter(f, math.Inf(1))} {
			d, ok := doc.ParseDecimal(big.NewFloat(f).Text('g', 34))
			if !ok {
				t.Fatal(f)
			}
			for step := -2; step <= 2; step++ {
				c := d.Coefficient()
				near := doc.NewDecimal(c.Add(c, big.NewInt(int64(step))), d.Exponent).Value()
				checkBSON(t, near, doc.Double(f))
				checkBSON(t, near, d.Value())
				checkBSON(t, near, doc.Double(math.Nextafter(f, math.Inf(-1))))
			}
		}
	}
}

func TestBSONFormsAreShort(t *testing.T) {
	for _, c := range []struct {
		name  string
		value doc.Value
		most  int
	}{
		{"int32", doc.Int32(5), 10}, {"int64", doc.Int(1700000000), 10}, {"long int64", doc.Int(math.MaxInt64), 12},
		{"double", doc.Double(0.1), 10}, {"decimal", doc.NewDecimal(big.NewInt(1999), -2).Value(), 28},
		{"ObjectId", doc.ObjectID([12]byte{}), 13}, {"date", doc.Date(0), 9}, {"text", str("abc"), 6}, {"true", yes, 2},
		{"null", null, 1},
	} {
		if got := len(AppendBSON(nil, c.value, false)); got > c.most {
			t.Errorf("%s takes %d bytes, more than %d", c.name, got, c.most)
		}
	}
}

// longValues differ before, at and after the place where entries are cut.
func longValues() (values []doc.Value) {
	for _, n := range []int{0, 10, 880, 890, 897, 898, 1010, 1015, 1020, 1021, 1022, 1023, 1024, 1030, 5000} {
		s := strings.Repeat("x", n)
		for _, s := range []string{s, s + "\x00", s + "a", s + "b", strings.Repeat("\x00", n/2),
			strings.Repeat("\xFF", n)} {
			values = append(values, str(s), array(str(s)), array(str(s), doc.Int(1)), array(str(s), doc.Int(2)),
				object(bsoncore.AppendStringElement(nil, "a", s), bsoncore.AppendInt32Element(nil, "b", int32(n))),
				object(bsoncore.AppendNullElement(nil, "\x01"+strings.ReplaceAll(s, "\x00", "\x01"))),
				doc.Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, 0, []byte(s))})
		}
	}
	return values
}

func TestClippedForms(t *testing.T) {
	values := longValues()
	for _, a := range values {
		checkBSONBytes(t, a)
		whole := AppendBSON(nil, a, false)
		x, clipped := AppendBSONClipped([]byte("room"), a, false)
		x = x[4:]
		if clipped != (len(whole) > MaxIndexedBytes) || !bytes.Equal(x, whole[:min(len(whole), MaxIndexedBytes)]) {
			t.Fatalf("%.40v of %d bytes: clipped %t to %d bytes", a, len(whole), clipped, len(x))
		}
		down, _ := AppendBSONClipped(nil, a, true)
		for _, b := range values {
			y, _ := AppendBSONClipped(nil, b, false)
			up, _ := AppendBSONClipped(nil, b, true)
			want, got := doc.CompareBSON(a, b), bytes.Compare(x, y)
			if got != want && (got != 0 || !clipped) || bytes.Compare(down, up) != -got {
				t.Fatalf("%.40v, %.40v: %d, want %d", a, b, got, want)
			}
			if got != 0 && bytes.HasPrefix(x, y) {
				t.Fatalf("%.40v, %.40v: one is a prefix", a, b)
			}
		}
	}
}

func TestAppendID(t *testing.T) {
	values := longValues()
	for _, a := range values {
		x := AppendID([]byte("room"), a)[4:]
		whole := AppendBSON(nil, a, false)
		if len(whole) <= MaxIDBytes && !bytes.Equal(x, whole) || len(x) > MaxIDBytes+33 {
			t.Fatalf("%.40v takes %d bytes", a, len(x))
		}
		for _, b := range values {
			y := AppendID(nil, b)
			want := doc.CompareBSON(a, b)
			if bytes.Equal(x, y) != (want == 0) {
				t.Fatalf("%.40v, %.40v: the same key %t", a, b, want != 0)
			}
			if n := MaxIDBytes; !bytes.Equal(x[:min(len(x), n)], y[:min(len(y), n)]) && bytes.Compare(x, y) != want {
				t.Fatalf("%.40v, %.40v: order", a, b)
			}
			if want != 0 && bytes.HasPrefix(x, y) {
				t.Fatalf("%.40v, %.40v: one is a prefix", a, b)
			}
		}
	}
}

func TestBSONFormsOfDeepValues(t *testing.T) {
	deep := func(v doc.Value) doc.Value {
		for range 3000 {
			v = array(v)
		}
		return v
	}
	checkBSON(t, deep(doc.Int(1)), deep(doc.Int(2)))
	checkBSON(t, deep(doc.Int(1)), deep(object()))
}

func FuzzBSONForms(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		a, b := someBSON(r, 2), someBSON(r, 2)
		f.Add(byte(a.Type), a.Data, byte(b.Type), b.Data)
	}
	f.Add(byte(bsoncore.TypeDecimal128), []byte{1}, byte(bsoncore.TypeInt32), []byte{1})
	f.Fuzz(func(t *testing.T, kind byte, a []byte, other byte, b []byte) {
		checkBSON(t, doc.Value{Type: bsoncore.Type(kind), Data: a}, doc.Value{Type: bsoncore.Type(other), Data: b})
	})
}

type bsonExample struct {
	name  string
	value doc.Value
}

// bsonExamples is one value of each tag and each form of numbers, in their order.
func bsonExamples() []bsonExample {
	of := func(kind bsoncore.Type, data []byte) doc.Value { return doc.Value{Type: kind, Data: data} }
	decimal := func(text string) doc.Value {
		d, _ := doc.ParseDecimal(text)
		return d.Value()
	}
	a := bsoncore.AppendInt32Element(nil, "a", 1)
	return []bsonExample{
		{"MinKey", of(bsoncore.TypeMinKey, nil)},
		{"undefined", undefined},
		{"null", null},
		{"NaN", doc.Double(math.NaN())},
		{"-1.1 decimal", decimal("-1.1")},
		{"1", doc.Int32(1)},
		{"19.99 decimal", decimal("19.99")},
		{"9007199254740993", doc.Int(1<<53 + 1)},
		{"9007199254740993.5 decimal", decimal("9007199254740993.5")},
		{"string", str("x")},
		{"{a: 1}", object(a)},
		{"[1]", array(doc.Int32(1))},
		{"binary", of(bsoncore.TypeBinary, bsoncore.AppendBinary(nil, 4, []byte("x")))},
		{"ObjectId", doc.ObjectID([12]byte{1, 11: 2})},
		{"false", no},
		{"true", yes},
		{"date", doc.Date(1700000000000)},
		{"timestamp", doc.Timestamp(1, 2)},
		{"regular expression", of(bsoncore.TypeRegex, bsoncore.AppendRegex(nil, "x", "i"))},
		{"DBPointer", of(bsoncore.TypeDBPointer, bsoncore.AppendDBPointer(nil, "x", [12]byte{}))},
		{"code", of(bsoncore.TypeJavaScript, bsoncore.AppendJavaScript(nil, "x"))},
		{"code with scope", of(bsoncore.TypeCodeWithScope, bsoncore.AppendCodeWithScope(nil, "x", object(a).Data))},
		{"MaxKey", of(bsoncore.TypeMaxKey, nil)},
	}
}

func BenchmarkAppendBSON(b *testing.B) {
	for _, c := range []struct {
		name  string
		value doc.Value
	}{
		{"int", doc.Int32(5)}, {"long", doc.Int(math.MaxInt64)},
		{"decimal", doc.NewDecimal(big.NewInt(1999), -2).Value()},
		{"ObjectId", doc.ObjectID([12]byte{1})}, {"string", str("a string of usual length")},
		{"object", object(bsoncore.AppendInt32Element(nil, "a", 1), bsoncore.AppendStringElement(nil, "b", "text"))},
		{"long string, clipped", str(strings.Repeat("x", 1<<20))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buffer, _ = AppendBSONClipped(buffer[:0], c.value, false)
			}
		})
	}
}
