package expression

import (
	"maps"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// operators lists every operator, sorted by name. One that is missing here does not exist; those that mayfly refuses
// are here too, so that the error names them. Most operators compile expressions in them. They look those up in
// Names, not in this variable, because Go rejects a variable whose initial value refers to itself.
var operators = map[string]operator{
	"$abs":              one("$abs", abs),
	"$accumulator":      unsupported("$accumulator"),
	"$acos":             arcCosine.operator(),
	"$acosh":            hyperbolicArcCosine.operator(),
	"$add":              variadic("$add", add),
	"$allElementsTrue":  one("$allElementsTrue", elementsTrue("$allElementsTrue", 17040, false)),
	"$and":              junction("$and", false),
	"$anyElementTrue":   one("$anyElementTrue", elementsTrue("$anyElementTrue", 17041, true)),
	"$arrayElemAt":      two("$arrayElemAt", arrayElemAt),
	"$arrayToObject":    one("$arrayToObject", arrayToObject),
	"$asin":             arcSine.operator(),
	"$asinh":            hyperbolicArcSine.operator(),
	"$atan":             arcTangent.operator(),
	"$atan2":            two("$atan2", atan2),
	"$atanh":            hyperbolicArcTangent.operator(),
	"$avg":              over("$avg", average),
	"$binarySize":       one("$binarySize", binarySize),
	"$bitAnd":           variadic("$bitAnd", bitwise("$bitAnd", -1, func(a, b int64) int64 { return a & b })),
	"$bitNot":           one("$bitNot", bitNot),
	"$bitOr":            variadic("$bitOr", bitwise("$bitOr", 0, func(a, b int64) int64 { return a | b })),
	"$bitXor":           variadic("$bitXor", bitwise("$bitXor", 0, func(a, b int64) int64 { return a ^ b })),
	"$bsonSize":         one("$bsonSize", bsonSize),
	"$ceil":             one("$ceil", toWhole("$ceil", math.Ceil, upward)),
	"$cmp":              two("$cmp", compare),
	"$concat":           compileConcat,
	"$concatArrays":     variadic("$concatArrays", concatArrays),
	"$cond":             compileCond,
	"$const":            compileLiteral,
	"$convert":          compileConvert,
	"$cos":              cosine.operator(),
	"$cosh":             hyperbolicCosine.operator(),
	"$dateAdd":          dateArithmetic("$dateAdd", 1),
	"$dateDiff":         compileDateDiff,
	"$dateFromParts":    compileDateFromParts,
	"$dateFromString":   compileDateFromString,
	"$dateSubtract":     dateArithmetic("$dateSubtract", -1),
	"$dateToParts":      compileDateToParts,
	"$dateToString":     compileDateToString,
	"$dateTrunc":        compileDateTrunc,
	"$dayOfMonth":       datePart("$dayOfMonth", time.Time.Day),
	"$dayOfWeek":        datePart("$dayOfWeek", func(t time.Time) int { return int(t.Weekday()) + 1 }),
	"$dayOfYear":        datePart("$dayOfYear", time.Time.YearDay),
	"$degreesToRadians": degreesToRadians.operator(),
	"$divide":           two("$divide", divide),
	"$eq":               comparison("$eq", func(order int) bool { return order == 0 }),
	"$exp":              one("$exp", exp),
	"$filter":           compileFilter,
	"$first":            one("$first", end("$first", 0)),
	"$firstN":           takeN("$firstN", 5787801, firstN),
	"$floor":            one("$floor", toWhole("$floor", math.Floor, downward)),
	"$function":         unsupported("$function"),
	"$getField":         compileGetField,
	"$gt":               comparison("$gt", func(order int) bool { return order > 0 }),
	"$gte":              comparison("$gte", func(order int) bool { return order >= 0 }),
	"$hour":             datePart("$hour", time.Time.Hour),
	"$ifNull":           compileIfNull,
	"$in":               two("$in", in),
	"$indexOfArray":     between("$indexOfArray", 2, 4, indexOfArray),
	"$indexOfBytes":     between("$indexOfBytes", 2, 4, indexOfBytes),
	"$indexOfCP":        between("$indexOfCP", 2, 4, indexOfCodePoint),
	"$isArray":          one("$isArray", isArray),
	"$isNumber":         one("$isNumber", isNumeric),
	"$isoDayOfWeek":     datePart("$isoDayOfWeek", isoWeekday),
	"$isoWeek":          datePart("$isoWeek", func(t time.Time) int { _, week := t.ISOWeek(); return week }),
	"$isoWeekYear":      datePartAs("$isoWeekYear", isoWeekYear),
	"$last":             one("$last", end("$last", -1)),
	"$lastN":            takeN("$lastN", 5787801, lastN),
	"$let":              compileLet,
	"$literal":          compileLiteral,
	"$ln":               one("$ln", ln),
	"$log":              two("$log", log),
	"$log10":            one("$log10", log10),
	"$lt":               comparison("$lt", func(order int) bool { return order < 0 }),
	"$lte":              comparison("$lte", func(order int) bool { return order <= 0 }),
	"$ltrim":            trim("$ltrim", true, false),
	"$map":              compileMap,
	"$max":              over("$max", furthest(1)),
	"$maxN":             takeN("$maxN", 5787900, maxN),
	"$median":           compileMedian,
	"$mergeObjects":     variadic("$mergeObjects", mergeObjects),
	"$meta":             unsupported("$meta"),
	"$millisecond":      datePart("$millisecond", millisecond),
	"$min":              over("$min", furthest(-1)),
	"$minN":             takeN("$minN", 5787900, minN),
	"$minute":           datePart("$minute", time.Time.Minute),
	"$mod":              two("$mod", mod),
	"$month":            datePart("$month", func(t time.Time) int { return int(t.Month()) }),
	"$multiply":         variadic("$multiply", multiply),
	"$ne":               comparison("$ne", func(order int) bool { return order != 0 }),
	"$not":              one("$not", not),
	"$objectToArray":    one("$objectToArray", objectToArray),
	"$or":               junction("$or", true),
	"$percentile":       compilePercentile,
	"$pow":              two("$pow", pow),
	"$radiansToDegrees": radiansToDegrees.operator(),
	"$rand":             compileRand,
	"$range":            between("$range", 2, 3, makeRange),
	"$reduce":           compileReduce,
	"$regexFind":        regexOperator("$regexFind", null, regexFind),
	"$regexFindAll":     regexOperator("$regexFindAll", doc.Array(bsoncore.NewDocumentBuilder().Build()), regexFindAll),
	"$regexMatch":       regexOperator("$regexMatch", falseValue, regexMatch),
	"$replaceAll":       replace("$replaceAll", -1),
	"$replaceOne":       replace("$replaceOne", 1),
	"$reverseArray":     one("$reverseArray", reverseArray),
	"$round":            between("$round", 1, 2, toPlace("$round", halfEven)),
	"$rtrim":            trim("$rtrim", false, true),
	"$second":           datePart("$second", time.Time.Second),
	"$setDifference":    two("$setDifference", setDifference),
	"$setEquals":        compileSetEquals,
	"$setField":         compileSetField("$setField"),
	"$setIntersection":  variadic("$setIntersection", setIntersection),
	"$setIsSubset":      two("$setIsSubset", setIsSubset),
	"$setUnion":         variadic("$setUnion", setUnion),
	"$sin":              sine.operator(),
	"$sinh":             hyperbolicSine.operator(),
	"$size":             one("$size", size),
	"$slice":            between("$slice", 2, 3, slice),
	"$sortArray":        compileSortArray,
	"$split":            two("$split", split),
	"$sqrt":             one("$sqrt", sqrt),
	"$stdDevPop":        over("$stdDevPop", deviationOfAll),
	"$stdDevSamp":       over("$stdDevSamp", deviationOfSample),
	"$strLenBytes":      one("$strLenBytes", lengthInBytes),
	"$strLenCP":         one("$strLenCP", lengthInCodePoints),
	"$strcasecmp":       two("$strcasecmp", compareFolded),
	"$substr":           fixed("$substrBytes", 3, substringOfBytes),
	"$substrBytes":      fixed("$substrBytes", 3, substringOfBytes),
	"$substrCP":         fixed("$substrCP", 3, substringOfCodePoints),
	"$subtract":         two("$subtract", subtract),
	"$sum":              over("$sum", sum),
	"$switch":           compileSwitch,
	"$tan":              tangent.operator(),
	"$tanh":             hyperbolicTangent.operator(),
	"$toBool":           conversion("$toBool", bsoncore.TypeBoolean),
	"$toDate":           conversion("$toDate", bsoncore.TypeDateTime),
	"$toDecimal":        conversion("$toDecimal", bsoncore.TypeDecimal128),
	"$toDouble":         conversion("$toDouble", bsoncore.TypeDouble),
	"$toInt":            conversion("$toInt", bsoncore.TypeInt32),
	"$toLong":           conversion("$toLong", bsoncore.TypeInt64),
	"$toLower":          one("$toLower", fold26('A', 'Z')),
	"$toObjectId":       conversion("$toObjectId", bsoncore.TypeObjectID),
	"$toString":         conversion("$toString", bsoncore.TypeString),
	"$toUpper":          one("$toUpper", fold26('a', 'z')),
	"$trim":             trim("$trim", true, true),
	"$trunc":            between("$trunc", 1, 2, toPlace("$trunc", towardZero)),
	"$tsIncrement":      timestampPart("$tsIncrement", 5687302, func(_, ordinal uint32) uint32 { return ordinal }),
	"$tsSecond":         timestampPart("$tsSecond", 5687301, func(seconds, _ uint32) uint32 { return seconds }),
	"$type":             one("$type", typeOf),
	"$unsetField":       compileSetField("$unsetField"),
	"$week":             datePart("$week", weekOfYear),
	"$year":             datePart("$year", time.Time.Year),
	"$zip":              compileZip,
}

// unstable are the operators that are not in the Stable API. Those that mayfly refuses are left out.
// mongodb/mongo: src/mongo/db/pipeline/accumulator_percentile.cpp
var unstable = map[string]bool{"$median": true, "$percentile": true}

// Operators lists the names of all operators, sorted.
func Operators() []string { return slices.Sorted(maps.Keys(operators)) }

// IsOperator reports whether there is an operator with the name, including those that mayfly refuses.
func IsOperator(name string) bool { return operators[name] != nil }

// unsupported is an operator of MongoDB that mayfly does not have.
func unsupported(name string) operator {
	return func(doc.Value, *Names, int) (*Expression, error) { return nil, code.Unsupported(name) }
}

func unrecognized(name string) error {
	return code.New(code.InvalidPipelineOperator, "Unrecognized expression '%s'", name)
}
