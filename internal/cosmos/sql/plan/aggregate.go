package plan

import (
	"maps"
	"slices"
	"strings"
)

// aggregateNames are the aggregate functions of the reference ("Aggregate functions"), and MAKELIST and MAKESET,
// which the service's planner also accepts.
var aggregateNames = map[string]bool{
	"ARRAY_AGG": true,
	"AVG":       true,
	"COUNT":     true,
	"COUNTIF":   true,
	"MAKELIST":  true,
	"MAKESET":   true,
	"MAX":       true,
	"MIN":       true,
	"SUM":       true,
}

// Aggregate reports whether a function, in any letter case, is an aggregate: computed over rows, with one argument.
// Aggregates are not in package function.
func Aggregate(name string) bool { return aggregateNames[strings.ToUpper(name)] }

// Aggregates lists the names of the aggregate functions, in upper case and sorted.
func Aggregates() []string { return slices.Sorted(maps.Keys(aggregateNames)) }
