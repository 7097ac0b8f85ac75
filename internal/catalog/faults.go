package catalog

import "github.com/mayflydb/mayfly/internal/fault"

var (
	errNotFound = fault.New(fault.NotFound, "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found")
	errExists   = fault.New(fault.Exists, "Resource with specified id or name already exists.")
	errStale    = fault.New(fault.Precondition, "One of the specified pre-condition is not met")
	errChanged  = fault.New(fault.Conflict, "The container was changed meanwhile.")
)

// ErrNoOwner says that the database or container of a request does not exist.
var ErrNoOwner = fault.New(fault.OwnerNotFound, "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found")
