package command

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// refused are commands of MongoDB and Cosmos DB that mayfly does not have (D-60). Other names are
// no commands at all.
var refused = strings.Fields(`applyOps cloneCollectionAsCapped convertToCapped dbHash getLastRequestStatistics mapReduce
	planCacheClearFilters planCacheListFilters planCacheSetFilter`)

// refusedSearch are those of Atlas Search.
var refusedSearch = strings.Fields(`createSearchIndexes dropSearchIndex listSearchIndexes updateSearchIndex`)

func init() {
	for _, name := range refused {
		register(name, command{run: refuse, help: "Is not supported by mayfly.", needs: anyAction, loose: true})
	}
	for _, name := range refusedSearch {
		register(name, command{run: refuseSearch, help: "Is not supported by mayfly.", needs: anyAction, loose: true})
	}
	aliases["dbhash"], aliases["mapreduce"] = "dbHash", "mapReduce"
}

func refuse(r *request, _ *answer) error { return code.Unsupported("the command " + r.name) }

func refuseSearch(*request, *answer) error { return code.NoSearchIndexes() }
