package doc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// appendExtended writes values that JSON does not have as relaxed extended JSON
// (github.com/mongodb/specifications, extended-json).
func (s Style) appendExtended(dst []byte, v Value) []byte {
	if size := valueSize(v.Type, v.Data); size < 0 || size > len(v.Data) {
		return append(dst, "null"...)
	}
	switch v.Type {
	case bsoncore.TypeObjectID:
		return append(appendOID(dst, v.Data), '}')
	case bsoncore.TypeDateTime:
		return appendDate(dst, int64(binary.LittleEndian.Uint64(v.Data)))
	case bsoncore.TypeBinary:
		return appendBinary(dst, v.Data[4], v.Data[5:])
	case bsoncore.TypeDecimal128:
		return append(dst, v.String()...)
	case bsoncore.TypeTimestamp:
		dst = strconv.AppendUint(append(dst, `{"$timestamp":{"t":`...), uint64(binary.LittleEndian.Uint32(v.Data[4:])), 10)
		dst = strconv.AppendUint(append(dst, `,"i":`...), uint64(binary.LittleEndian.Uint32(v.Data)), 10)
		return append(dst, "}}"...)
	case bsoncore.TypeRegex:
		pattern, options, _ := bytes.Cut(v.Data[:len(v.Data)-1], []byte{0})
		dst = appendText(append(dst, `{"$regularExpression":{"pattern":`...), pattern)
		dst = appendText(append(dst, `,"options":`...), options)
		return append(dst, "}}"...)
	case bsoncore.TypeSymbol:
		return append(appendLong(append(dst, `{"$symbol":`...), v.Data), '}')
	case bsoncore.TypeJavaScript:
		return append(appendLong(append(dst, `{"$code":`...), v.Data), '}')
	case bsoncore.TypeCodeWithScope:
		return s.appendCodeWithScope(dst, v.Data)
	case bsoncore.TypeDBPointer:
		id := v.Data[len(v.Data)-12:]
		dst = appendLong(append(dst, `{"$dbPointer":{"$ref":`...), v.Data)
		dst = appendOID(append(dst, `,"$id":`...), id)
		return append(dst, "}}}"...)
	case bsoncore.TypeUndefined:
		return append(dst, `{"$undefined":true}`...)
	case bsoncore.TypeMinKey:
		return append(dst, `{"$minKey":1}`...)
	case bsoncore.TypeMaxKey:
		return append(dst, `{"$maxKey":1}`...)
	}
	return append(dst, "null"...)
}

// appendLong writes the text that a BSON string's bytes hold.
func appendLong(dst []byte, data []byte) []byte {
	b, _ := text(data)
	return appendText(dst, b)
}

// appendOID leaves the brace open.
func appendOID(dst []byte, id []byte) []byte {
	return append(hex.AppendEncode(append(dst, `{"$oid":"`...), id[:12]), '"')
}

func appendDate(dst []byte, ms int64) []byte {
	at := time.UnixMilli(ms).UTC()
	if ms < 0 || at.Year() > 9999 {
		dst = strconv.AppendInt(append(dst, `{"$date":{"$numberLong":"`...), ms, 10)
		return append(dst, `"}}`...)
	}
	dst = at.AppendFormat(append(dst, `{"$date":"`...), "2006-01-02T15:04:05.999Z07:00")
	return append(dst, `"}`...)
}

// oldBinary is the subtype whose data begins with their length once more.
const oldBinary = 2

func appendBinary(dst []byte, subtype byte, data []byte) []byte {
	if subtype == oldBinary && len(data) >= 4 {
		data = data[4:]
	}
	dst = base64.StdEncoding.AppendEncode(append(dst, `{"$binary":{"base64":"`...), data)
	dst = hex.AppendEncode(append(dst, `","subType":"`...), []byte{subtype})
	return append(dst, `"}}`...)
}

func (s Style) appendCodeWithScope(dst []byte, data []byte) []byte {
	code, scope := []byte(nil), []byte(nil)
	if len(data) > 4 {
		code, _ = text(data[4:])
		if end := 4 + 4 + len(code) + 1; end < len(data) {
			scope = data[end:]
		}
	}
	dst = appendText(append(dst, `{"$code":`...), code)
	dst = s.AppendJSON(append(dst, `,"$scope":`...), scope)
	return append(dst, '}')
}
