package doc

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// AppendElement appends a member of a document, or an element of an array, in
// BSON: type, name, NUL, bytes of v. The name must not contain a NUL, and v must
// not be undefined.
func AppendElement(dst []byte, name string, v Value) []byte { return appendElement(dst, name, v) }

// BeginString begins a member that is a string: the caller appends the text, then calls EndString with at. So text
// that is made piece by piece needs no memory of its own.
func BeginString(dst []byte, name string) (out []byte, at int) {
	dst = bsoncore.AppendHeader(dst, bsoncore.TypeString, name)
	return append(dst, 0, 0, 0, 0), len(dst)
}

// EndString ends the member that BeginString began.
func EndString(dst []byte, at int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// Int32 is an integer of 32 bits.
func Int32(i int32) Value {
	return Value{Type: bsoncore.TypeInt32, Data: binary.LittleEndian.AppendUint32(nil, uint32(i))}
}

// Double is a double-precision number with exactly these bits: unlike Float, it
// keeps a negative zero.
func Double(f float64) Value {
	return Value{Type: bsoncore.TypeDouble, Data: binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))}
}

// Date is an instant in milliseconds since 1970.
func Date(ms int64) Value {
	return Value{Type: bsoncore.TypeDateTime, Data: binary.LittleEndian.AppendUint64(nil, uint64(ms))}
}

// Timestamp is a BSON timestamp: seconds since 1970, and a count within the
// second.
func Timestamp(seconds, count uint32) Value {
	return Value{
		Type: bsoncore.TypeTimestamp,
		Data: binary.LittleEndian.AppendUint64(nil, uint64(seconds)<<32|uint64(count)),
	}
}

// ObjectID is an ObjectId of these bytes.
func ObjectID(id [12]byte) Value {
	return Value{Type: bsoncore.TypeObjectID, Data: append([]byte(nil), id[:]...)}
}

// Array is an array as a value, sharing the bytes of d, whose names are "0",
// "1" and so on.
func Array(d Doc) Value { return Value{Type: bsoncore.TypeArray, Data: d} }

// AsDate returns the instant of a date, in milliseconds since 1970.
func AsDate(v Value) (ms int64, ok bool) {
	if v.Type != bsoncore.TypeDateTime || len(v.Data) < 8 {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(v.Data)), true
}

// AsInt64Exact returns a number of any type as an int64, if it is an integer in
// that range: 20.0 is 20, and so is the Decimal128 2E+1.
func AsInt64Exact(v Value) (int64, bool) {
	if d, ok := AsDecimal(v); ok {
		return d.Int64()
	}
	return AsInt(v)
}

// Uint64Padded reads eight bytes in the order of BSON. Missing ones count as zeros, so that even a damaged value has an
// order.
func Uint64Padded(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var full [8]byte
	copy(full[:], b)
	return binary.LittleEndian.Uint64(full[:])
}

// Int32Padded reads four bytes in the same way.
func Int32Padded(b []byte) int32 {
	if len(b) >= 4 {
		return int32(binary.LittleEndian.Uint32(b))
	}
	return int32(Uint64Padded(b))
}
