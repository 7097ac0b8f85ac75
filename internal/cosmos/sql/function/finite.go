package function

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Numbers are IEEE 754 doubles, so a computed one may be NaN or infinite. Stored documents have no such numbers,
// because JSON cannot represent them.

// IsNaN reports whether v is the number NaN.
func IsNaN(v doc.Value) bool {
	f, ok := double(v)
	return ok && math.IsNaN(f)
}

// Finite reports whether neither v nor any number in it is NaN or an infinity.
func Finite(v doc.Value) bool {
	return !has(v, func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) })
}

// Equal is the operator = for defined values: doc.Equal, except that NaN, and every value that contains it, equals
// nothing, not even itself. In the order of values, by which rows are sorted, grouped and deduplicated, NaN is an
// ordinary value.
func Equal(a, b doc.Value) bool { return doc.Equal(a, b) && !HasNaN(a) }

// HasNaN reports whether v is or contains NaN, so that it equals nothing.
func HasNaN(v doc.Value) bool { return has(v, math.IsNaN) }

// has reports whether v is a double for which is returns true, or contains one at any depth.
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
