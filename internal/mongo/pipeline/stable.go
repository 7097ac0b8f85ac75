package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// unstable are the stages that are not in version 1 of MongoDB's Stable API: those that its source registers
// with AllowedWithApiStrict::kNeverInVersion1.
// mongodb/mongo: src/mongo/db/pipeline/document_source_*.cpp, jstests/core/api/api_version_pipeline_stages.js
var unstable = map[string]bool{
	"$currentOp": true, "$indexStats": true, "$listLocalSessions": true, "$listSampledQueries": true,
	"$listSearchIndexes": true, "$listSessions": true,
	"$planCacheStats": true, "$queryStats": true, "$search": true, "$searchMeta": true,
	"$shardedDataDistribution": true, "$vectorSearch": true,
}

// checkStable refuses stages and options that are not in the Stable API.
func checkStable(name string, arg doc.Value) error {
	if unstable[name] {
		return code.Unstable(name)
	}
	options, _ := doc.AsDoc(arg)
	for option := range doc.Members(options) {
		switch {
		case name == "$collStats" && option != "count":
			return code.New(code.APIStrictError, "only the 'count' option to $collStats is supported in API Version 1")
		case name == "$changeStream" &&
			(option == "showExpandedEvents" || option == "showRawUpdateDescription" || option == "showSystemEvents"):
			return code.New(code.APIStrictError,
				"The '%s' parameter to $changeStream is not supported in API Version 1", option)
		}
	}
	return nil
}
