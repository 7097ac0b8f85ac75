package node

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	inmemory "github.com/mayflydb/mayfly/internal/kv/memory"
)

func newCluster(t *testing.T) *kvtest.Cluster {
	t.Helper()
	cluster := kvtest.NewCluster(inmemory.New(), time.Unix(1_700_000_000, 0))
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// What a process would make by itself, or for itself, is refused by name where several processes share the data.
func TestSharedDataRefuses(t *testing.T) {
	cluster := newCluster(t)
	for _, c := range []struct {
		o    Options
		name string
	}{
		{Options{NoSQL: "127.0.0.1:0", TLS: TLS{Off: true}}, "--key"},
		{Options{NoSQL: "127.0.0.1:0", Key: WellKnownKey}, "--nosql-tls"},
		{Options{Mongo: Mongo{Address: "127.0.0.1:0"}, Key: WellKnownKey}, "--nosql-tls"},
		{Options{TLS: TLS{Off: true}, Key: WellKnownKey, Dir: t.TempDir()}, "--data"},
		{Options{TLS: TLS{Off: true}, Key: WellKnownKey, Virtual: true}, "--clock"},
	} {
		c.o.Engine = cluster.Process()
		n, err := Start(t.Context(), c.o)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.name) {
			t.Errorf("got %v, want invalid, about %s", err, c.name)
		}
		if err == nil {
			_ = n.Close(t.Context()) // the test has failed
		}
	}
}

// Every key of one process is one of the other.
func TestSharedKeys(t *testing.T) {
	_, nodes := startSharing(t, 2)
	a, b := nodes[0].keys, nodes[1].keys
	seen := map[string]bool{}
	for _, name := range keyring.Names {
		key := a.Now().Key(name).Text
		if seen[key] || key != b.Now().Key(name).Text {
			t.Errorf("the %s key is not the same, or that of another name", name)
		}
		seen[key] = true
		if _, err := a.Rotate(name, time.Time{}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("rotating the %s key: got %v, want a conflict", name, err)
		}
	}
	if string(a.Salts()) != string(b.Salts()) {
		t.Error("the salts differ")
	}
}

// A silent engine is one whose clock, or whose stores, can be made to answer no more.
type silentEngine struct {
	kv.Engine
	clock, stores *atomic.Bool // whether they are silent
}

func (e silentEngine) Shared() bool { return true }

func (e silentEngine) View(ctx context.Context) (kv.View, error) {
	if e.clock.Load() {
		<-ctx.Done()
		return kv.View{}, fault.Wrap(fault.Unavailable, ctx.Err(), "PD does not answer.")
	}
	view, err := e.Engine.View(ctx)
	view.Reader = silentReader{view.Reader, e.stores}
	return view, err
}

type silentReader struct {
	kv.Reader
	silent *atomic.Bool
}

func (r silentReader) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	if r.silent.Load() {
		<-ctx.Done()
		return false, fault.Wrap(fault.Unavailable, ctx.Err(), "No store answers.")
	}
	return r.Reader.Get(ctx, key, use)
}

// A node whose cluster is gone, or the stores of which are, says that it is not ready, without waiting, and that it is
// alive.
func TestReadyDependsOnTheCluster(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"clock", "the cluster does not answer: PD does not"}, {"stores", "the cluster does not answer: No store"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var clocks, stores atomic.Bool
			engine := silentEngine{newCluster(t).Process(), &clocks, &stores}
			n := start(t, Options{Engine: engine, Admin: "127.0.0.1:0", TLS: TLS{Off: true}, Key: WellKnownKey})
			get := func(path string) (int, string) {
				response, err := http.Get(n.AdminURL() + path)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				return response.StatusCode, string(text)
			}
			if status, text := get("readyz"); status != http.StatusOK {
				t.Fatalf("%d %s, want ready", status, text)
			}
			clocks.Store(c.name == "clock")
			stores.Store(c.name == "stores")
			status, text := get("readyz")
			for status == http.StatusOK && clock.Pause(t.Context(), 50*time.Millisecond) == nil { // for silence
				status, text = get("readyz")
			}
			if status != http.StatusServiceUnavailable || !strings.Contains(text, c.want) {
				t.Errorf("%d %s, want not ready, because of the cluster", status, text)
			}
			if status, text := get("healthz"); status != http.StatusOK {
				t.Errorf("%d %s, want alive", status, text)
			}
			if _, err := n.Move(t.Context(), func(now time.Time) time.Time { return now }); fault.KindOf(err) !=
				fault.Conflict || !strings.Contains(err.Error(), "of the cluster") {
				t.Errorf("moving the clock: %v", err)
			}
		})
	}
}

// A collector is an engine with garbage.
type collector struct {
	kv.Engine
	collected chan time.Time
}

func (e collector) Shared() bool { return true }

func (e collector) GC(_ context.Context, before time.Time) (time.Time, error) {
	e.collected <- before
	return before, nil
}

// One process at a time collects garbage.
func TestOneCollectsGarbage(t *testing.T) {
	cluster := newCluster(t)
	collected := make(chan time.Time, 2)
	var nodes []*Node
	for range 2 {
		nodes = append(nodes, start(t, Options{
			Engine: collector{cluster.Process(), collected}, TLS: TLS{Off: true}, Key: WellKnownKey,
		}))
	}
	for _, n := range nodes {
		if err := n.collect(t.Context(), n.engine.(kv.Collector), n.store); err != nil {
			t.Fatal(err)
		}
	}
	if len(collected) != 1 {
		t.Errorf("garbage was collected %d times, want once", len(collected))
	}
}
