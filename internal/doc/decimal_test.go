package doc

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

func TestDecimalText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0", "0"}, {"-0", "-0"}, {"0.00", "0.00"}, {"0E+3", "0E+3"}, {"0e99999", "0E+6111"}, {"0e-99999", "0E-6176"},
		{"1", "1"}, {"+1.50", "1.50"}, {"-.5", "-0.5"}, {"5.", "5"}, {"0.000001", "0.000001"}, {"0.0000001", "1E-7"},
		{"12E-7", "0.0000012"}, {"12E-8", "1.2E-7"}, {"1E3", "1E+3"}, {"123e2", "1.23E+4"},
		{"Infinity", "Infinity"}, {"-inf", "-Infinity"}, {"NaN", "NaN"}, {"-nan", "NaN"},
		{"1234567890123456789012345678901234", "1234567890123456789012345678901234"},
		{"12345678901234567890123456789012344", "1.234567890123456789012345678901234E+34"},
		{"12345678901234567890123456789012345", "1.234567890123456789012345678901234E+34"},
		{"12345678901234567890123456789012355", "1.234567890123456789012345678901236E+34"},
		{"12345678901234567890123456789012345" + strings.Repeat("0", 50) + "1",
			"1.234567890123456789012345678901235E+85"},
		{"9999999999999999999999999999999999.9", "1.000000000000000000000000000000000E+34"},
		{"9.9999999999999999999999999999999999E6144", "Infinity"}, {"1E6145", "Infinity"},
		{"-1e99999999999999999999", "-Infinity"},
		{"1E6144", "1.000000000000000000000000000000000E+6144"}, {"1E6112", "1.0E+6112"},
		{"1E-6176", "1E-6176"}, {"5E-6177", "0E-6176"}, {"6E-6177", "1E-6176"}, {"15E-6177", "2E-6176"},
		{"1E-99999999", "0E-6176"},
		{"0." + strings.Repeat("0", 100) + "25", "2.5E-101"}, {strings.Repeat("0", 100) + "1", "1"},
	} {
		d, ok := ParseDecimal(c.text)
		if !ok || d.String() != c.want {
			t.Errorf("%q: %s, %t, want %s", c.text, d, ok, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", "e1", "1e", "1e+", "1.2.3", "1 ", " 1", "0x1", "infinityx", "nan1",
		"1e1.5", "١"} {
		if d, ok := ParseDecimal(text); ok {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestDecimalAsTheDriverReadsIt(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		hi, lo := r.Uint64(), r.Uint64()>>r.IntN(64)
		if r.IntN(2) == 0 {
			hi = hi>>63<<63 | uint64(6176+r.IntN(60)-45)<<49 | r.Uint64()>>(15+r.IntN(49))
		}
		theirs := bson.NewDecimal128(hi, lo)
		v := Value{Type: bsoncore.TypeDecimal128, Data: appendDecimalBits(lo, hi)}
		d, _ := AsDecimal(v)
		if d.Hi|d.Lo != 0 && d.String() != theirs.String() {
			t.Fatalf("%x %x: %s, want %s", hi, lo, d, theirs)
		}
		back, ok := ParseDecimal(d.String())
		if !ok || back != d {
			t.Fatalf("%s became %s", d, back)
		}
		if again, _ := AsDecimal(d.Value()); again != d {
			t.Fatalf("%s became %s", d, again)
		}
	}
}

func appendDecimalBits(lo, hi uint64) []byte {
	var b []byte
	for _, x := range []uint64{lo, hi} {
		for range 8 {
			b, x = append(b, byte(x)), x>>8
		}
	}
	return b
}

func TestDecimalInt64(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0E-10", 0, true}, {"-0", 0, true}, {"20", 20, true}, {"2E1", 20, true}, {"2.00", 2, true}, {"2.5", 0, false},
		{"9223372036854775807", math.MaxInt64, true}, {"9223372036854775808", 0, false},
		{"-9223372036854775808.0", math.MinInt64, true}, {"-9223372036854775809", 0, false},
		{"1E18", 1e18, true}, {"1E19", 0, false}, {"1E6000", 0, false}, {"NaN", 0, false}, {"Infinity", 0, false},
	} {
		v := decimalValue(t, c.text)
		if got, ok := AsInt64Exact(v); got != c.want && c.ok || ok != c.ok {
			t.Errorf("%s: %d, %t", c.text, got, ok)
		}
	}
	if got, ok := AsInt64Exact(Double(20)); got != 20 || !ok {
		t.Errorf("20.0: %d, %t", got, ok)
	}
	if _, ok := AsInt64Exact(String("20")); ok {
		t.Error("a string is a number")
	}
}

func TestNewDecimalKeepsExponents(t *testing.T) {
	for _, c := range []struct {
		coefficient int64
		exponent    int
		want        string
	}{{150, -2, "1.50"}, {-1, 3, "-1E+3"}, {0, -5, "0.00000"}, {0, 7000, "0E+6111"}} {
		if got := NewDecimal(big.NewInt(c.coefficient), c.exponent).String(); got != c.want {
			t.Errorf("%d, %d: %s, want %s", c.coefficient, c.exponent, got, c.want)
		}
	}
	if f := NewDecimal(big.NewInt(1), -1).Float64(); f != 0.1 {
		t.Errorf("0.1 is %v", f)
	}
	if got := DecimalOf(math.MinInt64).String(); got != "-9223372036854775808" {
		t.Error(got)
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{"1.50", "-1E+400", "0e99999", ".5", "Infinity",
		"9999999999999999999999999999999999.9", "1e-6177"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := ParseDecimal(text)
		if !ok {
			return
		}
		back, ok := ParseDecimal(d.String())
		if !ok || back != d {
			t.Errorf("%q is %s, then %s", text, d, back)
		}
		if again, _ := AsDecimal(d.Value()); again != d {
			t.Errorf("%q: %+v packed is %+v", text, d, again)
		}
	})
}
