package function

import (
	"bytes"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

const noteEmptyArray = "The reference does not document the result for an empty array. It is undefined, or 0 for a sum."

var arrayFunctions = []Function{
	{Name: "ARRAY_AVG", Family: "Array", Min: 1, Max: 1, Run: arrayAvg, Note: noteEmptyArray},
	{Name: "ARRAY_CONCAT", Family: "Array", Min: 2, Max: -1, Run: arrayConcat},
	{Name: "ARRAY_CONTAINS", Family: "Array", Min: 2, Max: 3, Run: arrayContains},
	{Name: "ARRAY_CONTAINS_ALL", Family: "Array", Min: 2, Max: -1, Run: arrayContainsMany(false)},
	{Name: "ARRAY_CONTAINS_ANY", Family: "Array", Min: 2, Max: -1, Run: arrayContainsMany(true)},
	{Name: "ARRAY_LENGTH", Family: "Array", Min: 1, Max: 1, Run: arrayLength},
	{Name: "ARRAY_MAX", Family: "Array", Min: 1, Max: 1, Run: arrayExtreme(1), Note: noteEmptyArray},
	{Name: "ARRAY_MEDIAN", Family: "Array", Min: 1, Max: 1, Run: arrayMedian, Note: noteEmptyArray},
	{Name: "ARRAY_MIN", Family: "Array", Min: 1, Max: 1, Run: arrayExtreme(-1), Note: noteEmptyArray},
	{Name: "ARRAY_SLICE", Family: "Array", Min: 2, Max: 3, Run: arraySlice},
	{Name: "ARRAY_SUM", Family: "Array", Min: 1, Max: 1, Run: arraySum, Note: noteEmptyArray},
	{Name: "CHOOSE", Family: "Array", Min: 2, Max: -1, Run: choose},
	{Name: "OBJECTTOARRAY", Family: "Array", Min: 1, Max: 3, Run: objectToArray},
	{Name: "SETDIFFERENCE", Family: "Array", Min: 2, Max: 2, Run: setDifference},
	{Name: "SETEQUAL", Family: "Array", Min: 2, Max: 2, Run: setEqual},
	{Name: "SETINTERSECT", Family: "Array", Min: 2, Max: 2, Run: setIntersect},
	{Name: "SETUNION", Family: "Array", Min: 2, Max: 2, Run: setUnion},
}

func arrayConcat(c *Call, args []doc.Value) doc.Value {
	r := scratchOf(c)
	l := r.list()
	for _, arg := range args {
		if !doc.IsArray(arg) {
			return undefined
		}
		for v := range doc.Elements(arg) {
			l.add(v)
		}
		if len(l.b) > maxArrayBytes {
			return failArray(c)
		}
	}
	return r.array(c, l)
}

// arrayContains with a true third argument treats an object as a pattern: an element matches if it has all of the
// pattern's members with equal values.
func arrayContains(c *Call, args []doc.Value) doc.Value {
	partial, ok := flag(args, 2)
	if !ok || !doc.IsArray(args[0]) || doc.IsUndefined(args[1]) {
		return undefined
	}
	if pattern, isObject := doc.AsDoc(args[1]); partial && isObject {
		return truth(hasPart(c, args[0], pattern))
	}
	return truth(hasElement(c, args[0], args[1]))
}

func arrayContainsMany(anyOf bool) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		o := verdict{decisive: anyOf}
		for _, arg := range args[1:] {
			known := doc.IsArray(args[0]) && !doc.IsUndefined(arg)
			if c.spendBytes(len(args[0].Data)) {
				return undefined
			}
			if o.take(known && hasElement(c, args[0], arg), known) {
				return truth(anyOf)
			}
		}
		return o.none()
	}
}

func hasElement(c *Call, array, needle doc.Value) bool {
	if needle.Type == bsoncore.TypeString {
		return hasText(array, needle)
	}
	for v := range doc.Elements(array) {
		if Equal(v, needle) {
			return true
		}
		if c.spendBytes(len(v.Data)) {
			break
		}
	}
	return false
}

// hasText is hasElement for strings, which are equal if their bytes are.
func hasText(array, needle doc.Value) bool {
	for v := range doc.Elements(array) {
		if v.Type == bsoncore.TypeString && bytes.Equal(v.Data, needle.Data) {
			return true
		}
	}
	return false
}

func hasPart(c *Call, array doc.Value, pattern doc.Doc) bool {
	for v := range doc.Elements(array) {
		if object, ok := doc.AsDoc(v); ok && isPart(c, object, pattern) {
			return true
		}
		if c.spendBytes(len(v.Data)) {
			break
		}
	}
	return false
}

func isPart(c *Call, object, pattern doc.Doc) bool {
	for name, want := range doc.Members(pattern) {
		if c.spendBytes(len(object)) {
			return false
		}
		if have := doc.Lookup(object, name); doc.IsUndefined(have) || !Equal(have, want) {
			return false
		}
	}
	return true
}

func countElements(array doc.Value) (n int64) {
	for range doc.Elements(array) {
		n++
	}
	return n
}

func arrayLength(c *Call, args []doc.Value) doc.Value {
	if !doc.IsArray(args[0]) {
		return undefined
	}
	return scratchOf(c).int(countElements(args[0]))
}

// arraySlice counts negative positions from the end.
func arraySlice(c *Call, args []doc.Value) doc.Value {
	from, ok := doc.AsInt(args[1])
	if !ok || !doc.IsArray(args[0]) {
		return undefined
	}
	total := countElements(args[0])
	n, ok := optionalInt(args, 2, total)
	if !ok {
		return undefined
	}
	if from < 0 {
		from = max(from+total, 0)
	}
	from = min(from, total)
	n = min(n, total-from)
	if n == total {
		return args[0]
	}
	return sliceArray(c, args[0], from, from+n)
}

func sliceArray(c *Call, array doc.Value, from, to int64) doc.Value {
	r := scratchOf(c)
	l := r.list()
	at := int64(0)
	for v := range doc.Elements(array) {
		if at >= to {
			break
		}
		if at >= from {
			l.add(v)
		}
		at++
	}
	return r.array(c, l)
}

// choose numbers its arguments from 1.
func choose(_ *Call, args []doc.Value) doc.Value {
	n, ok := doc.AsInt(args[0])
	if !ok || n < 1 || n >= int64(len(args)) {
		return undefined
	}
	return args[n]
}

// objectToArray names the two members of an element k and v by default.
func objectToArray(c *Call, args []doc.Value) doc.Value {
	object, ok := doc.AsDoc(args[0])
	name, okName := memberName(args, 1, "k")
	value, okValue := memberName(args, 2, "v")
	if !ok || !okName || !okValue {
		return undefined
	}
	r := scratchOf(c)
	l := r.list()
	for member, v := range doc.Members(object) {
		l.head(bsoncore.TypeEmbeddedDocument)
		var at int32
		at, l.b = bsoncore.AppendDocumentStart(l.b)
		if name != value {
			l.b = bsoncore.AppendHeader(l.b, bsoncore.TypeString, name)
			l.b = appendText(l.b, member)
		}
		l.b = append(bsoncore.AppendHeader(l.b, v.Type, value), v.Data...)
		l.b = append(l.b, 0)
		l.b = bsoncore.UpdateLength(l.b, at, int32(len(l.b))-at)
		if len(l.b) > maxArrayBytes {
			return failArray(c)
		}
	}
	return r.array(c, l)
}

// memberName returns an optional name. It rejects names that a document cannot have.
func memberName(args []doc.Value, at int, otherwise string) (string, bool) {
	if len(args) <= at {
		return otherwise, true
	}
	s, ok := doc.AsString(args[at])
	return s, ok && strings.IndexByte(s, 0) < 0
}
