package code

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// https://www.mongodb.com/docs/v7.0/reference/bson-types/
var typeNames = map[bsoncore.Type]string{
	0: "missing", bsoncore.TypeDouble: "double", bsoncore.TypeString: "string", bsoncore.TypeEmbeddedDocument: "object",
	bsoncore.TypeArray: "array", bsoncore.TypeBinary: "binData", bsoncore.TypeUndefined: "undefined",
	bsoncore.TypeObjectID: "objectId", bsoncore.TypeBoolean: "bool", bsoncore.TypeDateTime: "date",
	bsoncore.TypeNull:  "null",
	bsoncore.TypeRegex: "regex", bsoncore.TypeDBPointer: "dbPointer", bsoncore.TypeJavaScript: "javascript",
	bsoncore.TypeSymbol: "symbol", bsoncore.TypeCodeWithScope: "javascriptWithScope", bsoncore.TypeInt32: "int",
	bsoncore.TypeTimestamp: "timestamp", bsoncore.TypeInt64: "long", bsoncore.TypeDecimal128: "decimal",
	bsoncore.TypeMinKey: "minKey", bsoncore.TypeMaxKey: "maxKey",
}

// TypeName is MongoDB's name of a value's type, as $type has it; "missing" for a value that is not there.
func TypeName(v doc.Value) string { return typeNames[v.Type] }

// TypeNamed is the type with a name. TypeName(doc.Value{Type: t}) is "" for what is not a type.
func TypeNamed(name string) (t bsoncore.Type, ok bool) {
	for t, of := range typeNames {
		if of == name {
			return t, true
		}
	}
	return 0, false
}

// Limits on the text of a value, in bytes.
const (
	maxShown  = 500 // of a value in a message
	maxBrief  = 160 // of a string in a summary, from which on it is shortened
	briefText = 150 // what is left of it then
	levels    = 10  // of documents in one another
)

// Show formats a value as MongoDB's error messages do, cut after maxShown bytes.
func Show(v doc.Value) string {
	x := shower{limit: maxShown}
	b := x.append(nil, v, levels)
	if len(b) > maxShown {
		return Cut(string(b), maxShown) + "..."
	}
	return string(b)
}

// Summary formats a value as MongoDB does in place of a command that is too large to be shown: long strings are
// shortened, and the text ends after limit bytes.
// mongodb/mongo: src/mongo/bson/bsonelement.cpp, toString; src/mongo/db/curop.cpp, appendAsObjOrString
func Summary(v doc.Value, limit int) string {
	x := shower{limit: limit, brief: true}
	b := x.append(nil, v, levels)
	if len(b) > limit {
		return Cut(string(b), limit-3) + "..."
	}
	return string(b)
}

// Cut gives the beginning of a text, at most limit bytes of it, which ends with a whole character.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && end > limit-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// A shower formats values, until the text is longer than limit.
type shower struct {
	limit int
	brief bool // long strings are shortened
}

func (x shower) append(dst []byte, v doc.Value, levels int) []byte {
	switch v.Type {
	case 0:
		return append(dst, "MISSING"...)
	case bsoncore.TypeString:
		s, _ := doc.AsString(v)
		if x.brief && len(s) >= maxBrief {
			return append(append(append(dst, '"'), Cut(s, briefText)...), "...\""...)
		}
		return append(append(append(dst, '"'), Cut(s, x.limit)...), '"')
	case bsoncore.TypeEmbeddedDocument, bsoncore.TypeArray:
		return x.appendBody(dst, v, levels)
	case bsoncore.TypeNull, bsoncore.TypeUndefined:
		return append(dst, TypeName(v)...)
	case bsoncore.TypeBoolean:
		b, _ := doc.AsBool(v)
		return strconv.AppendBool(dst, b)
	case bsoncore.TypeObjectID:
		return AppendObjectID(dst, v)
	case bsoncore.TypeDateTime:
		ms, _ := doc.AsDate(v)
		return time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	}
	if v.Type == bsoncore.TypeInt32 || v.Type == bsoncore.TypeInt64 || v.Type == bsoncore.TypeDouble ||
		v.Type == bsoncore.TypeDecimal128 {
		return appendShownNumber(dst, v)
	}
	return append(append(append(dst, '<'), TypeName(v)...), '>')
}

// AppendObjectID appends an ObjectId as the shell writes it.
func AppendObjectID(dst []byte, v doc.Value) []byte {
	return append(hex.AppendEncode(append(dst, "ObjectId('"...), v.Data[:min(12, len(v.Data))]), "')"...)
}

func appendShownNumber(dst []byte, v doc.Value) []byte {
	if d, ok := doc.AsDecimal(v); ok {
		return append(dst, d.String()...)
	}
	f, _ := doc.AsFloat(v)
	if v.Type != bsoncore.TypeDouble {
		i, _ := doc.AsInt(v)
		return strconv.AppendInt(dst, i, 10)
	}
	dst = strconv.AppendFloat(dst, f, 'g', 15, 64)
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		dst = append(dst, ".0"...)
	}
	return dst
}

func (x shower) appendBody(dst []byte, v doc.Value, levels int) []byte {
	open, closed := "{ ", " }"
	if doc.IsArray(v) {
		open, closed = "[ ", " ]"
	}
	dst = append(dst, open...)
	n := 0
	for name, m := range doc.Members(v.Data) {
		if n > 0 {
			dst = append(dst, ", "...)
		}
		n++
		if levels == 0 || len(dst) > x.limit {
			dst = append(dst, "..."...)
			break
		}
		if v.Type == bsoncore.TypeEmbeddedDocument {
			dst = append(append(dst, Cut(name, x.limit)...), ": "...)
		}
		dst = x.append(dst, m, levels-1)
	}
	if n == 0 {
		return append(dst[:len(dst)-1], closed[1:]...)
	}
	return append(dst, closed...)
}
