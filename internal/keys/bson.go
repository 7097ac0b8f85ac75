package keys

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

const (
	// MaxIndexedBytes is how many bytes of the form of a value an entry of a named index keeps.
	MaxIndexedBytes = 1024

	// MaxIDBytes is how many bytes of the form of an _id its key keeps, before a SHA-256.
	MaxIDBytes = 900
)

// The first byte of a value in BSON form, in MongoDB's order of types. The gaps are for
// types to come.
const (
	bsonEnd        = 0x01 // no value: an object or array ends
	bsonMinKey     = 0x04
	bsonUndefined  = 0x08
	bsonNull       = 0x0C
	bsonNumber     = 0x10
	bsonString     = 0x18
	bsonObject     = 0x20
	bsonArray      = 0x24
	bsonBinary     = 0x28
	bsonObjectID   = 0x2C
	bsonBool       = 0x30
	bsonDate       = 0x34
	bsonTimestamp  = 0x38
	bsonRegex      = 0x3C
	bsonDBPointer  = 0x40
	bsonCode       = 0x44
	bsonCodeScoped = 0x48
	bsonUnknown    = 0x4C
	bsonMaxKey     = 0x50
)

var bsonTags = func() (t [256]byte) {
	tags := map[int]byte{
		doc.CanonicalMinKey: bsonMinKey, doc.CanonicalUndefined: bsonUndefined, doc.CanonicalNull: bsonNull,
		doc.CanonicalNumber: bsonNumber, doc.CanonicalString: bsonString, doc.CanonicalObject: bsonObject,
		doc.CanonicalArray: bsonArray, doc.CanonicalBinary: bsonBinary, doc.CanonicalObjectID: bsonObjectID,
		doc.CanonicalBool: bsonBool, doc.CanonicalDate: bsonDate, doc.CanonicalTimestamp: bsonTimestamp,
		doc.CanonicalRegex: bsonRegex, doc.CanonicalDBPointer: bsonDBPointer, doc.CanonicalCode: bsonCode,
		doc.CanonicalScope: bsonCodeScoped, doc.CanonicalUnknown: bsonUnknown, doc.CanonicalMaxKey: bsonMaxKey,
	}
	for i := range t {
		t[i] = tags[doc.CanonicalType(doc.Value{Type: bsoncore.Type(i)})]
	}
	return t
}()

// AppendBSON appends the form of v for MongoDB's order: the bytes of two forms compare
// as doc.CompareBSON compares the values, and equal values have the same form, such as 1,
// 1.0 and the Decimal128 1.00. No form is a prefix of another, and no ascending form begins
// with 0xFF. A missing value has the form of undefined, below null. If descending is set,
// all bytes are inverted, which reverses the order.
//
// The form is at most about twice as long as v, and 27 bytes for a number, so the
// caller has to limit v.
func AppendBSON(dst []byte, v doc.Value, descending bool) []byte {
	start := len(dst)
	dst = bsonForm{end: math.MaxInt}.value(dst, v, doc.MaxCompareDepth)
	if descending {
		invert(dst[start:])
	}
	return dst
}

// AppendBSONClipped appends the first MaxIndexedBytes of the form of AppendBSON. Values that
// differ only after them share a clipped form. Otherwise, clipped forms sort like their
// values, and are no prefixes of other forms. A document that was found through a clipped
// form has to be checked.
func AppendBSONClipped(dst []byte, v doc.Value, descending bool) (out []byte, clipped bool) {
	start := len(dst)
	dst = bsonForm{end: start + MaxIndexedBytes + 1}.value(dst, v, doc.MaxCompareDepth)
	if len(dst) > start+MaxIndexedBytes {
		dst, clipped = dst[:start+MaxIndexedBytes], true
	}
	if descending {
		invert(dst[start:])
	}
	return dst, clipped
}

// AppendID appends the form of an _id in a key of KindLookup: that of AppendBSON. If that is
// longer than MaxIDBytes, it is cut there, and 0xFF and the SHA-256 of the whole form follow,
// so that two _ids have the same form only if they are equal.
func AppendID(dst []byte, v doc.Value) []byte {
	start := len(dst)
	dst = AppendBSON(dst, v, false)
	if len(dst)-start <= MaxIDBytes {
		return dst
	}
	sum := sha256.Sum256(dst[start:])
	return append(append(dst[:start+MaxIDBytes], hashedValues), sum[:]...)
}

// A bsonForm writes forms until dst has the length end. It may leave out the rest, which
// the caller would cut off.
type bsonForm struct{ end int }

func (f bsonForm) value(dst []byte, v doc.Value, levels int) []byte {
	return f.content(append(dst, bsonTags[v.Type]), v, levels)
}

// content is the form without its tag.
func (f bsonForm) content(dst []byte, v doc.Value, levels int) []byte {
	switch bsonTags[v.Type] {
	case bsonNumber:
		return appendBSONNumber(dst, v)
	case bsonString, bsonCode:
		s, _ := text(v)
		return f.escaped(dst, s)
	case bsonObjectID:
		var id [12]byte
		copy(id[:], v.Data)
		return append(dst, id[:]...)
	case bsonObject:
		return f.members(dst, v.Data, levels)
	case bsonArray:
		return f.elements(dst, v, levels)
	case bsonBool:
		if len(v.Data) > 0 && v.Data[0] != 0 {
			return append(dst, 1)
		}
		return append(dst, 0)
	case bsonDate:
		return binary.BigEndian.AppendUint64(dst, doc.Uint64Padded(v.Data)^signBit)
	case bsonTimestamp:
		return binary.BigEndian.AppendUint64(dst, doc.Uint64Padded(v.Data))
	case bsonBinary:
		return f.counted(dst, doc.Payload(v))
	case bsonDBPointer:
		return f.counted(dst, v.Data)
	case bsonRegex:
		return f.escaped(dst, v.Data)
	case bsonCodeScoped:
		code, scope := doc.CodeWithScope(v)
		return f.members(f.escaped(dst, code), scope, levels)
	case bsonUnknown:
		return append(f.escaped(dst, v.Data), byte(v.Type))
	}
	return dst
}

// members writes the tag of each member before its name, because MongoDB's order compares
// types before names.
func (f bsonForm) members(dst []byte, d doc.Doc, levels int) []byte {
	if levels == 0 {
		return f.escaped(dst, d)
	}
	for name, v := range doc.Members(d) {
		if len(dst) >= f.end {
			return dst
		}
		dst = append(dst, bsonTags[v.Type])
		dst = append(append(dst, name...), 0) // a name in BSON contains no NUL
		dst = f.content(dst, v, levels-1)
	}
	return append(dst, bsonEnd)
}

func (f bsonForm) elements(dst []byte, v doc.Value, levels int) []byte {
	if levels == 0 {
		return f.escaped(dst, v.Data)
	}
	for e := range doc.Elements(v) {
		if len(dst) >= f.end {
			return dst
		}
		dst = f.value(dst, e, levels-1)
	}
	return append(dst, bsonEnd)
}

func (f bsonForm) escaped(dst, s []byte) []byte { return appendEscaped(dst, f.cut(dst, s), endWhole) }

// counted is for values that sort by length first.
func (f bsonForm) counted(dst, s []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, f.cut(dst, s)...)
}

// cut shortens s so that it does not exceed the end.
func (f bsonForm) cut(dst, s []byte) []byte { return s[:max(0, min(len(s), f.end-len(dst)))] }
