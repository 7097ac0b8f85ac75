package socket

import (
	"context"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// TestMain is the client of TestBusyProcessor if it has an address: a process of its own, because system calls in the
// test's would wake the monitor.
func TestMain(m *testing.M) {
	if address := os.Getenv("SOCKET_CLIENT"); address != "" {
		os.Exit(client(address))
	}
	os.Exit(m.Run())
}

func client(address string) int {
	var conns [2]net.Conn
	for i := range conns {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return 2
		}
		conns[i] = c
	}
	p := make([]byte, 1)
	for _, c := range conns { // both wait for what follows
		if _, err := c.Read(p); err != nil {
			return 2
		}
	}
	clock.Pause(context.Background(), 100*time.Millisecond) // so that all else rests
	conns[0].Write(p)
	clock.Pause(context.Background(), 20*time.Millisecond)
	conns[1].Write(p)
	if _, err := conns[1].Read(p); err != nil {
		return 2
	}
	return 0
}

// TestBusyProcessor: a request is answered although another one has the only processor and makes no system call.
func TestBusyProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	self := exec.CommandContext(t.Context(), os.Args[0])
	self.Env = append(os.Environ(), "SOCKET_CLIENT="+l.Addr().String())
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	var conns [2]net.Conn
	for i := range conns {
		if conns[i], err = Listener(l).Accept(); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	var answered, tooLate atomic.Bool
	run := func(c net.Conn, handle func()) {
		p := make([]byte, 1)
		c.Write(p)
		if _, err := c.Read(p); err != nil {
			t.Error(err)
		}
		handle()
		c.Write(p)
	}
	go run(conns[0], func() {
		for end := clock.Wall().Add(20 * time.Second); !answered.Load() && !tooLate.Load(); {
			tooLate.Store(clock.Wall().After(end))
		}
	})
	go run(conns[1], func() { answered.Store(true) })
	if err := self.Wait(); err != nil {
		t.Fatal(err)
	}
	if tooLate.Load() {
		t.Error("the second request waited for the end of the first")
	}
}
