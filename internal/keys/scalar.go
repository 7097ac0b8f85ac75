package keys

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// MaxStringBytes is how much of a string an index entry keeps.
const MaxStringBytes = 256

// The first byte of an encoded value: the order of kinds. Gaps leave room.
const (
	tagUndefined = 0x04
	tagNull      = 0x08
	tagFalse     = 0x0C
	tagTrue      = 0x0D
	tagNumber    = 0x10
	tagString    = 0x18
	tagArray     = 0x1C
	tagObject    = 0x20
	tagOther     = 0x28 // then the BSON type byte
)

// AppendValue appends the form of v in an index entry. Byte order is undefined < null <
// false < true < numbers < strings < arrays < objects; numbers by value whatever their
// type (1 equals 1.0, -0.0 equals 0, NaN is before all), strings by their UTF-8 bytes.
// No encoding is a prefix of another. With descending all bytes are inverted, which
// reverses the order.
//
// The form is approximate for arrays and objects, of which only the kind is kept, and
// for strings longer than MaxStringBytes, of which only that many bytes are: an entry
// found through one has to be checked against the document. Values of other BSON types
// come last, in an order that means nothing; so does a malformed value.
func AppendValue(dst []byte, v doc.Value, descending bool) []byte {
	start := len(dst)
	dst = appendScalar(dst, v, false)
	if descending {
		invert(dst[start:])
	}
	return dst
}

// AppendExact appends v so that two values have the same form only if they are equal:
// strings whole, arrays and objects as all their BSON bytes (their order means nothing,
// and numbers inside are told apart by type). Otherwise as AppendValue, ascending. The
// form is at most twice as long as v, so the caller limits v.
func AppendExact(dst []byte, v doc.Value) []byte { return appendScalar(dst, v, true) }

func appendScalar(dst []byte, v doc.Value, exact bool) []byte {
	switch v.Type {
	case 0, bsoncore.TypeUndefined:
		return append(dst, tagUndefined)
	case bsoncore.TypeNull:
		return append(dst, tagNull)
	case bsoncore.TypeBoolean:
		if len(v.Data) > 0 && v.Data[0] == 0 {
			return append(dst, tagFalse)
		}
		return append(dst, tagTrue)
	case bsoncore.TypeString:
		if s, ok := text(v); ok {
			return appendText(append(dst, tagString), s, exact)
		}
	case bsoncore.TypeArray:
		return appendTree(append(dst, tagArray), v, exact)
	case bsoncore.TypeEmbeddedDocument:
		return appendTree(append(dst, tagObject), v, exact)
	}
	if f, excess, ok := number(v); ok {
		return appendReal(append(dst, tagNumber), f, excess)
	}
	return appendText(append(dst, tagOther, byte(v.Type)), v.Data, exact)
}

func appendText(dst, s []byte, exact bool) []byte {
	if !exact && len(s) > MaxStringBytes {
		return appendEscaped(dst, s[:MaxStringBytes], endTruncated)
	}
	return appendEscaped(dst, s, endWhole)
}

func appendTree(dst []byte, v doc.Value, exact bool) []byte {
	if !exact {
		return dst
	}
	return appendEscaped(dst, v.Data, endWhole)
}

// text is the bytes of a string value, false if it is malformed.
func text(v doc.Value) ([]byte, bool) {
	if len(v.Data) < 5 {
		return nil, false
	}
	n := binary.LittleEndian.Uint32(v.Data) // counts the NUL at the end
	if n < 1 || uint64(n) > uint64(len(v.Data)-4) {
		return nil, false
	}
	return v.Data[4 : 4+n-1], true
}

// skipExact gives the bytes after the AppendExact form at the start of b.
func skipExact(b []byte) (rest []byte, err error) {
	if len(b) == 0 {
		return nil, ErrCorrupt
	}
	switch b[0] {
	case tagUndefined, tagNull, tagFalse, tagTrue:
		return b[1:], nil
	case tagNumber:
		if len(b) < 1+numberBytes {
			return nil, ErrCorrupt
		}
		return b[1+numberBytes:], nil
	case tagString, tagArray, tagObject:
		return skipEscaped(b[1:])
	case tagOther:
		if len(b) > 2 {
			return skipEscaped(b[2:])
		}
	}
	return nil, ErrCorrupt
}
