package admin

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/slow"
)

// Attachments are the features that other parts of a node make. A request for one that is nil gets 501.
type Attachments struct {
	// Foresight calls use with what answers questions about the present data. That data stays until use returns, so use
	// must not send requests of its own.
	Foresight func(ctx context.Context, use func(context.Context, *foresight.Foresight) error) error
	Backup    Backup
	Snapshots Snapshots
	Transfer  Transfer
	Keys      Keys
	Audit     Audit
	Activity  Activity
	// Endpoints says where the sender of a request reaches the APIs.
	Endpoints func(*http.Request) Endpoints
	// IndexBuilds lists the index builds that are under way, the newest first.
	IndexBuilds func() []IndexBuild
	Ranges      Ranges
	// Connections lists the connections of clients, in no order.
	Connections func() []Connection
	// Slow has the requests that took long.
	Slow *slow.Log
	// Check verifies everything that is stored while the node runs.
	Check func(ctx context.Context, op *Operation) (result any, err error)
}

// A Lifetime is the policy of a container as the API shows and takes it.
type Lifetime struct {
	// DefaultTTL is in seconds; -1 for no end by default, nil for a container without expiry.
	DefaultTTL *int64 `json:"defaultTtl"`
	// Property is the path of the property that holds deadlines, see docs/ttl.md.
	Property string `json:"ttlPropertyPath,omitempty"`
}

// A Backup is a consistent copy of all data.
type Backup interface {
	// Write sends the backup as a tar stream without the table files that the caller has: have are their checksums.
	Write(ctx context.Context, w io.Writer, have []string) error
}

// Snapshots are states of all data with names.
type Snapshots interface {
	List(ctx context.Context) (any, error)
	Save(ctx context.Context, name string) (any, error)
	Load(ctx context.Context, name string) (any, error)
	Delete(ctx context.Context, name string) error
}

// Transfer moves items in and out as JSON lines. Query is the query of the request's URL.
type Transfer interface {
	Import(ctx context.Context, db, container string, query map[string][]string, in io.Reader) (any, error)
	Export(ctx context.Context, db, container string, query map[string][]string, out io.Writer) error
}

// Keys are the account keys.
type Keys interface {
	// List describes all keys; show says whether to show the keys themselves.
	List(ctx context.Context, show bool) ([]AccountKey, error)
	// Rotate replaces a key and returns the new one. It fails with fault.NotFound if there is no key of that name, and
	// with fault.Conflict if the key cannot be replaced.
	Rotate(ctx context.Context, name string) (AccountKey, error)
}

// An AccountKey is one of the account keys.
type AccountKey struct {
	Name     string    `json:"name"` // primary, secondary, primaryReadonly, secondaryReadonly
	ReadOnly bool      `json:"readOnly"`
	Origin   string    `json:"origin"`         // the path of its file, or words
	Since    time.Time `json:"since,omitzero"` // by the machine's clock, left out if it is not known
	Key      string    `json:"key,omitempty"`
}

// Audit is the record of who changed what.
type Audit interface {
	// Write sends events as JSON lines.
	Write(ctx context.Context, w io.Writer, part AuditPart) error
}

// An AuditPart is a part of the audit trail. The zero value is all of it.
type AuditPart struct {
	Since time.Time // events at this instant or later
	After uint64    // events with a higher number
	Max   int       // at most so many events, 0 for all; without Since and After the newest, else the first
}

func missing(feature string) error {
	return fault.New(fault.Unsupported, "this mayfly has no %s", feature)
}
