//go:build !race

package socket

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// most is the number of bytes of the largest read or write that the scheduler is not told of. Until it has ended, the
// scheduler cannot use its processor for something else: 64 KiB take 45 µs over loopback.
const most = 64 << 10

func listener(l net.Listener) net.Listener {
	if t, ok := l.(*net.TCPListener); ok {
		return quickListener{t}
	}
	return l
}

type quickListener struct{ *net.TCPListener }

func (l quickListener) Accept() (net.Conn, error) {
	t, err := l.TCPListener.AcceptTCP()
	if err != nil {
		return nil, err
	}
	raw, err := t.SyscallConn()
	if err != nil { // never for a connection that is open
		return t, nil
	}
	c := &conn{TCPConn: t, raw: raw}
	c.in.step, c.out.step = c.read, c.write
	return c, nil
}

// A conn is a TCP connection with a Read and a Write of its own. Deadlines, Close and all else are those of the
// net.TCPConn.
type conn struct {
	*net.TCPConn
	raw     syscall.RawConn
	in, out transfer
}

// A transfer is a read or a write that is under way.
type transfer struct {
	mu   sync.Mutex // held during the transfer
	step func(file uintptr) (done bool)
	p    []byte // to be read into, or written
	n    int    // bytes read or written
	no   syscall.Errno
}

func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 || len(p) > most {
		return c.TCPConn.Read(p)
	}
	n, err := c.in.run("read", c, c.raw.Read, p)
	if n > 0 {
		traffic.seen()
	} else if err == nil {
		return 0, io.EOF
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if len(p) > most {
		return c.TCPConn.Write(p)
	}
	return c.out.run("write", c, c.raw.Write, p)
}

// run calls step, when the socket is ready, until it is done. Its errors are those of net.TCPConn.
func (t *transfer) run(name string, c *conn, ready func(func(uintptr) bool) error, p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.p, t.n, t.no = p, 0, 0
	err := ready(t.step)
	t.p = nil
	switch raw, ok := err.(*net.OpError); {
	case err == nil && t.no == 0:
		return t.n, nil
	case err == nil:
		err = os.NewSyscallError(name, t.no)
	case ok:
		err = raw.Err
	}
	return t.n, &net.OpError{Op: name, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// read reads once.
func (c *conn) read(file uintptr) (done bool) {
	t := &c.in
	t.n, t.no = call(syscall.SYS_READ, file, t.p)
	return t.no != syscall.EAGAIN
}

// write writes until all has been written.
func (c *conn) write(file uintptr) (done bool) {
	t := &c.out
	for t.n < len(t.p) {
		n, no := call(syscall.SYS_WRITE, file, t.p[t.n:])
		if no != 0 {
			t.no = no
			return no != syscall.EAGAIN
		}
		t.n += n
	}
	t.no = 0
	return true
}

// call makes a system call without telling the scheduler.
func call(trap, file uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, no := syscall.RawSyscall(trap, file, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		switch no {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, no
		}
	}
}
