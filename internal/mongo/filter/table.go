package filter

import (
	"maps"
	"slices"
)

// onDocument has the operators that stand where a field's name could.
var onDocument map[string]topOperator

// onField has the operators on a field. One that is missing here does not exist.
var onField map[string]fieldOperator

// The tables are filled here because operators have operators in them, which Go would
// take for a cycle.
func init() {
	onDocument = map[string]topOperator{
		"$alwaysFalse": alwaysBoolean,
		"$alwaysTrue":  alwaysBoolean,
		"$and":         and,
		"$comment":     comment,
		"$db":          reference,
		"$expr":        expr,
		"$id":          reference,
		"$jsonSchema":  jsonSchema,
		"$nor":         nor,
		"$or":          or,
		"$ref":         reference,
		"$sampleRate":  sampleRate,
		"$text":        refused,
		"$where":       refused,
	}
	onField = map[string]fieldOperator{
		"$all":           allOf,
		"$bitsAllClear":  bits,
		"$bitsAllSet":    bits,
		"$bitsAnyClear":  bits,
		"$bitsAnySet":    bits,
		"$elemMatch":     elemMatch,
		"$eq":            equal,
		"$exists":        exists,
		"$geoIntersects": refused,
		"$geoNear":       refused,
		"$geoWithin":     refused,
		"$gt":            compared,
		"$gte":           compared,
		"$in":            in,
		"$lt":            compared,
		"$lte":           compared,
		"$maxDistance":   refused,
		"$meta":          refused,
		"$minDistance":   refused,
		"$mod":           mod,
		"$ne":            notEqual,
		"$near":          refused,
		"$nearSphere":    refused,
		"$nin":           notIn,
		"$not":           not,
		"$options":       regexOptions,
		"$regex":         regex,
		"$size":          size,
		"$type":          typeOf,
		"$within":        refused,
	}
}

// Operators lists the names of all operators, sorted: those that stand where a field's
// name could, and those on a field.
func Operators() (document, field []string) {
	return slices.Sorted(maps.Keys(onDocument)), slices.Sorted(maps.Keys(onField))
}
