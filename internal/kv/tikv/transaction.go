package tikv

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	tikverr "github.com/tikv/client-go/v2/error"
	tikvkv "github.com/tikv/client-go/v2/kv"
	client "github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/tikvrpc/interceptor"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// A pessimistic is one transaction of the cluster, with the changes of one batch or more.
type pessimistic struct {
	e     *Engine
	start uint64
	until time.Time // locks are waited for until then
	txn   *transaction.KVTxn

	locked   map[string]uint64   // by full key: the timestamp after which no one else has changed it
	counters map[string][]byte   // by full key: the value after the batches so far, nil if absent
	written  map[string]struct{} // full keys
	bytes    int                 // of what is written
	large    uint32              // values in chunks so far

	newest   atomic.Uint64 // the largest timestamp of a lock
	doubtful [][]byte      // full keys that may have been locked by a request that failed
	ending   atomic.Bool   // it is being rolled back

	bound   uint64      // the commit timestamp is below; 0 for none
	late    atomic.Bool // it would not have been
	aborted atomic.Bool // a store says that a lock of the transaction is gone
	frees   bool        // it only frees space, so that stores accept it when they are almost full
	full    atomic.Bool // a store has refused it because its disk is full
}

// begin starts a transaction. Nothing is sent. It waits for locks until the given time. frees says that it only frees
// space.
//
// It commits in two phases. In one phase a store would choose the commit timestamp, which may be below the start of a
// transaction that held a lock on a key before; if that lock is then lost, the store does not see that the key has
// changed under it, because it only looks behind the start (amend_pessimistic_lock in TiKV's actions/prewrite.rs). In
// two phases the commit timestamp is newer than every lock that was there before it. With async commit, readers would
// have to wait for the locks of a process that died, which in two phases they step over.
func (e *Engine) begin(start uint64, until time.Time, frees bool) (*pessimistic, error) {
	txn, err := e.store.Begin(client.WithStartTS(start))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the cluster does not begin a transaction")
	}
	t := &pessimistic{
		e: e, start: start, until: until, txn: txn, frees: frees,
		locked: map[string]uint64{}, counters: map[string][]byte{}, written: map[string]struct{}{},
	}
	txn.SetVars(variables())
	if frees {
		freesSpace(txn)
	}
	txn.SetPessimistic(true)
	txn.SetEnable1PC(false)
	txn.SetEnableAsyncCommit(false)
	txn.GetUnionStore().SetEntrySizeLimit(math.MaxUint64, math.MaxUint64)
	txn.SetRPCInterceptor(interceptor.NewRPCInterceptor("transaction", t.intercept))
	return t, nil
}

// intercept corrects what the client does with each request, and looks at the answers.
func (t *pessimistic) intercept(next interceptor.RPCInterceptorFunc) interceptor.RPCInterceptorFunc {
	return func(target string, req *tikvrpc.Request) (*tikvrpc.Response, error) {
		if t.frees {
			req.DiskFullOpt = kvrpcpb.DiskFullOpt_AllowedOnAlmostFull
		}
		switch req.Type {
		case tikvrpc.CmdPrewrite:
			// The client takes the timestamp of the last lock, which may be an old one, of a key that was read.
			r := req.Prewrite()
			r.ForUpdateTs = max(r.ForUpdateTs, t.newest.Load())
			r.MinCommitTs = max(r.MinCommitTs, t.newest.Load()+1)
		case tikvrpc.CmdPessimisticRollback:
			// A lock with a larger timestamp would stay.
			if r := req.PessimisticRollback(); t.ending.Load() {
				r.ForUpdateTs = max(r.ForUpdateTs, t.newest.Load())
			}
		case tikvrpc.CmdCommit:
			// The client looks at the bound once. A reader may have pushed the transaction beyond the timestamp, and
			// then the client takes another one without asking (txnkv/transaction/commit.go, CommitTsExpired).
			if !t.allows(req.Commit().CommitVersion) {
				refused := &kvrpcpb.CommitResponse{Error: &kvrpcpb.KeyError{Abort: "the bound of the commit"}}
				return &tikvrpc.Response{Resp: refused}, nil
			}
		}
		resp, err := next(target, req)
		if err != nil {
			return nil, err
		}
		resp = t.endIfFull(resp)
		if aborts(resp) {
			t.aborted.Store(true)
		}
		return resp, nil
	}
}

// allows reports whether the transaction may be committed at ts.
func (t *pessimistic) allows(ts uint64) bool {
	if t.bound != 0 && ts >= t.bound {
		t.late.Store(true)
		return false
	}
	return true
}

// aborts reports whether a store says that the transaction cannot go on, most often because a lock of it is gone. The
// client makes an error without a type of that (error/error.go, ExtractKeyErr).
func aborts(resp *tikvrpc.Response) bool {
	switch r := resp.Resp.(type) {
	case *kvrpcpb.PessimisticLockResponse:
		return slices.ContainsFunc(r.Errors, isAbort)
	case *kvrpcpb.PrewriteResponse:
		return slices.ContainsFunc(r.Errors, isAbort)
	case *kvrpcpb.CommitResponse:
		return r.Error != nil && r.Error.CommitTsExpired == nil // that one the client repeats
	}
	return false
}

func isAbort(e *kvrpcpb.KeyError) bool { return e.GetAbort() != "" }

// lock locks full keys that nobody has changed since ts. With values, it returns what they have.
func (t *pessimistic) lock(ctx context.Context, ts uint64, values bool, keys [][]byte) (*tikvkv.LockCtx, error) {
	wait := max(t.until.Sub(clock.Wall()).Milliseconds(), 1)
	lock := tikvkv.NewLockCtx(ts, wait, clock.Wall())
	if values {
		lock.InitReturnValues(len(keys))
	}
	t.newest.Store(max(t.newest.Load(), ts))
	if err := t.txn.LockKeys(ctx, lock, slices.Clone(keys)...); err != nil {
		// Of a single key that has changed since ts, no lock is left.
		if len(keys) > 1 || !tikverr.IsErrWriteConflict(err) {
			t.doubtful = append(t.doubtful, keys...)
		}
		return nil, err
	}
	for _, key := range keys {
		t.locked[string(key)] = ts
	}
	return lock, nil
}

// lockNow locks full keys as they are now, whoever changed them before. With values, it returns what they have.
func (t *pessimistic) lockNow(ctx context.Context, values bool, keys [][]byte) (*tikvkv.LockCtx, error) {
	for {
		ts, err := t.e.now(ctx)
		if err != nil {
			return nil, err
		}
		lock, err := t.lock(ctx, ts, values, keys)
		if err == nil || !tikverr.IsErrWriteConflict(err) {
			return lock, err
		}
		// Somebody came between the timestamp and the lock. That is progress for them, and ctx bounds it for us.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// pass locks a counter, as a full key, and learns its value.
func (t *pessimistic) pass(ctx context.Context, counter []byte) error {
	lock, err := t.lockNow(ctx, true, [][]byte{counter})
	if err != nil {
		return err
	}
	stored := lock.Values[string(counter)].Value
	if len(stored) == 0 {
		t.counters[string(counter)] = nil
		return nil
	}
	r := t.e.reader(t.locked[string(counter)])
	value, err := r.assemble(ctx, t.e.space.user(counter), stored)
	t.counters[string(counter)] = append([]byte{}, value...) // not nil: the counter is there
	return err
}

// check locks full keys that must not have changed since a mark. It fails with Conflict if one has.
func (t *pessimistic) check(ctx context.Context, since kv.Mark, reads [][]byte) error {
	if len(reads) == 0 {
		return nil
	}
	if since == 0 {
		return local.Conflict() // before everything
	}
	var want [][]byte
	for _, key := range reads {
		if _, ours := t.written[string(key)]; ours {
			return local.Conflict() // by a batch before in this transaction
		}
		ts, held := t.locked[string(key)]
		value, counter := t.counters[string(key)]
		switch {
		case !held:
			want = append(want, key)
		case ts <= uint64(since):
		case !counter:
			return local.Conflict() // it is not known whether it changed between the mark and the lock
		default:
			if err := t.unchanged(ctx, since, key, value); err != nil {
				return err
			}
		}
	}
	if len(want) == 0 {
		return nil
	}
	_, err := t.lock(ctx, uint64(since), false, want)
	if tikverr.IsErrWriteConflict(err) {
		return local.Conflict()
	}
	return err
}

// unchanged fails with Conflict unless a counter that is locked had its present value at the mark, too.
func (t *pessimistic) unchanged(ctx context.Context, since kv.Mark, counter, value []byte) error {
	old, found, err := t.e.reader(uint64(since)).get(ctx, t.e.space.user(counter))
	if err != nil {
		return err
	}
	if found != (value != nil) || !bytes.Equal(old, value) {
		return local.Conflict()
	}
	return nil
}

// put adds changes to the transaction, which copies them.
func (t *pessimistic) put(ops []kv.Op) error {
	for i := range ops {
		key, value := ops[i].Key, ops[i].Value
		full := t.e.space.data(key)
		var err error
		switch {
		case value == nil:
			err = t.txn.Delete(full)
		case len(value) <= chunkBytes:
			err = t.txn.Set(full, append([]byte{whole}, value...))
		default:
			err = t.putLarge(full, key, value)
		}
		if err != nil {
			return fault.Wrap(fault.Internal, err, "a batch cannot be built")
		}
		t.written[string(full)] = struct{}{}
		t.bytes += len(full) + len(value)
	}
	return nil
}

// putLarge adds a value in chunks, with its record for the garbage collector. If a later change of the batch replaces
// the value, the collector takes the chunks.
func (t *pessimistic) putLarge(full, key, value []byte) error {
	h := header{size: uint64(len(value)), chunk: chunkBytes}
	binary.BigEndian.PutUint64(h.id[:], t.start)
	binary.BigEndian.PutUint32(h.id[8:], t.large)
	t.large++
	i := uint64(0)
	for chunk := range slices.Chunk(value, chunkBytes) {
		if err := t.txn.Set(t.e.space.chunkKey(key, h.id, i), chunk); err != nil {
			return err
		}
		i++
	}
	if err := t.txn.Set(t.e.space.of(recordKeys, h.id[:]), recordOf(key, h.chunks())); err != nil {
		return err
	}
	return t.txn.Set(full, h.encode())
}

// limit makes the commit fail from a time on.
func (t *pessimistic) limit(before time.Time) {
	if bound := max(timestampFrom(before), 1); t.bound == 0 || bound < t.bound {
		t.bound = bound
	}
	t.txn.SetCommitTSUpperBoundCheck(t.allows)
}

// commit ends the transaction. Its error is nil, a fault, or one of the client if nothing was written.
func (t *pessimistic) commit(ctx context.Context) error {
	err := t.txn.Commit(ctx)
	switch {
	case err == nil:
		return nil
	case tikverr.IsErrorUndetermined(err):
		return undetermined(err)
	case t.late.Load():
		return outran()
	}
	return err
}

// rollback gives the locks back. If the cluster does not answer, they end with their life.
func (t *pessimistic) rollback(ctx context.Context) {
	t.ending.Store(true)
	done := make(chan struct{})
	t.e.requests.Go(func() {
		defer close(done)
		// The client logs its errors and returns none: there is nothing to do about locks that cannot be released.
		_ = t.txn.Rollback()
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}
