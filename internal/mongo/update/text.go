package update

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// maxText limits the text of a value in a message, in bytes.
const maxText = 1024

// elementText writes a member as MongoDB's messages do: a: 1.
func elementText(name string, v doc.Value) string { return name + ": " + valueText(v) }

// valueText writes a value as MongoDB's messages do, cut where it is long.
func valueText(v doc.Value) string {
	var b strings.Builder
	appendText(&b, v)
	if b.Len() <= maxText {
		return b.String()
	}
	return strings.ToValidUTF8(b.String()[:maxText], "") + "..."
}

// appendText writes a value. It stops after maxText bytes, which also limits its recursion.
func appendText(b *strings.Builder, v doc.Value) {
	if b.Len() > maxText {
		return
	}
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument, bsoncore.TypeArray:
		appendMembers(b, v)
	case bsoncore.TypeString, bsoncore.TypeSymbol:
		s, _ := doc.AsString(doc.Value{Type: bsoncore.TypeString, Data: v.Data})
		b.WriteString(`"` + s[:min(len(s), maxText)] + `"`)
	case bsoncore.TypeBinary:
		if len(v.Data) >= 5 {
			fmt.Fprintf(b, "BinData(%d, %s)", v.Data[4],
				strings.ToUpper(hex.EncodeToString(v.Data[5:min(len(v.Data), maxText)])))
		}
	case bsoncore.TypeObjectID:
		b.Write(code.AppendObjectID(nil, v))
	case bsoncore.TypeDateTime:
		ms, _ := doc.AsDate(v)
		fmt.Fprintf(b, "new Date(%d)", ms)
	case bsoncore.TypeTimestamp:
		seconds, count, _ := v.TimestampOK()
		fmt.Fprintf(b, "Timestamp(%d, %d)", seconds, count)
	case bsoncore.TypeRegex:
		pattern, options, _ := v.RegexOK()
		b.WriteString("/" + pattern[:min(len(pattern), maxText)] + "/" + options[:min(len(options), maxText)])
	case bsoncore.TypeNull:
		b.WriteString("null")
	case bsoncore.TypeBoolean:
		t, _ := doc.AsBool(v)
		b.WriteString(strconv.FormatBool(t))
	case bsoncore.TypeDouble:
		f, _ := doc.AsFloat(v)
		b.WriteString(doubleText(f))
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		i, _ := doc.AsInt(v)
		b.WriteString(strconv.FormatInt(i, 10))
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(v)
		b.WriteString(d.String())
	default:
		b.WriteString(code.TypeName(v))
	}
}

func appendMembers(b *strings.Builder, v doc.Value) {
	open, close := "{", "}"
	if v.Type == bsoncore.TypeArray {
		open, close = "[", "]"
	}
	b.WriteString(open)
	separator := " "
	for name, m := range doc.Members(v.Data) {
		if b.Len() > maxText {
			break
		}
		b.WriteString(separator)
		if open == "{" {
			b.WriteString(name[:min(len(name), maxText)] + ": ")
		}
		appendText(b, m)
		separator = ", "
	}
	if separator != " " {
		b.WriteByte(' ')
	}
	b.WriteString(close)
}

func doubleText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+")
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
