package pipeline

import (
	"maps"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A parser reads a stage's argument. It may keep its memory.
type parser func(c *compiler, arg doc.Value) (stage, error)

// parsers lists every stage, sorted by name. One that is missing here does not exist; those that mayfly refuses are
// here too, so that the error names them. Stages with pipelines in them look stages up in the compiler, not in this
// variable, because Go rejects a variable whose initial value refers to itself.
var parsers = map[string]parser{
	"$addFields":                   addFieldsParser("$addFields"),
	"$bucket":                      parseBucket,
	"$bucketAuto":                  parseBucketAuto,
	"$changeStream":                sourceParser("$changeStream"),
	"$changeStreamSplitLargeEvent": unsupported("$changeStreamSplitLargeEvent"),
	"$collStats":                   sourceParser("$collStats"),
	"$count":                       parseCount,
	"$currentOp":                   sourceParser("$currentOp"),
	"$densify":                     parseDensify,
	"$documents":                   parseDocuments,
	"$facet":                       parseFacet,
	"$fill":                        parseFill,
	"$geoNear":                     unsupported("$geoNear"),
	"$graphLookup":                 parseGraphLookup,
	"$group":                       parseGroup,
	"$indexStats":                  sourceParser("$indexStats"),
	"$limit":                       parseLimit,
	"$listLocalSessions":           sourceParser("$listLocalSessions"),
	"$listSampledQueries":          unsupported("$listSampledQueries"),
	"$listSearchIndexes":           refuse(code.NoSearchIndexes),
	"$listSessions":                sourceParser("$listSessions"),
	"$lookup":                      parseLookup,
	"$match":                       parseMatch,
	"$merge":                       parseMerge,
	"$out":                         parseOut,
	"$planCacheStats":              sourceParser("$planCacheStats"),
	"$project":                     parseProject,
	"$queryStats":                  unsupported("$queryStats"),
	"$redact":                      parseRedact,
	"$replaceRoot":                 parseReplaceRoot,
	"$replaceWith":                 parseReplaceWith,
	"$sample":                      parseSample,
	"$search":                      refuse(code.NoSearch),
	"$searchMeta":                  refuse(code.NoSearch),
	"$set":                         addFieldsParser("$set"),
	"$setWindowFields":             parseSetWindowFields,
	"$shardedDataDistribution":     unsupported("$shardedDataDistribution"),
	"$skip":                        parseSkip,
	"$sort":                        parseSort,
	"$sortByCount":                 parseSortByCount,
	"$unionWith":                   parseUnionWith,
	"$unset":                       parseUnset,
	"$unwind":                      parseUnwind,
	"$vectorSearch":                refuse(code.NoSearch),
}

// Names lists the names of all stages, sorted.
func Names() []string { return slices.Sorted(maps.Keys(parsers)) }

// refuse is a stage that mayfly does not have. Each time it makes a new error, as callers may add to it.
func refuse(answer func() *code.Error) parser {
	return func(*compiler, doc.Value) (stage, error) { return nil, answer() }
}

// unsupported is refuse with the usual error.
func unsupported(name string) parser {
	return refuse(func() *code.Error { return code.Unsupported(name) })
}
