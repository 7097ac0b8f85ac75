package doc

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// wholeDecimal is the high half of a Decimal128 whose low half is an integer:
// positive, with exponent 0. JSON integers from 2^63 below 2^64 are stored in this
// form.
const wholeDecimal = 0x3040000000000000

const (
	two63 = 1 << 63
	two64 = 1 << 64
)

// AsInt returns a number that JSON can write as an int64, if it is an integer in
// that range; 20.0 is 20.
func AsInt(v Value) (int64, bool) {
	n, ok := readNumber(v)
	if !ok {
		return 0, false
	}
	switch n.class {
	case classInt:
		return n.i, true
	case classFloat:
		if n.f != math.Trunc(n.f) || n.f < -two63 || n.f >= two63 {
			return 0, false
		}
		return int64(n.f), true
	}
	return 0, false
}

// AsFloat returns a number that JSON can write, rounded to the nearest double.
func AsFloat(v Value) (float64, bool) {
	n, ok := readNumber(v)
	return n.float(), ok
}

// IsNumber reports whether v is a number that JSON can write. Of Decimal128, these
// are only the integers that wholeDecimal describes: others come from MongoDB clients.
func IsNumber(v Value) bool {
	_, ok := readNumber(v)
	return ok
}

type class uint8

const (
	classInt  class = iota
	classUint       // an integer above the range of int64
	classFloat
)

// A number is an unpacked value for arithmetic and comparison.
type number struct {
	class class
	i     int64
	u     uint64
	f     float64
}

func readNumber(v Value) (number, bool) {
	switch v.Type {
	case bsoncore.TypeInt64:
		if len(v.Data) >= 8 {
			return number{class: classInt, i: int64(binary.LittleEndian.Uint64(v.Data))}, true
		}
	case bsoncore.TypeDouble:
		if len(v.Data) >= 8 {
			return number{class: classFloat, f: math.Float64frombits(binary.LittleEndian.Uint64(v.Data))}, true
		}
	case bsoncore.TypeInt32:
		if len(v.Data) >= 4 {
			return number{class: classInt, i: int64(int32(binary.LittleEndian.Uint32(v.Data)))}, true
		}
	case bsoncore.TypeDecimal128:
		if len(v.Data) >= 16 && binary.LittleEndian.Uint64(v.Data[8:]) == wholeDecimal {
			return whole(0, binary.LittleEndian.Uint64(v.Data)), true
		}
	}
	return number{}, false
}

// whole is the number hi*2^64 + lo, as exact as the classes allow.
func whole(hi int64, lo uint64) number {
	switch {
	case hi == 0 && lo <= math.MaxInt64, hi == -1 && lo >= two63:
		return number{class: classInt, i: int64(lo)}
	case hi == 0:
		return number{class: classUint, u: lo}
	}
	return number{class: classFloat, f: float64(hi)*two64 + float64(lo)}
}

func (n number) float() float64 {
	switch n.class {
	case classInt:
		return float64(n.i)
	case classUint:
		return float64(n.u)
	}
	return n.f
}

// wide is an integer in 128 bits, two's complement.
func (n number) wide() (hi int64, lo uint64) {
	if n.class == classUint {
		return 0, n.u
	}
	return n.i >> 63, uint64(n.i)
}

// add returns an integer for integers, as long as int64 or uint64 can hold it.
func (n number) add(m number) number {
	if n.class == classFloat || m.class == classFloat {
		return number{class: classFloat, f: n.float() + m.float()}
	}
	nhi, nlo := n.wide()
	mhi, mlo := m.wide()
	lo, carry := bits.Add64(nlo, mlo, 0)
	return whole(nhi+mhi+int64(carry), lo)
}

func (n number) value() Value {
	switch n.class {
	case classInt:
		return Int(n.i)
	case classUint:
		return Value{Type: bsoncore.TypeDecimal128, Data: appendUint(nil, n.u)}
	}
	return Float(n.f)
}

func appendUint(dst []byte, u uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, u)
	return binary.LittleEndian.AppendUint64(dst, wholeDecimal)
}

// compareNumbers is exact: it rounds no integer. NaN is below all other numbers.
func compareNumbers(a, b number) int {
	switch {
	case a.class == classFloat && b.class == classFloat:
		return cmp.Compare(a.f, b.f)
	case a.class == classFloat:
		return -compareWhole(b, a.f)
	case b.class == classFloat:
		return compareWhole(a, b.f)
	case a.class != b.class:
		return cmp.Compare(a.class, b.class)
	case a.class == classUint:
		return cmp.Compare(a.u, b.u)
	}
	return cmp.Compare(a.i, b.i)
}

// compareWhole compares an integer with a double.
func compareWhole(n number, f float64) int {
	if math.IsNaN(f) {
		return 1
	}
	floor := math.Floor(f)
	if n.class == classUint {
		switch {
		case floor < two63:
			return 1
		case floor >= two64:
			return -1
		}
		return cmp.Compare(n.u, uint64(floor)) // doubles of this size have no fraction
	}
	switch {
	case floor < -two63:
		return 1
	case floor >= two63:
		return -1
	}
	if c := cmp.Compare(n.i, int64(floor)); c != 0 {
		return c
	}
	return cmp.Compare(floor, f)
}
