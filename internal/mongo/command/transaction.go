package command

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/store"
)

// Limits of transactions. Each holds a snapshot, and what it writes in memory.
const (
	maxTransactions = 500
	sweepEvery      = time.Second
)

// transactions are those that are open, and the documents that they have written.
type transactions struct {
	guard   sync.Mutex
	open    map[*transaction]struct{}
	locks   map[lockKey]*transaction
	locked  atomic.Int64 // len(locks)
	once    sync.Once
	sweeper sync.WaitGroup
}

// A lockKey is a document: the id of its container, and its key there.
type lockKey struct {
	container uint32
	id        string
}

// A transaction is a multi-document transaction that is open. It is used by the request that has
// the turn of its session.
// https://www.mongodb.com/docs/v7.0/core/transactions/
type transaction struct {
	sessions *sessions
	session  *session
	number   int64
	now      expiry.Stamp    // the instant at which its documents are alive
	ctx      context.Context // of the request that runs
	age      clock.Stopwatch
	first    bool // its first command runs
	snapshot bool // that has asked for the read concern snapshot
	api      apiParameters

	share   budget.Share               // of what it has written
	group   *store.SnapshotTransaction // nil until a container is used
	views   []catalog.View
	made    []*catalog.Container // for itself alone until the commit
	locks   []lockKey
	cursors bool          // some have been open
	doomed  bool          // a statement has failed
	done    chan struct{} // closed when documents are given back
	awaited bool          // someone has done
}

func (s *transactions) init() {
	s.open, s.locks = map[*transaction]struct{}{}, map[lockKey]*transaction{}
}

func (s *transactions) running() (list []*transaction) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for t := range s.open {
		list = append(list, t)
	}
	return list
}

// joinTransaction begins the transaction of a request, or goes on with it.
func (r *request) joinTransaction() error {
	if err := r.mayTransact(); err != nil {
		return err
	}
	x, starts := r.session, r.startsTxn.Type != 0
	switch {
	case r.txnNumber < x.number:
		return code.New(code.TransactionTooOld, "Cannot start transaction with { txnNumber: %d } on session %s because a newer transaction with { txnNumber: %d } has already started.",
			r.txnNumber, x.shown(), x.number)
	case starts && r.txnNumber == x.number:
		return code.New(code.ConflictingOperationInProgress, "Only servers in a sharded cluster can start a new transaction at the active transaction number")
	case starts:
		return r.beginTransaction()
	case r.txnNumber != x.number || x.stage == retryable:
		return code.New(code.NoSuchTransaction, "Given transaction number %d does not match any in-progress transactions. The active transaction number is %d", r.txnNumber, x.number)
	case x.stage == aborted:
		return code.New(code.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", x.number)
	case x.stage == committed && r.name != "commitTransaction":
		return code.New(code.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.number)
	}
	if x.tx != nil {
		if err := r.mustMatch(x.tx.api, "transaction's first command"); err != nil {
			return err
		}
	}
	if r.tx = x.tx; r.tx != nil {
		r.now, r.tx.ctx, r.tx.first = r.tx.now, r.ctx, false
	}
	return nil
}

// endsTransaction reports whether the command is the last one of a transaction.
func (r *request) endsTransaction() bool {
	return r.name == "commitTransaction" || r.name == "abortTransaction"
}

// mayTransact decides whether the command may run in a transaction.
func (r *request) mayTransact() error {
	switch {
	case r.endsTransaction():
		if r.startsTxn.Type != 0 {
			return code.New(code.OperationNotSupportedInTransaction, "Cannot run '%s' as the first operation in a transaction.", r.name)
		}
		return nil
	case r.name == "count":
		return code.New(code.OperationNotSupportedInTransaction,
			"Cannot run 'count' in a multi-document transaction. Please see http://dochub.mongodb.org/core/transaction-count for a recommended alternative.")
	case !r.command.txn:
		return code.New(code.OperationNotSupportedInTransaction, "Cannot run '%s' in a multi-document transaction.", r.name)
	case r.db == adminDatabase || r.db == "config" || r.db == "local":
		return code.New(code.OperationNotSupportedInTransaction, "Cannot run command against the '%s' database in a transaction.", r.db)
	case r.startsTxn.Type != 0 && (r.name == "getMore" || r.name == "killCursors"):
		return code.New(code.OperationNotSupportedInTransaction, "Cannot run %s as the first operation in a transaction.", r.name)
	}
	return nil
}

// beginTransaction opens a transaction; one of the same session that is open yet is given up.
func (r *request) beginTransaction() error {
	x, s := r.session, &r.s.sessions
	x.abort(s)
	t := &transaction{sessions: s, session: x, number: r.txnNumber, now: r.now, ctx: r.ctx, api: r.api, age: clock.Start(), first: true, snapshot: r.level() == "snapshot", done: make(chan struct{})}
	r.s.o.Budget.Open(&t.share)
	s.guard.Lock()
	full := len(s.open) >= maxTransactions
	if !full {
		s.open[t] = struct{}{}
	}
	s.guard.Unlock()
	if full {
		return code.New(code.LockTimeout, "Too many open transactions (limit %d). Try again later.", maxTransactions)
	}
	s.once.Do(func() { s.sweeper.Go(s.sweep) })
	s.renumber(x, r.txnNumber, inProgress)
	x.tx, r.tx = t, t
	return nil
}

// renumber begins with a new transaction number.
func (s *sessions) renumber(x *session, number int64, st stage) {
	s.kept.drop(x)
	x.number, x.stage = number, st
}

// sweep ends transactions that have lasted too long.
func (s *sessions) sweep() {
	for clock.Pause(s.s.running, sweepEvery) == nil {
		s.endOld(time.Duration(s.s.parameters.number(transactionLifetimeLimitSeconds)) * time.Second)
	}
}

func (s *sessions) endOld(age time.Duration) {
	for _, t := range s.transactions.running() {
		if t.age.Elapsed() < age {
			continue
		}
		s.interrupt(nil, []*session{t.session})
		if t.session.take(s.s.running) != nil {
			return
		}
		if t.session.tx == t {
			t.session.abort(s)
		}
		t.session.release()
	}
}

// begin fixes what the transaction sees, the first time.
func (t *transaction) begin() *store.SnapshotTransaction {
	if t.group == nil {
		t.group = t.sessions.s.o.Store.BeginSnapshot()
		t.group.Label = t.label()
	}
	return t.group
}

// label is what change streams tell of the transaction with each of its changes.
func (t *transaction) label() doc.Doc {
	a := newAnswer(nil)
	a.object("lsid")
	t.session.describe(a)
	a.close()
	a.int64("txnNumber", t.number)
	return a.end()
}

// enter begins to use a container in the transaction, whose reads are of one moment: later
// instants that others have seen do not count.
func (t *transaction) enter(r *request, c *catalog.Container) (catalog.View, error) {
	for _, v := range t.views {
		if v.Container == c {
			return v, nil
		}
	}
	v, err := c.Enter(r.ctx, t.now)
	if err != nil {
		if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.OwnerNotFound {
			err = fault.Wrap(fault.Conflict, err, "The collection was dropped meanwhile.")
		}
		return v, err
	}
	v.Now = t.now
	t.begin()
	t.views = append(t.views, v)
	return v, nil
}

// find gives the container of that name as it was when the transaction began, or as the
// transaction has made it; nil without an error when there is none.
func (t *transaction) find(db, name string) (*catalog.Container, error) {
	g := t.begin()
	if c := g.Created(db, name); c != nil {
		return c, nil
	}
	c, err := t.sessions.s.find(db, name)
	if c != nil && !g.Sees(c) {
		return nil, nil
	}
	return c, err
}

// make makes a container that only the transaction sees until its commit.
func (t *transaction) make(db string, def catalog.Definition) (*catalog.Container, error) {
	c, err := t.begin().CreateContainer(t.now, db, def)
	if err == nil {
		t.made = append(t.made, c)
	}
	return c, err
}

// mayShape refuses the commands that make collections and indexes in a transaction with the
// read concern snapshot. What a write makes by itself is allowed.
// mongodb/mongo: jstests/core/txns/commands_in_txns_read_concern.js
func (t *transaction) mayShape(r *request) error {
	if !t.snapshot {
		return nil
	}
	return code.New(code.InvalidOptions, "Command %s does not support { readConcern: { level: \"snapshot\", provenance: \"clientSupplied\" } } :: caused by :: read concern not supported", r.name)
}

// makes reports whether the transaction has made a container.
func (t *transaction) makes(c *catalog.Container) bool { return slices.Contains(t.made, c) }

// mayIndex refuses indexes of a collection that the transaction has not made, or that has documents.
// mongodb/mongo: src/mongo/db/commands/create_indexes_cmd.cpp
func (t *transaction) mayIndex(r *request, c *catalog.Container) error {
	kind := "existing"
	if t.makes(c) {
		n, err := r.countSelected(&selection{container: c, limit: 1})
		if n == 0 || err != nil {
			return err
		}
		kind = "non-empty"
	}
	return code.New(code.OperationNotSupportedInTransaction, "Cannot create new indexes on %s collection %s.%s in a multi-document transaction.", kind, c.Database.Name, c.State().Name)
}

// reenter makes the transaction go by the new state of a container that it has made, in which
// there is no document.
func (t *transaction) reenter(c *catalog.Container) error {
	i := slices.IndexFunc(t.views, func(v catalog.View) bool { return v.Container == c })
	if i < 0 {
		return nil
	}
	v, err := c.Enter(t.ctx, t.now)
	if err != nil {
		return err
	}
	v.Now = t.now
	t.views[i] = v
	t.group.Redefine(v)
	return nil
}

// A txContext is the context of whichever request runs in it at the moment: a cursor
// of the transaction is read by one after the other.
type txContext struct{ t *transaction }

func (c txContext) Deadline() (time.Time, bool) { return c.t.ctx.Deadline() }
func (c txContext) Done() <-chan struct{}       { return c.t.ctx.Done() }
func (c txContext) Err() error                  { return c.t.ctx.Err() }
func (c txContext) Value(key any) any           { return c.t.ctx.Value(key) }

// scan is that of the store, as the transaction sees it.
func (t *transaction) scan(v catalog.View, a access.Access) iter.Seq2[access.Document, error] {
	return t.on(v).Scan(txContext{t}, a)
}

// on is what the transaction does in a container.
func (t *transaction) on(v catalog.View) *store.ContainerTransaction { return t.begin().On(v) }

// do does one operation. A document that it changes is the transaction's until its end: other
// writers wait, and other transactions fail with WriteConflict.
func (t *transaction) do(v catalog.View, op store.Op) (store.Result, error) {
	key := lockKey{v.Container.ID, op.Key.ID}
	first, err := t.lock(key)
	if err != nil {
		return store.Result{}, err
	}
	result, err := t.on(v).Do(op)
	if first && (err != nil || result.Skipped) {
		t.unlock(key)
	}
	return result, err
}

// lock takes a document for the transaction, or fails with fault.Conflict when another has it.
func (t *transaction) lock(key lockKey) (first bool, err error) {
	s := &t.sessions.transactions
	s.guard.Lock()
	defer s.guard.Unlock()
	switch owner := s.locks[key]; owner {
	case t:
		return false, nil
	case nil:
		s.locks[key] = t
		s.locked.Add(1)
		t.locks = append(t.locks, key)
		return true, nil
	}
	return false, fault.New(fault.Conflict, "Another transaction has written the document.")
}

// unlock gives the document back that was taken last.
func (t *transaction) unlock(key lockKey) {
	s := &t.sessions.transactions
	s.guard.Lock()
	defer s.guard.Unlock()
	delete(s.locks, key)
	s.locked.Add(-1)
	t.locks = t.locks[:len(t.locks)-1]
	if t.awaited {
		close(t.done)
		t.done, t.awaited = make(chan struct{}), false
	}
}

// await waits for transactions that have written the documents of ops.
func (s *transactions) await(ctx context.Context, c *catalog.Container, ops []store.Op) error {
	for s.locked.Load() != 0 {
		done := s.owner(c, ops)
		if done == nil {
			return nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// owner gives a channel that is closed when a transaction that has one of the documents may have
// given it back; nil when none has.
func (s *transactions) owner(c *catalog.Container, ops []store.Op) <-chan struct{} {
	s.guard.Lock()
	defer s.guard.Unlock()
	for i := range ops {
		if t := s.locks[lockKey{c.ID, ops[i].Key.ID}]; t != nil {
			t.awaited = true
			return t.done
		}
	}
	return nil
}

// over reports whether the transaction ends because of how a command in it has ended. Nearly every
// error ends it.
func (t *transaction) over(err error) bool {
	if err == nil && t.first && t.group == nil {
		t.begin() // it sees what its first command saw, though that was nothing
	}
	return t.session.tx == t && (err != nil || t.doomed)
}

// doom ends the transaction, if there is one, when the command has ended: a statement has failed.
func (r *request) doom() {
	if r.tx != nil {
		r.tx.doomed = true
	}
}

// commit makes the transaction's changes visible. The caller has the turn.
func (x *session) commit(ctx context.Context, s *sessions) error {
	t := x.tx
	t.killCursors()
	var err error
	if t.group != nil {
		err = t.group.Commit(context.WithoutCancel(ctx)) // whose end is known then
	}
	x.stage = committed
	if err != nil {
		x.stage = aborted
		t.forget()
	}
	t.end()
	return err
}

// abort gives up the open transaction, if there is one. The caller has the turn.
func (x *session) abort(s *sessions) {
	t := x.tx
	if t == nil {
		return
	}
	x.stage = aborted
	t.killCursors()
	if t.group != nil {
		t.group.Rollback()
	}
	t.forget()
	t.end()
}

// forget drops what is kept of containers that will never be.
func (t *transaction) forget() {
	for _, c := range t.made {
		t.sessions.s.forget(c)
	}
}

func (t *transaction) killCursors() {
	if !t.cursors {
		return
	}
	list := &t.sessions.s.cursors
	for _, x := range list.list() {
		if x.inTx == t {
			list.kill(x)
		}
	}
}

func (t *transaction) end() {
	s := &t.sessions.transactions
	s.guard.Lock()
	defer s.guard.Unlock()
	t.share.Close()
	for _, key := range t.locks {
		delete(s.locks, key)
	}
	s.locked.Add(-int64(len(t.locks)))
	delete(s.open, t)
	t.session.tx = nil
	close(t.done)
}

// shown is the session as messages have it.
func (x *session) shown() string {
	a := newAnswer(nil)
	x.describe(a)
	return code.Show(doc.Object(a.end()))
}

// describe writes the id of the session.
func (x *session) describe(a *answer) {
	a.buf = bsoncore.AppendBinaryElement(a.buf, "id", uuidBinary, x.key.id[:])
	digest := x.key.user.Digest()
	a.buf = bsoncore.AppendBinaryElement(a.buf, "uid", genericBinary, digest[:])
}
