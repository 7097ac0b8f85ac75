package keys

import (
	"encoding/binary"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The byte after the double of a number: nothing follows, or its digits do.
const (
	numberEnds   = 0x00
	numberDigits = 0x01
)

// appendBSONNumber appends the largest double that is not above the number. If other
// int64s lie between that double and the next one, their distance to the double follows.
// The last part says whether the number is still larger, and if so has its digits.
func appendBSONNumber(dst []byte, v doc.Value) []byte {
	switch v.Type {
	case bsoncore.TypeDouble:
		return append(appendFloor(dst, math.Float64frombits(doc.Uint64Padded(v.Data)), 0), numberEnds)
	case bsoncore.TypeInt32:
		return append(appendFloor(dst, float64(doc.Int32Padded(v.Data)), 0), numberEnds)
	case bsoncore.TypeInt64:
		f, above := floorInt(int64(doc.Uint64Padded(v.Data)))
		return append(appendFloor(dst, f, above), numberEnds)
	}
	d, _ := doc.AsDecimal(v)
	return appendDecimal(dst, d)
}

// appendFloor appends a double, and above if there are int64s between f and the next
// double.
func appendFloor(dst []byte, f float64, above uint16) []byte {
	dst = binary.BigEndian.AppendUint64(dst, sortable(f))
	if sparse(f) {
		dst = binary.BigEndian.AppendUint16(dst, above)
	}
	return dst
}

// sparse reports whether f is in one of the ranges where int64s lie between doubles.
func sparse(f float64) bool { return f >= 1<<53 && f < two63 || f >= -two63 && f <= -1<<53 }

// floorInt returns the largest double that is not above n, and the distance from it to n.
func floorInt(n int64) (f float64, above uint16) {
	f = float64(n)
	if f == two63 || int64(f) > n {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f, uint16(n - int64(f))
}

func appendDecimal(dst []byte, d doc.Decimal) []byte {
	f, exact := d.FloorFloat64()
	if exact {
		return append(appendFloor(dst, f, 0), numberEnds)
	}
	if sparse(f) {
		n, whole := floorDecimal(d)
		dst = appendFloor(dst, f, uint16(n-int64(f)))
		if whole {
			return append(dst, numberEnds)
		}
	} else {
		dst = appendFloor(dst, f, 0)
	}
	return appendDigits(append(dst, numberDigits), d)
}

// floorDecimal returns the largest integer that is not above d, which is in the range of
// int64, and whether it equals d.
func floorDecimal(d doc.Decimal) (n int64, whole bool) {
	if n, whole = d.Int64(); whole {
		return n, true
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-d.Exponent)), nil)
	return new(big.Int).Div(d.Coefficient(), unit).Int64(), false // Div rounds down, as unit is positive
}

// appendDigits appends the exponent of the first digit and all 34 digits, inverted if d is
// negative. A sign is not needed: numbers between the same two doubles have the same one.
func appendDigits(dst []byte, d doc.Decimal) []byte {
	start := len(dst)
	exponent, hi, lo := d.Magnitude()
	dst = binary.BigEndian.AppendUint16(dst, uint16(exponent)^noExcess)
	dst = binary.BigEndian.AppendUint64(dst, hi)
	dst = binary.BigEndian.AppendUint64(dst, lo)
	if d.Negative {
		invert(dst[start:])
	}
	return dst
}
