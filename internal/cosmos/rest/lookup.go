package rest

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

var (
	errMissing = fault.New(fault.NotFound, "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found")
)

// lookUp finds the database and the container named by the path. A missing one is fault.NotFound if the path ends
// with it, else fault.OwnerNotFound.
func (e *exchange) lookUp() (err error) {
	p := &e.path
	if p.count < 2 || p.segment[0] != "dbs" {
		return nil
	}
	if e.database, err = e.api.findDatabase(p.segment[1]); err != nil {
		return ownerMissing(p.count == 2)
	}
	if p.count < 4 {
		return nil
	}
	if p.segment[2] == "users" {
		e.owner = p.segment[3]
		return nil
	}
	if e.container, e.byRID, err = e.api.findContainer(e.database, p.segment[3]); err != nil {
		return ownerMissing(p.count == 4)
	}
	return nil
}

func ownerMissing(itself bool) error {
	if itself {
		return errMissing
	}
	return catalog.ErrNoOwner
}

// findDatabase finds a database by name, or else by RID.
func (a *API) findDatabase(text string) (*catalog.Database, error) {
	if db, err := a.catalog.Database(text); err == nil {
		return db, nil
	}
	r, ok := parseRID(text)
	if !ok || r.database == 0 || r.container != 0 || r.user != 0 {
		return nil, errMissing
	}
	return a.catalog.DatabaseByID(r.database)
}

// findContainer finds a container of db by name, or else by RID.
func (a *API) findContainer(db *catalog.Database, text string) (c *catalog.Container, byRID bool, err error) {
	if c, err := a.catalog.Container(db, text); err == nil {
		return c, false, nil
	}
	r, ok := parseRID(text)
	if !ok || r.container == 0 || r.hasNumber {
		return nil, false, errMissing
	}
	c, err = a.catalog.ContainerByID(r.container)
	if err != nil || c.Database != db {
		return nil, false, errMissing
	}
	return c, true, nil
}

// isQuery reports whether a POST is a query or asks for a query plan. SDKs mark queries in different ways: the Go SDK
// by content type and a header of its own, others by x-ms-documentdb-isquery.
func (e *exchange) isQuery() bool {
	return e.contentIs("application/query+json") || e.isQueryText() ||
		e.flag(hIsQuery) || e.flag(hIsQueryGo) || e.flag(hIsQueryPlan)
}

// isQueryText reports whether the body is the plain text of a query.
func (e *exchange) isQueryText() bool { return e.contentIs("application/sql") }

func (e *exchange) contentIs(kind string) bool {
	given := e.given(hContentType)
	return len(given) >= len(kind) && strings.EqualFold(given[:len(kind)], kind)
}

// queryOnly rejects a POST that is not a query, on feeds that accept nothing else.
func queryOnly(*exchange) (int, error) { return 0, errQueryOnly }

var errQueryOnly = gatewayFault(fault.MethodNotAllowed, "The requested verb is not supported. POST is for queries "+
	"here: send the content type application/query+json and the header x-ms-documentdb-isquery: True.")

// checkLevel rejects a consistency level stronger than the account's.
func (e *exchange) checkLevel() error {
	text := e.given(hConsistency)
	if text == "" {
		return nil
	}
	want, have := rank(text), rank(e.api.consistency)
	if want < 0 {
		return badHeader(text, hConsistency, "Use one of "+strings.Join(levels, ", ")+".")
	}
	if want < have {
		return fault.New(fault.Invalid, "ConsistencyLevel %s specified in the request is invalid when service is "+
			"configured with consistency level %s. "+
			"Ensure the request consistency level is not stronger than the service consistency level.", levels[want],
			e.api.consistency)
	}
	return nil
}

// badHeader is the error of a request header with an invalid value.
func badHeader(value string, header requestHeader, remedy string) error {
	return fault.New(fault.Invalid, "Value '%s' specified for the header '%s' is invalid. %s", clip(value),
		strings.ToLower(string(header)), remedy)
}

// rank is the index of a level in levels, or -1.
func rank(text string) int {
	for i, l := range levels {
		if strings.EqualFold(l, text) {
			return i
		}
	}
	return -1
}
