package socket

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// pair returns both ends of a connection; the accepted one is of this package, or Go's own if plain is set.
func pair(t testing.TB, plain bool) (accepted net.Conn, client *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !plain {
		l = Listener(l)
	}
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close(); dialled.Close() })
	return accepted, dialled.(*net.TCPConn)
}

// What a connection answers, Go's own as well as one of this package.
func TestAsTCPConn(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, c net.Conn, client *net.TCPConn) error{
		"the end of the stream": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			client.CloseWrite()
			return read(c)
		},
		"a deadline in the past": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			c.SetReadDeadline(time.Unix(1, 0))
			return read(c)
		},
		"a deadline during a read": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			time.AfterFunc(10*time.Millisecond, func() { c.SetReadDeadline(time.Unix(1, 0)) })
			return read(c)
		},
		"a deadline during a write": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			time.AfterFunc(10*time.Millisecond, func() { c.SetWriteDeadline(time.Unix(1, 0)) })
			return write(c)
		},
		"closed": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			c.Close()
			return errors.Join(read(c), write(c))
		},
		"closed during a read": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			time.AfterFunc(10*time.Millisecond, func() { c.Close() })
			return read(c)
		},
		"closed during a write": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			time.AfterFunc(10*time.Millisecond, func() { c.Close() })
			return write(c)
		},
		"reset by the client": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			client.SetLinger(0)
			client.Close()
			err := read(c)
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Error(err)
			}
			return errors.Join(err, write(c))
		},
		"nothing to read into": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			_, err := c.Read(nil)
			return err
		},
		"nothing to write": func(t *testing.T, c net.Conn, client *net.TCPConn) error {
			_, err := c.Write(nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var texts [2]string
			for i := range texts {
				c, client := pair(t, i == 0)
				text := "none"
				if err := test(t, c, client); err != nil {
					text = err.Error()
				}
				for _, end := range []net.Addr{c.LocalAddr(), c.RemoteAddr()} { // of which the ports differ
					text = string(bytes.ReplaceAll([]byte(text), []byte(end.String()), []byte(end.Network())))
				}
				texts[i] = text
			}
			if texts[0] != texts[1] {
				t.Errorf("%q, and of Go's own %q", texts[1], texts[0])
			}
		})
	}
}

func read(c net.Conn) error {
	n, err := c.Read(make([]byte, 10))
	if n != 0 {
		return errors.New("something was read")
	}
	return err
}

// write writes until it fails.
func write(c net.Conn) error {
	for {
		if _, err := c.Write(make([]byte, 1000)); err != nil {
			return err
		}
	}
}

// A deadline ends one read, and the next goes on where the stream is.
func TestAfterDeadline(t *testing.T) {
	c, client := pair(t, false)
	c.SetDeadline(time.Unix(1, 0))
	if err := read(c); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	c.SetDeadline(time.Time{})
	client.Write([]byte("later"))
	p := make([]byte, 10)
	if n, err := c.Read(p); string(p[:n]) != "later" || err != nil {
		t.Fatalf("%q, %v", p[:n], err)
	}
}

// Reads and writes of all sizes, in both directions at the same time, of more than the buffers of the system take.
func TestStreams(t *testing.T) {
	c, client := pair(t, false)
	c.(interface{ SetWriteBuffer(int) error }).SetWriteBuffer(4 << 10) // so that writes wait
	sent := make([]byte, 8<<20)
	rand.Read(sent)
	var work sync.WaitGroup
	send := func(to net.Conn) {
		for rest, size := sent, 1; len(rest) > 0; size = size*3/2 + 1 {
			if size > 300<<10 {
				size = 1
			}
			n, err := to.Write(rest[:min(size, len(rest))])
			if err != nil || n != min(size, len(rest)) {
				t.Errorf("%d bytes written, %v", n, err)
				return
			}
			rest = rest[n:]
		}
	}
	receive := func(from net.Conn, size int) {
		p := make([]byte, size)
		for rest := sent; len(rest) > 0; {
			n, err := from.Read(p)
			if err != nil || !bytes.Equal(p[:n], rest[:n]) {
				t.Errorf("%d bytes read, %v", n, err)
				return
			}
			rest = rest[n:]
		}
	}
	work.Go(func() { send(c) })
	work.Go(func() { send(client) })
	work.Go(func() { receive(c, 100<<10) })
	work.Go(func() { receive(client, 1000) })
	work.Wait()
}

// Several goroutines may read, and write, at the same time: each gets bytes of its own, and what one writes stays
// together.
func TestManyGoroutines(t *testing.T) {
	c, client := pair(t, false)
	const many, each = 8, 20_000
	var work, echo sync.WaitGroup
	var counts [many]int
	for i := range many {
		work.Go(func() {
			line := bytes.Repeat([]byte{byte(i)}, each)
			if n, err := c.Write(line); n != each || err != nil {
				t.Error(n, err)
			}
		})
	}
	received := make([]byte, many*each)
	if _, err := io.ReadFull(client, received); err != nil {
		t.Fatal(err)
	}
	work.Wait()
	for at := 0; at < len(received); at += each {
		if line := received[at : at+each]; !bytes.Equal(line, bytes.Repeat(line[:1], each)) {
			t.Error("two writes were mixed")
		}
	}
	var mu sync.Mutex
	for range many {
		echo.Go(func() {
			p := make([]byte, 100)
			for {
				n, err := c.Read(p)
				mu.Lock()
				for _, b := range p[:n] {
					counts[b]++
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	client.Write(received)
	client.CloseWrite()
	echo.Wait()
	for i, n := range counts {
		if n != each {
			t.Errorf("%d bytes of %d", n, i)
		}
	}
}

func BenchmarkEcho(b *testing.B) {
	for name, plain := range map[string]bool{"socket": false, "net": true} {
		b.Run(name, func(b *testing.B) {
			c, client := pair(b, plain)
			go func() {
				p := make([]byte, 1000)
				for {
					n, err := c.Read(p)
					if err != nil {
						return
					}
					c.Write(p[:n])
				}
			}()
			p := make([]byte, 1000)
			b.ReportAllocs()
			for b.Loop() {
				client.Write(p)
				if _, err := io.ReadFull(client, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
