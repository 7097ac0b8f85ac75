package doc

import (
	"bytes"
	"cmp"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// The canonical types of MongoDB: the first thing that its order of values compares.
// All types of numbers have the same one, and so have strings and symbols.
// https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
const (
	CanonicalMinKey    = -1
	CanonicalUndefined = 0 // the zero Value too
	CanonicalNull      = 5
	CanonicalNumber    = 10
	CanonicalString    = 15
	CanonicalObject    = 20
	CanonicalArray     = 25
	CanonicalBinary    = 30
	CanonicalObjectID  = 35
	CanonicalBool      = 40
	CanonicalDate      = 45
	CanonicalTimestamp = 47
	CanonicalRegex     = 50
	CanonicalDBPointer = 55
	CanonicalCode      = 60
	CanonicalScope     = 65  // code with scope
	CanonicalUnknown   = 126 // not a BSON type
	CanonicalMaxKey    = 127
)

var canonicalTypes = func() (t [256]int8) {
	for i := range t {
		t[i] = CanonicalUnknown
	}
	for kind, number := range map[bsoncore.Type]int8{
		0: CanonicalUndefined, bsoncore.TypeUndefined: CanonicalUndefined,
		bsoncore.TypeMinKey: CanonicalMinKey, bsoncore.TypeMaxKey: CanonicalMaxKey,
		bsoncore.TypeNull:  CanonicalNull,
		bsoncore.TypeInt32: CanonicalNumber, bsoncore.TypeInt64: CanonicalNumber,
		bsoncore.TypeDouble: CanonicalNumber, bsoncore.TypeDecimal128: CanonicalNumber,
		bsoncore.TypeString: CanonicalString, bsoncore.TypeSymbol: CanonicalString,
		bsoncore.TypeEmbeddedDocument: CanonicalObject, bsoncore.TypeArray: CanonicalArray,
		bsoncore.TypeBinary: CanonicalBinary, bsoncore.TypeObjectID: CanonicalObjectID,
		bsoncore.TypeBoolean: CanonicalBool, bsoncore.TypeDateTime: CanonicalDate,
		bsoncore.TypeTimestamp: CanonicalTimestamp, bsoncore.TypeRegex: CanonicalRegex,
		bsoncore.TypeDBPointer: CanonicalDBPointer, bsoncore.TypeJavaScript: CanonicalCode,
		bsoncore.TypeCodeWithScope: CanonicalScope,
	} {
		t[kind] = number
	}
	return t
}()

// CanonicalType returns the canonical type of v, one of the Canonical constants.
// The operators of queries compare only values of the same canonical type.
func CanonicalType(v Value) int { return int(canonicalTypes[v.Type]) }

// IsNumberBSON reports whether v is a number in MongoDB's order: of one of the four
// numeric types, whatever its value. IsNumber is the same for Cosmos DB.
func IsNumberBSON(v Value) bool { return canonicalTypes[v.Type] == CanonicalNumber }

// MaxCompareDepth is how deep CompareBSON compares nested values. Deeper values,
// which no document has, sort by their bytes.
const MaxCompareDepth = 256

// CompareBSON is MongoDB's order of values: -1 if a sorts before b, 0 if they
// are equal, +1 otherwise. Types sort by CanonicalType; numbers by value, exactly
// and whatever their types, NaN being the least and equal to itself; strings byte
// by byte; objects member by member in the order that they have, each first by
// type, then by name, then by value; arrays element by element; binary data by
// length, subtype and bytes; dates signed and timestamps unsigned. It is a total
// order. An undefined value sorts below null; callers that treat it as null have to
// replace it.
//
// https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
func CompareBSON(a, b Value) int { return compareBSON(a, b, MaxCompareDepth) }

// EqualBSON reports whether CompareBSON gives 0.
func EqualBSON(a, b Value) bool {
	return a.Type == b.Type && bytes.Equal(a.Data, b.Data) || CompareBSON(a, b) == 0
}

func compareBSON(a, b Value, levels int) int {
	kind := canonicalTypes[a.Type]
	if c := cmp.Compare(kind, canonicalTypes[b.Type]); c != 0 {
		return c
	}
	switch kind {
	case CanonicalNumber:
		return compareReals(a, b)
	case CanonicalString, CanonicalCode:
		return bytes.Compare(textOf(a.Data), textOf(b.Data))
	case CanonicalObject, CanonicalArray:
		if levels == 0 {
			return bytes.Compare(a.Data, b.Data)
		}
		return compareBodies(body(a.Data), body(b.Data), kind == CanonicalObject, levels-1)
	case CanonicalMinKey, CanonicalUndefined, CanonicalNull, CanonicalMaxKey:
		return 0
	case CanonicalDate:
		return cmp.Compare(int64(Uint64Padded(a.Data)), int64(Uint64Padded(b.Data)))
	case CanonicalTimestamp:
		return cmp.Compare(Uint64Padded(a.Data), Uint64Padded(b.Data))
	case CanonicalBool:
		return cmp.Compare(truth(a), truth(b))
	case CanonicalScope:
		return compareScopes(a, b, levels)
	case CanonicalBinary:
		m, n := Payload(a), Payload(b)
		return cmp.Or(cmp.Compare(len(m), len(n)), bytes.Compare(m, n))
	case CanonicalDBPointer:
		return cmp.Or(cmp.Compare(len(a.Data), len(b.Data)), bytes.Compare(a.Data, b.Data))
	case CanonicalObjectID:
		m, n := objectID(a), objectID(b)
		return bytes.Compare(m[:], n[:])
	}
	// A regular expression, whose two parts end in NULs, and what is unknown.
	return cmp.Or(bytes.Compare(a.Data, b.Data), cmp.Compare(a.Type, b.Type))
}

// compareBodies compares element by element. Names count in objects only.
func compareBodies(a, b []byte, named bool, levels int) int {
	if bytes.Equal(a, b) {
		return 0
	}
	for {
		m, more := next(a)
		n, other := next(b)
		if !more || !other {
			return compareBools(more, other)
		}
		if named {
			if c := cmp.Compare(canonicalTypes[m.kind], canonicalTypes[n.kind]); c != 0 {
				return c
			}
			if c := bytes.Compare(m.name, n.name); c != 0 {
				return c
			}
		}
		if c := compareBSON(m.value(), n.value(), levels); c != 0 {
			return c
		}
		a, b = a[m.size:], b[n.size:]
	}
}

func compareScopes(a, b Value, levels int) int {
	code, scope := CodeWithScope(a)
	other, around := CodeWithScope(b)
	if c := bytes.Compare(code, other); c != 0 {
		return c
	}
	return compareBSON(Object(scope), Object(around), levels)
}

// CodeWithScope returns the two parts of code with scope, sharing its bytes; both
// are empty if v is not code with scope.
func CodeWithScope(v Value) (code []byte, scope Doc) {
	if v.Type != bsoncore.TypeCodeWithScope || len(v.Data) < 4 {
		return nil, nil
	}
	rest := v.Data[4:]
	code, ok := text(rest)
	if !ok {
		return nil, nil
	}
	return code, rest[4+len(code)+1:]
}

// Payload is the subtype of binary data, one byte, and the data after it, sharing
// the bytes of v.
func Payload(v Value) []byte { return v.Data[min(4, len(v.Data)):] }

// textOf is the content of a BSON string, nil if data is not one.
func textOf(data []byte) []byte {
	b, _ := text(data)
	return b
}

func objectID(v Value) (id [12]byte) {
	copy(id[:], v.Data)
	return id
}

func truth(v Value) byte {
	if len(v.Data) > 0 && v.Data[0] != 0 {
		return 1
	}
	return 0
}

// compareReals compares numbers of any type.
func compareReals(a, b Value) int {
	if a.Type != bsoncore.TypeDecimal128 && b.Type != bsoncore.TypeDecimal128 {
		return compareNumbers(readBinaryNumber(a), readBinaryNumber(b))
	}
	m, x, wide := readReal(a)
	n, y, other := readReal(b)
	switch {
	case !wide && !other:
		return compareNumbers(m, n)
	case wide && other:
		return compareDecimals(x, y)
	case wide:
		return compareDecimal(x, n)
	}
	return -compareDecimal(y, m)
}

// readReal reads a number of any type: as a Decimal, finite and not zero, when
// wide, else as a number.
func readReal(v Value) (n number, d Decimal, wide bool) {
	if v.Type == bsoncore.TypeDecimal128 {
		return readDecimal128(v.Data)
	}
	return readBinaryNumber(v), d, false
}

// readBinaryNumber reads a number that is not a Decimal128. Other values count as
// zero.
func readBinaryNumber(v Value) number {
	switch v.Type {
	case bsoncore.TypeDouble:
		return number{class: classFloat, f: math.Float64frombits(Uint64Padded(v.Data))}
	case bsoncore.TypeInt32:
		return number{i: int64(Int32Padded(v.Data))}
	}
	return number{i: int64(Uint64Padded(v.Data))}
}

func readDecimal128(data []byte) (n number, d Decimal, wide bool) {
	d = unpackDecimal(data)
	switch {
	case d.Form == DecimalNaN:
		return number{class: classFloat, f: math.NaN()}, d, false
	case d.Form == DecimalInfinite && d.Negative:
		return number{class: classFloat, f: math.Inf(-1)}, d, false
	case d.Form == DecimalInfinite:
		return number{class: classFloat, f: math.Inf(1)}, d, false
	case d.IsZero():
		return number{}, d, false
	}
	return number{}, d, true
}

func compareDecimals(a, b Decimal) int {
	if a.Negative != b.Negative {
		return compareBools(b.Negative, a.Negative)
	}
	if a.Negative {
		return compareMagnitudes(b, a)
	}
	return compareMagnitudes(a, b)
}

// compareDecimal compares a Decimal, finite and not zero, with a number.
func compareDecimal(d Decimal, n number) int {
	switch {
	case n.class == classInt && n.i != 0:
		return compareDecimals(d, DecimalOf(n.i))
	case math.IsNaN(n.f):
		return 1
	}
	sign := 1
	if d.Negative {
		sign = -1
	}
	switch {
	case math.IsInf(n.f, 0):
		return cmp.Compare(0, n.f)
	case n.f == 0 || (n.f < 0) != d.Negative:
		return sign
	}
	return sign * d.compareMagnitude(math.Abs(n.f))
}
