package loopback

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

const envAddress = "LOOPBACK_ADDRESS" // a process of TestOtherProcess reserves it

func TestMain(m *testing.M) {
	if address := os.Getenv(envAddress); address != "" {
		fmt.Print(reserve(address))
		return
	}
	os.Exit(m.Run())
}

func TestFree(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		address, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		if seen[address] {
			t.Errorf("%s: given twice", address)
		}
		seen[address] = true
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatalf("what is free is listened on: %v", err)
		}
		defer l.Close()
		if port := l.Addr().(*net.TCPAddr).Port; port < first || port >= end {
			t.Errorf("port %d: a system may give it to a connection", port)
		}
	}
}

// A port that nobody listens on yet, or whose server is away, is its owner's.
func TestOtherProcess(t *testing.T) {
	address, err := Free()
	if err != nil {
		t.Fatal(err)
	}
	if err := reserve(address); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("this process: %v", err)
	}
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), envAddress+"="+address)
	out, err := other.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("listen udp %s: bind: address already in use", address); string(out) != want {
		t.Errorf("another process: %q, want %q", out, want)
	}
}

// A server that is there already, of whatever program, keeps its port.
func TestListenerKeepsItsPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 2 { // the first leaves no mark
		if err := reserve(l.Addr().String()); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("%v", err)
		}
	}
	if mark, err := net.ListenPacket("udp", l.Addr().String()); err != nil {
		t.Error(err)
	} else {
		mark.Close()
	}
}
