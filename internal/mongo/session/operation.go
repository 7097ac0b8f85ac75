package session

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/work"
	"github.com/mayflydb/mayfly/internal/store"
)

// An Operation is one command as everything below its connection sees it: the instant that it runs at, the session and
// the transaction that it belongs to, whose memory it takes, and until when it may run. It is used by one goroutine.
type Operation struct {
	Node    *Node
	Host    Host
	Context context.Context
	Name    string // of the command, aliases resolved

	At      time.Time      // when its document had arrived
	Now     expiry.Stamp   // the same
	Moment  catalog.Moment // in which the catalog was up to date; zero once something may have been written
	Since   clock.Stopwatch
	Waited  time.Duration // of that, for something to happen
	MaxTime time.Duration // 0 for no limit
	API     API

	// Connection is the number of the connection that what it opens ends with; 0 if that outlives connections.
	Connection int32

	Session     *Session     // nil when the client names none
	Transaction *Transaction // nil outside of a multi-document transaction
	Retry       *Retry       // of a retryable write of which receipts are kept, else nil
	Wrote       bool         // something may have been written
	Done        bool         // it has its answer

	SyncGroup *store.SyncGroup // of writes that wait for the disk together, nil before DeferSyncs
	Settled   bool             // what the writes so far have told is durable, or will be by Sync

	Memory   *Memory // of the connection
	Edited   int     // bytes that the edits of a write hold
	Reserved int     // bytes that are held for the writes to come

	meter work.Meter        // see work
	Stop  func() error      // of the meter; nil for stopped
	Hold  func(int64) error // of the meter
	Plain expression.Scope  // of filters that evaluate nothing
	told  doc.Value         // cluster time, once it was asked for

	Trace   Trace                      // for the log of slow commands
	Planned *atomic.Pointer[plan.Plan] // the same plan as in Trace, for operations that look on
	Status  code.Code                  // of the error, or of the first one among the statements; 0 for none
}

// A Host is what an operation asks of the command that it belongs to.
type Host interface {
	// Watch looks from now on whether the client leaves, if the operation has run for a while.
	Watch()
	// Wait waits until grown is closed, the operation has to end, or for at most patience. It returns false when time
	// is up or the client has left.
	Wait(grown <-chan struct{}, patience time.Duration) bool
	// Option is a switch among the command's members.
	Option(name string) bool
	// BeforeWrite and AfterWrite are called around a write outside of a transaction. An error is in its place.
	BeforeWrite() error
	AfterWrite()
}

// DeferSyncs is for an operation with several writes outside of a transaction. They wait for the disk together, in
// Sync, and not one after the other.
func (o *Operation) DeferSyncs() {
	if o.SyncGroup == nil && o.Transaction == nil {
		o.SyncGroup = o.Node.Store.NewSyncGroup()
	}
}

// Sync waits until what the writes of the operation have told is durable. Whoever runs the operation calls it before
// the client has its answer.
func (o *Operation) Sync() error { return o.SyncGroup.Sync(o.Context) }
