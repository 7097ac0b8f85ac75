package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Group is one transaction over any number of containers. All that it reads is as it was
// when the group began, together with what it has written itself; lifetime is as each
// container's View says. Its commit depends only on what it writes: a document that it has
// changed, or found missing where it wrote one, or a unique key that it has taken, and that someone else has
// changed since, is fault.Conflict. What it has merely read may have changed, as in MongoDB:
// https://www.mongodb.com/docs/manual/core/transactions/
//
// The operation that meets a conflict fails with it at once, also when the other one is a
// group that has not committed yet. The group is over then, and the user begins anew with another one.
//
// It may make containers too, see Make.
//
// It is used by one goroutine, keeps a snapshot of the engine and what it writes in memory,
// and ends with Commit or Rollback; no Scan of it may be under way then.
type Group struct {
	// Label goes into the log with everything that the group changes.
	Label doc.Doc

	s       *Store
	at      kv.Snapshot // nil when the group has ended
	past    *Store      // which reads at
	epoch   uint64      // of the newest change of a container that at is sure to have
	members []*Transaction
	draft   *catalog.Draft // of the containers that it makes, nil until the first
	told    []told
	ops     uint64
	held    []string // keys of intents
	failed  error    // why no more can be done
}

// Limits of one Group, beside maxTransactionBytes.
const maxGroupOps = 100_000

var (
	errGroupSteps = fault.New(fault.TooLarge, "One transaction has at most %d operations. Do the rest in another one.", maxGroupOps)
	errOfGroup    = fault.New(fault.Internal, "The transaction ends with its group.")
	errOtherWrite = fault.New(fault.Conflict, "Another write of the same document came first. Begin the transaction anew.")
	errLaterState = fault.New(fault.Conflict, "The container was changed after the transaction began. Begin the transaction anew.")
)

// BeginGroup starts a group. What is visible now is what it will see.
func (s *Store) BeginGroup() *Group {
	g := &Group{s: s, epoch: s.catalog.Epoch(), at: s.engine.Snapshot()}
	g.past = &Store{engine: frozen{Engine: s.engine, at: g.at}, held: s.held}
	return g
}

// On gives the group's part in a container, the same each time. The view of the first call
// counts. It ends with the group, not by itself.
func (g *Group) On(v catalog.View) *Transaction {
	for _, x := range g.members {
		if x.t != nil && x.t.v.Container == v.Container {
			return x
		}
	}
	if g.at == nil {
		return &Transaction{}
	}
	x := g.past.Begin(v)
	x.t.group = g
	g.members = append(g.members, x)
	if v.Epoch() > g.epoch && !g.made(v.Container) { // the snapshot may have no entries of its indexes
		g.failed = errLaterState
	}
	return x
}

// mayDo holds an operation against the group's limits.
func (g *Group) mayDo(op *Op) error {
	switch {
	case g.failed != nil:
		return g.failed
	case g.ops >= maxGroupOps:
		return errGroupSteps
	case g.loaded()+len(op.Body) > maxTransactionBytes:
		return errManyBytes
	}
	g.ops++
	return nil
}

// loaded is the bytes of documents that the operations have read and made.
func (g *Group) loaded() (n int) {
	for _, x := range g.members {
		n += x.t.loaded
	}
	return n
}

func (g *Group) full() bool {
	return g.ops >= maxGroupOps*9/10 || g.loaded() >= maxTransactionBytes*9/10
}

// wrote is told of a slot that an operation has changed. reads is how much of t's reads was
// there before: what follows are unique keys.
func (g *Group) wrote(t *txn, sl *slot, reads int) error {
	if !g.hold(sl.lookup) {
		g.failed = errOtherWrite
		return g.failed
	}
	if err := g.unchanged(append(t.dependencies(nil, sl), t.b.Reads[reads:]...)); err != nil {
		g.failed = err
	}
	return g.failed
}

// dependencies appends the keys that must be as they were for a slot to be written.
func (t *txn) dependencies(dst [][]byte, sl *slot) [][]byte {
	rng := t.v.Container.Keys()
	dst = append(dst, sl.lookup)
	if sl.found {
		dst = append(dst, t.key(func(dst []byte) []byte { return rng.Record(dst, sl.number) }))
	}
	if sl.ghost != nil && sl.ghost.told {
		dst = append(dst, t.key(func(dst []byte) []byte { return rng.Record(dst, sl.ghost.number) }))
	}
	return dst
}

// unchanged fails with fault.Conflict when a key is not as the group's snapshot has it.
func (g *Group) unchanged(list [][]byte) error {
	for _, key := range list {
		was, err := gist(g.at, key)
		if err != nil {
			return err
		}
		is, err := gist(g.s.engine, key)
		if err != nil {
			return err
		}
		if was != is {
			return errOtherWrite
		}
	}
	return nil
}

// gist is what tells a value under a key from any other there: a number, or the header of a
// record, which has the sequence of its write.
func gist(r kv.Reader, key []byte) (value string, err error) {
	value = "nothing"
	_, err = r.Get(key, func(b []byte) error {
		value = string(b[:min(len(b), keys.HeaderBytes)])
		return nil
	})
	return value, err
}

// Commit makes visible and durable what the group has done in all of its containers, or
// nothing of it. The group has ended, whatever becomes of it. fault.Conflict: begin anew.
func (g *Group) Commit(ctx context.Context) error {
	if g.at == nil {
		return errEnded
	}
	defer g.Rollback()
	if g.failed != nil {
		return g.failed
	}
	c := groupCommit{g: g, writers: g.writers()}
	switch {
	case g.draft != nil:
		return g.publish(ctx, &c)
	case len(c.writers) == 0:
		return nil
	}
	return c.commit(ctx)
}

// commit writes what the group has done.
func (c *groupCommit) commit(ctx context.Context) error {
	g, writers := c.g, c.writers
	if err := c.prepare(ctx); err != nil {
		return err
	}
	entries := 0
	for _, t := range writers {
		entries += len(t.entries)
	}
	if entries > largeEntries {
		share := budget.Of(ctx)
		if err := share.Hold(ctx, time.Duration(entries)*entryTime); err != nil {
			return err
		}
		defer share.Rest()
	}
	for _, t := range writers {
		if err := t.arrive(ctx); err != nil {
			return err
		}
	}
	for _, t := range writers {
		t.v.Container.BeginWrite()
		defer t.v.Container.EndWrite()
	}
	err := c.apply(ctx)
	for _, t := range writers {
		if err != nil && t.gapped {
			t.v.Container.ReturnGap()
		}
	}
	if err == nil && len(c.entries) > 0 {
		g.s.log.grown()
	}
	return err
}

// writers are the members that have written, in the order in which all groups pass
// their counters.
func (g *Group) writers() (list []*txn) {
	for _, x := range g.members {
		if x.t.writes() {
			list = append(list, x.t)
		}
	}
	slices.SortFunc(list, func(a, b *txn) int { return cmp.Compare(a.v.Container.ID, b.v.Container.ID) })
	return list
}

// A groupCommit is the one batch of a group.
type groupCommit struct {
	g       *Group
	writers []*txn
	batch   kv.Batch
	entries [][]byte // of the log
	passed  bool     // the engine has got as far as the counters
}

// prepare fills the batch with all that is known before its counters are passed.
func (c *groupCommit) prepare(ctx context.Context) error {
	for _, t := range c.writers {
		if err := t.compareAll(ctx); err != nil {
			return err
		}
		for _, sl := range t.slots {
			if sl.written {
				c.batch.Reads = t.dependencies(c.batch.Reads, sl)
			}
		}
		c.batch.Reads = append(c.batch.Reads, t.b.Reads...)
		c.batch.Ops = append(c.batch.Ops, t.b.Ops...)
		c.batch.Follow(t.v.Container.Keys().Order(nil), func(last []byte, b *kv.Batch) ([]byte, error) {
			c.passed = true
			t.b.Ops = t.b.Ops[:0]
			next, err := t.place(last, &t.b)
			b.Ops = append(b.Ops, t.b.Ops...)
			return next, err
		})
	}
	c.batch.Frees = c.g.draft == nil && !slices.ContainsFunc(c.writers, func(t *txn) bool { return !t.deletes() })
	c.entries = c.logEntries()
	c.g.s.log.follow(&c.batch, c.entries, c.wall)
	return nil
}

// logEntries encodes the changes of all members, in the order in which they were made.
func (c *groupCommit) logEntries() [][]byte {
	type made struct {
		at    uint64
		entry []byte
	}
	var list []made
	for _, t := range c.writers {
		for i := range t.changes {
			list = append(list, made{t.changes[i].at, t.logEntry(&t.changes[i])})
		}
	}
	for _, x := range c.g.told {
		list = append(list, made{x.at, x.encode(c.g.Label)})
	}
	slices.SortStableFunc(list, func(a, b made) int { return cmp.Compare(a.at, b.at) })
	entries := make([][]byte, len(list))
	for i := range list {
		entries[i] = list[i].entry
	}
	return entries
}

// wall is the time of day of the newest stamp.
func (c *groupCommit) wall() (newest int64) {
	for _, x := range c.g.told {
		newest = max(newest, x.entry.Wall)
	}
	for _, t := range c.writers {
		newest = max(newest, 1000*t.stamp)
	}
	return newest
}

// apply writes the batch if nothing that it depends on has changed since the group's
// snapshot. An engine remembers changes for a short while only, so it is asked about the
// time since a look at what is there now.
func (c *groupCommit) apply(ctx context.Context) error {
	for range maxAttempts {
		c.batch.Since = c.g.s.engine.Mark()
		if err := c.g.unchanged(c.batch.Reads); err != nil {
			return err
		}
		err := c.g.s.engine.Apply(ctx, &c.batch)
		if err == nil || c.passed || fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return errOtherWrite
}

// Rollback ends the group; nothing of it remains. After Commit it does nothing.
func (g *Group) Rollback() {
	if g.at == nil {
		return
	}
	for _, x := range g.members {
		x.t.end()
		x.t = nil
	}
	g.s.intents.drop(g.held)
	g.discard()
	// A snapshot that was only read is closed without loss.
	_ = g.at.Close()
	g.at = nil
}

// hold notes that the group is going to write what is under a key; false when another group is.
func (g *Group) hold(key []byte) bool {
	mine, first := g.s.intents.take(g, key)
	if first {
		g.held = append(g.held, string(bytes.Clone(key)))
	}
	return mine
}
