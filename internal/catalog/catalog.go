// Package catalog keeps databases, containers and their policies, and small named resources (scripts, users,
// permissions, throughput). All of it is in memory, and every change is durable before it is visible. It never touches
// a document, except that it drops all those of a container. Where several processes share the data, what is in memory
// is a cache, and each use of it is proved: see DESIGN.md.
package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Limits on what clients may create.
const (
	MaxDatabases  = 1_000
	MaxContainers = 10_000
)

// The kinds of system record, see docs/format.md.
const (
	countersKind  = 'M'
	databaseKind  = 'D'
	containerKind = 'C'
	resourceKind  = 'R'
	purgeKind     = 'P'
	journalKind   = 'J'
)

// A Catalog is safe for concurrent use. One goroutine changes it at a time; readers never wait for the disk.
type Catalog struct {
	engine    kv.Engine
	shared    bool // other processes change the data, too
	authority authority
	condition Condition

	// Changed, if set before first use, is called with each container whose indexing has changed.
	Changed func(*Container)

	// Dropped, if set before first use, is called with each container that has been deleted.
	Dropped func(*Container)

	instant   func() time.Time // of an event of the audit trail, see SetClock
	maxEvents uint64           // of the audit trail
	maxTrail  uint64           // bytes of the audit trail

	datesOff atomic.Bool
	epochs   atomic.Uint64 // the newest State.Epoch
	floor    atomic.Uint64 // no document gets a sequence up to this one, see Continue
	numbers  atomic.Uint64 // nor a number up to this one

	changes chan struct{} // has an element during a change, including its disk write
	turn    kv.View       // of the change that is being made, where several processes share the data
	passed  uint64        // newest sequence of the counters that it has passed, there

	mu         sync.RWMutex // held only to read or set the fields below, never during a disk write
	counters   counters
	databases  ordered[uint32, *Database]
	containers ordered[uint32, *Container]
	resources  ordered[uint64, *Resource]
	byName     map[name]any
	offers     map[Owner]*Resource
	children   map[group][]*Resource // in order of creation
	clockMark  time.Time
	clean      bool // the previous process has closed the data
	trail      trail
}

// A name is what must be unique: of a database, of a container in a database, of a resource of one kind under one
// owner.
type name struct {
	kind  byte
	owner Owner
	text  string
}

// A group is the resources of one kind under one owner.
type group struct {
	kind  ResourceKind
	owner Owner
}

// counters are the numbers that were given out last.
type counters struct {
	Database  uint32 `json:"database"`
	Container uint32 `json:"container"`
	Resource  uint64 `json:"resource"`
	Sequence  uint64 `json:"sequence"`
	Purge     uint64 `json:"purge,omitempty"`
	Floor     uint64 `json:"floor,omitempty"`   // the sequences of documents begin above it
	Numbers   uint64 `json:"numbers,omitempty"` // and their numbers above this one
}

// Open loads the catalog from an engine and finishes deletions that a crash has interrupted. condition is needed for
// data with partial indexes, else it may be nil.
func Open(ctx context.Context, engine kv.Engine, condition Condition) (*Catalog, error) {
	c := &Catalog{engine: engine, condition: condition, maxEvents: audit.MaxEvents, maxTrail: audit.MaxBytes,
		changes: make(chan struct{}, 1)}
	c.clear()
	c.authority = alone{}
	if s, ok := engine.(kv.Shared); ok && s.Shared() {
		c.shared, c.authority = true, &sharing{c}
	}
	loads := []func(context.Context) error{
		c.checkFormat, c.takeClean, c.loadCounters, c.loadDatabases, c.loadContainers, c.leaveGaps, c.loadResources,
		c.loadClockMark, c.loadTrail,
	}
	if c.shared { // its engine loses nothing that was ever visible, so it needs no marks
		loads, c.clean = []func(context.Context) error{c.checkFormat, c.loadShared}, true
	}
	for _, load := range loads {
		if err := load(ctx); err != nil {
			return nil, fmt.Errorf("open catalog: %w", err)
		}
	}
	if err := c.purge(ctx); err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	return c, nil
}

// clear empties what is in memory.
func (c *Catalog) clear() {
	c.databases, c.containers, c.resources = ordered[uint32, *Database]{}, ordered[uint32, *Container]{},
		ordered[uint64, *Resource]{}
	c.byName, c.offers, c.children = map[name]any{}, map[Owner]*Resource{}, map[group][]*Resource{}
}

// checkFormat refuses data of another format, and marks new data with the present one.
func (c *Catalog) checkFormat(ctx context.Context) error {
	version := uint64(keys.FormatVersion)
	found, err := c.engine.Get(ctx, keys.FormatKey(), func(value []byte) (err error) {
		version, err = keys.DecodeNumber(value)
		return err
	})
	if err != nil {
		return fault.Wrap(fault.Corrupt, err, "the format version cannot be read")
	}
	if version != keys.FormatVersion {
		return fault.New(fault.Invalid, "The data has format version %d, and this mayfly reads %d. "+
			"Open it with the mayfly that wrote it.", version, keys.FormatVersion)
	}
	if found {
		return nil
	}
	b := &kv.Batch{NoSync: true}
	b.Set(keys.FormatKey(), keys.AppendNumber(nil, keys.FormatVersion))
	return c.engine.Apply(ctx, b)
}

// takeClean finds out whether the previous process has closed the data, and removes its mark before anything else is
// written: after a crash of this process the mark must not be there.
func (c *Catalog) takeClean(ctx context.Context) (err error) {
	c.clean, err = c.engine.Get(ctx, keys.CleanKey(), func([]byte) error { return nil })
	if err != nil || !c.clean {
		return err
	}
	b := &kv.Batch{NoSync: true, Frees: true}
	b.Delete(keys.CleanKey())
	return c.engine.Apply(ctx, b)
}

// Close marks the data as closed: everything that was visible is durable. The caller closes the engine.
func (c *Catalog) Close(ctx context.Context) error {
	if c.shared {
		return nil
	}
	b := &kv.Batch{Frees: true}
	b.Set(keys.CleanKey(), nil)
	return c.engine.Apply(ctx, b)
}

// Clean reports whether the previous process has closed the data, so that everything that was visible then was durable.
func (c *Catalog) Clean() bool { return c.clean }

// Shared reports whether other processes use the data, too.
func (c *Catalog) Shared() bool { return c.shared }

// Epoch is the newest State.Epoch of any container. A snapshot of the engine that is taken after this call has
// everything about states of that epoch and earlier ones.
func (c *Catalog) Epoch() uint64 { return c.epochs.Load() }

// EpochIn is the Epoch of a snapshot of the engine, if Epoch was before when it was about to be taken.
func (c *Catalog) EpochIn(ctx context.Context, snapshot kv.Reader, before uint64) (uint64, error) {
	if !c.shared {
		return before, nil
	}
	n, err := countersIn(ctx, snapshot)
	return n.Sequence, err
}

func (c *Catalog) loadCounters(ctx context.Context) error {
	_, err := c.engine.Get(ctx, keys.CatalogKey(countersKind), func(value []byte) error {
		return decode(value, &c.counters)
	})
	c.storeFloors()
	return err
}

// numberKey is the key of a record that a 64-bit counter numbers.
func numberKey(kind byte, n uint64) []byte { return keys.CatalogKey(kind, uint32(n>>32), uint32(n)) }

// each decodes every system record of a kind, in order of its id.
func each[T any](ctx context.Context, r kv.Reader, kind byte, take func(*T) error) error {
	prefix := keys.CatalogKey(kind)
	it, err := r.Iterate(ctx, prefix, keys.End(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	for it.Next() {
		record := new(T)
		if err := decode(it.Value(), record); err != nil {
			return err
		}
		if err := take(record); err != nil {
			return err
		}
	}
	return it.Err()
}

func decode(value []byte, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return fault.Wrap(fault.Corrupt, err, "a catalog record cannot be read")
	}
	return nil
}

func encode(record any) []byte {
	value, err := json.Marshal(record)
	if err != nil {
		panic(err) // the records are our own structs
	}
	return value
}

// change makes one change of the catalog. do fills the batch, advances the counters and notes the events; when the
// batch is durable, seen makes the change visible.
//
// touched are the containers whose answers, or whose existence, the change affects. Where several processes share the
// data, do runs when the change has passed all their counters, and may run again.
func (c *Catalog) change(
	ctx context.Context, do func(r *revision, b *kv.Batch) error, seen func(), touched ...touch,
) error {
	return c.changeBy(ctx, do, seen, func(b *kv.Batch) error { return c.engine.Apply(ctx, b) }, touched...)
}

// changeBy is change with another way to make the batch durable.
func (c *Catalog) changeBy(
	ctx context.Context, do func(r *revision, b *kv.Batch) error, seen func(), apply func(*kv.Batch) error,
	touched ...touch,
) error {
	var next revision
	var after trail
	fill := func(b *kv.Batch) (err error) {
		next = c.nextRevision(b)
		if err := do(&next, b); err != nil {
			return err
		}
		b.Set(keys.CatalogKey(countersKind), encode(next.counters))
		c.journal(b, next.Sequence)
		after, err = c.write(ctx, b, next.events)
		return err
	}
	if err := c.authority.apply(c, fill, apply, touched); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counters, c.trail = next.counters, after
	seen()
	return nil
}

// nextRevision begins a change. Only changes write the counters, and they hold c.changes.
func (c *Catalog) nextRevision(b *kv.Batch) revision {
	next := revision{counters: c.counters, batch: b, newest: c.passed}
	next.Sequence++
	return next
}

// ClockMark is the stored high-water mark of the clock, the zero Time if there is none.
func (c *Catalog) ClockMark() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.clockMark
}

// SaveClockMark raises the high-water mark of the clock, writes events about that, and returns when both are durable.
// It ignores a mark that is not above the present one.
func (c *Catalog) SaveClockMark(ctx context.Context, mark time.Time, events ...audit.Event) error {
	return c.exclusively(ctx, func() error {
		if !mark.After(c.ClockMark()) {
			return nil
		}
		b := &kv.Batch{Frees: true} // on a full disk, too: without it nothing could be reclaimed
		b.Set(keys.ClockKey(), encode(mark.UTC()))
		return c.apply(ctx, b, events, func() { c.clockMark = mark })
	})
}

func (c *Catalog) loadClockMark(ctx context.Context) error {
	_, err := c.engine.Get(ctx, keys.ClockKey(), func(value []byte) error {
		return decode(value, &c.clockMark)
	})
	return err
}
