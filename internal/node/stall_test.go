package node

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// stalled is a node with a snapshot and a container, and a connection to its admin API on which a request was sent.
func stalled(t *testing.T, fill int, request func(n *Node) string) (*Node, net.Conn) {
	t.Helper()
	dir := t.TempDir()
	engine, err := reopen(t.Context(), EngineDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	n := start(t, Options{
		Engine: engine, Dir: dir, Reopen: reopen, NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0", TLS: TLS{Off: true},
	})
	makeContainer(t, n, "")
	if fill > 0 {
		var lines bytes.Buffer
		for i := range fill {
			fmt.Fprintf(&lines, "{\"id\":\"%d\",\"pk\":\"x\",\"text\":\"%0100000d\"}\n", i, i)
		}
		if _, err := (adminTransfer{n}).Import(t.Context(), "d", "c", nil, &lines); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.Save(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(n.AdminURL(), "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, request(n)); err != nil {
		t.Fatal(err)
	}
	for n.gate.count.Load() == 0 && t.Context().Err() == nil {
		clock.Pause(t.Context(), time.Millisecond)
	}
	return n, conn
}

// loadsAtOnce loads the snapshot, and wants every request to have left the gate before it would be cut off anyway.
func loadsAtOnce(t *testing.T, n *Node) {
	t.Helper()
	n.gate.mu.Lock()
	until := n.gate.until
	n.gate.mu.Unlock()
	cut := make(chan time.Duration, 1)
	go func() {
		<-until.Done()
		watch := clock.Start()
		for n.gate.count.Load()&^shutBit > 0 && t.Context().Err() == nil {
			clock.Pause(t.Context(), time.Millisecond)
		}
		cut <- watch.Elapsed()
	}()
	if _, err := n.Load(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	if took := <-cut; took >= patience {
		t.Errorf("the request went on for %v", took)
	}
}

// An import whose client sends no more ends when a snapshot is loaded, and its client is told why.
func TestLoadEndsAnImportThatStalls(t *testing.T) {
	n, conn := stalled(t, 0, func(n *Node) string {
		return "POST /_mayfly/v1/databases/d/containers/c/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n" +
			"Authorization: Bearer " + n.Key() + "\r\n\r\n{"
	})
	loadsAtOnce(t, n)
	_ = conn.SetReadDeadline(clock.Wall().Add(time.Minute))
	answer := make([]byte, 4096)
	if got, err := conn.Read(answer); err != nil || !strings.HasPrefix(string(answer[:got]), "HTTP/1.1 503") {
		t.Errorf("answer %s, error %v", answer[:got], err)
	}
}

// An export whose client does not read ends when a snapshot is loaded.
func TestLoadEndsAnExportThatStalls(t *testing.T) {
	n, _ := stalled(t, 200, func(n *Node) string {
		return "GET /_mayfly/v1/databases/d/containers/c/export HTTP/1.1\r\nHost: localhost\r\n" +
			"Authorization: Bearer " + n.Key() + "\r\n\r\n"
	})
	clock.Pause(t.Context(), 100*time.Millisecond) // until the buffers of the connection are full
	if n.gate.count.Load() == 0 {
		t.Fatal("the export has ended")
	}
	loadsAtOnce(t, n)
}

// A long request of the admin API in this process ends when a snapshot is loaded.
func TestLoadEndsALongQueryOfTheAdminAPI(t *testing.T) {
	n := startOn(t, t.TempDir(), noon)
	if _, err := n.Save(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	n.localAPI = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		w.WriteHeader(http.StatusRequestTimeout)
	})
	answered := make(chan error, 1)
	go func() {
		r, _ := http.NewRequestWithContext(context.WithoutCancel(t.Context()), "GET", "http://localhost/dbs", nil)
		_, err := n.local.RoundTrip(r)
		answered <- err
	}()
	<-begun
	loadsAtOnce(t, n)
	if err := <-answered; fault.KindOf(err) != fault.Unavailable {
		t.Errorf("error %v", err)
	}
}

// A key is not replaced while a snapshot replaces the catalog.
func TestRotateWaitsForALoad(t *testing.T) {
	n := withKeys(t, t.TempDir())
	n.gate.shut()
	done := make(chan error, 1)
	go func() {
		_, err := adminKeys{n}.Rotate(context.WithoutCancel(t.Context()), "secondary")
		done <- err
	}()
	clock.Pause(t.Context(), 100*time.Millisecond)
	if len(done) != 0 {
		t.Error("the key was replaced behind a closed gate")
	}
	n.gate.open()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
