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
// on. Until the process ends, no other call returns it, in this process or in
// another. The port is below those that systems give to connections and to
// listeners on port 0 (Linux from 32768, others from 49152; RFC 6335): none of
// them takes it before its server starts, or while its server is away.
func Free() (string, error) {
	for {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(end-first)))
		switch err := reserve(address); {
		case err == nil:
			return address, nil
		case !errors.Is(err, syscall.EADDRINUSE):
			return "", err
		}
	}
}

const first, end = 10240, 32768

// reserved keeps the sockets of the addresses of this process.
var reserved struct {
	sync.Mutex
	sockets []net.PacketConn
}

// reserve takes the UDP port of an address, which the servers of tests do not
// use, as the mark that its TCP port has an owner. Its error is EADDRINUSE when
// there is one already, or a listener.
func reserve(address string) error {
	mark, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		mark.Close()
		return err
	}
	reserved.Lock()
	reserved.sockets = append(reserved.sockets, mark)
	reserved.Unlock()
	return l.Close()
}
