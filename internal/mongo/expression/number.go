package expression

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// asInt is the value of an int32 or int64; 0 for other types.
func asInt(v doc.Value) int64 {
	switch v.Type {
	case bsoncore.TypeInt32:
		return int64(int32(binary.LittleEndian.Uint32(v.Data)))
	case bsoncore.TypeInt64:
		return int64(binary.LittleEndian.Uint64(v.Data))
	}
	return 0
}

// asDouble is a number as a double, rounded if need be; 0 for other types.
func asDouble(v doc.Value) float64 {
	switch v.Type {
	case bsoncore.TypeDouble:
		return math.Float64frombits(binary.LittleEndian.Uint64(v.Data))
	case bsoncore.TypeDecimal128:
		return asDecimal(v).Float64()
	}
	return float64(asInt(v))
}

// asDate is the milliseconds of a date.
func asDate(v doc.Value) int64 { return int64(binary.LittleEndian.Uint64(v.Data)) }

// isZero reports whether a number equals 0.
func isZero(v doc.Value) bool {
	switch v.Type {
	case bsoncore.TypeDouble:
		return asDouble(v) == 0
	case bsoncore.TypeDecimal128:
		return asDecimal(v).IsZero()
	}
	return asInt(v) == 0
}

// isNaN reports whether a number is NaN.
func isNaN(v doc.Value) bool {
	switch v.Type {
	case bsoncore.TypeDouble:
		return math.IsNaN(asDouble(v))
	case bsoncore.TypeDecimal128:
		return asDecimal(v).Form == doc.DecimalNaN
	}
	return false
}

// wholeNumber is the int64 that equals a number, if there is one: 2.0 and Decimal128 2 are 2.
func wholeNumber(v doc.Value) (i int64, ok bool) {
	switch v.Type {
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		return asInt(v), true
	case bsoncore.TypeDouble:
		f := asDouble(v)
		if f != math.Trunc(f) || f < -1<<63 || f >= 1<<63 {
			return 0, false
		}
		return int64(f), true
	case bsoncore.TypeDecimal128:
		return asDecimal(v).Int64()
	}
	return 0, false
}

// whole32 is wholeNumber for an int32.
func whole32(v doc.Value) (i int32, ok bool) {
	n, ok := wholeNumber(v)
	return int32(n), ok && n == int64(int32(n))
}
