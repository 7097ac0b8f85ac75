package binaryjson

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// numberSizes are the sizes of numbers after their marker. The markers from numberUint64 to numberDouble are JSON
// numbers; the others are for arrays of one type, and for types of a client's language.
var numberSizes = [256]uint8{
	numberUint64: 8, numberUint8: 1, numberInt16: 2, numberInt32: 4, numberInt64: 8, numberDouble: 8,
	float32Value: 4, float64Value: 8,
	uint8V: 1, int8V: 1, int16V: 2, int32V: 4, int64V: 8, uint32V: 4,
}

// isUniform reports whether arrays of one type can have numbers of this type.
func isUniform(marker byte) bool { return marker > numberDouble && numberSizes[marker] > 0 }

// number reads a number whose type is known.
func (r *reader) number(marker byte) (bsoncore.Type, error) {
	start := r.at
	u, err := r.uint(int(numberSizes[marker]))
	if err != nil {
		return 0, err
	}
	f := 0.0
	switch marker {
	case numberInt16, int16V:
		return r.Int(int64(int16(u))), nil
	case numberInt32, int32V:
		return r.Int(int64(int32(u))), nil
	case numberInt64, int64V:
		return r.Int(int64(u)), nil
	case int8V:
		return r.Int(int64(int8(u))), nil
	case float32Value:
		f = float64(math.Float32frombits(uint32(u)))
	case float64Value, numberDouble:
		f = math.Float64frombits(u)
	default: // unsigned
		return r.Uint(u), nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, r.fail(start, "There is a number beyond the range of a double")
	}
	return r.Float(f), nil
}

// A row is an array of numbers of one type, which have no markers.
type row struct {
	kind  byte
	count int
}

// row reads the type and the count of the numbers.
func (r *reader) row(width int) (w row, err error) {
	start := r.at
	if w.kind, err = r.byte(); err != nil {
		return w, err
	}
	if !isUniform(w.kind) {
		return w, r.fail(start, "The type of an array's numbers was expected")
	}
	w.count, err = r.size(width)
	return w, err
}

// numbers reads an array of numbers of one type.
func (r *reader) numbers(marker byte) error {
	w, err := r.row(1 + int(marker-arrNum1))
	if err != nil {
		return err
	}
	return r.fill(w)
}

// fill reads the numbers of an array, and writes them as an array.
func (r *reader) fill(w row) error {
	if w.count*int(numberSizes[w.kind]) > r.end-r.at {
		return r.short()
	}
	f, err := r.open(0)
	if err != nil {
		return err
	}
	if err := r.spend(max(0, 2*w.count-1)); err != nil {
		return err
	}
	n := r.Open()
	for range w.count {
		r.Element(&n)
		kind, err := r.number(w.kind)
		if err != nil {
			return err
		}
		r.Set(&n, kind)
	}
	r.Close(&n)
	r.close(&f)
	return nil
}

// arraysOfNumbers reads an array of arrays with the same count and type of numbers.
func (r *reader) arraysOfNumbers(marker byte) error {
	width := 1 + int(marker-arrArrNum1)
	inner := r.at
	if m, err := r.byte(); err != nil {
		return err
	} else if m != arrNum1+marker-arrArrNum1 {
		return r.fail(inner, "The type of an array's arrays was expected")
	}
	w, err := r.row(width)
	if err != nil {
		return err
	}
	count, err := r.size(width)
	if err != nil {
		return err
	}
	f, err := r.open(0)
	if err != nil {
		return err
	}
	n := r.Open()
	for i := range count {
		if err := r.comma(i); err != nil {
			return err
		}
		r.Element(&n)
		if err := r.fill(w); err != nil {
			return err
		}
		r.Set(&n, bsoncore.TypeArray)
	}
	r.Close(&n)
	r.close(&f)
	return nil
}
