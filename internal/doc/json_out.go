package doc

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// A Style is one of the two ways in which the service writes numbers. Everything
// else is the same in both.
type Style uint8

const (
	PointRead Style = iota // bodies of single documents: 1.8446744073709552e+019, and 64-bit integers exact
	Query                  // rows of a query: 1.8446744073709552e+19, and integers beyond int64 as doubles
)

// AppendJSON appends d as compact JSON. Values of types that JSON does not have
// appear in MongoDB's relaxed extended JSON, except that NaN and the infinities are
// the strings "NaN", "Infinity" and "-Infinity". Bytes that are not BSON end the
// object that contains them.
func AppendJSON(dst []byte, d Doc) []byte { return PointRead.AppendJSON(dst, d) }

// AppendMembers is AppendJSON without the braces.
func AppendMembers(dst []byte, d Doc) []byte { return PointRead.appendMembers(dst, d) }

// AppendJSONValue is AppendJSON for one value. Undefined appears as null.
func AppendJSONValue(dst []byte, v Value) []byte { return PointRead.AppendJSONValue(dst, v) }

// AppendJSON is the function AppendJSON in style s.
func (s Style) AppendJSON(dst []byte, d Doc) []byte {
	return append(s.appendMembers(append(dst, '{'), d), '}')
}

// AppendJSONValue is the function AppendJSONValue in style s.
func (s Style) AppendJSONValue(dst []byte, v Value) []byte {
	switch v.Type {
	case bsoncore.TypeString:
		b, _ := text(v.Data)
		return appendText(dst, b)
	case bsoncore.TypeBoolean:
		b, _ := AsBool(v)
		return strconv.AppendBool(dst, b)
	case bsoncore.TypeNull, 0:
		return append(dst, "null"...)
	case bsoncore.TypeEmbeddedDocument:
		return s.AppendJSON(dst, v.Data)
	case bsoncore.TypeArray:
		return s.appendArray(dst, v.Data)
	}
	if n, ok := readNumber(v); ok {
		return s.appendNumber(dst, n)
	}
	return s.appendExtended(dst, v)
}

// appendExtended writes a value of a type that JSON does not have. Bytes that are no value of their type are null.
func (s Style) appendExtended(dst []byte, v Value) []byte {
	if size := valueSize(v.Type, v.Data); size < 0 || size > len(v.Data) {
		return append(dst, "null"...)
	}
	var buffer [128]byte // most such values fit, without an allocation
	return s.AppendJSON(dst, appendExtended(buffer[:0], v))
}

func (s Style) appendMembers(dst []byte, d Doc) []byte {
	b := body(d)
	for first := true; len(b) > 0; first = false {
		at, end := measure(b)
		if end == 0 {
			break
		}
		if !first {
			dst = append(dst, ',')
		}
		if name, ok := shortName(b, at-2); ok {
			dst = binary.LittleEndian.AppendUint64(append(dst, '"'), name)
			dst = append(dst[:len(dst)-8+at-2], '"', ':')
		} else {
			dst = append(appendText(dst, b[1:at-1]), ':')
		}
		dst = s.AppendJSONValue(dst, valueIn(b, at, end))
		b = b[end:]
	}
	return dst
}

// shortName is the first eight bytes of the name of n bytes of the element at the start of b. ok is false if the name
// is longer, or JSON does not show all of its bytes as they are.
func shortName(b []byte, n int) (name uint64, ok bool) {
	if n > 8 || len(b) < 9 {
		return 0, false
	}
	name = binary.LittleEndian.Uint64(b[1:])
	return name, unusual(name&(1<<(8*n)-1)|ones*' '<<(8*n))&highs == 0
}

func (s Style) appendArray(dst []byte, array []byte) []byte {
	dst = append(dst, '[')
	b := body(array)
	for first := true; len(b) > 0; first = false {
		at, end := measure(b)
		if end == 0 {
			break
		}
		if !first {
			dst = append(dst, ',')
		}
		dst = s.AppendJSONValue(dst, valueIn(b, at, end))
		b = b[end:]
	}
	return append(dst, ']')
}

// AppendJSONString appends s as a JSON string. It escapes only the characters that
// JSON requires to be escaped; invalid UTF-8 becomes U+FFFD.
func AppendJSONString(dst []byte, s string) []byte {
	return appendText(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}

func appendText(dst []byte, b []byte) []byte {
	dst = append(dst, '"')
	for {
		n, ascii := plain(b)
		if ascii || utf8.Valid(b[:n]) {
			dst = append(dst, b[:n]...)
		} else {
			dst = append(dst, bytes.ToValidUTF8(b[:n], []byte("\uFFFD"))...)
		}
		if n == len(b) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, b[n])
		b = b[n+1:]
	}
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
