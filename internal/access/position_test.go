package access_test

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

func value(text string) doc.Value {
	v, err := doc.ValueFromJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

// values are in no order.
func values() []doc.Value {
	full := strings.Repeat("é", access.MaxSortBytes/2)
	list := []doc.Value{{}, doc.Float(2.5), doc.Int(-1), doc.Null(), doc.Bool(true), doc.Bool(false)}
	for _, s := range []string{"", "a", "a\x00", "a\x00b", "b", full, full[:len(full)-2], full + "a", full + "b",
		full + strings.Repeat("z", 9000), full[1:] + "a"} {
		list = append(list, doc.String(s))
	}
	for _, text := range []string{"0", "-0.0", "1", "1.0", "9007199254740992", "9007199254740993",
		"18446744073709551615", "-1e300", "1e300",
		"[]", "[1]", "[[]]", "{}", `{"a":1}`} {
		list = append(list, value(text))
	}
	return list
}

// TestCompare holds Compare against the order in which values are expected.
func TestCompare(t *testing.T) {
	full := strings.Repeat("x", access.MaxSortBytes)
	list := [][]doc.Value{
		{{}}, {doc.Null()}, {doc.Bool(false)}, {doc.Bool(true)}, {doc.Int(-1)}, {value("0"), value("-0.0")},
		{value("1"), value("1.0")}, {doc.String("")},
		{doc.String("w" + full)}, {doc.String(full[1:])}, {doc.String(full)},
		{doc.String(full + "a"), doc.String(full + "b"), doc.String(full + full)},
		{doc.String(full[1:] + "y")}, {value("[]"), value("[1]")}, {value("{}"), value(`{"a":1}`)},
	}
	for i, some := range list {
		for j, others := range list {
			for _, a := range some {
				for _, b := range others {
					if got := access.Compare(a, b); got != cmp.Compare(i, j) {
						t.Errorf("%.20s of place %d beside %.20s of %d: %d", doc.AppendJSONValue(nil, a), i,
							doc.AppendJSONValue(nil, b), j, got)
					}
				}
			}
		}
	}
}

func TestClip(t *testing.T) {
	for _, v := range values() {
		clipped := access.Clip(v)
		if c := access.Compare(access.Clip(clipped), clipped); c != 0 {
			t.Errorf("%.30s: clipped twice it is another", doc.AppendJSONValue(nil, v))
		}
		if len(clipped.Data) > access.MaxSortBytes+5 {
			t.Errorf("%.30s: %d bytes", doc.AppendJSONValue(nil, v), len(clipped.Data))
		}
		if c := doc.Compare(clipped, v); c > 0 {
			t.Errorf("%.30s: clipped it is greater", doc.AppendJSONValue(nil, v))
		}
	}
}

func TestValuePosition(t *testing.T) {
	for i, a := range values() {
		for j, b := range values() {
			number := uint64(i*1000 + j)
			p := access.ValuePosition([]byte("before"), []doc.Value{a, b}, number)[len("before"):]
			got, n, ok := p.Values()
			if !ok || n != number || len(got) != 2 {
				t.Fatalf("%x: %v, %d, %v", p, got, n, ok)
			}
			if access.Compare(got[0], a) != 0 || access.Compare(got[1], b) != 0 {
				t.Errorf("%.40s and %.40s became others", doc.AppendJSONValue(nil, a), doc.AppendJSONValue(nil, b))
			}
			again := access.ValuePosition(nil, got, n)
			if !bytes.Equal(again, p) {
				t.Errorf("%x became %x", p, again)
			}
			if _, ok := p.Number(); ok {
				t.Errorf("%x is a number", p)
			}
		}
	}
}

func TestNumberPosition(t *testing.T) {
	for _, n := range []uint64{0, 1, 255, 1 << 40, 1<<64 - 1} {
		p := access.NumberPosition(nil, n)
		if got, ok := p.Number(); !ok || got != n {
			t.Errorf("%d became %d, %v", n, got, ok)
		}
		if _, _, ok := p.Values(); ok {
			t.Errorf("%d is a value", n)
		}
		if order := bytes.Compare(p, access.NumberPosition(nil, 256)); order != cmp.Compare(n, 256) {
			t.Errorf("%d: order %d", n, order)
		}
	}
}

func TestPositionsOfAnotherShape(t *testing.T) {
	good := access.ValuePosition(nil, []doc.Value{doc.String("text"), doc.Int(1)}, 7)
	for n := range good {
		if _, _, ok := good[:n].Values(); ok {
			t.Errorf("the first %d bytes are a position", n)
		}
	}
	huge := append(access.Position{1, 0, 0, 0, 0, 0, 0, 0, 0, byte(bsoncore.TypeString)}, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
		0xFF, 0xFF, 0xFF, 0x01)
	for _, p := range []access.Position{nil, {}, append(bytes.Clone(good), 0), huge} {
		if _, _, ok := p.Values(); ok {
			t.Errorf("%x is a position", p)
		}
		if _, ok := p.Number(); ok {
			t.Errorf("%x is a number", p)
		}
	}
}

func FuzzPosition(f *testing.F) {
	f.Add([]byte(access.NumberPosition(nil, 7)))
	f.Add([]byte(access.ValuePosition(nil, []doc.Value{{}, doc.String("x"), doc.Int(1), value("[1]")}, 7)))
	f.Fuzz(func(t *testing.T, b []byte) {
		values, number, ok := access.Position(b).Values()
		if !ok {
			return
		}
		got, n, ok := access.ValuePosition(nil, values, number).Values()
		if !ok || n != number || len(got) != len(values) {
			t.Fatalf("%x became %v, %d, %v", b, got, n, ok)
		}
		for i := range got {
			if access.Compare(got[i], values[i]) != 0 {
				t.Errorf("%x: value %d became another", b, i)
			}
		}
	})
}
