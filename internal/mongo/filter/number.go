package filter

import (
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func isNaN(v doc.Value) bool {
	switch v.Type {
	case bsoncore.TypeDouble:
		return math.IsNaN(double(v))
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(v)
		return d.Form == doc.DecimalNaN
	}
	return false
}

// double is the value of a double.
func double(v doc.Value) float64 {
	if len(v.Data) < 8 {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v.Data))
}

// wholeNumber is an argument that has to be an integer of 64 bits.
func wholeNumber(name string, v doc.Value) (int64, error) {
	n, exact := doc.AsInt64Exact(v)
	switch {
	case !doc.IsNumberBSON(v):
		return 0, code.New(code.FailedToParse, "Expected a number in: %s: %s", name, code.Show(v))
	case exact:
		return n, nil
	case isNaN(v):
		return 0, code.New(code.FailedToParse, "Expected an integer, but found NaN in: %s: %s", name, code.Show(v))
	}
	if f := double(v); v.Type == bsoncore.TypeDouble && math.Abs(f) < 1<<63 {
		return 0, code.New(code.FailedToParse, "Expected an integer: %s: %s", name, code.Show(v))
	}
	return 0, code.New(code.FailedToParse, "Cannot represent as a 64-bit integer: %s: %s", name, code.Show(v))
}

// countNumber is a wholeNumber that is not negative.
func countNumber(name string, v doc.Value) (int64, error) {
	n, err := wholeNumber(name, v)
	if err == nil && n < 0 {
		err = code.New(code.FailedToParse, "Expected a non-negative number in: %s: %s", name, code.Show(v))
	}
	return n, err
}

// truncated is a number without its fraction. It is not ok if that does not fit into an int64.
func truncated(v doc.Value) (int64, bool) {
	switch v.Type {
	case bsoncore.TypeDouble:
		f := math.Trunc(double(v))
		return int64(f), f >= -1<<63 && f < 1<<63
	case bsoncore.TypeDecimal128:
		return truncatedDecimal(v)
	}
	return doc.AsInt(v)
}

func truncatedDecimal(v doc.Value) (int64, bool) {
	d, _ := doc.AsDecimal(v)
	if n, ok := d.Int64(); ok || d.Form != doc.DecimalFinite || d.Exponent >= 0 {
		return n, ok
	}
	digits := d.Coefficient().String()
	whole := digits[:max(len(digits)+d.Exponent, 0)]
	if whole == "" || whole == "-" {
		return 0, true
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	return n, err == nil
}
