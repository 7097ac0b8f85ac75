package keys

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// ascending is values in their order; those of one line are equal.
var ascending = [][]doc.Value{
	{undefined},
	{null},
	{no},
	{yes},
	{doc.Double(math.NaN()), doc.Double(math.Float64frombits(0xFFF8000000000001))},
	{doc.Double(math.Inf(-1))},
	{doc.Double(-math.MaxFloat64)},
	{doc.Double(-9223372036854777856)},
	{doc.Int(math.MinInt64), doc.Double(-9223372036854775808)},
	{doc.Int(math.MinInt64 + 1)},
	{doc.Int(-9007199254740993)},
	{doc.Int(-9007199254740992), doc.Double(-9007199254740992)},
	{doc.Int(-1), doc.Double(-1), {Type: bsoncore.TypeInt32, Data: []byte{255, 255, 255, 255}}},
	{doc.Double(-math.SmallestNonzeroFloat64)},
	{doc.Int(0), doc.Double(0), doc.Double(math.Copysign(0, -1)), unsigned(0)},
	{doc.Double(math.SmallestNonzeroFloat64)},
	{doc.Double(0.5)},
	{doc.Int(1), doc.Double(1), unsigned(1)},
	{doc.Double(1.5)},
	{doc.Int(9007199254740992), doc.Double(9007199254740992)},
	{doc.Int(9007199254740993)},
	{doc.Int(9007199254740994), doc.Double(9007199254740994)},
	{doc.Int(9223372036854774784), doc.Double(9223372036854774784)},
	{doc.Int(math.MaxInt64 - 1)},
	{doc.Int(math.MaxInt64), unsigned(math.MaxInt64)},
	{unsigned(1 << 63), doc.Double(9223372036854775808)},
	{unsigned(1<<63 + 1)},
	{unsigned(math.MaxUint64 - 2047), doc.Double(18446744073709549568)},
	{unsigned(math.MaxUint64)},
	{doc.Double(18446744073709551616)},
	{doc.Double(math.Inf(1))},
	{str("")},
	{str("\x00")},
	{str("\x00\x00")},
	{str("\x00\x01")},
	{str("\x01")},
	{str("a")},
	{str("a\x00")},
	{str("a\x00b")},
	{str("ab")},
	{str("é")},
	{str("\U0001F600")},
	{array(), array(null, str("x"))},
	{object(), object(bsoncore.AppendNullElement(nil, "a"))},
	{{Type: bsoncore.TypeObjectID, Data: []byte("abcdefghijkl")}},
}

func TestValueOrder(t *testing.T) {
	for _, descending := range []bool{false, true} {
		for i, line := range ascending {
			for j, other := range ascending {
				for _, a := range line {
					for _, b := range other {
						want := sign(i - j)
						if descending {
							want = -want
						}
						x, y := AppendValue(nil, a, descending), AppendValue(nil, b, descending)
						if got := bytes.Compare(x, y); got != want {
							t.Errorf("descending %t: %v %x, %v %x: compare %d, want %d", descending, a, x, b, y, got,
								want)
						}
					}
				}
			}
		}
	}
}

func TestValueRoundTrip(t *testing.T) {
	for _, descending := range []bool{false, true} {
		for _, line := range ascending {
			want := line[0]
			b := append(AppendValue([]byte("before"), want, descending), "after"...)
			got, truncated, rest, err := decodeValue(b[len("before"):], descending)
			if err != nil || string(rest) != "after" || compare(got, want) != 0 {
				t.Errorf("descending %t: %v became %v, rest %q, error %v", descending, want, got, rest, err)
			}
			if tree := rank(want) > rankString; truncated != tree {
				t.Errorf("descending %t: %v: truncated %t", descending, want, truncated)
			}
		}
	}
}

func TestNumberComesBackInCanonicalType(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want doc.Value
	}{
		{"double that is an integer", doc.Double(7), doc.Int(7)},
		{"negative zero", doc.Double(math.Copysign(0, -1)), doc.Int(0)},
		{"fraction", doc.Double(7.5), doc.Double(7.5)},
		{"small unsigned", unsigned(7), doc.Int(7)},
		{"2^63 as double", doc.Double(1 << 63), unsigned(1 << 63)},
		{"largest unsigned", unsigned(math.MaxUint64), unsigned(math.MaxUint64)},
		{"2^64", doc.Double(1 << 64), doc.Double(1 << 64)},
		{"int32", doc.Value{Type: bsoncore.TypeInt32, Data: []byte{1, 0, 0, 0}}, doc.Int(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, _, err := decodeValue(AppendValue(nil, c.in, false), false)
			if err != nil || !got.Equal(c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestLongStrings(t *testing.T) {
	whole := str(strings.Repeat("x", MaxStringBytes))
	long := str(strings.Repeat("x", MaxStringBytes) + "y")
	longer := str(strings.Repeat("x", MaxStringBytes) + "z")

	_, truncated, _, err := decodeValue(AppendValue(nil, whole, false), false)
	if truncated || err != nil {
		t.Errorf("a string of %d bytes: truncated %t, error %v", MaxStringBytes, truncated, err)
	}
	got, truncated, _, err := decodeValue(AppendValue(nil, long, false), false)
	if !truncated || err != nil || !got.Equal(whole) {
		t.Errorf("one byte more: truncated %t, error %v, value %v", truncated, err, got)
	}
	if !bytes.Equal(AppendValue(nil, long, false), AppendValue(nil, longer, false)) {
		t.Error("strings that differ after the limit have different index entries")
	}
	if bytes.Compare(AppendValue(nil, whole, false), AppendValue(nil, long, false)) >= 0 {
		t.Error("a truncated string is not after its beginning")
	}
	if got, rest, err := decodeExact(AppendExact(nil, long)); err != nil || len(rest) > 0 || !got.Equal(long) {
		t.Errorf("exact: %v, %v", got, err)
	}
}

func TestExactTellsTreesApart(t *testing.T) {
	values := []doc.Value{array(), array(null), array(str("\x00")), object(),
		object(bsoncore.AppendNullElement(nil, "a"))}
	for i, a := range values {
		for j, b := range values {
			if same := bytes.Equal(AppendExact(nil, a), AppendExact(nil, b)); same != (i == j) {
				t.Errorf("%v and %v: same %t", a, b, same)
			}
		}
		got, rest, err := decodeExact(append(AppendExact(nil, a), 9))
		if err != nil || len(rest) != 1 || !got.Equal(a) {
			t.Errorf("%v became %v, rest %x, error %v", a, got, rest, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
	}{
		{"nothing", nil},
		{"unknown tag", []byte{0x30}},
		{"short number", []byte{tagNumber, 1, 2, 3}},
		{"negative zero", []byte{tagNumber, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x80, 0}},
		{"other NaN", []byte{tagNumber, 0xFF, 0xF8, 0, 0, 0, 0, 0, 1, 0x80, 0}},
		{"excess of a small number", append(AppendExact(nil, doc.Int(1))[:9], 0x80, 1)},
		{"excess too large", append(AppendExact(nil, unsigned(1<<63))[:9], 0xFF, 0xFF)},
		{"excess of infinity", append(AppendExact(nil, doc.Double(math.Inf(1)))[:9], 0x80, 1)},
		{"excess of NaN", append(AppendExact(nil, doc.Double(math.NaN()))[:9], 0x80, 1)},
		{"string without end", []byte{tagString, 'a'}},
		{"string cut in its end", []byte{tagString, 'a', 0}},
		{"string with the end of a path", []byte{tagString, 'a', 0, endPath}},
		{"string with an unknown end", []byte{tagString, 'a', 0, 7}},
		{"other without type", []byte{tagOther}},
		{"null as other", []byte{tagOther, byte(bsoncore.TypeNull), 0, endWhole}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v, _, _, err := decodeValue(c.b, false); !errors.Is(err, ErrCorrupt) {
				t.Errorf("got %v, %v", v, err)
			}
			if v, _, err := decodeExact(c.b); !errors.Is(err, ErrCorrupt) {
				t.Errorf("exact: got %v, %v", v, err)
			}
		})
	}
	if _, _, err := decodeExact([]byte{tagString, 'a', 0, endTruncated}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("truncated string as exact: %v", err)
	}
}

func TestMalformedValuesDoNotPanic(t *testing.T) {
	for kind := range 256 {
		for _, data := range [][]byte{nil, {1}, {255, 255, 255, 255, 255, 255}} {
			v := doc.Value{Type: bsoncore.Type(kind), Data: data}
			AppendValue(nil, v, true)
			AppendPartition(nil, HashV1, false, []doc.Value{v})
			if _, err := skipExact(AppendExact(nil, v)); err != nil {
				t.Errorf("type %d, data %x: %v", kind, data, err)
			}
		}
	}
}

func FuzzScalarOrder(f *testing.F) {
	f.Add(uint8(5), uint64(1<<53), 0.0, "", uint8(7), uint64(0), float64(1<<53), "")
	f.Add(uint8(6), uint64(math.MaxUint64), 0.0, "", uint8(8), uint64(math.MaxUint64), 0.0, "")
	f.Add(uint8(5), uint64(1<<63), 0.0, "", uint8(5), uint64(1<<63+1), 0.0, "")
	f.Add(uint8(10), uint64(0), 0.0, "a", uint8(10), uint64(0), 0.0, "a\x00\xFF")
	f.Add(uint8(7), uint64(0), math.NaN(), "", uint8(7), uint64(0), math.Inf(-1), "")
	f.Add(uint8(11), uint64(0), 1.0, "x", uint8(11), uint64(1), 1.0, "x")
	f.Fuzz(func(t *testing.T, k1 uint8, n1 uint64, f1 float64, s1 string, k2 uint8, n2 uint64, f2 float64, s2 string) {
		s1, s2 = s1[:min(len(s1), MaxStringBytes)], s2[:min(len(s2), MaxStringBytes)]
		a, b := made(k1, n1, f1, s1), made(k2, n2, f2, s2)
		want := sign(compare(a, b))
		if got := bytes.Compare(AppendValue(nil, a, false), AppendValue(nil, b, false)); got != want {
			t.Errorf("%v, %v: order %d, want %d", a, b, got, want)
		}
		if got := bytes.Compare(AppendValue(nil, a, true), AppendValue(nil, b, true)); got != -want {
			t.Errorf("%v, %v descending: order %d, want %d", a, b, got, -want)
		}
		for _, descending := range []bool{false, true} {
			e := AppendValue(nil, a, descending)
			v, _, rest, err := decodeValue(append(e, AppendValue(nil, b, descending)...), descending)
			if err != nil || compare(v, a) != 0 || !bytes.Equal(rest, AppendValue(nil, b, descending)) {
				t.Errorf("%v came back as %v, rest %x, error %v", a, v, rest, err)
			}
		}
		v, rest, err := decodeExact(AppendExact(nil, a))
		if err != nil || len(rest) > 0 || !bytes.Equal(AppendExact(nil, v), AppendExact(nil, a)) {
			t.Errorf("%v came back from its exact form as %v, error %v", a, v, err)
		}
		skipped, err := skipExact(AppendExact(AppendExact(nil, a), b))
		if err != nil || !bytes.Equal(skipped, AppendExact(nil, b)) {
			t.Errorf("%v: skipped to %x, error %v", a, skipped, err)
		}
	})
}

// FuzzDecode feeds decoders anything. What they take has one form only.
func FuzzDecode(f *testing.F) {
	for _, line := range ascending {
		f.Add(AppendValue(nil, line[0], false))
		f.Add(AppendValue(nil, line[0], true))
		f.Add(AppendPartition(nil, HashV2, true, line[:1]))
		f.Add(AppendPartition(nil, HashV1, false, line[:1]))
		f.Add(entry(Range{1, 2}, 3, appendPath(nil, []string{"a", eachElement}), line[0], 4))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, descending := range []bool{false, true} {
			v, truncated, rest, err := decodeValue(b, descending)
			if err != nil || truncated || len(v.Data) > MaxStringBytes {
				continue
			}
			if !bytes.Equal(AppendValue(nil, v, descending), b[:len(b)-len(rest)]) {
				t.Errorf("%x is read as %v, which is %x", b, v, AppendValue(nil, v, descending))
			}
		}
		if v, rest, err := decodeExact(b); err == nil {
			skipped, err := skipExact(b)
			if err != nil || !bytes.Equal(skipped, rest) {
				t.Errorf("%x: skipped to %x, %v", b, skipped, err)
			}
			if !bytes.Equal(AppendExact(nil, v), b[:len(b)-len(rest)]) {
				t.Errorf("%x is read as %v, which is %x", b, v, AppendExact(nil, v))
			}
		}
		for n := range 4 {
			for version := range 3 {
				values, epk, _, err := decodePartition(b, version, n > 1, n)
				if err == nil && (len(values) != n || n > 0 && len(epk) == 0) {
					t.Errorf("%x: %d values, epk %x", b, len(values), epk)
				}
			}
		}
		decodeEntry(b)
		decodePath(b)
		DecodeHeader(b)
		DecodeFeed(b)
		DecodeDeadline(b)
		DecodeCounter(b)
		Number(b)
		Deadline(b)
	})
}
