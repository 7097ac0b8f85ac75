package catalog

import "github.com/mayflydb/mayfly/internal/fault"

// What a change of the catalog fails with. The messages are for the log: each API has the text that its clients know.
var (
	// ErrNotFound: there is no resource of that name or number.
	ErrNotFound = fault.New(fault.NotFound, "The resource does not exist.")
	// ErrNoOwner: the database or container of a request does not exist.
	ErrNoOwner = fault.New(fault.OwnerNotFound, "The database or container does not exist.")
	// ErrExists: the name is taken.
	ErrExists = fault.New(fault.Exists, "A resource of this name exists already.")
	// ErrStale: the resource that is to be replaced or deleted is no longer the newest one.
	ErrStale = fault.New(fault.Precondition, "The resource has changed.")

	errSealed  = fault.New(fault.Busy, "The range of the document is being split. Send the request again.")
	errChanged = fault.New(fault.Conflict, "The container was changed during the request. Send the request again.")
)
