package function

import (
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// toString is a value as JSON in the form of query rows; strings are unchanged.
func toString(c *Call, args []doc.Value) doc.Value {
	v := args[0]
	if v.Type == bsoncore.TypeString || doc.IsUndefined(v) {
		return v
	}
	if f, ok := doc.AsFloat(v); ok {
		switch {
		case math.IsNaN(f):
			return scratchOf(c).copy("NaN")
		case math.IsInf(f, 1):
			return scratchOf(c).copy("Infinity")
		case math.IsInf(f, -1):
			return scratchOf(c).copy("-Infinity")
		}
	}
	r := scratchOf(c)
	b := doc.Query.AppendJSONValue(r.begin(), v)
	if len(b) > maxTextBytes {
		return failText(c)
	}
	return r.text(b)
}

// jsonSpace is the white space of JSON (RFC 8259, section 2).
const jsonSpace = " \t\r\n"

// parsed returns a function that parses JSON beginning with one of the given characters; other text makes the result
// undefined.
func parsed(begin string) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		s, ok := doc.AsString(args[0])
		if !ok {
			return undefined
		}
		s = strings.TrimLeft(s, jsonSpace)
		if s == "" || strings.IndexByte(begin, s[0]) < 0 {
			return undefined
		}
		r := scratchOf(c)
		r.left = append(r.left[:0], s...)
		v, err := doc.ValueFromJSON(r.left)
		if err != nil {
			return undefined
		}
		return v
	}
}
