package keys

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

const (
	numberBytes = 10

	// decimalInteger is the high half of a Decimal128 whose low half is an integer:
	// sign 0, exponent 0. JSON integers from 2^63 below 2^64 are stored in this form.
	decimalInteger = 0x3040000000000000

	noExcess = 0x8000
	two63    = 1 << 63
	two64    = 1 << 64
	signBit  = 1 << 63

	// Up to maxWhole all integers are doubles.
	maxWhole = 1 << 53
)

// number splits a numeric value into its nearest double and the rest: value = f +
// excess. Only integers beyond 2^53 have a rest, of at most 1024 in both directions. ok
// is false for values that are not numbers, and for all decimals but such integers.
func number(v doc.Value) (f float64, excess int16, ok bool) {
	switch d := v.Data; v.Type {
	case bsoncore.TypeDouble:
		if len(d) >= 8 {
			return math.Float64frombits(binary.LittleEndian.Uint64(d)), 0, true
		}
	case bsoncore.TypeInt32:
		if len(d) >= 4 {
			return float64(int32(binary.LittleEndian.Uint32(d))), 0, true
		}
	case bsoncore.TypeInt64:
		if len(d) >= 8 {
			f, excess = splitInt(int64(binary.LittleEndian.Uint64(d)))
			return f, excess, true
		}
	case bsoncore.TypeDecimal128:
		if len(d) >= 16 && binary.LittleEndian.Uint64(d[8:]) == decimalInteger {
			f, excess = splitUint(binary.LittleEndian.Uint64(d))
			return f, excess, true
		}
	}
	return 0, 0, false
}

func splitInt(n int64) (f float64, excess int16) {
	if n >= 0 {
		return splitUint(uint64(n))
	}
	f = float64(n)
	return f, int16(n - int64(f))
}

func splitUint(n uint64) (f float64, excess int16) {
	f = float64(n)
	if f == two64 {
		return f, int16(n) // n - 2^64, modulo 2^16
	}
	return f, int16(n - uint64(f))
}

// appendReal appends a double with sortable bits, zero for NaN, then the excess. Rounding to
// a double is monotonic, so the pair sorts like the number.
func appendReal(dst []byte, f float64, excess int16) []byte {
	dst = binary.BigEndian.AppendUint64(dst, sortable(f))
	return binary.BigEndian.AppendUint16(dst, uint16(excess)^noExcess)
}

func sortable(f float64) uint64 {
	if f != f {
		return 0
	}
	if f == 0 {
		return signBit // -0.0 too
	}
	bits := math.Float64bits(f)
	if bits&signBit != 0 {
		return ^bits
	}
	return bits | signBit
}

// unsortable is the inverse of sortable.
func unsortable(bits uint64) float64 {
	switch {
	case bits&signBit != 0:
		return math.Float64frombits(bits &^ signBit)
	case bits != 0:
		return math.Float64frombits(^bits)
	}
	return math.NaN()
}

// realValue reads the form of appendReal, see DecodeValue.
func realValue(room, b []byte) (v doc.Value, whole bool, err error) {
	if len(b) != numberBytes {
		return v, false, ErrCorrupt
	}
	bits, excess := binary.BigEndian.Uint64(b), binary.BigEndian.Uint16(b[8:])^noExcess
	f := unsortable(bits)
	start, kind := len(room), bsoncore.TypeDouble
	if math.Abs(f) <= maxWhole && f == math.Trunc(f) && excess == 0 {
		kind = bsoncore.TypeInt64
		room = binary.LittleEndian.AppendUint64(room, uint64(int64(f)))
	} else {
		room = binary.LittleEndian.AppendUint64(room, math.Float64bits(f))
	}
	return doc.Value{Type: kind, Data: room[start:]}, math.Abs(f) < maxWhole, nil
}
