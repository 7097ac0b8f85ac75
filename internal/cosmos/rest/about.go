package rest

import (
	"net/http"
	"slices"
	"strings"
)

// The service's error messages say what the request was about: `ResourceType: Document, OperationType: Read`. Clients
// that log or classify errors look for it.

// resourceTypes maps the last collection segment of a path to the service's name for the resource.
var resourceTypes = map[string]string{
	"": "DatabaseAccount", "dbs": "Database", "colls": "Collection", "docs": "Document", "conflicts": "Conflict",
	"operations": "PartitionKey", "pkranges": "PartitionKeyRange", "sprocs": "StoredProcedure", "triggers": "Trigger",
	"udfs": "UserDefinedFunction", "users": "User", "permissions": "Permission", "offers": "Offer",
}

func (e *exchange) resourceType() string { return resourceTypes[e.path.resourceType()] }

// resourceType is the service's name for the resource that a route serves.
func (r *route) resourceType() string {
	segments := strings.Split(r.pattern, "/")
	if segments[len(segments)-1] == "{}" {
		segments = segments[:len(segments)-1]
	}
	if i := slices.Index(segments, "operations"); i >= 0 {
		return resourceTypes["operations"]
	}
	return resourceTypes[segments[len(segments)-1]]
}

// An operationKind is the kind of operation that a request asks for.
type operationKind uint8

const (
	opRead operationKind = iota
	opReadFeed
	opReplace
	opPatch
	opDelete
	opExecute
	opQuery
	opBatch
	opUpsert
	opCreate
	operationKinds
)

// operationNames are the service's names for the operation kinds.
var operationNames = [operationKinds]string{"Read", "ReadFeed", "Replace", "Patch", "Delete", "ExecuteJavaScript",
	"Query", "Batch", "Upsert", "Create"}

// operationType is the service's name for the operation of the request.
func (e *exchange) operationType() string { return operationNames[e.operation()] }

func (e *exchange) operation() operationKind {
	switch e.Method {
	case http.MethodGet, http.MethodHead:
		if e.path.count%2 == 1 {
			return opReadFeed
		}
		return opRead
	case http.MethodPut:
		return opReplace
	case http.MethodPatch:
		return opPatch
	case http.MethodDelete:
		return opDelete
	}
	switch {
	case e.path.resourceType() == "operations":
		return opDelete
	case e.path.count%2 == 0:
		return opExecute
	case e.isQuery():
		return opQuery
	case e.flag(hBatch):
		return opBatch
	case e.flag(hUpsert):
		return opUpsert
	}
	return opCreate
}
