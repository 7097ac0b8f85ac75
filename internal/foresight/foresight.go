// Package foresight says what will expire, when, why not, and what a change of the policy would do. It reads the queues
// of deadlines that the store keeps, looks at documents only where stamp and ttl do not decide, and changes nothing. It
// bounds what a question may cost: within that it counts exactly, beyond it gives an estimate that says so.
//
// Its structs are the answers of the admin API, and words.go has every sentence about lifetime, so that the API, the
// command line and the web page say the same.
package foresight

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Foresight answers questions about the containers of one store. It is safe for concurrent use.
type Foresight struct {
	catalog *catalog.Catalog
	store   *store.Store
}

// New makes a Foresight.
func New(c *catalog.Catalog, s *store.Store) *Foresight { return &Foresight{c, s} }

// The limits of what one question may look at, in entries of queues and indexes. A document that is read counts as
// store.CostOfDocument entries.
const (
	DefaultEntries = 1_000_000
	MaxEntries     = 50_000_000
)

// entries checks the limit that a client asks for; 0 is DefaultEntries.
func entries(asked int) (int, error) {
	if asked == 0 {
		return DefaultEntries, nil
	}
	if asked < 1 || asked > MaxEntries {
		return 0, fault.New(fault.Invalid, "The number of entries to look at must be from 1 to %d.", MaxEntries)
	}
	return asked, nil
}

// Container finds a container by name; fault.OwnerNotFound or fault.NotFound.
func (f *Foresight) Container(database, container string) (*catalog.Container, error) {
	db, err := f.catalog.Database(database)
	if err != nil {
		return nil, fault.Wrap(fault.OwnerNotFound, err, "there is no database %q", database)
	}
	c, err := f.catalog.Container(db, container)
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, err, "there is no container %q in the database %q",
			container, database)
	}
	return c, nil
}

// An Instant is a second, in both forms in which clients want it.
type Instant struct {
	Unix int64  `json:"unix"`           // seconds since 1970
	Time string `json:"time,omitempty"` // RFC 3339 in UTC; left out for years that it cannot write
}

// At makes an Instant.
func At(s expiry.Stamp) Instant {
	i := Instant{Unix: s}
	const firstSecond, lastSecond = -62135596800, 253402300799 // the years 1 to 9999
	if s >= firstSecond && s <= lastSecond {
		i.Time = time.Unix(s, 0).UTC().Format(time.RFC3339)
	}
	return i
}

// An Amount is a number of documents and the bytes of their bodies.
type Amount struct {
	Documents uint64 `json:"documents"`
	Bytes     uint64 `json:"bytes"`
}

func (a *Amount) add(b Amount) {
	a.Documents += b.Documents
	a.Bytes += b.Bytes
}

// A Look says how an answer was found.
type Look struct {
	// Method is "queues" if the queues of deadlines had the answer, "all" if every document, or its entry in the feed,
	// was looked at, and "sample" if some were and the rest is an estimate.
	Method string `json:"method"`
	// Share is the part of the documents on disk that the answer rests on: 1 unless Method is "sample".
	Share float64 `json:"share"`
	// Entries is what was looked at, in entries; a document that was read counts as ten.
	Entries int `json:"entries"`
}

// The values of Look.Method.
const (
	ByQueues = "queues"
	ByAll    = "all"
	BySample = "sample"
)

// outlook enters a container.
func (f *Foresight) outlook(ctx context.Context, c *catalog.Container, now expiry.Stamp) (*store.Outlook, error) {
	return f.store.Outlook(ctx, c, now)
}
