package tikv

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/testutils"
	client "github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	pd "github.com/tikv/pd/client"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

func TestEngine(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine { return newCluster(t).process(t, Options{}) })
	// The address of a real cluster runs the suite there, too, each engine under a prefix of its own.
	if address := os.Getenv("MAYFLY_TIKV"); address != "" {
		t.Run("cluster", func(t *testing.T) {
			kvtest.Run(t, func(t *testing.T) kv.Engine { return opened(t, address) })
		})
	}
}

// opened is an engine on a real cluster, with a prefix of its own.
func opened(t testing.TB, address string) *Engine {
	t.Helper()
	o, err := ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	o.Prefix = "test-" + rand.Text()
	e, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A cluster is the client library's own simulation of one: a store, and a PD whose clock can be moved.
type cluster struct {
	rpc *testutils.MockClient
	pd  *placement
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	forwardLog(nil)
	rpc, c, mock, err := testutils.NewMockTiKV("", nil)
	if err != nil {
		t.Fatal(err)
	}
	testutils.BootstrapWithSingleStore(c)
	t.Cleanup(func() { rpc.Close() })
	return &cluster{rpc: rpc, pd: &placement{Client: mock, safe: make(chan uint64, 64)}}
}

// placement is a PD whose clock is ahead.
type placement struct {
	pd.Client
	ahead atomic.Int64 // milliseconds
	safe  chan uint64  // the service safe points that it is told
}

func (p *placement) GetTS(ctx context.Context) (int64, int64, error) {
	ms, logical, err := p.Client.GetTS(ctx)
	return ms + p.ahead.Load(), logical, err
}

func (p *placement) GetTSAsync(ctx context.Context) pd.TSFuture { return future{p, ctx} }

func (p *placement) UpdateServiceGCSafePoint(ctx context.Context, id string, ttl int64, ts uint64) (uint64, error) {
	least, err := p.Client.UpdateServiceGCSafePoint(ctx, id, ttl, ts)
	if id != collector {
		select {
		case p.safe <- ts:
		default:
		}
	}
	return least, err
}

// advance moves the clock of the cluster.
func (p *placement) advance(d time.Duration) { p.ahead.Add(d.Milliseconds()) }

type future struct {
	p   *placement
	ctx context.Context
}

func (f future) Wait() (int64, int64, error) { return f.p.GetTS(f.ctx) }

// process is an engine as one of several processes on the cluster has it. The test closes it.
func (c *cluster) process(t testing.TB, o Options) *Engine { return c.over(t, o, nil) }

// A wire is the connection of one process to the cluster. It hands each request to pass, which may call the cluster.
type wire struct {
	client.Client
	pass passing
}

func (w *wire) SendRequest(
	ctx context.Context, addr string, req *tikvrpc.Request, timeout time.Duration,
) (*tikvrpc.Response, error) {
	send := func() (*tikvrpc.Response, error) { return w.Client.SendRequest(ctx, addr, req, timeout) }
	if w.pass == nil {
		return send()
	}
	return w.pass(ctx, req, send)
}

// Close leaves the cluster to the other processes.
func (w *wire) Close() error { return nil }

type passing = func(context.Context, *tikvrpc.Request, func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error)

// over is a process with a wire.
func (c *cluster) over(t testing.TB, o Options, pass passing) *Engine {
	t.Helper()
	wired := func(c client.Client) client.Client { return &wire{c, pass} }
	s, err := client.NewTestTiKVStore(c.rpc, c.pd, wired, nil, 0, client.WithUpdateInterval(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	e, err := New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func stop(t testing.TB, engines ...*Engine) {
	t.Helper()
	for _, e := range engines {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func view(t testing.TB, e *Engine) kv.View {
	t.Helper()
	v, err := e.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func apply(t testing.TB, e *Engine, b *kv.Batch) {
	t.Helper()
	if err := e.Apply(t.Context(), b); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

func set(t testing.TB, e *Engine, key string, value []byte) {
	t.Helper()
	var b kv.Batch
	b.Set([]byte(key), value)
	apply(t, e, &b)
}

const absent = "(absent)"

func get(t testing.TB, r kv.Reader, key string) string {
	t.Helper()
	got := absent
	if _, err := r.Get(t.Context(), []byte(key), func(v []byte) error { got = string(v); return nil }); err != nil {
		t.Fatalf("get %q: %v", key, err)
	}
	return got
}

func wantKind(t testing.TB, err error, kind fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind {
		t.Errorf("error is %v, want a fault of kind %v", err, kind)
	}
}

func number(value []byte) uint64 {
	if len(value) == 0 {
		return 0
	}
	return binary.BigEndian.Uint64(value)
}

func bytesOf(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// next passes a counter and logs its number.
func next(last []byte, b *kv.Batch) ([]byte, error) {
	n := bytesOf(number(last) + 1)
	b.Set(fmt.Appendf(nil, "log/%08d", number(n)), n)
	return n, nil
}

// passes is a batch that passes a counter.
func passes(counter string) *kv.Batch {
	b := &kv.Batch{}
	b.Follow([]byte(counter), next)
	return b
}

func TestCloseReleases(t *testing.T) {
	e := newCluster(t).process(t, Options{})
	gone := errors.New("gone")
	e.release = func() error { return gone }
	if err := e.Close(); err != gone {
		t.Errorf("close: %v", err)
	}
}

// A key of the longest kind must fit into TiKV's limit, which is one for its own encoding: groups of eight bytes, each
// followed by one (components/codec/src/byte.rs).
func TestLongestKeyFits(t *testing.T) {
	s := newSpace(strings.Repeat("p", maxPrefixBytes))
	full := s.chunkKey(bytes.Repeat([]byte{'k'}, maxKeyBytes), identity{}, 0)
	if encoded := (len(full)/8 + 1) * 9; encoded > 8<<10 {
		t.Errorf("the longest key has %d bytes when it is encoded", encoded)
	}
	if cap(s.of(dataKeys, nil)) < len(s.prefix)+1+chunkSuffix {
		t.Error("a key has no space for a chunk's number")
	}
}

func TestPrefixesAreApart(t *testing.T) {
	c := newCluster(t)
	one, longer := c.process(t, Options{Prefix: "a"}), c.process(t, Options{Prefix: "a-b"})
	defer stop(t, one, longer)
	set(t, one, "k", []byte("one"))
	set(t, longer, "k", []byte("longer"))
	for _, e := range []*Engine{one, longer} {
		it, err := e.Iterate(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for it.Next() {
			if want := get(t, e, "k"); string(it.Key()) != "k" || string(it.Value()) != want {
				t.Errorf("%q is %q, want %q", it.Key(), it.Value(), want)
			}
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := New(one.store, Options{Prefix: "a/b"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a prefix with a slash: %v", err)
	}
}

func TestTimestamps(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, int(5*time.Millisecond), time.UTC)
	for _, c := range []struct {
		before time.Time
		commit time.Time
		passes bool
	}{
		{at, at, false},
		{at.Add(time.Nanosecond), at, true},
		{at.Add(time.Nanosecond), at.Add(time.Millisecond), false},
		{at, at.Add(-time.Millisecond), true},
	} {
		const logical = 1<<18 - 1 // the last one of the millisecond
		if got := oracle.ComposeTS(c.commit.UnixMilli(), logical) < timestampFrom(c.before); got != c.passes {
			t.Errorf("a commit at %v before %v: %v", c.commit, c.before, got)
		}
		if got := timeOf(oracle.ComposeTS(c.commit.UnixMilli(), logical)); !got.Equal(c.commit) {
			t.Errorf("the time of a timestamp at %v is %v", c.commit, got)
		}
	}
	if timestampFrom(time.Time{}) != 0 {
		t.Error("times before 1970 have a timestamp")
	}
}
