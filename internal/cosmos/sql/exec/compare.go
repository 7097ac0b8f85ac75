package exec

import (
	"cmp"
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// equal is a = b, or undefined if an operand is undefined. Values of different types are not equal; arrays and
// objects are compared deeply. NaN equals nothing.
func equal(a, b doc.Value) tri {
	if a.Type == 0 || b.Type == 0 {
		return unknown
	}
	return triOf(function.Equal(a, b))
}

// order compares a and b for <, <=, > and >=. ok is false for values of different types, and for arrays and objects.
func order(a, b doc.Value) (c int, ok bool) {
	if a.Type == b.Type {
		switch a.Type {
		case bsoncore.TypeString:
			x, _ := doc.AsString(a)
			y, _ := doc.AsString(b)
			return cmp.Compare(x, y), true
		case 0, bsoncore.TypeArray, bsoncore.TypeEmbeddedDocument:
			return 0, false
		}
		return doc.Compare(a, b), true
	}
	if a.Type == 0 || b.Type == 0 || doc.RankOf(a) != doc.RankNumber || doc.RankOf(b) != doc.RankNumber {
		return 0, false
	}
	return doc.Compare(a, b), true
}

// compare is a op b for the six comparisons.
func compare(op syntax.Op, a, b doc.Value) tri {
	switch op {
	case syntax.Eq:
		return equal(a, b)
	case syntax.Ne:
		return equal(a, b).not()
	}
	c, ok := order(a, b)
	switch {
	case !ok:
		return unknown
	case function.IsNaN(a), function.IsNaN(b):
		return no
	}
	return triOf(holds(op, c))
}

// holds reports whether the comparison result c satisfies op.
func holds(op syntax.Op, c int) bool {
	switch op {
	case syntax.Eq:
		return c == 0
	case syntax.Ne:
		return c != 0
	case syntax.Lt:
		return c < 0
	case syntax.Le:
		return c <= 0
	case syntax.Gt:
		return c > 0
	}
	return c >= 0
}

// mirrored is the comparison for swapped operands.
func mirrored(op syntax.Op) syntax.Op {
	switch op {
	case syntax.Lt:
		return syntax.Gt
	case syntax.Le:
		return syntax.Ge
	case syntax.Gt:
		return syntax.Lt
	case syntax.Ge:
		return syntax.Le
	}
	return op
}

// comparison is x op y, with fast paths for a constant operand.
func comparison(op syntax.Op, x, y node) test {
	if x.constant && !y.constant {
		x, y, op = y, x, mirrored(op)
	}
	get := x.eval()
	if !y.constant {
		other := y.eval()
		return func(f *frame) tri {
			a, b := get(f), other(f)
			if !f.spendBoth(a, b) {
				return unknown
			}
			return compare(op, a, b)
		}
	}
	switch v := y.value; {
	case v.Type == 0:
		return func(*frame) tri { return unknown }
	case v.Type == bsoncore.TypeString:
		return compareText(op, get, v)
	case doc.IsNumber(v) && !function.IsNaN(v):
		return compareNumber(op, get, v)
	default:
		return func(f *frame) tri {
			a := get(f)
			if !f.spendBoth(a, v) {
				return unknown
			}
			return compare(op, a, v)
		}
	}
}

// mismatch is the result of op for defined values of different types.
func mismatch(op syntax.Op) tri {
	switch op {
	case syntax.Eq:
		return no
	case syntax.Ne:
		return yes
	}
	return unknown
}

// outcomes are the results of op if the left side is less, equal or greater.
func outcomes(op syntax.Op) [3]tri {
	return [3]tri{triOf(holds(op, -1)), triOf(holds(op, 0)), triOf(holds(op, 1))}
}

func compareText(op syntax.Op, get eval, v doc.Value) test {
	want, _ := doc.AsString(v)
	other, results := mismatch(op), outcomes(op)
	if op == syntax.Eq || op == syntax.Ne {
		return func(f *frame) tri {
			switch v := get(f); v.Type {
			case bsoncore.TypeString:
				if s, _ := doc.AsString(v); s == want {
					return results[1]
				}
				return results[0]
			case 0:
				return unknown
			}
			return other
		}
	}
	return func(f *frame) tri {
		v := get(f)
		if v.Type != bsoncore.TypeString {
			return unknown
		}
		s, _ := doc.AsString(v)
		return results[cmp.Compare(s, want)+1]
	}
}

func compareNumber(op syntax.Op, get eval, want doc.Value) test {
	other, results := mismatch(op), outcomes(op)
	ofNaN := triOf(op == syntax.Ne)
	whole, isWhole := doc.AsInt(want)
	float, _ := doc.AsFloat(want)
	// Within these bounds a double represents whole numbers exactly.
	safe := math.Abs(float) <= 1<<53
	return func(f *frame) tri {
		v := get(f)
		switch {
		case v.Type == 0:
			return unknown
		case v.Type == bsoncore.TypeInt64 && isWhole && len(v.Data) >= 8:
			return results[cmp.Compare(int64(binary.LittleEndian.Uint64(v.Data)), whole)+1]
		case v.Type == bsoncore.TypeDouble && safe && len(v.Data) >= 8:
			switch f := math.Float64frombits(binary.LittleEndian.Uint64(v.Data)); {
			case f < float:
				return results[0]
			case f == float:
				return results[1]
			case f > float:
				return results[2]
			}
			return ofNaN
		case doc.RankOf(v) != doc.RankNumber:
			return other
		case function.IsNaN(v):
			return ofNaN
		}
		return results[doc.Compare(v, want)+1]
	}
}

// between is x >= low AND x <= high.
func between(x, low, high node) test {
	below, above := comparison(syntax.Ge, x, low), comparison(syntax.Le, x, high)
	return func(f *frame) tri { return both(below(f), above(f)) }
}
