package rest

import "net/http"

// A route is the handler of one method of one path pattern.
type route struct {
	method  string
	pattern string // {} stands for a name or RID
	run     handler
}

// table lists every route, sorted by pattern and method. A path without a route is answered with 400, a method
// without one with 405. A POST to a feed is a query if its headers say so, see isQuery.
var table = []route{
	{http.MethodGet, "", readAccount},
	{http.MethodGet, "dbs", listDatabases},
	{http.MethodPost, "dbs", createDatabase},
	{http.MethodDelete, "dbs/{}", deleteDatabase},
	{http.MethodGet, "dbs/{}", readDatabase},
	{http.MethodGet, "dbs/{}/colls", listContainers},
	{http.MethodPost, "dbs/{}/colls", createContainer},
	{http.MethodDelete, "dbs/{}/colls/{}", deleteContainer},
	{http.MethodGet, "dbs/{}/colls/{}", readContainer},
	{http.MethodPut, "dbs/{}/colls/{}", replaceContainer},
	{http.MethodGet, "dbs/{}/colls/{}/conflicts", listConflicts},
	{http.MethodPost, "dbs/{}/colls/{}/conflicts", queryOnly},
	{http.MethodDelete, "dbs/{}/colls/{}/conflicts/{}", deleteConflict},
	{http.MethodGet, "dbs/{}/colls/{}/conflicts/{}", readConflict},
	{http.MethodGet, "dbs/{}/colls/{}/docs", listItems},
	{http.MethodPost, "dbs/{}/colls/{}/docs", nosqlOnly(postItems)},
	{http.MethodDelete, "dbs/{}/colls/{}/docs/{}", nosqlOnly(deleteItem)},
	{http.MethodGet, "dbs/{}/colls/{}/docs/{}", readItem},
	{http.MethodPatch, "dbs/{}/colls/{}/docs/{}", nosqlOnly(patchItem)},
	{http.MethodPut, "dbs/{}/colls/{}/docs/{}", nosqlOnly(replaceItem)},
	{http.MethodPost, "dbs/{}/colls/{}/operations/partitionkeydelete", nosqlOnly(deletePartition)},
	{http.MethodGet, "dbs/{}/colls/{}/pkranges", listRanges},
	{http.MethodPost, "dbs/{}/colls/{}/pkranges", queryOnly},
	{http.MethodGet, "dbs/{}/colls/{}/sprocs", procedures.list},
	{http.MethodPost, "dbs/{}/colls/{}/sprocs", procedures.create},
	{http.MethodDelete, "dbs/{}/colls/{}/sprocs/{}", procedures.delete},
	{http.MethodGet, "dbs/{}/colls/{}/sprocs/{}", procedures.read},
	{http.MethodPost, "dbs/{}/colls/{}/sprocs/{}", executeProcedure},
	{http.MethodPut, "dbs/{}/colls/{}/sprocs/{}", procedures.replace},
	{http.MethodGet, "dbs/{}/colls/{}/triggers", triggers.list},
	{http.MethodPost, "dbs/{}/colls/{}/triggers", triggers.create},
	{http.MethodDelete, "dbs/{}/colls/{}/triggers/{}", triggers.delete},
	{http.MethodGet, "dbs/{}/colls/{}/triggers/{}", triggers.read},
	{http.MethodPut, "dbs/{}/colls/{}/triggers/{}", triggers.replace},
	{http.MethodGet, "dbs/{}/colls/{}/udfs", functions.list},
	{http.MethodPost, "dbs/{}/colls/{}/udfs", functions.create},
	{http.MethodDelete, "dbs/{}/colls/{}/udfs/{}", functions.delete},
	{http.MethodGet, "dbs/{}/colls/{}/udfs/{}", functions.read},
	{http.MethodPut, "dbs/{}/colls/{}/udfs/{}", functions.replace},
	{http.MethodGet, "dbs/{}/users", users.list},
	{http.MethodPost, "dbs/{}/users", users.create},
	{http.MethodDelete, "dbs/{}/users/{}", users.delete},
	{http.MethodGet, "dbs/{}/users/{}", users.read},
	{http.MethodPut, "dbs/{}/users/{}", users.replace},
	{http.MethodGet, "dbs/{}/users/{}/permissions", permissions.list},
	{http.MethodPost, "dbs/{}/users/{}/permissions", permissions.create},
	{http.MethodDelete, "dbs/{}/users/{}/permissions/{}", permissions.delete},
	{http.MethodGet, "dbs/{}/users/{}/permissions/{}", permissions.read},
	{http.MethodPut, "dbs/{}/users/{}/permissions/{}", permissions.replace},
	{http.MethodGet, "offers", listOffers},
	{http.MethodPost, "offers", queryOnly},
	{http.MethodGet, "offers/{}", readOffer},
	{http.MethodPut, "offers/{}", replaceOffer},
}
