package expression

import (
	"github.com/mayflydb/mayfly/internal/doc"
)

// compare is $cmp: two values in MongoDB's order of values, in which a missing one is less than null.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#comparison-expression-operators
func compare(s *Scope, a, b doc.Value) (doc.Value, error) {
	order := s.Meter.Compare(a, b)
	return s.int32(int32(order)), s.Meter.Err()
}

// comparison is an operator that reports whether two values have the right order.
func comparison(name string, is func(order int) bool) operator {
	return two(name, func(s *Scope, a, b doc.Value) (doc.Value, error) {
		order := s.Meter.Compare(a, b)
		return boolean(is(order)), s.Meter.Err()
	})
}
