package session

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Node is what all operations of one server share.
type Node struct {
	Store   *store.Store
	Catalog *catalog.Catalog
	Clock   clock.Clock
	Budget  *budget.Budget
	Hints   *hint.Teller
	Log     *slog.Logger
	Uptime  clock.Stopwatch
	Running context.Context // until the server closes

	// it is a member of a replica set: there are transactions, retryable writes and change streams
	Replicates bool
	// Shares says that other processes have the same data open. Each of them looks like a mongos of one cluster.
	Shares   bool
	Lifetime func() time.Duration // how long a transaction may stay open
	// Interrupt ends the operations of sessions, except by.
	Interrupt func(by *Operation, list []*Session)

	// Given gives the documents of a collection that is in no container, nil if there is no such collection; nil has
	// none.
	Given func(o *Operation, db, name string) (Records, error)

	Sessions Sessions
	Cursors  Cursors
	Waiting  atomic.Int64  // operations that wait for documents
	newest   atomic.Uint64 // cluster time that was told

	process    [5]byte // in ObjectIds
	idCount    atomic.Uint32
	stampCount atomic.Uint32

	// What is kept of containers, by their ids.
	IndexLocks sync.Map // *sync.Mutex, held while indexes are made, changed or dropped
	Rules      sync.Map // the rules of the newest state, compiled
	Uses       sync.Map // *IndexUses
}

// Records gives the documents of a collection that is in no container, the oldest first or the newest. It holds none of
// them, so that a cursor may keep it.
type Records func(newestFirst bool) iter.Seq[doc.Doc]

// Open completes a node whose services and functions are set.
func (n *Node) Open() {
	n.Uptime = clock.Start()
	n.initIdentity()
	n.Cursors.init(n)
	n.Sessions.init(n)
}

// Close ends all that is open; no operation runs any more.
func (n *Node) Close() {
	n.Cursors.close()
	n.Sessions.close()
}

// Reload goes over to other data. What is open ends, and what is kept of containers and sessions is forgotten; the
// cluster time that clients have been told stays. No operation runs.
func (n *Node) Reload(c *catalog.Catalog, s *store.Store) {
	n.Cursors.KillAll()
	n.Sessions.forgetAll()
	n.IndexLocks.Clear()
	n.Rules.Clear()
	n.Uses.Clear()
	n.Catalog, n.Store = c, s
}

// Find gives the container of that name; nil without an error if there is no such container.
func (n *Node) Find(db, name string) (*catalog.Container, error) {
	d, err := n.Catalog.Database(db)
	if err == nil {
		var c *catalog.Container
		if c, err = n.Catalog.Container(d, name); err == nil {
			return c, nil
		}
	}
	if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.OwnerNotFound {
		return nil, nil
	}
	return nil, err
}

// Forget drops what is kept of a container that is gone.
func (n *Node) Forget(c *catalog.Container) {
	n.IndexLocks.Delete(c.ID)
	n.Rules.Delete(c.ID)
	n.Uses.Delete(c.ID)
}
