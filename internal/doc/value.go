package doc

import (
	"encoding/binary"
	"math"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Null is the JSON value null.
func Null() Value { return Value{Type: bsoncore.TypeNull} }

// Bool is true or false.
func Bool(b bool) Value {
	if b {
		return Value{Type: bsoncore.TypeBoolean, Data: []byte{1}}
	}
	return Value{Type: bsoncore.TypeBoolean, Data: []byte{0}}
}

// Int is an integer.
func Int(i int64) Value {
	return Value{Type: bsoncore.TypeInt64, Data: binary.LittleEndian.AppendUint64(nil, uint64(i))}
}

// Float is a double-precision number. A negative zero becomes zero.
func Float(f float64) Value {
	return Value{Type: bsoncore.TypeDouble, Data: binary.LittleEndian.AppendUint64(nil, floatBits(f))}
}

// String is text, which should be valid UTF-8. It may contain NULs.
func String(s string) Value {
	data := make([]byte, 0, len(s)+5)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(s)+1))
	data = append(data, s...)
	return Value{Type: bsoncore.TypeString, Data: append(data, 0)}
}

// Object is a document as a value, sharing its bytes.
func Object(d Doc) Value { return Value{Type: bsoncore.TypeEmbeddedDocument, Data: d} }

// Clone is v with bytes of its own, for a value that outlives the memory that it shares.
func Clone(v Value) Value {
	return Value{Type: v.Type, Data: append(make([]byte, 0, len(v.Data)), v.Data...)}
}

// IsUndefined reports whether v is the zero Value: the member does not exist.
func IsUndefined(v Value) bool { return v.Type == 0 }

// IsNull reports whether v is null. Undefined is not.
func IsNull(v Value) bool { return v.Type == bsoncore.TypeNull }

// IsArray reports whether v is an array.
func IsArray(v Value) bool { return v.Type == bsoncore.TypeArray }

// AsBool returns the value of a boolean.
func AsBool(v Value) (b, ok bool) {
	if v.Type != bsoncore.TypeBoolean || len(v.Data) < 1 {
		return false, false
	}
	return v.Data[0] != 0, true
}

// AsString returns the text of a string. It shares the memory of v: it is valid, and
// constant, only as long as that is.
func AsString(v Value) (string, bool) {
	if v.Type != bsoncore.TypeString {
		return "", false
	}
	b, ok := text(v.Data)
	return view(b), ok
}

// AsDoc returns an object, sharing its bytes.
func AsDoc(v Value) (Doc, bool) {
	if v.Type != bsoncore.TypeEmbeddedDocument {
		return nil, false
	}
	return v.Data, true
}

// text is the content of a BSON string's bytes.
func text(data []byte) ([]byte, bool) {
	if len(data) < 5 {
		return nil, false
	}
	n := int(int32(binary.LittleEndian.Uint32(data)))
	if n < 1 || n > len(data)-4 {
		return nil, false
	}
	return data[4 : 4+n-1], true
}

// view is b as a string without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// floatBits turns -0 into 0, because to Cosmos DB they are the same number.
func floatBits(f float64) uint64 {
	if f == 0 {
		return 0
	}
	return math.Float64bits(f)
}
