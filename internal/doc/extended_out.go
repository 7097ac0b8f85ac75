package doc

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// AppendCanonicalJSON appends d in MongoDB's canonical extended JSON, which keeps the type of every value: the number
// 5 is {"$numberInt":"5"}. FromJSON and FromExtended lead back to the same bytes.
func AppendCanonicalJSON(dst []byte, d Doc) []byte {
	dst = append(dst, '{')
	first := true
	for name, v := range Members(d) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(AppendJSONString(dst, name), ':')
		dst = appendCanonicalValue(dst, v)
	}
	return append(dst, '}')
}

// AppendRelaxedJSON appends d in MongoDB's relaxed extended JSON, whose numbers are plain.
func AppendRelaxedJSON(dst []byte, d Doc) []byte {
	return AppendJSON(dst, appendExtendedDoc(nil, d))
}

func appendCanonicalValue(dst []byte, v Value) []byte {
	switch v.Type {
	case bsoncore.TypeString, bsoncore.TypeBoolean, bsoncore.TypeNull:
		return AppendJSONValue(dst, v)
	case bsoncore.TypeEmbeddedDocument:
		return AppendCanonicalJSON(dst, v.Data)
	case bsoncore.TypeArray:
		dst = append(dst, '[')
		first := true
		for element := range Elements(v) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = appendCanonicalValue(dst, element)
		}
		return append(dst, ']')
	case bsoncore.TypeInt32:
		n := int64(int32(binary.LittleEndian.Uint32(v.Data)))
		return append(strconv.AppendInt(append(dst, `{"$numberInt":"`...), n, 10), `"}`...)
	case bsoncore.TypeInt64:
		n := int64(binary.LittleEndian.Uint64(v.Data))
		return append(strconv.AppendInt(append(dst, `{"$numberLong":"`...), n, 10), `"}`...)
	case bsoncore.TypeDouble:
		f := math.Float64frombits(binary.LittleEndian.Uint64(v.Data))
		return append(append(append(dst, `{"$numberDouble":"`...), canonicalDouble(f)...), `"}`...)
	case bsoncore.TypeDecimal128: // also those that other forms show as plain numbers
		text := unpackDecimal(v.Data).String()
		return append(append(append(dst, `{"$numberDecimal":"`...), text...), `"}`...)
	case bsoncore.TypeDateTime:
		ms := int64(binary.LittleEndian.Uint64(v.Data))
		return append(strconv.AppendInt(append(dst, `{"$date":{"$numberLong":"`...), ms, 10), `"}}`...)
	case bsoncore.TypeCodeWithScope:
		code, scope := CodeWithScope(v)
		dst = AppendJSONString(append(dst, `{"$code":`...), view(code))
		return append(AppendCanonicalJSON(append(dst, `,"$scope":`...), scope), '}')
	}
	return PointRead.appendExtended(dst, v)
}

// canonicalDouble has a point or an exponent, so that a reader does not take it for a whole number.
func canonicalDouble(f float64) string {
	if text := NonFinite(f); text != "" {
		return text
	}
	text := strconv.FormatFloat(f, 'G', -1, 64)
	if strings.ContainsAny(text, ".E") {
		return text
	}
	return text + ".0"
}
