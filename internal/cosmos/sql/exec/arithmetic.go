package exec

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// number is v as a double, with a fast path for the usual types.
func number(v doc.Value) (float64, bool) {
	if len(v.Data) >= 8 {
		switch v.Type {
		case bsoncore.TypeDouble:
			return math.Float64frombits(binary.LittleEndian.Uint64(v.Data)), true
		case bsoncore.TypeInt64:
			return float64(int64(binary.LittleEndian.Uint64(v.Data))), true
		}
	}
	return doc.AsFloat(v)
}

// arithmetic is x op y on doubles, or undefined if an operand is not a number. The result may be NaN or infinite:
// 1/0.
func arithmetic(op syntax.Op, x, y eval) eval {
	return func(f *frame) doc.Value {
		a, ok := number(x(f))
		if !ok {
			return doc.Value{}
		}
		b, ok := number(y(f))
		if !ok {
			return doc.Value{}
		}
		return f.mem.float(calculate(op, a, b))
	}
}

func calculate(op syntax.Op, a, b float64) float64 {
	switch op {
	case syntax.Add:
		return a + b
	case syntax.Sub:
		return a - b
	case syntax.Mul:
		return a * b
	case syntax.Div:
		return a / b
	case syntax.Mod:
		return math.Mod(a, b)
	}
	return float64(bitwise(op, a, b))
}

// bitwise computes on 32-bit integers as JavaScript does, to which the reference's page "Bitwise operators" refers.
func bitwise(op syntax.Op, a, b float64) int64 {
	x, y := toInt32(a), toInt32(b)
	shift := uint32(y) & 31
	switch op {
	case syntax.BitOr:
		return int64(x | y)
	case syntax.BitXor:
		return int64(x ^ y)
	case syntax.BitAnd:
		return int64(x & y)
	case syntax.ShiftLeft:
		return int64(x << shift)
	case syntax.ShiftRight:
		return int64(x >> shift)
	}
	return int64(uint32(x) >> shift)
}

// toInt32 is ECMAScript's ToInt32: truncated, modulo 2^32, signed.
func toInt32(f float64) int32 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return int32(uint32(int64(math.Mod(math.Trunc(f), 1<<32))))
}

func unary(op syntax.Op, x eval) eval {
	return func(f *frame) doc.Value {
		a, ok := number(x(f))
		if !ok {
			return doc.Value{}
		}
		switch op {
		case syntax.Minus:
			a = -a
		case syntax.BitNot:
			a = float64(^toInt32(a))
		}
		return f.mem.float(a)
	}
}

// maxText is the longest string that an expression may create.
const maxText = 8 << 20

// concat is x || y || …. All operands must be strings.
func concat(parts []eval) eval {
	return func(f *frame) doc.Value {
		var space [8]string
		texts, total := space[:0], 0
		for _, part := range parts {
			s, ok := doc.AsString(part(f))
			if !ok {
				return doc.Value{}
			}
			texts, total = append(texts, s), total+len(s)
			if total > maxText {
				return f.fail(errText)
			}
		}
		if !f.mayHold(total) || !f.spend(total) {
			return doc.Value{}
		}
		return f.mem.text(texts...)
	}
}

var errText = fault.New(fault.TooLarge, "An expression makes a string of more than %d MiB.", maxText>>20)
