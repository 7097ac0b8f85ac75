package catalog

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A ResourceKind is a kind of small named resource whose body the catalog stores without interpreting it.
type ResourceKind byte

// The kinds of resource.
const (
	Procedure  ResourceKind = 's' // owner: a container
	Trigger    ResourceKind = 't'
	Function   ResourceKind = 'f'
	Offer      ResourceKind = 'o' // owner: the account; Target says whose throughput it is
	User       ResourceKind = 'u' // owner: a database
	Permission ResourceKind = 'p' // owner: a user
	MongoUser  ResourceKind = 'm' // owner: the account; its name is database.user
)

// MaxResources bounds the resources of one kind under one owner, except offers: there is at most one for each database
// and container.
const MaxResources = 10_000

// An Owner says what a resource belongs to. The zero Owner is the account.
type Owner struct {
	Database  uint32 `json:"database,omitempty"`
	Container uint32 `json:"container,omitempty"`
	User      uint64 `json:"user,omitempty"` // a Resource.Number
}

// A Resource is immutable; a replaced one has the same Number.
type Resource struct {
	Kind     ResourceKind `json:"kind"`
	Owner    Owner        `json:"owner"`
	Number   uint64       `json:"number"` // unique among all resources, never reused, rising
	Name     string       `json:"name"`
	Target   Owner        `json:"target,omitzero"` // of an offer
	Stamp    expiry.Stamp `json:"stamp"`
	Sequence uint64       `json:"sequence"` // for the ETag
	Body     doc.Doc      `json:"body"`     // as the API shows it, without system members
}
