package node

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Nobody is inside of a gate that is drained, and everybody gets in again.
func TestGate(t *testing.T) {
	g := newGate()
	var inside, entered atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for ctx.Err() == nil {
				if i%2 == 0 {
					g.Enter()
				} else if !g.tryEnter() {
					continue
				}
				inside.Add(1)
				entered.Add(1)
				inside.Add(-1)
				g.Leave()
			}
		})
	}
	for range 200 {
		before := entered.Load()
		g.shut()
		if !g.drain(t.Context()) || inside.Load() != 0 {
			t.Errorf("%d inside", inside.Load())
		}
		g.open()
		for entered.Load() == before && !t.Failed() {
			clock.Pause(t.Context(), time.Microsecond)
		}
	}
	stop()
	work.Wait()

	g.Enter()
	long, leave := g.enterLong(t.Context())
	g.shut()
	<-long.Done()
	if err := whyEnded(long, long.Err()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("long work ends with %v", err)
	}
	leave()
	brief, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if g.drain(brief) {
		t.Error("drained with a request inside")
	}
	g.Leave()
	if !g.drain(t.Context()) {
		t.Error("not drained")
	}
	g.open()
	if again, leave := g.enterLong(t.Context()); again.Err() != nil {
		t.Error("long work after the gate was opened has ended")
	} else {
		leave()
	}
}

// A request that does not end is cut off, and the snapshot is loaded.
func TestLoadCutsOff(t *testing.T) {
	dir := t.TempDir()
	engine, err := reopen(t.Context(), EngineDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	n := start(t, Options{
		Engine: engine, Dir: dir, Reopen: reopen, NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0", TLS: TLS{Off: true},
	})
	makeContainer(t, n, "")
	if _, err := n.Save(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	put(t, n, "later", "")
	conn, err := net.Dial("tcp", n.nosql.address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	date := clock.Wall().UTC().Format(http.TimeFormat)
	r, _ := http.NewRequest("POST", n.Endpoint()+"dbs/d/colls/c/docs", nil)
	io.WriteString(conn, "POST /dbs/d/colls/c/docs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nx-ms-date: "+date+
		"\r\nx-ms-version: 2018-12-31\r\nx-ms-documentdb-partitionkey: [\"x\"]\r\nAuthorization: "+
		signature(n.Key(), "POST", r.URL, date)+"\r\n\r\n{") // and no more
	for n.gate.count.Load() == 0 && t.Context().Err() == nil {
		clock.Pause(t.Context(), time.Millisecond)
	}
	watch := clock.Start()
	if _, err := n.Load(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	if took := watch.Elapsed(); took < patience || took > 20*patience {
		t.Errorf("the load took %v", took)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the request was answered")
	}
	if has(t, n, "later") {
		t.Error("an item from after the snapshot is there")
	}
}

// A load that fails changes nothing: the node goes on, and nothing is left on the disk.
func TestLoadThatFails(t *testing.T) {
	dir := t.TempDir()
	n := startOn(t, dir, noon)
	makeContainer(t, n, "")
	if _, err := n.Save(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	put(t, n, "later", "")
	n.gate.Enter() // a request that does not end, and cannot be cut off
	if _, err := n.Load(t.Context(), "start"); fault.KindOf(err) != fault.Timeout {
		t.Errorf("error %v", err)
	}
	n.gate.Leave()
	if !has(t, n, "later") {
		t.Error("the item is gone")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "db.*")); len(left) != 0 {
		t.Errorf("%s are left", strings.Join(left, ", "))
	}
	if _, err := n.Load(t.Context(), "start"); err != nil || has(t, n, "later") {
		t.Errorf("the second load: %v", err)
	}
}
