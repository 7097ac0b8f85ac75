package http1

import (
	"io"
	"net/http"
	"sync/atomic"
)

// A body is the body of a request with a Content-Length.
type body struct {
	c      *conn
	whole  bool         // all of it had been read when the handler was called
	left   atomic.Int64 // bytes that the handler has not read
	closed bool
	err    error
}

func (b *body) open(c *conn, length int64) {
	b.c, b.closed, b.err = c, false, nil
	b.whole = length <= int64(c.end-c.start)
	b.left.Store(length)
}

// Read gives what has been read with the head, then reads from the connection.
func (b *body) Read(p []byte) (n int, err error) {
	left := b.left.Load()
	switch {
	case b.closed:
		return 0, http.ErrBodyReadAfterClose
	case left == 0:
		return 0, io.EOF
	case b.err != nil:
		return 0, b.err
	case len(p) == 0:
		return 0, nil
	}
	if int64(len(p)) > left {
		p = p[:left]
	}
	c := b.c
	if c.start < c.end {
		n = copy(p, c.in[c.start:c.end])
		c.start += n
	} else {
		n, err = c.raw.Read(p)
		if n > 0 {
			err = nil
		} else if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	}
	left = b.left.Add(-int64(n))
	if b.err = err; err != nil {
		return n, err
	}
	if left == 0 {
		return n, io.EOF
	}
	return n, nil
}

// Close lets no handler read more.
func (b *body) Close() error {
	b.closed = true
	return nil
}

// skip reads the rest of the body, if that is not long, and returns whether all has been read.
func (b *body) skip() bool {
	c := b.c
	left := b.left.Load()
	if left == 0 {
		return true
	}
	buffered := min(left, int64(c.end-c.start))
	c.start += int(buffered)
	left = b.left.Add(-buffered)
	if b.err != nil || left > maxUnread {
		return left == 0
	}
	for left > 0 {
		c.start, c.end = 0, 0
		n, err := c.raw.Read(c.in[:min(left, int64(len(c.in)))])
		if left = b.left.Add(-int64(n)); err != nil {
			b.err = err
			break
		}
	}
	return left == 0
}
