package tikv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	pingcap "github.com/pingcap/log"
	"github.com/tikv/client-go/v2/tikvrpc"
	"go.uber.org/zap"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// TestLostAnswer loses the answer to a commit, or the commit itself. The batch is undetermined, and either there as a
// whole or not at all.
func TestLostAnswer(t *testing.T) {
	for _, c := range []struct {
		name    string
		arrives bool
	}{{"the commit arrives", true}, {"the commit does not arrive", false}} {
		t.Run(c.name, func(t *testing.T) {
			cluster := newCluster(t)
			other := cluster.process(t, Options{})
			var lost atomic.Bool
			e := cluster.over(t, Options{}, func(
				_ context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
			) (*tikvrpc.Response, error) {
				if req.Type != tikvrpc.CmdCommit || !lost.Load() {
					return send()
				}
				if c.arrives {
					if _, err := send(); err != nil {
						return nil, err
					}
				}
				return nil, context.Canceled // which the client does not try again
			})
			defer stop(t, e, other)
			apply(t, e, passes("n"))
			lost.Store(true)
			wantKind(t, e.Apply(t.Context(), passes("n")), fault.Undetermined)
			lost.Store(false)
			cluster.pd.advance(time.Minute) // the life of the locks
			want := uint64(1)
			if c.arrives {
				want = 2
			}
			if got := number([]byte(get(t, other, "n"))); got != want {
				t.Errorf("the counter is %d, want %d", got, want)
			}
			apply(t, other, passes("n"))
			if err := gapless(t.Context(), other); err != nil {
				t.Error(err)
			}
		})
	}
}

// silence is a connection whose requests get no answer while it is on.
type silence struct {
	on   atomic.Bool
	over chan struct{}
}

func (s *silence) pass(
	ctx context.Context, _ *tikvrpc.Request, send func() (*tikvrpc.Response, error),
) (*tikvrpc.Response, error) {
	if !s.on.Load() {
		return send()
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.over: // the client sends some requests with a context that never ends
		return nil, errors.New("no answer")
	}
}

// TestSilentCluster gets no answers. Each call ends by its own time, and with that of its context.
func TestSilentCluster(t *testing.T) {
	quiet := silence{over: make(chan struct{})}
	c := newCluster(t)
	other := c.process(t, Options{})
	set(t, other, "k", []byte("v"))
	stop(t, other)
	e := c.over(t, Options{Timeout: time.Second}, quiet.pass)
	v := view(t, e)
	it, err := v.Iterate(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	quiet.on.Store(true)
	read := func(ctx context.Context) error {
		_, err := v.Get(ctx, []byte("k"), func([]byte) error { return nil })
		return err
	}
	write := func(ctx context.Context) error {
		b := &kv.Batch{}
		b.Set([]byte("k"), []byte("w"))
		return e.Apply(ctx, b)
	}
	pass := func(ctx context.Context) error { return e.Apply(ctx, passes("n")) }
	for name, call := range map[string]func(context.Context) error{"get": read, "apply": write, "pass": pass} {
		err := call(t.Context())
		if fault.KindOf(err) != fault.Unavailable || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s without a deadline: %v, want unavailable, and not that the caller's time is over", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := call(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s whose context ends: %v", name, err)
		}
	}
	if it.Next() || fault.KindOf(it.Err()) != fault.Unavailable || errors.Is(it.Err(), context.DeadlineExceeded) {
		t.Errorf("an iterator gets an answer, or says %v", it.Err())
	}
	it.Close()
	quiet.on.Store(false)
	close(quiet.over)
	stop(t, e)
}

// TestCloseWaitsForRequests closes an engine whose client still waits for an answer that nobody else wants. The
// client's connections end after it, and Close waits for that, but not for ever.
func TestCloseWaitsForRequests(t *testing.T) {
	for _, timeout := range []time.Duration{10 * time.Minute, 50 * time.Millisecond} {
		asked, over := make(chan struct{}), make(chan struct{})
		var waits atomic.Bool
		e := newCluster(t).over(t, Options{Timeout: timeout}, func(
			_ context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
		) (*tikvrpc.Response, error) {
			if req.Type == tikvrpc.CmdScan {
				waits.Store(true)
				defer waits.Store(false)
				close(asked)
				<-over
			}
			return send()
		})
		released := make(chan bool, 1)
		e.release = func() error { released <- !waits.Load(); return nil }
		ctx, cancel := context.WithCancel(t.Context())
		it, err := e.Iterate(ctx, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-asked
			cancel()
		}()
		if it.Next() || it.Close() == nil {
			t.Error("an iterator whose context has ended goes on")
		}
		<-asked
		closed := make(chan error, 1)
		go func() { closed <- e.Close() }()
		if timeout < time.Second {
			err = <-closed // although the request is not over
			close(over)
		} else {
			for e.calls.Enter() {
				e.calls.Leave()
				runtime.Gosched()
			}
			close(over)
			err = <-closed
		}
		if err != nil {
			t.Errorf("close: %v", err)
		}
		if !<-released {
			t.Error("the connections end under a request")
		}
	}
}

// TestCloseFinishesCommits closes an engine while a transaction goes on that its caller has left. It commits, so its
// counter is free for another process, long before the life of its lock is over.
func TestCloseFinishesCommits(t *testing.T) {
	o := Options{LockTTL: time.Hour, Timeout: 10 * time.Minute}
	c := newCluster(t)
	other := c.process(t, o)
	asked, over := make(chan struct{}), make(chan struct{})
	var once sync.Once
	e := c.over(t, o, func(
		ctx context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		if req.Type == tikvrpc.CmdPrewrite {
			once.Do(func() { close(asked) })
			select {
			case <-over:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return send()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if err := e.Apply(ctx, passes("n")); fault.KindOf(err) != fault.Undetermined {
		t.Fatalf("a batch whose caller has left: %v", err)
	}
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	for e.calls.Enter() {
		e.calls.Leave()
		runtime.Gosched()
	}
	if err := clock.Pause(t.Context(), 50*time.Millisecond); err != nil { // Close goes on, and must not end it
		t.Fatal(err)
	}
	close(over)
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := other.Apply(ctx, passes("n")); err != nil {
		t.Errorf("another process passes the counter: %v", err)
	}
	stop(t, other)
}

// TestContextEndsAtALock lets a batch wait for a counter that another process holds, until its context ends. The lock
// that it asked for is granted later, to nobody: it must be given back, and not live for its whole life.
func TestContextEndsAtALock(t *testing.T) {
	o := Options{LockTTL: time.Hour, Timeout: 10 * time.Minute}
	c := newCluster(t)
	locked := make(chan struct{}, 100_000)
	holder, e := c.process(t, o), c.over(t, o, func(
		_ context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		resp, err := send()
		if req.Type == tikvrpc.CmdPessimisticLock {
			locked <- struct{}{}
		}
		return resp, err
	})
	defer stop(t, holder, e)
	release := busy(t, holder, "n")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-locked
		cancel()
	}()
	err := e.Apply(ctx, passes("n"))
	if fault.KindOf(err) != fault.Unavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("a batch that waits for a lock when its context ends: %v", err)
	}
	release()
	apply(t, e, passes("n"))
	if got := number([]byte(get(t, e, "n"))); got != 2 {
		t.Errorf("the counter is %d, want 2", got)
	}
}

// TestDeadProcessHoldsACounter kills a process that has locked a counter. Others pass the counter as soon as the lock
// has lived for Options.LockTTL by the cluster's clock, and not before. With the client's life of 20 s, and its waits
// for a timestamp or a lock that last 15 s and 20 s whatever the caller's context says, that was a stall.
func TestDeadProcessHoldsACounter(t *testing.T) {
	const life = time.Hour // longer than the test may take
	o := Options{LockTTL: life, Timeout: 10 * time.Minute}
	c := newCluster(t)
	var dead atomic.Bool
	killed := c.over(t, o, func(
		_ context.Context, _ *tikvrpc.Request, send func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		if dead.Load() {
			return nil, context.Canceled
		}
		return send()
	})
	b := &kv.Batch{}
	b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
		dead.Store(true)
		return next(last, b)
	})
	if err := killed.Apply(t.Context(), b); err == nil {
		t.Error("a process without a connection has written")
	}
	refused := make(chan struct{})
	var tries atomic.Int64
	e := c.over(t, o, func(
		_ context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		resp, err := send()
		if req.Type == tikvrpc.CmdPessimisticLock && tries.Add(1) == 3 {
			close(refused)
		}
		return resp, err
	})
	done := make(chan error, 1)
	go func() { done <- e.Apply(context.Background(), passes("n")) }()
	<-refused
	select {
	case err := <-done:
		t.Errorf("a batch went over the lock of a process that may live: %v", err)
	default:
	}
	c.pd.advance(life + time.Second)
	if err := <-done; err != nil {
		t.Errorf("a batch behind the lock of a dead process: %v", err)
	}
	if got := number([]byte(get(t, e, "n"))); got != 1 {
		t.Errorf("the counter is %d, want 1", got)
	}
	stop(t, killed, e)
}

// TestBoundHoldsWhenPushed lets a reader push a commit beyond its first timestamp, and the clock move beyond the bound
// in between: the client would commit with the next timestamp.
func TestBoundHoldsWhenPushed(t *testing.T) {
	c := newCluster(t)
	var once atomic.Bool
	e := c.over(t, Options{}, func(
		_ context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		if req.Type != tikvrpc.CmdCommit || once.Swap(true) {
			return send()
		}
		r := req.Commit()
		primary := slices.IndexFunc(r.Keys, func(key []byte) bool { return bytes.HasSuffix(key, []byte("/dn")) })
		c.pd.advance(time.Hour)
		return &tikvrpc.Response{Resp: &kvrpcpb.CommitResponse{Error: &kvrpcpb.KeyError{
			CommitTsExpired: &kvrpcpb.CommitTsExpired{
				StartTs: r.StartVersion, AttemptedCommitTs: r.CommitVersion, MinCommitTs: r.CommitVersion + 1,
				Key: r.Keys[primary],
			},
		}}}, nil
	})
	defer stop(t, e)
	b := passes("n")
	b.Before = view(t, e).Time.Add(time.Minute)
	wantKind(t, e.Apply(t.Context(), b), fault.Conflict)
	if got := get(t, e, "n"); got != absent || !once.Load() {
		t.Errorf("the counter is %q after its bound", got)
	}
	apply(t, e, passes("n"))
}

// TestOldMark is refused: the cluster may have forgotten deletions since.
func TestOldMark(t *testing.T) {
	c := newCluster(t)
	e := c.process(t, Options{})
	defer stop(t, e)
	v := view(t, e)
	c.pd.advance(time.Hour)
	b := &kv.Batch{Since: v.Mark}
	b.Read([]byte("k"))
	b.Set([]byte("k"), nil)
	wantKind(t, e.Apply(t.Context(), b), fault.Conflict)
}

// TestSnapshotsAreKept opens a snapshot for longer than GC spares others.
func TestSnapshotsAreKept(t *testing.T) {
	c := newCluster(t)
	e := c.process(t, Options{Retain: 4 * time.Second})
	set(t, e, "k", []byte("old"))
	old, err := e.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ts := old.(*snapshot).ts
	set(t, e, "k", []byte("new"))
	if safe := <-c.pd.safe; safe != ts {
		t.Errorf("PD is told to keep %d, want %d", safe, ts)
	}
	c.pd.advance(time.Hour)
	kept, err := e.GC(t.Context(), view(t, e).Time)
	if err != nil || kept.After(timeOf(ts)) {
		t.Errorf("GC of what a snapshot needs: up to %v, %v", kept, err)
	}
	if get(t, old, "k") != "old" {
		t.Error("a snapshot has lost its state")
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	for safe := range c.pd.safe { // until PD is told that it is needed no more
		if safe != ts {
			break
		}
	}
	if kept, err := e.GC(t.Context(), view(t, e).Time); err != nil || !kept.After(timeOf(ts)) {
		t.Errorf("GC of what nobody needs: up to %v, %v", kept, err)
	}
	stop(t, e)
}

// TestCollected reads what GC has allowed the cluster to forget.
func TestCollected(t *testing.T) {
	c := newCluster(t)
	e := c.process(t, Options{})
	defer stop(t, e)
	set(t, e, "k", []byte("old"))
	v := view(t, e)
	it, err := v.Iterate(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	c.pd.advance(time.Hour)
	kept, err := e.GC(t.Context(), view(t, e).Time)
	if err != nil || !kept.After(v.Time) {
		t.Fatalf("GC up to %v, %v", kept, err)
	}
	e.store.UpdateSPCache(timestampFrom(kept), time.Now()) // the client asks for it every ten seconds
	_, err = v.Get(t.Context(), []byte("k"), func([]byte) error { return nil })
	wantKind(t, err, fault.Unavailable)
	if it.Next() {
		t.Error("an iterator reads what has been collected")
	}
	wantKind(t, it.Err(), fault.Unavailable)
	if get(t, e, "k") != "old" {
		t.Error("GC has removed a value that is there")
	}
}

func TestOpenUnreachable(t *testing.T) {
	o := Options{Endpoints: []string{"127.0.0.1:1"}, StartTimeout: 100 * time.Millisecond}
	_, err := Open(t.Context(), o)
	wantKind(t, err, fault.Unavailable)
	if !strings.Contains(fault.Message(err), "127.0.0.1:1") {
		t.Errorf("the message does not say which cluster: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, Options{Endpoints: []string{"127.0.0.1:1"}})
	wantKind(t, err, fault.Unavailable)
	for _, o := range []Options{
		{}, {Endpoints: o.Endpoints, Prefix: "a/b"}, {Endpoints: o.Endpoints, CA: "engine.go"},
		{Endpoints: o.Endpoints, CA: "engine.go", Cert: "engine.go", Key: "engine.go"},
		{Endpoints: o.Endpoints, CA: "missing", Cert: "engine.go", Key: "engine.go"},
	} {
		_, err := Open(t.Context(), o)
		wantKind(t, err, fault.Invalid)
	}
}

// TestNoStoreAtTheStart starts with a PD that answers while no store does.
func TestNoStoreAtTheStart(t *testing.T) {
	c := newCluster(t)
	away := c.over(t, Options{Timeout: 50 * time.Millisecond}, func(
		ctx context.Context, _ *tikvrpc.Request, _ func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	defer stop(t, away)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := away.awaitStores(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the start goes on without a store: %v", err)
	}
	there := c.process(t, Options{})
	defer stop(t, there)
	if err := there.awaitStores(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	forwardLog(slog.New(slog.NewTextHandler(&out, nil)))
	pingcap.Warn("store is slow", zap.Int("store", 4))
	pingcap.Info("a detail of the protocol")
	pingcap.With(zap.String("region", "r")).Error("region is lost", zap.Error(errors.New("why")))
	pingcap.Warn("store is slow", zap.Int("store", 5))
	pingcap.Error("update of members", zap.Error(fmt.Errorf("ask: %w", context.Canceled)))
	got := out.String()
	for _, want := range []string{"level=WARN", "store is slow", "store=4", "level=ERROR", "region=r", "error=why"} {
		if !strings.Contains(got, want) {
			t.Errorf("the log has no %q: %s", want, got)
		}
	}
	for _, not := range []string{"detail", "store=5", "members", "errorVerbose"} {
		if strings.Contains(got, not) {
			t.Errorf("the log has %q: %s", not, got)
		}
	}
	forwardLog(nil)
	pingcap.Error("nobody listens")
	if out.String() != got {
		t.Error("the log goes on")
	}
}
