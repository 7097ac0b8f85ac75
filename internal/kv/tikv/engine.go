// Package tikv is an engine of package kv on a TiKV cluster: any number of processes share it, and none of them keeps
// anything that another one needs. A batch is one transaction of the cluster, or shares one with other batches that
// pass the same counter at the same time. DESIGN.md says how, and why that keeps what kv.Engine promises.
package tikv

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tikv/client-go/v2/config/retry"
	tikvkv "github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/oracle"
	client "github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

var (
	_ kv.Engine     = (*Engine)(nil)
	_ kv.KeyLimiter = (*Engine)(nil)
)

// Options of an engine. A zero duration is the default.
type Options struct {
	// Endpoints are addresses of PD, host:port. Only Open uses them, and the files below.
	Endpoints []string
	// Prefix names the part of the key space that is the engine's: engines with the same prefix share their data. It
	// has the characters that ParseAddress allows.
	Prefix string
	// CA, Cert and Key are PEM files for TLS to PD and the stores: the authority of their certificates, and the
	// certificate that this process shows. All three are set, or none.
	CA, Cert, Key string

	// Timeout bounds every call, even if its context has no deadline. Default 10 s.
	Timeout time.Duration
	// StartTimeout bounds Open. Default a minute.
	StartTimeout time.Duration
	// LockTTL is how long the locks of a process that died keep others waiting. It applies to the whole process.
	// Default 3 s.
	LockTTL time.Duration
	// Retain is how long a version that was overwritten stays readable, at least. GC leaves it for that long, and a
	// snapshot that is open for longer keeps it. All processes of a cluster have the same. Default 10 minutes.
	Retain time.Duration

	// Log receives what the client library logs, for the whole process. Nil discards it.
	Log *slog.Logger
}

func (o *Options) setDefaults() {
	for _, d := range []struct {
		option *time.Duration
		is     time.Duration
	}{
		{&o.Timeout, 10 * time.Second},
		{&o.StartTimeout, time.Minute},
		{&o.LockTTL, 3 * time.Second},
		{&o.Retain, 10 * time.Minute},
	} {
		if *d.option <= 0 {
			*d.option = d.is
		}
	}
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
}

// An Engine is a kv.Engine on a cluster. It can also collect garbage, see GC.
type Engine struct {
	options Options
	store   *client.KVStore
	release func() error // ends the store when the engine closes
	space   space

	calls *local.Gate
	open  atomic.Int64   // snapshots and iterators not yet closed
	work  sync.WaitGroup // what goes on until ctx ends
	// Transactions, which a caller may have left.
	commits sync.WaitGroup
	// What the client does without a context, and may do for longer than the call that has asked for it.
	requests sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc

	mu     sync.Mutex
	queues map[string]*queue // by counter, while batches wait for it
	kept   *retention
}

// New makes an engine of a client's store, which the caller closes after the engine.
func New(store *client.KVStore, o Options) (*Engine, error) {
	o.setDefaults()
	if err := checkPrefix(o.Prefix); err != nil {
		return nil, err
	}
	forwardLog(o.Log)
	setLockTTL(o.LockTTL)
	e := &Engine{
		options: o, store: store, space: newSpace(o.Prefix), calls: local.NewGate(),
		release: func() error { return nil }, queues: map[string]*queue{}, kept: newRetention(),
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	e.work.Go(e.retain)
	return e, nil
}

// setLockTTL sets the client's life of locks, which is a variable of the process. It is set only if it differs, because
// transactions of another engine may be reading it.
func setLockTTL(ttl time.Duration) {
	if ms := uint64(ttl.Milliseconds()); atomic.LoadUint64(&transaction.ManagedLockTTL) != ms {
		atomic.StoreUint64(&transaction.ManagedLockTTL, ms)
	}
}

// Close waits for running calls, and for transactions that their callers have left. If the client still waits for a
// cluster that does not answer, its connections end when it gives up.
func (e *Engine) Close() error {
	if !e.calls.Shut() {
		return nil
	}
	if n := e.open.Load(); n > 0 {
		return local.Unclosed(n)
	}
	e.finishCommits()
	e.stop()
	e.commits.Wait()
	e.work.Wait()
	released := make(chan error, 1)
	go func() {
		e.requests.Wait()
		released <- e.release()
	}()
	ctx, cancel := e.bounded(context.Background())
	defer cancel()
	select {
	case err := <-released:
		return err
	case <-ctx.Done():
		return nil // nothing is lost: locks that are not given back end with their life
	}
}

// finishCommits waits for transactions that their callers have left, so that their locks are given back, and no other
// process has to wait for the end of the locks' life. After that time there is nothing to wait for.
func (e *Engine) finishCommits() {
	ctx, cancel := context.WithTimeout(context.Background(), e.options.LockTTL)
	defer cancel()
	finished := make(chan struct{})
	go func() {
		e.commits.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-ctx.Done():
	}
}

// Shared implements kv.Shared.
func (e *Engine) Shared() bool { return true }

// bounded is ctx with the deadline of one call.
func (e *Engine) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.options.Timeout)
}

// now is a new timestamp of the cluster: later than each one given before, to any process.
func (e *Engine) now(ctx context.Context) (uint64, error) {
	ts, err := e.store.GetTimestampWithRetry(e.backoffer(ctx), oracle.GlobalTxnScope)
	if err != nil {
		return 0, unavailable(ctx, err, "the cluster's clock does not answer")
	}
	return ts, nil
}

// backoffer lets the client repeat requests for as long as one call may take, by its own count and by ctx.
func (e *Engine) backoffer(ctx context.Context) *retry.Backoffer {
	return retry.NewBackofferWithVars(ctx, int(e.options.Timeout.Milliseconds()), variables())
}

// variables are those of the client's default, without its doubling of every budget for repeated requests.
func variables() *tikvkv.Variables {
	v := tikvkv.NewVariables(nil)
	v.BackOffWeight = 1
	return v
}

// View is a timestamp: what it reads is the state at that time, and its batch conflicts with whatever came after.
func (e *Engine) View(ctx context.Context) (kv.View, error) {
	ts, err := e.moment(ctx)
	if err != nil {
		return kv.View{}, err
	}
	return kv.View{Reader: e.reader(ts), Mark: kv.Mark(ts), Time: timeOf(ts)}, nil
}

// moment is now as a call of its own.
func (e *Engine) moment(ctx context.Context) (uint64, error) {
	if !e.calls.Enter() {
		return 0, local.Closed()
	}
	defer e.calls.Leave()
	call, cancel := e.bounded(ctx)
	defer cancel()
	ts, err := e.now(call)
	return ts, ofCall(ctx, err)
}

// timeOf is the time of day in a timestamp, to the millisecond.
func timeOf(ts uint64) time.Time { return time.UnixMilli(oracle.ExtractPhysical(ts)).UTC() }

// timestampFrom is the first timestamp whose time of day is t or later.
func timestampFrom(t time.Time) uint64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	if ms <= 0 {
		return 0
	}
	return oracle.ComposeTS(ms, 0)
}
