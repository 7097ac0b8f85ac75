// Package store keeps documents. It finds them by partition and id, gives them numbers, sequences and stamps, keeps
// indexes, unique keys and the change feed in step with them in one atomic batch, and applies the rule of lifetime on
// every read. It is the only way to a document. It knows no protocol and no clock. DESIGN.md says how it works and why.
package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/lease"
	"github.com/mayflydb/mayfly/internal/trace"
)

// A Key addresses one document.
type Key struct {
	Partition []doc.Value // one value for each path of the partition key; the zero Value where it is absent
	ID        string
}

// A Verb is what an Op does.
type Verb uint8

// The verbs. Replace, Patch and Delete need a living document. Create needs that there is none. Upsert accepts both.
const (
	Read Verb = iota
	Create
	Upsert
	Replace
	Patch
	Delete
)

// An Op is one operation on one document.
type Op struct {
	Verb Verb
	Key  Key

	// Body of Create, Upsert and Replace. Its partition key must be Key.Partition (else ErrPartition), and its id
	// Key.ID (else fault.Invalid): no operation moves a document to another key.
	Body doc.Doc

	// Edit makes the new body of a Patch. If it returns nil, nothing happens, see Result.Skipped. It may run more than
	// once.
	Edit func(access.Document) (doc.Doc, error)

	// IfMatch: only if the living document has this version; an Upsert that finds none creates one nevertheless, as in
	// Cosmos DB. IfNoneMatch: only if it has another version (fault.NotModified on Read, else ErrPrecondition).
	// AnyVersion matches every version.
	IfMatch, IfNoneMatch *access.Version

	// If looks at the living document that Replace, Patch, Delete, or an Upsert that finds one, is about to change. If
	// it returns false, nothing happens, see Result.Skipped. It may run more than once.
	If func(access.Document) (bool, error)

	// Note describes a change of a living document for the log, from its body before and after. It runs at the commit,
	// and only if there is a log; see LogEntry.
	Note func(before, after doc.Doc) doc.Doc

	// Lenient stores a `ttl` that is no life span, as MongoDB does, instead of refusing it.
	Lenient bool
}

// AnyVersion is the Version of `*`.
var AnyVersion = &access.Version{}

// A Result is the outcome of an Op.
type Result struct {
	// the version after the operation; of Delete, the one it removed. Body is the caller's to keep.
	access.Document
	Created bool // Create, and Upsert where there was none
	Skipped bool // If or Edit wanted no change: Document is the living one, unchanged
	Terms   int  // index entries that the operation wrote or removed
}

// A BatchError says which operation of several failed. Nothing was written.
type BatchError struct {
	Index int
	Err   error
}

func (e *BatchError) Error() string { return e.Err.Error() }
func (e *BatchError) Unwrap() error { return e.Err }

// Store is safe for concurrent use.
type Store struct {
	engine kv.Engine // in a SnapshotTransaction, one that reads its snapshot
	*shared
}

// shared is what a store and the groups of its operations share.
type shared struct {
	catalog *catalog.Catalog
	log     journal
	intents intents
	lanes   *lanes              // of large writes
	now     func() expiry.Stamp // see SetClock
	tracer  trace.Tracer        // nil for none

	leases *lease.Keeper
	first  uint64     // random: where Containers begins
	taking sync.Mutex // while a lease is being taken
	duties sync.Map   // name of a lease -> *lease.Lease

	indexers sync.Map // *catalog.Container -> *indexer
	reclaims sync.Map // *catalog.Container -> *reclaims

	marked      sync.Map // *buildMark -> nil
	lastBuild   atomic.Uint64
	wall        atomic.Pointer[func() time.Time]
	indexBuilds sync.Map              // *catalog.Container -> *build
	splits      sync.Map              // *catalog.Container -> nil, while a goroutine works on its split
	failed      atomic.Pointer[error] // why the last index build that failed did
	builds      sync.WaitGroup
	stopBuilds  context.CancelFunc
	buildsOver  context.Context
}

// Open opens the documents of a catalog's containers and continues the index builds that were under way.
func Open(ctx context.Context, engine kv.Engine, cat *catalog.Catalog) (*Store, error) {
	s := &Store{engine: engine, shared: &shared{catalog: cat, lanes: newLanes(), first: rand.Uint64()}}
	if err := s.leaveLogGap(ctx); err != nil {
		return nil, err
	}
	s.leases = lease.New(lease.Options{Engine: engine, Gone: s.workGone})
	s.buildsOver, s.stopBuilds = context.WithCancel(context.Background())
	cat.Changed, cat.Dropped = s.build, s.forget
	s.resumeNamed(ctx)
	return s, s.ResumeBuilds(ctx)
}

// SetClock gives the store the clock of the APIs. It is called before the first request. A write that has waited for
// memory or for its turn reads the clock again, so that the wait does not shorten the life of what it writes.
func (s *Store) SetClock(now func() expiry.Stamp) { s.now = now }

// forget drops what the store keeps in memory about a container that was deleted.
func (s *Store) forget(c *catalog.Container) {
	s.indexers.Delete(c)
	s.reclaims.Delete(c)
	s.indexBuilds.Delete(c)
	s.dropLeases(c)
}

// Close stops background builds, waits for them, and closes the catalog.
func (s *Store) Close() error {
	s.stopBuilds()
	s.builds.Wait()
	ctx := context.Background()
	return errors.Join(s.leases.Close(ctx), s.catalog.Close(ctx))
}
