package node

import (
	"context"
	"io"
	"net/http"
	"strings"
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

// A silent engine has a part that can be made to answer no more: "PD", which opens views, or "the store", which reads.
type silentEngine struct {
	kv.Engine
	part string
	gone chan struct{} // closed: it is silent
}

func (e silentEngine) Shared() bool { return true }

func (e silentEngine) ask(ctx context.Context, part string) error {
	select {
	case <-e.gone:
		if part == e.part {
			<-ctx.Done()
			return fault.Wrap(fault.Unavailable, ctx.Err(), "%s does not answer.", part)
		}
	default:
	}
	return nil
}

func (e silentEngine) View(ctx context.Context) (kv.View, error) {
	if err := e.ask(ctx, "PD"); err != nil {
		return kv.View{}, err
	}
	view, err := e.Engine.View(ctx)
	view.Reader = silentReader{view.Reader, e}
	return view, err
}

type silentReader struct {
	kv.Reader
	engine silentEngine
}

func (r silentReader) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	if err := r.engine.ask(ctx, "the store"); err != nil {
		return false, err
	}
	return r.Reader.Get(ctx, key, use)
}

// A node whose cluster is gone, or a part of it, says that it is not ready, without waiting, and that it is alive.
func TestReadyDependsOnTheCluster(t *testing.T) {
	for _, part := range []string{"PD", "the store"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel() // it waits for silence
			testReadyWithout(t, part)
		})
	}
}

func testReadyWithout(t *testing.T, part string) {
	gone := make(chan struct{})
	engine := silentEngine{newCluster(t).Process(), part, gone}
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
	close(gone)
	status, text := get("readyz")
	for status == http.StatusOK && clock.Pause(t.Context(), 50*time.Millisecond) == nil { // for silence
		status, text = get("readyz")
	}
	want := "the cluster does not answer: " + part + " does not"
	if status != http.StatusServiceUnavailable || !strings.Contains(text, want) {
		t.Errorf("%d %s, want not ready, because of the cluster", status, text)
	}
	if status, text := get("healthz"); status != http.StatusOK {
		t.Errorf("%d %s, want alive", status, text)
	}
	_, err := n.Move(t.Context(), func(now time.Time) time.Time { return now })
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "of the cluster") {
		t.Errorf("moving the clock: %v", err)
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
