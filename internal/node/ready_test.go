package node

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

// A moody engine refuses writes, and keeps those waiting who open or close it, when it is told to.
type moody struct {
	*pebble.Engine
	why              atomic.Pointer[error]
	reads, closes    chan struct{} // closed by the test to let go on; nil lets everybody pass
	reading, closing chan struct{} // closed when somebody waits
}

func (m *moody) Refuses() error {
	if why := m.why.Load(); why != nil {
		return *why
	}
	return nil
}

func (m *moody) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	if m.reads != nil {
		if m.reading != nil {
			close(m.reading)
			m.reading = nil
		}
		<-m.reads
	}
	return m.Engine.Iterate(ctx, lower, upper)
}

func (m *moody) Close() error {
	if m.closes != nil {
		close(m.closing)
		<-m.closes
	}
	return m.Engine.Close()
}

// probe asks an admin address whether it is ready.
func probe(t *testing.T, admin string) (code int, reasons string) {
	t.Helper()
	code, body := get(t, admin+"readyz")
	var answer struct {
		Status  string
		Reasons []string
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	if want := map[int]string{200: "ready", 503: "not ready"}[code]; answer.Status != want {
		t.Errorf("%d with status %q, want %q", code, answer.Status, want)
	}
	if (code == 200) != (len(answer.Reasons) == 0) {
		t.Errorf("%d with reasons %q", code, answer.Reasons)
	}
	return code, strings.Join(answer.Reasons, "; ")
}

func TestNotReadyWhileWritesAreRefused(t *testing.T) {
	engine := &moody{Engine: memory(t)}
	n := start(t, Options{Engine: engine, Admin: "127.0.0.1:0"})
	for _, c := range []struct {
		name string
		why  error
		want string
	}{
		{"fine", nil, ""},
		{"full", fault.New(fault.OutOfSpace, "the disk is full, free 10 MiB"),
			"writes are refused: the disk is full, free 10 MiB"},
		{"an error that is for the log", context.Canceled, "writes are refused: the storage has failed: see the log"},
		{"fine again", nil, ""},
	} {
		engine.why.Store(&c.why)
		if code, got := probe(t, n.AdminURL()); got != c.want || (code == 200) != (c.want == "") {
			t.Errorf("%s: %d %q, want %q", c.name, code, got, c.want)
		}
		if code, _ := get(t, n.AdminURL()+"healthz"); code != 200 {
			t.Errorf("%s: not alive: %d", c.name, code)
		}
	}
}

func TestHealthWhileStarting(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	reading := make(chan struct{})
	engine := &moody{Engine: memory(t), reads: make(chan struct{}), reading: reading}
	started := make(chan *Node)
	go func() {
		n, err := Start(context.Background(), Options{Engine: engine, Admin: address})
		if err != nil {
			t.Error(err)
		}
		started <- n
	}()
	<-reading
	admin := "http://" + address + "/"
	if code, got := probe(t, admin); code != 503 || got != "mayfly is starting" {
		t.Errorf("%d %q while starting", code, got)
	}
	for path, want := range map[string]int{"healthz": 200, "clock": 503, "metrics": 503} {
		if code, _ := get(t, admin+path); code != want {
			t.Errorf("%s: %d while starting, want %d", path, code, want)
		}
	}
	close(engine.reads)
	n := <-started
	if code, got := probe(t, admin); code != 200 {
		t.Errorf("%d %q when it has started", code, got)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHealthWhileStopping stops a node whose engine takes its time: the APIs are gone, and whoever
// asks for health still hears of it.
func TestHealthWhileStopping(t *testing.T) {
	engine := &moody{Engine: memory(t), closes: make(chan struct{}), closing: make(chan struct{})}
	n := start(t, Options{Engine: engine, NoSQL: "127.0.0.1:0", TLS: TLS{Off: true}, Admin: "127.0.0.1:0"})
	ended := make(chan error)
	go func() { ended <- n.Close(context.Background()) }()
	<-engine.closing
	if code, got := probe(t, n.AdminURL()); code != 503 || got != "mayfly is stopping" {
		t.Errorf("%d %q while stopping", code, got)
	}
	for path, want := range map[string]int{"healthz": 200, "clock": 503} {
		if code, _ := get(t, n.AdminURL()+path); code != want {
			t.Errorf("%s: %d while stopping, want %d", path, code, want)
		}
	}
	if _, err := http.Get(n.Endpoint()); err == nil {
		t.Error("the API answers while the engine is closed")
	}
	close(engine.closes)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(n.AdminURL()); err == nil {
		t.Error("the admin address answers after the end")
	}
}

func TestLagging(t *testing.T) {
	for _, c := range []struct {
		name         string
		pending, lag time.Duration
		ready        bool
	}{
		{"rests", 0, 0, true},
		{"a clock that has jumped by a year", time.Minute, 365 * 24 * time.Hour, true},
		{"busy for long, and keeps up", 5 * time.Hour, time.Second, true},
		{"at the limit", lagLimit, lagLimit, true},
		{"behind", lagLimit + time.Second, lagLimit + time.Second, false},
	} {
		if reason := lagging(c.pending, c.lag); (reason == "") != c.ready {
			t.Errorf("%s: %q", c.name, reason)
		}
	}
}

// TestSurveysAreRare asks often, and counts how often that costs something. Whoever asks does not
// wait longer than he wants.
func TestSurveysAreRare(t *testing.T) {
	taken := 0
	hang := make(chan struct{})
	s := newSurveys(func(context.Context) (store.Survey, error) {
		if taken++; taken == 3 {
			<-hang
		}
		return store.Survey{Containers: taken}, nil
	})
	defer s.close()
	defer close(hang)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		rest time.Duration
		want int
	}{
		{"the first", t.Context(), 0, 1},
		{"soon after", t.Context(), time.Hour, 1},
		{"when it is time", t.Context(), 0, 2},
		{"one that hangs", impatient, 0, 2},
		{"while it hangs", impatient, 0, 2},
	} {
		s.mu.Lock()
		s.pause = c.rest
		s.mu.Unlock()
		if got := s.newest(c.ctx); got == nil || got.Containers != c.want {
			t.Errorf("%s: %+v, want number %d", c.name, got, c.want)
		}
	}
}

// fullAtTheEnd is an engine whose disk is full from some moment on.
type fullAtTheEnd struct {
	*pebble.Engine
	full atomic.Bool
}

func (f *fullAtTheEnd) Apply(ctx context.Context, b *kv.Batch) error {
	if f.full.Load() {
		return fault.New(fault.OutOfSpace, "The disk is full.")
	}
	return f.Engine.Apply(ctx, b)
}

// TestStopOnAFullDisk: what the stop cannot write down is no failure.
func TestStopOnAFullDisk(t *testing.T) {
	engine := &fullAtTheEnd{Engine: memory(t)}
	n, err := Start(t.Context(), Options{Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	engine.full.Store(true)
	if err := n.Close(t.Context()); err != nil {
		t.Errorf("stopping: %v", err)
	}
}
