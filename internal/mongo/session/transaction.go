package session

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/account"
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
	open    map[*Transaction]struct{}
	locks   map[lockKey]*Transaction
	Locked  atomic.Int64 // len(locks)
	once    sync.Once
	sweeper sync.WaitGroup

	started, committed, aborted atomic.Int64 // since the start
}

// A lockKey is a document: the id of its container, and its key there.
type lockKey struct {
	container uint32
	id        string
}

// A Transaction is a multi-document transaction that is open. It is used by the operation that has
// the turn of its session.
// https://www.mongodb.com/docs/v7.0/core/transactions/
type Transaction struct {
	sessions *Sessions
	session  *Session
	number   int64
	link     int32           // see Operation.Connection
	now      expiry.Stamp    // the instant at which its documents are alive
	Context  context.Context // of the operation that runs
	age      clock.Stopwatch
	first    bool // its first command runs
	Snapshot bool // that has asked for the read concern snapshot
	API      API

	Share   budget.Share               // of what it has written
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
	s.open, s.locks = map[*Transaction]struct{}{}, map[lockKey]*Transaction{}
}

func (s *transactions) running() (list []*Transaction) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for t := range s.open {
		list = append(list, t)
	}
	return list
}

// IdleTransactions lists the open transactions in which no operation runs at the moment, for reading only.
func (s *Sessions) IdleTransactions() []*Transaction {
	return slices.DeleteFunc(s.running(), func(t *Transaction) bool { return len(t.session.turn) > 0 })
}

// Owner is the user whose transaction it is.
func (t *Transaction) Owner() account.Identity { return t.session.Key.User }

// Number is its number in the session.
func (t *Transaction) Number() int64 { return t.number }

// Open is for how long it has been open.
func (t *Transaction) Open() time.Duration { return t.age.Elapsed() }

// DescribeSession writes the id of its session.
func (t *Transaction) DescribeSession(a *doc.Writer) { t.session.Describe(a) }

// StatusOfTransactions is the section transactions of serverStatus. Nothing is prepared here, because there is one
// server, and what retries need is in no collection.
// https://www.mongodb.com/docs/v7.0/reference/command/serverStatus/#transactions
func (s *Sessions) StatusOfTransactions(a *doc.Writer) {
	open, idle := len(s.running()), len(s.IdleTransactions())
	a.Int64("transactionsCollectionWriteCount", 0)
	a.Int64("currentActive", int64(max(0, open-idle)))
	a.Int64("currentInactive", int64(idle))
	a.Int64("currentOpen", int64(open))
	a.Int64("totalAborted", s.aborted.Load())
	a.Int64("totalCommitted", s.committed.Load())
	a.Int64("totalStarted", s.started.Load())
	for _, name := range []string{
		"totalPrepared", "totalPreparedThenCommitted", "totalPreparedThenAborted", "currentPrepared",
	} {
		a.Int64(name, 0)
	}
}

// Renumber begins with a new transaction number.
func (s *Sessions) Renumber(x *Session, number int64, st Stage) {
	s.Kept.Drop(x)
	x.Number, x.Stage, x.Unknown = number, st, nil
}

// sweep ends transactions that have lasted too long.
func (s *Sessions) sweep() {
	for clock.Pause(s.node.Running, sweepEvery) == nil {
		s.EndOld(s.node.Lifetime())
	}
}

// EndOld ends the transactions that have been open for longer than age.
func (s *Sessions) EndOld(age time.Duration) {
	for _, t := range s.transactions.running() {
		if t.age.Elapsed() < age {
			continue
		}
		s.node.Interrupt(nil, []*Session{t.session})
		if t.session.Take(s.node.Running) != nil {
			return
		}
		if t.session.Transaction == t {
			t.session.Abort(s)
		}
		t.session.Release()
	}
}

// EndConnection ends the open transactions of a connection.
func (s *Sessions) EndConnection(id int32) {
	for _, t := range s.running() {
		if t.link != id || t.session.Take(s.node.Running) != nil {
			continue
		}
		if t.session.Transaction == t {
			t.session.Abort(s)
		}
		t.session.Release()
	}
}

// Begin fixes what the transaction sees, the first time.
func (t *Transaction) Begin() (*store.SnapshotTransaction, error) {
	if t.group == nil {
		group, err := t.sessions.node.Store.BeginSnapshot(t.Context)
		if err != nil {
			return nil, err
		}
		group.Label = t.label()
		t.group, t.now = group, group.Now(t.now)
	}
	return t.group, nil
}

// label is what change streams tell of the transaction with each of its changes.
func (t *Transaction) label() doc.Doc {
	a := doc.NewWriter(nil)
	a.Object("lsid")
	t.session.Describe(a)
	a.Close()
	a.Int64("txnNumber", t.number)
	return a.End()
}

// enter begins to use a container in the transaction, whose reads are of one moment: later
// instants that others have seen do not count.
func (t *Transaction) enter(o *Operation, c *catalog.Container) (catalog.View, error) {
	for _, v := range t.views {
		if v.Container == c {
			return v, nil
		}
	}
	if _, err := t.Begin(); err != nil { // the view has to be of a later moment than the snapshot
		return catalog.View{}, err
	}
	o.Now = t.now
	v, err := c.Enter(o.Context, t.now)
	if err != nil {
		if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.OwnerNotFound {
			err = fault.Wrap(fault.Conflict, err, "The collection was dropped during the transaction.")
		}
		return v, err
	}
	v.Now = t.now
	t.views = append(t.views, v)
	return v, nil
}

// find gives the container of that name as it was when the transaction began, or as the
// transaction has made it; nil without an error if there is no such container.
func (t *Transaction) find(db, name string) (*catalog.Container, error) {
	g, err := t.Begin()
	if err != nil {
		return nil, err
	}
	if c := g.Created(db, name); c != nil {
		return c, nil
	}
	c, err := t.sessions.node.Find(db, name)
	if c != nil && !g.Sees(c) {
		return nil, nil
	}
	return c, err
}

// Make makes a container that only the transaction sees until its commit.
func (t *Transaction) Make(db string, def catalog.Definition) (*catalog.Container, error) {
	g, err := t.Begin()
	if err != nil {
		return nil, err
	}
	c, err := g.CreateContainer(t.Context, t.now, db, def)
	if err == nil {
		t.made = append(t.made, c)
	}
	return c, err
}

// Makes reports whether the transaction has made a container.
func (t *Transaction) Makes(c *catalog.Container) bool { return slices.Contains(t.made, c) }

// Reenter makes the transaction go by the new state of a container that it has made, in which
// there is no document.
func (t *Transaction) Reenter(c *catalog.Container) error {
	i := slices.IndexFunc(t.views, func(v catalog.View) bool { return v.Container == c })
	if i < 0 {
		return nil
	}
	v, err := c.Enter(t.Context, t.now)
	if err != nil {
		return err
	}
	v.Now = t.now
	t.views[i] = v
	t.group.Redefine(v)
	return nil
}

// A txContext is the context of the operation that runs in it now: a cursor
// of the transaction is read by one after the other.
type txContext struct{ t *Transaction }

func (c txContext) Deadline() (time.Time, bool) { return c.t.Context.Deadline() }
func (c txContext) Done() <-chan struct{}       { return c.t.Context.Done() }
func (c txContext) Err() error                  { return c.t.Context.Err() }
func (c txContext) Value(key any) any           { return c.t.Context.Value(key) }

// scan is that of the store, as the transaction sees it.
func (t *Transaction) scan(v catalog.View, a access.Access) iter.Seq2[access.Document, error] {
	x, err := t.on(v)
	if err != nil {
		return func(yield func(access.Document, error) bool) { yield(access.Document{}, err) }
	}
	return x.Scan(txContext{t}, a)
}

// on is what the transaction does in a container.
func (t *Transaction) on(v catalog.View) (*store.ContainerTransaction, error) {
	g, err := t.Begin()
	if err != nil {
		return nil, err
	}
	return g.On(v), nil
}

// Do does one operation. A document that it changes is the transaction's until its end: other
// writers wait, and other transactions fail with WriteConflict.
func (t *Transaction) Do(v catalog.View, op store.Op) (store.Result, error) {
	x, err := t.on(v)
	if err != nil {
		return store.Result{}, err
	}
	key := lockKey{v.Container.ID, op.Key.ID}
	first, err := t.lock(key)
	if err != nil {
		return store.Result{}, err
	}
	result, err := x.Do(t.Context, op)
	if first && (err != nil || result.Skipped) {
		t.unlock(key)
	}
	return result, err
}

// lock takes a document for the transaction, or fails with fault.Conflict when another has it.
func (t *Transaction) lock(key lockKey) (first bool, err error) {
	s := &t.sessions.transactions
	s.guard.Lock()
	defer s.guard.Unlock()
	switch owner := s.locks[key]; owner {
	case t:
		return false, nil
	case nil:
		s.locks[key] = t
		s.Locked.Add(1)
		t.locks = append(t.locks, key)
		return true, nil
	}
	return false, fault.New(fault.Conflict, "Another transaction has written the document.")
}

// unlock gives the document back that was taken last.
func (t *Transaction) unlock(key lockKey) {
	s := &t.sessions.transactions
	s.guard.Lock()
	defer s.guard.Unlock()
	delete(s.locks, key)
	s.Locked.Add(-1)
	t.locks = t.locks[:len(t.locks)-1]
	if t.awaited {
		close(t.done)
		t.done, t.awaited = make(chan struct{}), false
	}
}

// Await waits for transactions that have written the documents of ops.
func (s *transactions) Await(ctx context.Context, c *catalog.Container, ops []store.Op) error {
	for s.Locked.Load() != 0 {
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

// Over reports whether the transaction ends because of how a command in it has ended. Nearly every
// error ends it.
func (t *Transaction) Over(err error) bool {
	if err == nil && t.first && t.group == nil {
		_, err = t.Begin() // it sees what its first command saw, though that was nothing
	}
	return t.session.Transaction == t && (err != nil || t.doomed)
}

// Doom ends the transaction, if there is one, when the command has ended: a statement has failed.
func (o *Operation) Doom() {
	if o.Transaction != nil {
		o.Transaction.doomed = true
	}
}

// Commit makes the transaction's changes visible. The caller has the turn.
func (x *Session) Commit(ctx context.Context, s *Sessions) error {
	t := x.Transaction
	t.killCursors()
	var err error
	if t.group != nil {
		if err = t.group.SyncRead(ctx); err != nil {
			t.group.Rollback()
		} else {
			err = x.commit(ctx, s)
		}
	}
	x.Stage = Committed
	ended := &s.committed
	if Undetermined(err) {
		x.Unknown = err // and whoever asks again is told the same
	} else if err != nil {
		x.Stage = Aborted
		ended = &s.aborted
		t.forget()
	}
	ended.Add(1)
	t.end()
	return err
}

// commit commits the writes of the transaction. It does not end with ctx, so that its own end is known.
func (x *Session) commit(ctx context.Context, s *Sessions) error {
	t := x.Transaction
	ctx = context.WithoutCancel(ctx)
	if s.node.Shares {
		ctx = store.WithReceipt(ctx, &store.Receipt{Owner: x.owner(), Number: t.number, Transaction: true})
	}
	return x.known(t.number, t.group.Commit(ctx))
}

// Recover says what has become of a transaction of the session that another process may have had open, or whose commit
// had an unknown end: nil if it has been committed. If it has not, it cannot be committed any more, in any process. The
// caller has the turn. It is what a mongos does with a recoveryToken.
// mongodb/specifications: source/transactions/transactions.md, "Sharded Transactions"
func (x *Session) Recover(ctx context.Context, s *Sessions, number int64) error {
	x.Abort(s)
	committed, err := s.node.Store.GiveUp(ctx, x.owner(), number)
	if err != nil {
		return x.known(number, err)
	}
	s.Renumber(x, number, Committed)
	if !committed {
		x.Stage = Aborted
		return aborted(number)
	}
	return nil
}

// known is the error for what the store knows of other processes.
func (x *Session) known(number int64, err error) error {
	newer, ok := errors.AsType[*store.OutnumberedError](err)
	switch {
	case ok:
		return code.New(code.TransactionTooOld, "Cannot commit { txnNumber: %d } on session %s because a newer "+
			"operation with { txnNumber: %d } has already started.", number, x.Shown(), newer.Number)
	case errors.Is(err, store.ErrGivenUp):
		return aborted(number)
	}
	return err
}

func aborted(number int64) error {
	return code.New(code.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", number)
}

// Abort gives up the open transaction, if there is one. The caller has the turn.
func (x *Session) Abort(s *Sessions) {
	t := x.Transaction
	if t == nil {
		return
	}
	x.Stage = Aborted
	s.aborted.Add(1)
	t.killCursors()
	if t.group != nil {
		t.group.Rollback()
	}
	t.forget()
	t.end()
}

// forget drops what is kept of containers that will never be.
func (t *Transaction) forget() {
	for _, c := range t.made {
		t.sessions.node.Forget(c)
	}
}

func (t *Transaction) killCursors() {
	if !t.cursors {
		return
	}
	list := &t.sessions.node.Cursors
	for _, x := range list.list() {
		if x.Transaction == t {
			list.Kill(x)
		}
	}
}

func (t *Transaction) end() {
	s := &t.sessions.transactions
	s.guard.Lock()
	defer s.guard.Unlock()
	t.Share.Close()
	for _, key := range t.locks {
		delete(s.locks, key)
	}
	s.Locked.Add(-int64(len(t.locks)))
	delete(s.open, t)
	t.session.Transaction = nil
	close(t.done)
}

// Shown is the session as messages have it.
func (x *Session) Shown() string {
	a := doc.NewWriter(nil)
	x.Describe(a)
	return code.Show(doc.Object(a.End()))
}

// Describe writes the id of the session.
func (x *Session) Describe(a *doc.Writer) {
	a.Binary("id", UUIDBinary, x.Key.ID[:])
	digest := x.Key.User.Digest()
	a.Binary("uid", GenericBinary, digest[:])
}

// AnyAwaited reports whether anyone waits for a transaction.
func (s *transactions) AnyAwaited() bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	for t := range s.open {
		if t.awaited {
			return true
		}
	}
	return false
}

// Begin opens a transaction in the session of an operation; one of the same session that is open yet is given up.
// snapshot tells that the client has asked for the read concern of that name.
func (s *Sessions) Begin(o *Operation, number int64, snapshot bool) error {
	x := o.Session
	x.Abort(s)
	t := &Transaction{
		sessions: s, session: x, number: number, link: o.Connection, now: o.Now, Context: o.Context, API: o.API,
		age: clock.Start(), first: true,
		Snapshot: snapshot, done: make(chan struct{}),
	}
	s.node.Budget.Open(&t.Share)
	s.guard.Lock()
	full := len(s.open) >= maxTransactions
	if !full {
		s.open[t] = struct{}{}
	}
	s.guard.Unlock()
	if full {
		return code.New(code.LockTimeout, "Too many open transactions (limit %d). Try again later.", maxTransactions)
	}
	s.started.Add(1)
	s.once.Do(func() { s.sweeper.Go(s.sweep) })
	s.Renumber(x, number, inProgress)
	x.Transaction, o.Transaction = t, t
	return nil
}

// Resume goes on with the open transaction of a session, if there is one, in an operation.
func (x *Session) Resume(o *Operation) {
	if o.Transaction = x.Transaction; o.Transaction != nil {
		o.Now, o.Transaction.Context, o.Transaction.first = o.Transaction.now, o.Context, false
	}
}
