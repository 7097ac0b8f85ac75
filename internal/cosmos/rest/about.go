package rest

import "net/http"

// The service tells in its errors what a request was about: `ResourceType: Document, OperationType: Read`.
// Clients that log or sort errors look for it.

// resourceTypes are the service's names of what the collections of a path hold.
var resourceTypes = map[string]string{
	"": "DatabaseAccount", "dbs": "Database", "colls": "Collection", "docs": "Document", "conflicts": "Conflict",
	"operations": "PartitionKey", "pkranges": "PartitionKeyRange", "sprocs": "StoredProcedure", "triggers": "Trigger",
	"udfs": "UserDefinedFunction", "users": "User", "permissions": "Permission", "offers": "Offer",
}

func (e *exchange) resourceType() string { return resourceTypes[e.path.resourceType()] }

// operationType is the service's name of what is done.
func (e *exchange) operationType() string {
	switch e.Method {
	case http.MethodGet, http.MethodHead:
		if e.path.count%2 == 1 {
			return "ReadFeed"
		}
		return "Read"
	case http.MethodPut:
		return "Replace"
	case http.MethodPatch:
		return "Patch"
	case http.MethodDelete:
		return "Delete"
	}
	switch {
	case e.path.resourceType() == "operations":
		return "Delete"
	case e.path.count%2 == 0:
		return "ExecuteJavaScript"
	case e.isQuery():
		return "Query"
	case e.flag(hBatch):
		return "Batch"
	case e.flag(hUpsert):
		return "Upsert"
	}
	return "Create"
}
