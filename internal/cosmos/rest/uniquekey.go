package rest

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits of unique keys, the same as the service's.
const (
	maxUniqueKeys  = 10
	maxUniquePaths = 16
)

// uniqueShape also accepts a policy without constraints: the Java SDK sends {} with every container that has none.
var uniqueShape = object(property{"uniqueKeys", list(0, maxUniqueKeys, object(
	property{"paths", list(1, maxUniquePaths, memberPath), true},
)), false})

var errUniqueFixed = fault.New(fault.Forbidden,
	"The unique index cannot be modified. To change the unique index, remove the collection and re-create a new one.")

// uniqueKeys lists the paths of each constraint of a checked policy.
func uniqueKeys(policy doc.Doc) (keys [][]string) {
	for element := range doc.Elements(doc.Lookup(policy, "uniqueKeys")) {
		key, _ := doc.AsDoc(element)
		keys = append(keys, texts(doc.Lookup(key, "paths")))
	}
	return keys
}
