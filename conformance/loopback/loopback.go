// Package loopback finds addresses for the servers of tests.
package loopback

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// Free returns the address, host:port, of a loopback port that nothing listens
// on, never the same twice. The port is below those that systems give to
// connections and to listeners on port 0 (Linux from 32768, others from 49152;
// RFC 6335): none of them takes it before its server starts, or while its
// server is away.
func Free() (string, error) {
	given.Lock()
	defer given.Unlock()
	for {
		port := first + rand.IntN(end-first)
		if given.ports[port] {
			continue
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", address)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		given.ports[port] = true
		return address, l.Close()
	}
}

const first, end = 10240, 32768

var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}
