package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A SnapshotTransaction is a transaction over any number of containers with snapshot isolation. It reads the state of
// its beginning, together with what it has written itself; lifetime follows each container's View. Its commit depends
// only on what it writes. It fails with fault.Conflict if another write has changed a document that it has changed, has
// created one where it found none, or has taken a unique key that it takes. What it has only read may have changed, as
// in MongoDB: https://www.mongodb.com/docs/manual/core/transactions/
//
// An operation that meets a conflict fails with it at once, also if the other write is in a transaction that has not
// committed yet. Then this transaction has failed, and its user starts another one.
//
// It can create containers too, see CreateContainer.
//
// It is used by one goroutine. It keeps a snapshot of the engine, and what it writes in memory, until Commit or
// Rollback; no Scan of it may be under way then.
type SnapshotTransaction struct {
	// Label goes into the log with everything that the transaction changes.
	Label doc.Doc

	s          *Store
	at         kv.Snapshot // nil when the transaction has ended
	past       *Store      // which reads at
	epoch      uint64      // of the newest change of a container that at is sure to have
	began      time.Time   // after at, by the engine's clock; the zero Time if the engine keeps none
	members    []*ContainerTransaction
	draft      *catalog.Draft // of the containers that it makes, nil until the first
	apiEntries []apiEntry
	ops        uint64
	intents    []string // the keys that it holds
	failed     error    // why no more can be done
}

// Limits of one SnapshotTransaction, in addition to maxTransactionBytes.
const maxSnapshotOps = 100_000

var (
	errManySnapshotSteps = fault.New(fault.TooLarge, "Too many operations in one transaction (limit %d). "+
		"Do the rest in another one.", maxSnapshotOps)
	errNotAlone   = fault.New(fault.Internal, "The part of a transaction in one container cannot end by itself.")
	errOtherWrite = fault.New(fault.Conflict, "Another write of the same document came first. "+
		"Start the transaction again.")
	errLaterState = fault.New(fault.Conflict, "The container was changed after the transaction began. "+
		"Start the transaction again.")
)

// BeginSnapshot starts a transaction. It will see what is visible now.
func (s *Store) BeginSnapshot(ctx context.Context) (*SnapshotTransaction, error) {
	epoch := s.catalog.Epoch() // before the snapshot, which may be of a later one
	at, err := s.engine.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if epoch, err = s.catalog.EpochIn(ctx, at, epoch); err != nil {
		return nil, errors.Join(err, at.Close())
	}
	tx := &SnapshotTransaction{s: s, epoch: epoch, at: at}
	if s.catalog.Shared() {
		view, err := s.engine.View(ctx)
		if err != nil {
			return nil, errors.Join(err, at.Close())
		}
		tx.began = view.Time
	}
	// The same code serves transactions and single writes: this store reads from the snapshot and shares everything
	// else.
	tx.past = &Store{engine: snapshotEngine{Engine: s.engine, at: tx.at}, shared: s.shared}
	return tx, nil
}

// Now is the instant at which the transaction's documents are alive: now, or that of the snapshot if the engine keeps
// time. A view of On holds from the snapshot until it was opened, so it holds at that instant.
func (tx *SnapshotTransaction) Now(now expiry.Stamp) expiry.Stamp {
	if tx.began.IsZero() {
		return now
	}
	return tx.began.Unix()
}

// On returns the transaction's part in a container, the same one each time. The view of the first call counts. It must
// have been opened after the transaction began where several processes share the data. The part ends with the
// transaction, not by itself.
func (tx *SnapshotTransaction) On(v catalog.View) *ContainerTransaction {
	for _, x := range tx.members {
		if x.set != nil && x.set.v.Container == v.Container {
			return x
		}
	}
	if tx.at == nil {
		return &ContainerTransaction{}
	}
	early := false
	if v.Read != nil {
		early = v.Read.Time.Before(tx.began)
		v.Read = &kv.View{Time: v.Read.Time} // it reads the snapshot
	}
	v.Now = tx.Now(v.Now)
	x := newContainerTransaction(tx.past.beginOn(v, kv.View{Reader: tx.at})) // its own batch is never applied
	x.set.within = tx
	tx.members = append(tx.members, x)
	if !tx.created(v.Container) && (early || v.Epoch() > tx.epoch) { // the snapshot may have other entries
		tx.failed = errLaterState
	}
	return x
}

// mayDo checks an operation against the limits.
func (tx *SnapshotTransaction) mayDo(op *Op) error {
	switch {
	case tx.failed != nil:
		return tx.failed
	case tx.ops >= maxSnapshotOps:
		return errManySnapshotSteps
	case tx.loaded()+len(op.Body) > maxTransactionBytes:
		return errManyBytes
	}
	tx.ops++
	return nil
}

// loaded is the bytes of documents that the operations have read and made.
func (tx *SnapshotTransaction) loaded() (n int) {
	for _, x := range tx.members {
		n += x.set.loaded
	}
	return n
}

func (tx *SnapshotTransaction) full() bool {
	return tx.ops >= maxSnapshotOps*9/10 || tx.loaded() >= maxTransactionBytes*9/10
}

// wrote handles a slot that an operation has changed: it takes the intent and looks for conflicts. reads is how many
// reads ws had before the operation; those that follow are unique keys.
func (tx *SnapshotTransaction) wrote(ctx context.Context, ws *writeSet, sl *slot, reads int) error {
	if !tx.hold(sl.lookup) {
		tx.failed = errOtherWrite
		return tx.failed
	}
	if err := tx.unchanged(ctx, tx.s.engine, append(ws.dependencies(nil, sl), ws.b.Reads[reads:]...)); err != nil {
		tx.failed = err
	}
	return tx.failed
}

// dependencies appends the keys that must be as they were for a slot to be written.
func (ws *writeSet) dependencies(dst [][]byte, sl *slot) [][]byte {
	dst = append(dst, sl.lookup)
	if sl.found {
		dst = append(dst, ws.key(func(dst []byte) []byte { return sl.rng.Record(dst, sl.number) }))
	}
	if sl.expired != nil && sl.expired.logged {
		dst = append(dst, ws.key(func(dst []byte) []byte { return sl.rng.Record(dst, sl.expired.number) }))
	}
	return dst
}

// unchanged fails with fault.Conflict when a key has another value now than in the transaction's snapshot.
func (tx *SnapshotTransaction) unchanged(ctx context.Context, now kv.Reader, list [][]byte) error {
	for _, key := range list {
		was, err := valueTag(ctx, tx.at, key)
		if err != nil {
			return err
		}
		is, err := valueTag(ctx, now, key)
		if err != nil {
			return err
		}
		if was != is {
			return errOtherWrite
		}
	}
	return nil
}

// valueTag tells the values that a key has had apart: a number, or the header of a record, which has the sequence of
// its write. Bodies are not compared.
func valueTag(ctx context.Context, r kv.Reader, key []byte) (value string, err error) {
	value = "nothing"
	_, err = r.Get(ctx, key, func(b []byte) error {
		value = string(b[:min(len(b), keys.HeaderBytes)])
		return nil
	})
	return value, err
}

// SyncRead makes durable what the transaction has read, if it has written nothing: else Commit does. Its errors are
// those of Store.SyncRead.
func (tx *SnapshotTransaction) SyncRead(ctx context.Context) error {
	if tx.at == nil || tx.draft != nil || slices.ContainsFunc(tx.members, (*ContainerTransaction).Wrote) {
		return nil
	}
	return tx.s.SyncRead(ctx)
}

// Commit makes what the transaction has done in all of its containers visible and durable, or nothing of it. The
// transaction has ended in either case. After fault.Conflict the user starts another one.
func (tx *SnapshotTransaction) Commit(ctx context.Context) error {
	if tx.at == nil {
		return errEnded
	}
	defer tx.Rollback()
	if tx.failed != nil {
		return tx.failed
	}
	c := snapshotCommit{tx: tx, writers: tx.writers()}
	switch {
	case tx.draft != nil:
		return tx.publish(ctx, &c)
	case len(c.writers) == 0:
		return nil
	}
	return c.commit(ctx)
}

// commit writes what the transaction has done.
func (c *snapshotCommit) commit(ctx context.Context) error {
	writers := c.writers
	if err := c.prepare(ctx); err != nil {
		return err
	}
	entries := 0
	for _, ws := range writers {
		entries += len(ws.entries)
	}
	if entries > largeEntries {
		share := budget.Of(ctx)
		if err := share.Hold(ctx, time.Duration(entries)*entryTime); err != nil {
			return err
		}
		defer share.Rest()
	}
	for _, ws := range writers {
		if err := ws.reenter(ctx); err != nil {
			return err
		}
	}
	// Each container has to know that a write is under way before it reads the clock, see catalog.Container.Enter.
	applied := false
	for _, ws := range writers {
		ws.v.Container.BeginWrite()
		defer func() {
			written := 0
			if applied {
				written = ws.stored()
			}
			ws.v.Container.EndWrite(written)
		}()
	}
	err := c.apply(ctx)
	applied = err == nil
	if err == nil && len(c.entries) > 0 {
		c.tx.s.log.grown()
	}
	return err
}

// writers are the members that have written, in the order of container numbers. All transactions pass their counters in
// this order, and those of a container in the order of its ranges, so that no two wait for each other.
func (tx *SnapshotTransaction) writers() (list []*writeSet) {
	for _, x := range tx.members {
		if x.set.writes() {
			list = append(list, x.set)
		}
	}
	slices.SortFunc(list, func(a, b *writeSet) int { return cmp.Compare(a.v.Container.ID, b.v.Container.ID) })
	return list
}

// A snapshotCommit is the one batch of a transaction.
type snapshotCommit struct {
	tx      *SnapshotTransaction
	writers []*writeSet
	batch   kv.Batch
	entries [][]byte  // of the log
	records *kv.Batch // of the containers that the transaction makes, nil for none
	receipt *Receipt  // that goes with it, nil for none
	passed  bool      // the engine has got as far as the counters
}

// prepare fills the batch with all that is known before its counters are passed.
func (c *snapshotCommit) prepare(ctx context.Context) error {
	for _, ws := range c.writers {
		if err := ws.compareAll(ctx); err != nil {
			return err
		}
		for _, sl := range ws.slots {
			if sl.written {
				c.batch.Reads = ws.dependencies(c.batch.Reads, sl)
			}
		}
		// Unique keys. They are checked against the present state, since two transactions may claim one key on
		// different documents.
		ws.bound(&c.batch)
		c.batch.Reads = append(c.batch.Reads, ws.b.Reads...)
		c.batch.Ops = append(c.batch.Ops, ws.b.Ops...)
		for _, p := range ws.group() {
			c.batch.Follow(p.rng.Order(nil), func(last []byte, b *kv.Batch) ([]byte, error) {
				c.passed = true
				ws.b.Ops = ws.b.Ops[:0] // the engine may call again
				next, err := ws.place(p, last, b)
				b.Ops = append(b.Ops, ws.b.Ops...)
				return next, err
			})
		}
	}
	c.batch.Frees = c.tx.draft == nil && !slices.ContainsFunc(c.writers, func(ws *writeSet) bool {
		return !ws.deletes()
	})
	c.receipt = c.tx.s.receiptOf(ctx)
	c.entries = c.logEntries()
	c.tx.s.log.follow(&c.batch, c.entries, c.wall)
	return nil
}

// logEntries encodes the changes of all members, in the order of the operations.
func (c *snapshotCommit) logEntries() [][]byte {
	type made struct {
		at    uint64
		entry []byte
	}
	var list []made
	for _, ws := range c.writers {
		for i := range ws.changes {
			list = append(list, made{ws.changes[i].at, ws.logEntry(&ws.changes[i])})
		}
	}
	for _, x := range c.tx.apiEntries {
		list = append(list, made{x.at, x.encode(c.tx.Label)})
	}
	// The log has the order in which the client did it, across containers. Entries of one operation stay together.
	slices.SortStableFunc(list, func(a, b made) int { return cmp.Compare(a.at, b.at) })
	entries := make([][]byte, len(list))
	for i := range list {
		entries[i] = list[i].entry
	}
	return entries
}

// wall is the time of day of the newest stamp.
func (c *snapshotCommit) wall() (newest int64) {
	for _, x := range c.tx.apiEntries {
		newest = max(newest, x.entry.Wall)
	}
	for _, ws := range c.writers {
		newest = max(newest, 1000*ws.stamp)
	}
	return newest
}

// apply writes the batch if nothing that it depends on has changed since the snapshot. An engine remembers changes for
// a short time only, and a transaction may be old. So the values are compared with those of the snapshot first, and the
// engine is asked only about the time since that comparison.
func (c *snapshotCommit) apply(ctx context.Context) error {
	// A conflict here is only a write between the comparison and the batch. Comparing again tells whether it concerns
	// this transaction.
	reads, ops := len(c.batch.Reads), len(c.batch.Ops)
	for range maxAttempts {
		view, err := c.tx.s.engine.View(ctx)
		if err != nil {
			return err
		}
		c.batch.Reads, c.batch.Ops = c.batch.Reads[:reads], c.batch.Ops[:ops]
		receipt, err := c.receipt.begin(ctx, view.Reader)
		if err == ErrReceipted { // an attempt whose end was unknown has been committed
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.tx.unchanged(ctx, view.Reader, c.batch.Reads); err != nil {
			return err
		}
		c.batch.Since = view.Mark
		receipt.end(&c.batch, view.Time.Unix())
		if c.records != nil && len(c.records.Reads) > 0 {
			// They rest on an earlier moment. What is unchanged since the snapshot must be unchanged since then, too.
			c.batch.Since, c.batch.Reads = c.records.Since, append(c.batch.Reads, c.records.Reads...)
			return c.tx.s.apply(ctx, &c.batch)
		}
		err = c.tx.s.apply(ctx, &c.batch)
		if fault.KindOf(err) == fault.Undetermined && c.receipt.retries(err) {
			continue
		}
		// A conflict after the counters is one with the container's state or with a deadline: trying again cannot help.
		if err == nil || c.passed || fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return errOtherWrite
}

// Rollback ends the transaction; nothing of it remains. After Commit it does nothing.
func (tx *SnapshotTransaction) Rollback() {
	if tx.at == nil {
		return
	}
	for _, x := range tx.members {
		x.set.end()
		x.set = nil
	}
	// Not before the commit: a transaction that takes an intent next must find what this one has written.
	tx.s.intents.drop(tx.intents)
	tx.discard()
	// Closing a snapshot that was only read loses nothing.
	_ = tx.at.Close()
	tx.at = nil
}

// hold takes the intent to write what is under a key; false when another transaction has it.
func (tx *SnapshotTransaction) hold(key []byte) bool {
	mine, first := tx.s.intents.take(tx, key)
	if first {
		tx.intents = append(tx.intents, string(bytes.Clone(key)))
	}
	return mine
}
