package keys

import (
	"bytes"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// MaxStringBytes is how many bytes of a string an index entry keeps.
const MaxStringBytes = 256

// The first byte of an encoded value, in the order of kinds. The gaps are for kinds to come.
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

// AppendValue appends the form of v in an index entry. The order of the bytes is undefined <
// null < false < true < numbers < strings < arrays < objects; numbers sort by value whatever
// their type (1 equals 1.0, -0.0 equals 0, NaN is first), strings by their UTF-8 bytes. No
// form is a prefix of another. If descending is set, all bytes are inverted, which reverses
// the order.
//
// The form does not keep everything: of arrays and objects only the kind, and of strings
// only MaxStringBytes. A document that is found through such an entry has to be checked.
// Values of other BSON types, and malformed ones, come last, in an arbitrary order.
func AppendValue(dst []byte, v doc.Value, descending bool) []byte {
	start := len(dst)
	dst = appendScalar(dst, v, false)
	if descending {
		invert(dst[start:])
	}
	return dst
}

// DecodeValue reads an ascending form of AppendValue. The bytes of v are appended to room. whole is false if the form
// does not keep everything of the value: of arrays and objects only the type, of long strings the beginning, of
// integers beyond 2^53 the double next to them (their type is not kept either), of other types nothing, so that v is
// undefined.
func DecodeValue(room, form []byte) (v doc.Value, whole bool, err error) {
	if len(form) == 0 {
		return v, false, ErrCorrupt
	}
	switch rest := form[1:]; form[0] {
	case tagNull:
		return doc.Null(), len(rest) == 0, nil
	case tagFalse, tagTrue:
		return doc.Bool(form[0] == tagTrue), len(rest) == 0, nil
	case tagNumber:
		return realValue(room, rest)
	case tagString:
		return textValue(room, rest)
	case tagArray:
		return doc.Value{Type: bsoncore.TypeArray, Data: doc.Empty}, false, nil
	case tagObject:
		return doc.Value{Type: bsoncore.TypeEmbeddedDocument, Data: doc.Empty}, false, nil
	}
	return v, false, nil
}

// textValue reads an escaped string.
func textValue(room, b []byte) (v doc.Value, whole bool, err error) {
	start := len(room)
	room = append(room, 0, 0, 0, 0)
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 || i+1 >= len(b) {
			return v, false, ErrCorrupt
		}
		room = append(room, b[:i]...)
		end := b[i+1]
		b = b[i+2:]
		switch {
		case end == escapedNUL:
			room = append(room, 0)
			continue
		case len(b) > 0 || end != endWhole && end != endTruncated:
			return v, false, ErrCorrupt
		}
		room = append(room, 0)
		binary.LittleEndian.PutUint32(room[start:], uint32(len(room)-start-4))
		return doc.Value{Type: bsoncore.TypeString, Data: room[start:]}, end == endWhole, nil
	}
}

// AppendExact appends a form that two values share only if they are equal: it has whole
// strings, and all BSON bytes of arrays and objects (in an arbitrary order, and with numbers
// of different types as different values). Otherwise it is the ascending form of AppendValue.
// It is at most twice as long as v, so the caller has to limit v.
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

// text is the content of a string; false if it is malformed.
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

// skipExact returns the bytes after the AppendExact form at the start of b.
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
