package catalog

import (
	"context"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Container is a handle on one container, the same for as long as it exists.
// Its methods are safe for concurrent use.
type Container struct {
	ID       uint32
	Database *Database

	engine kv.Engine
	floor  *atomic.Uint64 // the catalog's
	// numbers is the catalog's, too.
	numbers *atomic.Uint64
	born    uint64 // the epoch in which it became visible; 0 if an earlier process created it
	draft   bool   // it is not visible yet, see Draft
	// published is the epoch with which a draft is about to become visible, where several processes share the data.
	published uint64
	authority authority
	state     atomic.Pointer[State]
	latest    atomic.Int64 // newest `now` that any request on this container has seen

	writing  atomic.Uint64 // writes under way, and documents written, see BeginWrite
	settling chan struct{} // holds a value while one request settles for all, see settle
	looking  chan struct{} // holds a value while one request looks for all whether a split is over, see await
	settled  atomic.Int64  // every write that is not visible yet has seen this instant
}

// A State is a container at one moment: immutable, replaced as a whole.
type State struct {
	Definition
	Birth    string        `json:"birth,omitempty"` // random; empty if an earlier mayfly created the container
	Stamp    expiry.Stamp  `json:"stamp"`
	Sequence uint64        `json:"sequence"` // the catalog's, for the ETag
	Policy   expiry.Policy `json:"policy"`

	// Active is the generation of index entries that is complete. Building, if not nil, is the one that replaces it
	// when the background build has finished.
	Active   Index  `json:"active"`
	Building *Index `json:"building,omitempty"`

	// Named are the indexes that have names, and LastNamed the ID last given out.
	Named     []NamedIndex `json:"named,omitempty"`
	LastNamed uint32       `json:"last_named,omitempty"`

	// Floor is the highest sequence at which a lifetime setting was replaced, if there are several ranges: each of them
	// gives out higher ones only, so that one number divides the documents of all of them into those before and after.
	Floor uint64 `json:"floor,omitempty"`

	// Divided are the ranges in order of Low, once one of them was split; before, Definition.Partitions says how many
	// there are. Splitting, if not nil, is a split that is under way. LastRange is the highest number that splits have
	// given to a range.
	Divided   []Range `json:"ranges,omitempty"`
	Splitting *Split  `json:"splitting,omitempty"`
	LastRange uint16  `json:"last_range,omitempty"`

	// Deleted containers refuse every request.
	Deleted bool `json:"-"`

	compiled compiled
	datesOff bool
	// epoch rises with every change; not with the floors alone, since no answer depends on them. Where several
	// processes share the data it is the revision of the catalog that made the change, and stored.
	epoch    uint64
	changing chan struct{} // not nil while a change is being written; closed at its end
}

// An Index is one generation of index entries, written as Indexing says.
type Index struct {
	Generation uint16   `json:"generation"`
	Indexing   Indexing `json:"indexing"`
}

// PartitionPaths are the parsed paths of the partition key, in order.
func (s *State) PartitionPaths() []doc.Path { return s.compiled.partition }

// Identity is how the documents are told apart.
func (s *State) Identity() *Identity { return &s.compiled.identity }

// UniquePaths are the parsed paths of each unique constraint.
func (s *State) UniquePaths() [][]doc.Path { return s.compiled.unique }

// Epoch tells states apart: it rises with every change that an answer depends on.
func (s *State) Epoch() uint64 { return s.epoch }

// State is the container as it is now, without waiting for a change that is being written. Requests that touch
// documents call Enter instead.
func (c *Container) State() *State { return c.state.Load() }

// Born is the epoch in which the container became visible, 0 if that was before this process.
func (c *Container) Born() uint64 { return c.born }

// A View is what one request, or one page of a paged read, sees of its container: a state and an instant.
type View struct {
	Container *Container
	*State
	Now expiry.Stamp

	// Read is the view of the engine in which State holds and that has the time Now, where several processes share the
	// data. Elsewhere it is nil, and whoever reads opens a view.
	Read *kv.View
}

// Enter starts a request at the instant now, or at the newest instant that another request has seen. So the instants of
// a container never go back: a client that was told that a document is gone is never contradicted, and a policy that is
// being replaced is closed at the newest of them. Enter waits while a change of the container is being written.
// If ctx ends before that, it returns the error of ctx. A deleted container is ErrNoOwner.
//
// Where several processes share the data, now does not matter: the instant is that of the view that the request reads
// in, so a request that follows another one, in any process, sees a later one.
func (c *Container) Enter(ctx context.Context, now expiry.Stamp) (View, error) {
	return c.authority.enter(ctx, c, now, nil)
}

// EnterAt is Enter for the first use of documents in the request that began at m: see Moment.
func (c *Container) EnterAt(ctx context.Context, now expiry.Stamp, m *Moment) (View, error) {
	return c.authority.enter(ctx, c, now, m)
}

// replace puts a state in force, unless the container has learned of a later one already.
func (c *Container) replace(st *State) {
	for {
		old := c.state.Load()
		if old.Deleted || old.epoch > st.epoch || c.state.CompareAndSwap(old, st) {
			return
		}
	}
}

// advance raises the newest instant to now and returns it.
func (c *Container) advance(now expiry.Stamp) expiry.Stamp {
	for {
		last := c.latest.Load()
		if now <= last {
			return last
		}
		if c.latest.CompareAndSwap(last, now) {
			return now
		}
	}
}

// settle waits for the writes that have read the clock (Refresh) before it reached now and that are not visible yet.
// Otherwise one of them could replace a document that a request at now has just reported as gone.
//
// Only the first request of a second has to wait; others that come in between wait for that one. settle fails only with
// the error of ctx, or because the engine has failed.
func (c *Container) settle(ctx context.Context, now expiry.Stamp) error {
	if now <= c.settled.Load() {
		return nil
	}
	select {
	case c.settling <- struct{}{}:
		defer func() { <-c.settling }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if now <= c.settled.Load() {
		return nil
	}
	reached := c.latest.Load()
	if c.writing.Load()%writtenUnit == 0 { // a write that begins now reads the clock later
		c.settled.Store(reached)
		return nil
	}
	passed := &kv.Batch{NoSync: true}
	c.follow(passed)
	// Batches pass a counter one at a time, so after this one all earlier ones are visible. It always ends with
	// errPassed, or an engine that refuses writes has none under way. Only one that has failed may not have passed.
	if err := c.engine.Apply(ctx, passed); fault.KindOf(err) == fault.Unavailable {
		return err
	}
	if err := ctx.Err(); err != nil { // then the batch may not have passed the counters
		return err
	}
	c.settled.Store(reached)
	return nil
}

// errPassed ends a batch that was only made to pass a counter.
var errPassed = fault.New(fault.Internal, "nothing to write")

// Seen is the newest instant that any request has seen in this process.
func (c *Container) Seen() expiry.Stamp { return c.latest.Load() }

// writtenUnit is what a written document adds to Container.writing. Below it are the writes under way, so that one
// addition counts both.
const writtenUnit = 1 << 20

// BeginWrite is called before a commit that calls Refresh, and EndWrite after it.
func (c *Container) BeginWrite() { c.writing.Add(1) }

// EndWrite ends what BeginWrite has begun. documents is how many were written; deletions do not count.
func (c *Container) EndWrite(documents int) { c.writing.Add(uint64(documents)*writtenUnit - 1) }

// Written is how many documents were written in this process.
func (c *Container) Written() uint64 { return c.writing.Load() / writtenUnit }

// Pass is called by a writer when it passes a counter of the container (kv.Order). It fails with fault.Conflict when
// the container has changed since v, and otherwise returns the instant of the write, which is no earlier than v.Now,
// and the epoch to leave in the counter.
func (v View) Pass(counter keys.Counter, b *kv.Batch) (now expiry.Stamp, epoch uint64, err error) {
	return v.Container.authority.pass(v, counter, b)
}

// Refresh is called when everything that a request has read was found to be unchanged. It returns the instant for which
// that may be told, and fails with fault.Conflict when the container has changed since v.
func (v View) Refresh() (expiry.Stamp, error) { return v.Container.authority.refresh(v) }

// Holds reports whether the state of v is the one that a snapshot of the engine has, which was taken after v.
func (v View) Holds(ctx context.Context, snapshot kv.Reader) (bool, error) {
	return v.Container.authority.holds(ctx, v, snapshot)
}

// There fails with ErrNoOwner if a container is not in a snapshot of the engine that was taken after Enter.
func (c *Container) There(ctx context.Context, snapshot kv.Reader) error {
	return c.authority.there(ctx, c, snapshot)
}

// Gone reports, at the moment that a writer passes one of the container's counters, whether the container has been
// deleted. It is for writers of what is left of documents, to whom no other change matters.
func (c *Container) Gone(counter keys.Counter) bool { return c.authority.gone(c, counter) }
