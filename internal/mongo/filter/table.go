package filter

import (
	"maps"
	"slices"
)

// The tables of the language, sorted by name. An operator that is missing here does not exist; those that mayfly
// refuses are here too, so that the error names them. Many operators compile operators in them. They look those up in
// the compiler, not in these variables, because Go rejects a variable whose initial value refers to itself.

// onDocument lists the operators that stand where the name of a field could.
var onDocument = map[string]operator{
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

// onField lists the operators on a field.
var onField = map[string]operator{
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

// Operators lists the names of all operators, sorted: those that stand where the name of a field could, and those on a
// field.
func Operators() (document, field []string) {
	return slices.Sorted(maps.Keys(onDocument)), slices.Sorted(maps.Keys(onField))
}
