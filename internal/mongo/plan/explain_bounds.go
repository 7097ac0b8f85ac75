package plan

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits on the text of bounds.
const (
	maxShownSpans = 1000
	maxShownText  = 160 // bytes of a string
	maxShownValue = 4000
)

// boundsShown is {a: ["[1, 1]"], b: ["[MinKey, MaxKey]"]}, in the direction of the scan.
func (l *leg) boundsShown() doc.Doc {
	var b []byte
	switch {
	case l.below:
		path := doc.String(l.path)
		within := below(doc.String(l.path+"."), doc.String(l.path+"/"))
		b = doc.AppendElement(b, "$_path", shown([]span{pointSpan(path), within}, l.reverse))
		b = doc.AppendElement(b, l.path, shown(nil, l.reverse))
	case l.index.Wildcard:
		b = doc.AppendElement(b, "$_path", shown([]span{pointSpan(doc.String(l.path))}, l.reverse))
		b = doc.AppendElement(b, l.path, shown(l.bounds[0], l.reverse))
	default:
		for i, c := range l.index.Columns {
			spans := l.spans(i)
			if i < len(l.bounds) && spans == nil {
				spans = []span{}
			}
			b = doc.AppendElement(b, c.Path, shown(spans, c.Descending != l.reverse))
		}
	}
	return bsoncore.BuildDocument(nil, b)
}

// shown is an array of the spans as text; nil stands for all values.
func shown(spans []span, down bool) doc.Value {
	if spans == nil {
		spans = []span{closed(doc.Value{Type: bsoncore.TypeMinKey}, doc.Value{Type: bsoncore.TypeMaxKey})}
	}
	var texts []bsoncore.Value
	for i := range spans {
		if i == maxShownSpans {
			texts = append(texts, doc.String("..."))
			break
		}
		texts = append(texts, doc.String(string(appendSpan(nil, inOrder(spans, i, down), down))))
	}
	return doc.Array(bsoncore.BuildArray(nil, texts...))
}

func appendSpan(dst []byte, s *span, down bool) []byte {
	first, last := s.low, s.high
	if down {
		first, last = last, first
	}
	dst = append(dst, "[("[index(first.open)])
	dst = appendText(dst, first.value)
	dst = append(dst, ", "...)
	dst = appendText(dst, last.value)
	return append(dst, "])"[index(last.open)])
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// appendText writes a value in the form that bounds have.
func appendText(dst []byte, v doc.Value) []byte {
	switch v.Type {
	case bsoncore.TypeMinKey:
		return append(dst, "MinKey"...)
	case bsoncore.TypeMaxKey:
		return append(dst, "MaxKey"...)
	case bsoncore.TypeNull:
		return append(dst, "null"...)
	case bsoncore.TypeUndefined:
		return append(dst, "undefined"...)
	case bsoncore.TypeBoolean:
		b, _ := doc.AsBool(v)
		return strconv.AppendBool(dst, b)
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		n, _ := doc.AsInt(v)
		return strconv.AppendInt(dst, n, 10)
	case bsoncore.TypeDouble:
		f, _ := doc.AsFloat(v)
		return appendDouble(dst, f)
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(v)
		return append(dst, d.String()...)
	case bsoncore.TypeString, bsoncore.TypeSymbol:
		v.Type = bsoncore.TypeString
		s, _ := doc.AsString(v)
		return appendQuoted(dst, s)
	case bsoncore.TypeEmbeddedDocument:
		return appendMembers(dst, v, "{", "}", true)
	case bsoncore.TypeArray:
		return appendMembers(dst, v, "[", "]", false)
	}
	return appendRare(dst, v)
}

func appendRare(dst []byte, v doc.Value) []byte {
	switch v.Type {
	case bsoncore.TypeObjectID:
		return code.AppendObjectID(dst, v)
	case bsoncore.TypeDateTime:
		ms, _ := doc.AsDate(v)
		return append(strconv.AppendInt(append(dst, "new Date("...), ms, 10), ')')
	case bsoncore.TypeTimestamp:
		t, i, _ := v.TimestampOK()
		dst = strconv.AppendUint(append(dst, "Timestamp("...), uint64(t), 10)
		return append(strconv.AppendUint(append(dst, ", "...), uint64(i), 10), ')')
	case bsoncore.TypeRegex:
		text, options, _ := v.RegexOK()
		return append(append(append(append(dst, '/'), text...), '/'), options...)
	case bsoncore.TypeBinary:
		subtype, data, _ := v.BinaryOK()
		dst = strconv.AppendUint(append(dst, "BinData("...), uint64(subtype), 10)
		data = data[:min(len(data), maxShownText)]
		return append(append(append(dst, ", "...), strings.ToUpper(hex.EncodeToString(data))...), ')')
	case bsoncore.TypeDBPointer:
		return append(dst, "DBRef(...)"...)
	}
	return append(dst, v.Type.String()...)
}

// appendDouble writes a double, always with a point: 5.0, inf.0.
func appendDouble(dst []byte, f float64) []byte {
	var text string
	switch {
	case math.IsInf(f, 1):
		text = "inf"
	case math.IsInf(f, -1):
		text = "-inf"
	case math.IsNaN(f):
		text = "nan"
	default:
		text = strconv.FormatFloat(f, 'g', 16, 64)
	}
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(dst, text...)
}

func appendQuoted(dst []byte, s string) []byte {
	end := `"`
	if len(s) > maxShownText {
		s, end = s[:maxShownText-10], `..."`
	}
	return append(append(append(dst, '"'), strings.ToValidUTF8(s, "\uFFFD")...), end...)
}

func appendMembers(dst []byte, v doc.Value, begin, end string, named bool) []byte {
	start := len(dst)
	dst = append(dst, begin...)
	separator := " "
	for name, inner := range doc.Members(v.Data) {
		dst = append(dst, separator...)
		if len(dst)-start > maxShownValue {
			dst = append(dst, "..."...)
			break
		}
		if named {
			dst = append(append(dst, strings.ToValidUTF8(name, "\uFFFD")...), ": "...)
		}
		dst, separator = appendText(dst, inner), ", "
	}
	if len(dst) > start+1 {
		dst = append(dst, ' ')
	}
	return append(dst, end...)
}
