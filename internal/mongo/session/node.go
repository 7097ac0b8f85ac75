package session

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
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

	Replicates bool                 // it is a member of a replica set: there are transactions, retryable writes and change streams
	Lifetime   func() time.Duration // how long a transaction may stay open
	// Interrupt ends the operations of sessions, except by.
	Interrupt func(by *Operation, list []*Session)

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
