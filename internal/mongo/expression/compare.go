package expression

import (
	"github.com/mayflydb/mayfly/internal/doc"
)

// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#comparison-expression-operators
func init() {
	register(map[string]operator{
		"$cmp": two("$cmp", func(s *Scope, a, b doc.Value) (doc.Value, error) {
			order := s.Meter.Compare(a, b)
			return s.int32(int32(order)), s.Meter.Err()
		}),
		"$eq":  comparison("$eq", func(order int) bool { return order == 0 }),
		"$ne":  comparison("$ne", func(order int) bool { return order != 0 }),
		"$gt":  comparison("$gt", func(order int) bool { return order > 0 }),
		"$gte": comparison("$gte", func(order int) bool { return order >= 0 }),
		"$lt":  comparison("$lt", func(order int) bool { return order < 0 }),
		"$lte": comparison("$lte", func(order int) bool { return order <= 0 }),
	})
}

// comparison compares any two values in MongoDB's order of values, a missing one being
// less than null.
func comparison(name string, is func(order int) bool) operator {
	return two(name, func(s *Scope, a, b doc.Value) (doc.Value, error) {
		order := s.Meter.Compare(a, b)
		return boolean(is(order)), s.Meter.Err()
	})
}
