package loopback

import (
	"net"
	"testing"
)

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
