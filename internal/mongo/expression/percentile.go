package expression

import (
	"cmp"
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// $percentile and $median.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/percentile/

var (
	medianShape = shape{name: "$median", object: 7436201, unknown: 40415, missing: 40414,
		required: []string{"input", "method"}}
	percentileShape = shape{name: "$percentile", object: 7436200, unknown: 40415, missing: 40414,
		required: []string{"input", "method", "p"}}
)

func compileMedian(arg doc.Value, names *Names, depth int) (*Expression, error) {
	parts, err := medianShape.values(arg)
	if err != nil {
		return nil, err
	}
	return ranked(parts, names, depth, func(s *Scope, numbers []float64) (doc.Value, error) {
		return percentile(s, numbers, 0.5), nil
	})
}

// compilePercentile compiles {input, method, p}; p is a constant array of numbers from 0 to 1.
func compilePercentile(arg doc.Value, names *Names, depth int) (*Expression, error) {
	parts, err := percentileShape.values(arg)
	if err != nil {
		return nil, err
	}
	shares, err := readShares(parts[2], names, depth)
	if err != nil {
		return nil, err
	}
	return ranked(parts, names, depth, func(s *Scope, numbers []float64) (doc.Value, error) {
		b := s.array()
		for _, share := range shares {
			if err := b.add(percentile(s, numbers, share)); err != nil {
				return doc.Value{}, err
			}
		}
		return b.done()
	})
}

func readShares(v doc.Value, names *Names, depth int) (shares []float64, err error) {
	x, err := compile(v, names, depth)
	if err != nil {
		return nil, err
	}
	list, ok := x.Constant()
	if !ok {
		return nil, code.New(7750300,
			"The $percentile 'p' field must be an array of constant values, but found value: %s.", code.Show(v))
	}
	for e := range doc.Elements(list) {
		share := asDouble(e)
		switch {
		case !doc.IsNumberBSON(e):
			return nil, noShare(7750302, e)
		case !(share >= 0 && share <= 1):
			return nil, noShare(7750303, e)
		}
		shares = append(shares, share)
	}
	if len(shares) == 0 {
		return nil, noShare(7750301, list)
	}
	return shares, nil
}

func noShare(number code.Code, v doc.Value) error {
	return code.New(number, "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s",
		code.Show(v))
}

// ranked evaluates the input and passes its numbers to f, sorted.
func ranked(
	parts []doc.Value, names *Names, depth int, f func(s *Scope, numbers []float64) (doc.Value, error),
) (*Expression, error) {
	if method, _ := doc.AsString(parts[1]); method != "approximate" {
		return nil, code.New(code.BadValue, "Currently only 'approximate' can be used as percentile 'method'.")
	}
	input, err := compile(parts[0], names, depth)
	if err != nil {
		return nil, err
	}
	return apply([]*Expression{input}, func(s *Scope, args []doc.Value) (doc.Value, error) {
		list := args
		if doc.IsArray(args[0]) {
			var err error
			if list, err = s.collect(args[0]); err != nil {
				return doc.Value{}, err
			}
		}
		numbers := make([]float64, 0, len(list))
		for _, v := range list {
			if doc.IsNumberBSON(v) && !isNaN(v) {
				numbers = append(numbers, asDouble(v))
			}
			if err := s.spend(addCost(v)); err != nil {
				return doc.Value{}, err
			}
		}
		slices.SortFunc(numbers, func(a, b float64) int {
			if s.spend(1) != nil {
				return 0
			}
			return cmp.Compare(a, b)
		})
		if err := s.Meter.Err(); err != nil {
			return doc.Value{}, err
		}
		return f(s, numbers)
	}), nil
}

// percentile is the smallest number such that at least the share of all numbers do not exceed it, or null if there are
// no numbers.
func percentile(s *Scope, sorted []float64, share float64) doc.Value {
	if len(sorted) == 0 {
		return null
	}
	rank := int(math.Ceil(share*float64(len(sorted)))) - 1
	return s.double(sorted[max(rank, 0)])
}
