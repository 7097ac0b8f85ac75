package rest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A document of the MongoDB API is converted to an item before anything else uses it, so that a filter sees the same
// values as the answer. `id` is derived from `_id`, and values that JSON does not have become objects of relaxed
// extended JSON (github.com/mongodb/specifications, extended-json). Numbers stay numbers, except for Decimal128, NaN
// and the infinities.

// itemBuffers are reusable buffers for converted items.
var itemBuffers = sync.Pool{New: func() any { return new([]byte) }}

// appendMongoItem appends a document as an item without system properties. Its own members named id, or named like a
// system property, are left out.
func appendMongoItem(dst []byte, body doc.Doc) []byte {
	at, dst := bsoncore.AppendDocumentStart(dst)
	dst, text := openText(dst, "id")
	dst = closeText(appendMongoID(dst, doc.Lookup(body, "_id")), text)
	for name, v := range doc.Members(body) {
		if name != "id" && !slices.Contains(systemMembers, name) {
			dst = appendRelaxed(dst, name, v)
		}
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}

// appendRelaxed appends a member in relaxed extended JSON.
func appendRelaxed(dst []byte, name string, v doc.Value) []byte {
	switch v.Type {
	case bsoncore.TypeString, bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeBoolean, bsoncore.TypeNull:
		return doc.AppendElement(dst, name, v)
	case bsoncore.TypeDouble:
		if text := notFinite(v); text != "" {
			return appendWrapped(dst, name, "$numberDouble", text)
		}
		return doc.AppendElement(dst, name, v)
	case bsoncore.TypeEmbeddedDocument:
		return appendRelaxedDoc(bsoncore.AppendHeader(dst, v.Type, name), v.Data)
	case bsoncore.TypeArray:
		at, dst := bsoncore.AppendArrayElementStart(dst, name)
		i := 0
		for element := range doc.Elements(v) {
			dst = appendRelaxed(dst, strconv.Itoa(i), element)
			i++
		}
		dst, _ = bsoncore.AppendArrayEnd(dst, at)
		return dst
	}
	return appendExtended(dst, name, v)
}

func appendRelaxedDoc(dst []byte, d doc.Doc) []byte {
	at, dst := bsoncore.AppendDocumentStart(dst)
	for name, v := range doc.Members(d) {
		dst = appendRelaxed(dst, name, v)
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}

// notFinite is the text of a double that JSON cannot represent, or "" for other values.
func notFinite(v doc.Value) string {
	switch f, _ := doc.AsFloat(v); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return ""
}

// appendWrapped appends a member {wrapper: text}.
func appendWrapped(dst []byte, name, wrapper, text string) []byte {
	at, dst := bsoncore.AppendDocumentElementStart(dst, name)
	dst = bsoncore.AppendStringElement(dst, wrapper, text)
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}

// appendExtended appends a value of a type that JSON does not have. doc.Members has already checked its length.
func appendExtended(dst []byte, name string, v doc.Value) []byte {
	at, dst := bsoncore.AppendDocumentElementStart(dst, name)
	switch v.Type {
	case bsoncore.TypeObjectID:
		dst = appendOID(dst, v.Data)
	case bsoncore.TypeDateTime:
		dst = appendDate(dst, v)
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(v)
		dst = bsoncore.AppendStringElement(dst, "$numberDecimal", d.String())
	case bsoncore.TypeBinary:
		dst = appendBinary(dst, v)
	case bsoncore.TypeTimestamp:
		inside, wrapped := bsoncore.AppendDocumentElementStart(dst, "$timestamp")
		wrapped = bsoncore.AppendInt64Element(wrapped, "t", int64(binary.LittleEndian.Uint32(v.Data[4:])))
		wrapped = bsoncore.AppendInt64Element(wrapped, "i", int64(binary.LittleEndian.Uint32(v.Data)))
		dst, _ = bsoncore.AppendDocumentEnd(wrapped, inside)
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

// appendCode appends the content of an extended value that holds source text or a reference.
func appendCode(dst []byte, v doc.Value) []byte {
	switch v.Type {
	case bsoncore.TypeRegex:
		pattern, options, _ := v.RegexOK()
		at, wrapped := bsoncore.AppendDocumentElementStart(dst, "$regularExpression")
		wrapped = bsoncore.AppendStringElement(wrapped, "pattern", pattern)
		wrapped = bsoncore.AppendStringElement(wrapped, "options", options)
		dst, _ = bsoncore.AppendDocumentEnd(wrapped, at)
	case bsoncore.TypeSymbol:
		text, _ := v.SymbolOK()
		dst = bsoncore.AppendStringElement(dst, "$symbol", text)
	case bsoncore.TypeJavaScript:
		text, _ := v.JavaScriptOK()
		dst = bsoncore.AppendStringElement(dst, "$code", text)
	case bsoncore.TypeCodeWithScope:
		text, scope, _ := v.CodeWithScopeOK()
		dst = bsoncore.AppendStringElement(dst, "$code", text)
		dst = appendRelaxedDoc(bsoncore.AppendHeader(dst, bsoncore.TypeEmbeddedDocument, "$scope"), doc.Doc(scope))
	case bsoncore.TypeDBPointer:
		namespace, id, _ := v.DBPointerOK()
		at, wrapped := bsoncore.AppendDocumentElementStart(dst, "$dbPointer")
		wrapped = bsoncore.AppendStringElement(wrapped, "$ref", namespace)
		inside, wrapped := bsoncore.AppendDocumentElementStart(wrapped, "$id")
		wrapped, _ = bsoncore.AppendDocumentEnd(appendOID(wrapped, id[:]), inside)
		dst, _ = bsoncore.AppendDocumentEnd(wrapped, at)
	}
	return dst
}

func appendOID(dst, id []byte) []byte {
	dst, at := openText(dst, "$oid")
	return closeText(hex.AppendEncode(dst, id), at)
}

// appendDate writes dates in the years 1970 to 9999 as text, others as a number.
func appendDate(dst []byte, v doc.Value) []byte {
	ms, _ := doc.AsDate(v)
	at := time.UnixMilli(ms).UTC()
	if ms < 0 || at.Year() > 9999 {
		return appendWrapped(dst, "$date", "$numberLong", strconv.FormatInt(ms, 10))
	}
	dst, text := openText(dst, "$date")
	return closeText(at.AppendFormat(dst, "2006-01-02T15:04:05.999Z07:00"), text)
}

func appendBinary(dst []byte, v doc.Value) []byte {
	subtype, data, _ := v.BinaryOK()
	at, dst := bsoncore.AppendDocumentElementStart(dst, "$binary")
	dst, text := openText(dst, "base64")
	dst = closeText(base64.StdEncoding.AppendEncode(dst, data), text)
	dst, text = openText(dst, "subType")
	dst = closeText(hex.AppendEncode(dst, []byte{subtype}), text)
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}
