package exec

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/doc"
)

func keyValues(t testing.TB) (values []doc.Value) {
	long := strings.Repeat("é", 200)
	for _, text := range []string{
		``, `null`, `false`, `true`, `0`, `-0.0`, `1`, `1.0`, `-1`, `0.5`, `-0.5`, `1e300`, `-1e300`, `5e-324`,
		`9007199254740992`, `9007199254740993`, `9007199254740994`, `-9007199254740993`, `9007199254740993.0`,
		`9223372036854775807`, `9223372036854775806`, `9223372036854775808`, `9223372036854775809`,
		`-9223372036854775808`, `-9223372036854775807`,
		`18446744073709551615`, `18446744073709551614`, `18446744073709551616`, `1152921504606846977`,
		`1152921504606846975`,
		`""`, `"a"`, `"a\u0000"`, `"a\u0000b"`, `"a\u0001"`, `"aa"`, `"\u00ff"`, `"\uffff"`, `"` + long + `"`,
		`"` + long + `a"`, `"` + long + `b"`,
		`[]`, `[1]`, `[1,2]`, `[1.0,2]`, `[[]]`, `["a"]`, `[null]`, `[true]`,
		`{}`, `{"a":1}`, `{"a":2}`, `{"b":1}`, `{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"a":{}}`, `{"":null}`, `{"aa":0}`,
	} {
		values = append(values, mustValue(t, text))
	}
	return append(values, doc.Float(math.NaN()), doc.Float(math.Inf(1)), doc.Float(math.Inf(-1)))
}

func TestKeysOrderAsValues(t *testing.T) {
	values := keyValues(t)
	for _, a := range values {
		for _, b := range values {
			if got, want := bytes.Compare(appendKey(nil, a), appendKey(nil, b)), doc.Compare(a, b); got != want {
				t.Errorf("keys of %v and %v: %d, not %d", a, b, got, want)
			}
			if x, y := appendKey(nil, a), appendKey(nil, b); bytes.HasPrefix(x, y) && !bytes.Equal(x, y) {
				t.Errorf("the key of %v begins with that of %v", a, b)
			}
			for _, descending := range []bool{false, true} {
				want := access.Compare(a, b)
				if descending {
					want = -want
				}
				if got := bytes.Compare(appendSortKey(nil, a, descending), appendSortKey(nil, b,
					descending)); got != want {
					t.Errorf("sort keys of %v and %v, descending %v: %d, not %d", a, b, descending, got, want)
				}
			}
		}
	}
}

func FuzzNumberKeys(f *testing.F) {
	f.Add(int64(1<<53+1), math.Float64bits(1<<53))
	f.Add(int64(math.MaxInt64), math.Float64bits(1<<63))
	f.Fuzz(func(t *testing.T, i int64, bits uint64) {
		a, b := doc.Int(i), doc.Float(math.Float64frombits(bits))
		if got, want := bytes.Compare(appendKey(nil, a), appendKey(nil, b)), doc.Compare(a, b); got != want {
			t.Errorf("%d and %v: %d, not %d", i, math.Float64frombits(bits), got, want)
		}
		c := doc.Int(int64(bits))
		if got, want := bytes.Compare(appendKey(nil, a), appendKey(nil, c)), cmp.Compare(i, int64(bits)); got != want {
			t.Errorf("%d and %d: %d, not %d", i, int64(bits), got, want)
		}
	})
}

// TestSumIsExact checks that a sum equals the exact result after rounding, in any order.
func TestSumIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var values []doc.Value
		exact := new(big.Float).SetPrec(2400)
		for range 1 + r.IntN(30) {
			var v doc.Value
			switch r.IntN(4) {
			case 0:
				v = doc.Int(r.Int64() >> r.IntN(63))
			case 1:
				v = doc.Float(math.Ldexp(r.Float64()-0.5, r.IntN(200)-100))
			case 2:
				v = doc.Float(float64(r.IntN(100)) / 10)
			default:
				v = doc.Float(-float64(r.IntN(1 << 30)))
			}
			f, _ := doc.AsFloat(v)
			exact.Add(exact, new(big.Float).SetPrec(2400).SetFloat64(f))
			values = append(values, v)
		}
		want, _ := exact.Float64()
		for range 3 {
			r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
			var s exactSum
			for _, v := range values {
				s.add(v)
			}
			if got := s.result(); got != want {
				t.Fatalf("sum of %v: %v, not %v", values, got, want)
			}
		}
	}
}

func TestLike(t *testing.T) {
	cases := []struct {
		text, pattern string
		escape        rune
		want          bool
	}{
		{"abc", "abc", 0, true},
		{"abc", "ABC", 0, false},
		{"abc", "", 0, false},
		{"", "", 0, true},
		{"", "%", 0, true},
		{"abc", "a%", 0, true},
		{"abc", "%c", 0, true},
		{"abc", "%b%", 0, true},
		{"abc", "a%c%", 0, true},
		{"aa", "a%a%a", 0, false},
		{"ab", "ab%b", 0, false},
		{"a", "_", 0, true},
		{"é", "_", 0, true},
		{"😀", "_", 0, true},
		{"", "_", 0, false},
		{"xay", "%_a_%", 0, true},
		{"xa", "%_a_%", 0, false},
		{"cat", "[a-c]at", 0, true},
		{"dat", "[a-c]at", 0, false},
		{"dat", "[^a-c]at", 0, true},
		{"-", "[a-]", 0, true},
		{"[x", "[x", 0, true},
		{"5%", "5!%", '!', true},
		{"55", "5!%", '!', false},
		{"a_b", "a!_b", '!', true},
		{"a!", "a!", '!', true},
		{"mississippi", "m%iss%ip%i", 0, true},
		{"mississippi", "m%iss%ix%i", 0, false},
		{"x%y", "x[%]y", 0, true},
	}
	for _, c := range cases {
		if got := parsePattern(c.pattern, c.escape).match(&frame{meter: &function.Meter{}}, c.text); got != c.want {
			t.Errorf("%q LIKE %q: %v", c.text, c.pattern, got)
		}
	}
}

// TestLikeIsBounded checks that a pattern which matches almost everywhere ends the query.
func TestLikeIsBounded(t *testing.T) {
	text := strings.Repeat("a", 1<<20)
	pattern := parsePattern("%"+strings.Repeat("_", 4000)+"b%c", 0)
	f := &frame{meter: &function.Meter{}, steps: maxSteps - 1000}
	pattern.match(f, text+"c")
	if f.err != errWork {
		t.Errorf("got %v", f.err)
	}
}
