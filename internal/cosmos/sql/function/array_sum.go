package function

import (
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
)

// sumArray adds an array of numbers. ok is false if it has anything else.
func sumArray(array doc.Value) (total float64, n int, ok bool) {
	for v := range doc.Elements(array) {
		f, isNumber := doc.AsFloat(v)
		if !isNumber {
			return 0, 0, false
		}
		total += f
		n++
	}
	return total, n, doc.IsArray(array)
}

func arraySum(c *Call, args []doc.Value) doc.Value {
	total, _, ok := sumArray(args[0])
	if !ok {
		return undefined
	}
	return scratchOf(c).float(total)
}

func arrayAvg(c *Call, args []doc.Value) doc.Value {
	total, n, ok := sumArray(args[0])
	if !ok || n == 0 {
		return undefined
	}
	return scratchOf(c).float(total / float64(n))
}

// arrayMedian is the mean of the two middle values if their number is even, and NaN if one value is NaN.
func arrayMedian(c *Call, args []doc.Value) doc.Value {
	var numbers []float64
	for v := range doc.Elements(args[0]) {
		f, ok := doc.AsFloat(v)
		if !ok {
			return undefined
		}
		numbers = append(numbers, f)
	}
	n := len(numbers)
	if n == 0 {
		return undefined
	}
	slices.Sort(numbers)
	if math.IsNaN(numbers[0]) { // NaN sorts first
		return scratchOf(c).float(numbers[0])
	}
	if n%2 == 1 {
		return scratchOf(c).float(numbers[n/2])
	}
	return scratchOf(c).float((numbers[n/2-1] + numbers[n/2]) / 2)
}

// arrayExtreme returns ARRAY_MIN (-1) or ARRAY_MAX (+1), of primitive values in the order of values.
func arrayExtreme(side int) func(*Call, []doc.Value) doc.Value {
	return func(_ *Call, args []doc.Value) (best doc.Value) {
		for v := range doc.Elements(args[0]) {
			if !isPrimitive(v) {
				return undefined
			}
			if doc.IsUndefined(best) || doc.Compare(v, best) == side {
				best = v
			}
		}
		return best
	}
}
