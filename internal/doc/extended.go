package doc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// AppendExtended appends a member with v in MongoDB's relaxed extended JSON, still as BSON: a value of a type that
// JSON does not have becomes an object such as {"$oid": "…"}, at any depth, and so do NaN and the infinities. All
// other values stay as they are. v is a whole value, as Members yields it.
//
// https://github.com/mongodb/specifications, extended-json
func AppendExtended(dst []byte, name string, v Value) []byte {
	switch v.Type {
	case bsoncore.TypeString, bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeBoolean, bsoncore.TypeNull:
		return appendElement(dst, name, v)
	case bsoncore.TypeDouble:
		f, _ := AsFloat(v)
		text := NonFinite(f)
		if text == "" {
			return appendElement(dst, name, v)
		}
		return appendTextIn(dst, name, "$numberDouble", text)
	case bsoncore.TypeEmbeddedDocument:
		return appendExtendedDoc(bsoncore.AppendHeader(dst, v.Type, name), v.Data)
	case bsoncore.TypeArray:
		at, dst := bsoncore.AppendArrayElementStart(dst, name)
		i := 0
		for element := range Elements(v) {
			dst = AppendExtended(dst, strconv.Itoa(i), element)
			i++
		}
		dst, _ = bsoncore.AppendArrayEnd(dst, at)
		return dst
	case bsoncore.TypeCodeWithScope:
		code, scope := CodeWithScope(v)
		at, dst := bsoncore.AppendDocumentElementStart(dst, name)
		dst = bsoncore.AppendStringElement(dst, "$code", view(code))
		dst, _ = bsoncore.AppendDocumentEnd(AppendExtended(dst, "$scope", Object(scope)), at)
		return dst
	}
	return appendExtended(bsoncore.AppendHeader(dst, bsoncore.TypeEmbeddedDocument, name), v)
}

func appendExtendedDoc(dst []byte, d Doc) []byte {
	at, dst := bsoncore.AppendDocumentStart(dst)
	for name, v := range Members(d) {
		dst = AppendExtended(dst, name, v)
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}

// NonFinite is how extended JSON names NaN and the infinities, "" for all other numbers.
func NonFinite(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return ""
}

// appendExtended appends the document that stands for a value of a type that JSON does not have. The value is
// whole. A scope stays as it is.
func appendExtended(dst []byte, v Value) []byte {
	at, dst := bsoncore.AppendDocumentStart(dst)
	switch v.Type {
	case bsoncore.TypeObjectID:
		dst = appendOID(dst, v.Data)
	case bsoncore.TypeDateTime:
		dst = appendDate(dst, int64(binary.LittleEndian.Uint64(v.Data)))
	case bsoncore.TypeDecimal128:
		dst = bsoncore.AppendStringElement(dst, "$numberDecimal", unpackDecimal(v.Data).String())
	case bsoncore.TypeBinary:
		dst = appendBinary(dst, v.Data[4], v.Data[5:])
	case bsoncore.TypeTimestamp:
		inside, d := bsoncore.AppendDocumentElementStart(dst, "$timestamp")
		d = bsoncore.AppendInt64Element(d, "t", int64(binary.LittleEndian.Uint32(v.Data[4:])))
		d = bsoncore.AppendInt64Element(d, "i", int64(binary.LittleEndian.Uint32(v.Data)))
		dst, _ = bsoncore.AppendDocumentEnd(d, inside)
	case bsoncore.TypeUndefined:
		dst = bsoncore.AppendBooleanElement(dst, "$undefined", true)
	case bsoncore.TypeMinKey:
		dst = bsoncore.AppendInt32Element(dst, "$minKey", 1)
	case bsoncore.TypeMaxKey:
		dst = bsoncore.AppendInt32Element(dst, "$maxKey", 1)
	default:
		dst = appendCode(dst, v)
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}

// appendCode appends the members that stand for a value of one of the types that hold text for programs.
func appendCode(dst []byte, v Value) []byte {
	switch v.Type {
	case bsoncore.TypeRegex:
		pattern, options, _ := bytes.Cut(v.Data[:len(v.Data)-1], []byte{0})
		at, d := bsoncore.AppendDocumentElementStart(dst, "$regularExpression")
		d = bsoncore.AppendStringElement(d, "pattern", view(pattern))
		d = bsoncore.AppendStringElement(d, "options", view(options))
		dst, _ = bsoncore.AppendDocumentEnd(d, at)
	case bsoncore.TypeSymbol:
		dst = bsoncore.AppendStringElement(dst, "$symbol", view(textOf(v.Data)))
	case bsoncore.TypeJavaScript:
		dst = bsoncore.AppendStringElement(dst, "$code", view(textOf(v.Data)))
	case bsoncore.TypeCodeWithScope:
		code, scope := CodeWithScope(v)
		dst = bsoncore.AppendStringElement(dst, "$code", view(code))
		dst = appendElement(dst, "$scope", Object(scope))
	case bsoncore.TypeDBPointer:
		at, d := bsoncore.AppendDocumentElementStart(dst, "$dbPointer")
		d = bsoncore.AppendStringElement(d, "$ref", view(textOf(v.Data)))
		inside, d := bsoncore.AppendDocumentElementStart(d, "$id")
		d, _ = bsoncore.AppendDocumentEnd(appendOID(d, v.Data[len(v.Data)-12:]), inside)
		dst, _ = bsoncore.AppendDocumentEnd(d, at)
	}
	return dst
}

func appendOID(dst, id []byte) []byte {
	dst, at := BeginString(dst, "$oid")
	return EndString(hex.AppendEncode(dst, id[:12]), at)
}

// appendDate writes an instant as text if its year is from 1970 to 9999, as the specification asks.
func appendDate(dst []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	if ms < 0 || t.Year() > 9999 {
		return appendTextIn(dst, "$date", "$numberLong", strconv.FormatInt(ms, 10))
	}
	dst, at := BeginString(dst, "$date")
	return EndString(t.AppendFormat(dst, "2006-01-02T15:04:05.999Z07:00"), at)
}

// oldBinary is the subtype whose data begins with its length once more.
const oldBinary = 2

func appendBinary(dst []byte, subtype byte, data []byte) []byte {
	if subtype == oldBinary && len(data) >= 4 {
		data = data[4:]
	}
	start, dst := bsoncore.AppendDocumentElementStart(dst, "$binary")
	dst, at := BeginString(dst, "base64")
	dst = EndString(base64.StdEncoding.AppendEncode(dst, data), at)
	dst, at = BeginString(dst, "subType")
	dst = EndString(hex.AppendEncode(dst, []byte{subtype}), at)
	dst, _ = bsoncore.AppendDocumentEnd(dst, start)
	return dst
}

// appendTextIn appends a member {inner: text}.
func appendTextIn(dst []byte, name, inner, text string) []byte {
	at, dst := bsoncore.AppendDocumentElementStart(dst, name)
	dst, _ = bsoncore.AppendDocumentEnd(bsoncore.AppendStringElement(dst, inner, text), at)
	return dst
}
