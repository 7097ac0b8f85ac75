package function

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Numbers are doubles as IEEE 754 has them, so a computed one may be NaN or an
// infinity. Stored documents have none: JSON cannot write them.

// IsNaN reports whether v is the number NaN.
func IsNaN(v doc.Value) bool {
	f, ok := double(v)
	return ok && math.IsNaN(f)
}

// Finite reports whether neither v nor any number in it is NaN or an infinity.
func Finite(v doc.Value) bool {
	return !has(v, func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) })
}

// Equal is the operator = for values that are not undefined: as doc.Equal, but
// NaN equals nothing, not even itself, and so does what holds one. In the order
// of values, by which rows are sorted, grouped and told apart, it is a value like
// others.
func Equal(a, b doc.Value) bool { return doc.Equal(a, b) && !HasNaN(a) }

// HasNaN reports whether v is NaN or holds it, so that it equals nothing.
func HasNaN(v doc.Value) bool { return has(v, math.IsNaN) }

// has reports whether v is a double, or holds one at any depth, that is as asked.
func has(v doc.Value, is func(float64) bool) bool {
	switch v.Type {
	case bsoncore.TypeDouble:
		f, ok := double(v)
		return ok && is(f)
	case bsoncore.TypeArray, bsoncore.TypeEmbeddedDocument:
		for _, e := range doc.Members(v.Data) {
			if has(e, is) {
				return true
			}
		}
	}
	return false
}

func double(v doc.Value) (float64, bool) {
	if v.Type != bsoncore.TypeDouble || len(v.Data) < 8 {
		return 0, false
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v.Data)), true
}
