package main

import (
	"context"
	"io"
)

// An attended reader gives up when its context ends, also while it waits for input: nothing else ends the read of a
// terminal or a pipe. What such a read still gets is lost.
type attended struct {
	ctx context.Context
	in  io.Reader
}

// attendedBytes is the most that is read at once.
const attendedBytes = 64 << 10

func (a attended) Read(p []byte) (int, error) {
	if a.ctx.Err() != nil {
		return 0, context.Cause(a.ctx)
	}
	type answer struct {
		n   int
		err error
	}
	buf := make([]byte, min(len(p), attendedBytes)) // p is the caller's again after the return
	read := make(chan answer, 1)
	go func() {
		n, err := a.in.Read(buf)
		read <- answer{n, err}
	}()
	select {
	case got := <-read:
		return copy(p, buf[:got.n]), got.err
	case <-a.ctx.Done():
		return 0, context.Cause(a.ctx)
	}
}
