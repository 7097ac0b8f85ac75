package keys

import (
	"bytes"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

var (
	undefined = doc.Value{}
	null      = doc.Value{Type: bsoncore.TypeNull}
	no        = doc.Value{Type: bsoncore.TypeBoolean, Data: []byte{0}}
	yes       = doc.Value{Type: bsoncore.TypeBoolean, Data: []byte{1}}
)

func str(s string) doc.Value {
	return doc.Value{Type: bsoncore.TypeString, Data: bsoncore.AppendString(nil, s)}
}

func unsigned(n uint64) doc.Value {
	return doc.Value{Type: bsoncore.TypeDecimal128, Data: bsoncore.AppendDecimal128(nil, decimalInteger, n)}
}

func object(elements ...[]byte) doc.Value {
	return doc.Value{Type: bsoncore.TypeEmbeddedDocument, Data: bsoncore.BuildDocument(nil, elements...)}
}

func array(values ...doc.Value) doc.Value {
	return doc.Value{Type: bsoncore.TypeArray, Data: bsoncore.BuildArray(nil, values...)}
}

// compare is the order of values that encodings have to keep, written without
// looking at them: exact arithmetic for numbers.
func compare(a, b doc.Value) int {
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	switch rank(a) {
	case rankNumber:
		return compareNumbers(a, b)
	case rankString:
		return bytes.Compare(a.Data[4:len(a.Data)-1], b.Data[4:len(b.Data)-1])
	}
	return 0
}

const (
	rankNumber = 4
	rankString = 5
)

func rank(v doc.Value) int {
	switch v.Type {
	case bsoncore.TypeNull:
		return 1
	case bsoncore.TypeBoolean:
		return 2 + int(v.Data[0])
	case bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDouble, bsoncore.TypeDecimal128:
		return rankNumber
	case bsoncore.TypeString:
		return rankString
	case bsoncore.TypeArray:
		return 6
	case bsoncore.TypeEmbeddedDocument:
		return 7
	}
	return 0
}

func compareNumbers(a, b doc.Value) int {
	x, y := exactly(a), exactly(b)
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return -1
	case y == nil:
		return 1
	}
	return x.Cmp(y)
}

// exactly is the number without rounding, nil for NaN.
func exactly(v doc.Value) *big.Float {
	x := new(big.Float).SetPrec(2000)
	switch v.Type {
	case bsoncore.TypeInt32:
		return x.SetInt64(int64(v.Int32()))
	case bsoncore.TypeInt64:
		return x.SetInt64(v.Int64())
	case bsoncore.TypeDecimal128:
		_, low, _, _ := bsoncore.ReadDecimal128(v.Data)
		return x.SetUint64(low)
	}
	f := v.Double()
	if math.IsNaN(f) {
		return nil
	}
	return x.SetFloat64(f)
}

// made builds a value of any kind from numbers and a string, for fuzzing.
func made(kind uint8, n uint64, f float64, s string) doc.Value {
	switch kind % 12 {
	case 0:
		return undefined
	case 1:
		return null
	case 2:
		return no
	case 3:
		return yes
	case 4, 5:
		return doc.Int(int64(n))
	case 6:
		return unsigned(n)
	case 7:
		return doc.Double(f)
	case 8:
		return doc.Double(float64(n)) // near the integers of 4 to 6
	case 9:
		return doc.Value{Type: bsoncore.TypeInt32, Data: bsoncore.AppendInt32(nil, int32(n))}
	case 10:
		return str(s)
	}
	if n%2 == 0 {
		return array(str(s))
	}
	return object(bsoncore.AppendDoubleElement(nil, "a", f), bsoncore.AppendBinaryElement(nil, "b", 0, []byte(s)))
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
