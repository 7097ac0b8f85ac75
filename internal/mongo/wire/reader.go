package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

// A Reader reads the frames of one connection. It is for one goroutine.
// Deadlines are the connection's: Await tells waiting for a request from
// waiting for the rest of one.
type Reader struct {
	// MaxMessage bounds a frame, in bytes, also what a compressed one holds. It may
	// change between reads, so that those who have yet to prove who they are get less.
	MaxMessage int
	// MaxDepth bounds the levels of documents and arrays inside a document.
	MaxDepth int

	in       io.Reader
	buf      []byte // its length is its capacity
	from, to int    // the bytes of buf that have arrived and not been read
	small    []byte // buf of ordinary frames
	inflated []byte // what the last compressed frame held
	err      error  // after which nothing can be read
}

// NewReader makes a Reader with the limits of the protocol.
func NewReader(in io.Reader) *Reader {
	small := make([]byte, smallBuffer)
	return &Reader{MaxMessage: MaxMessage, MaxDepth: MaxDepth, in: in, buf: small, small: small}
}

// Buffered is how many bytes have arrived that belong to the next frames: 0 means
// that no request is pipelined, and answers held back should be flushed.
func (r *Reader) Buffered() int { return r.to - r.from }

// Await waits until a byte of the next frame is there. It ends the validity of
// the last message as Read does. io.EOF: the other side has left, in good order.
func (r *Reader) Await() error {
	if r.err != nil {
		return r.err
	}
	r.release()
	return r.fill(1)
}

// Read reads the next frame into m, whose memory it reuses. Errors are io.EOF
// where a frame could begin, io.ErrUnexpectedEOF inside one, those of the
// connection, and *Error; after one that is not Fatal the next frame can be
// read, and m has enough for an answer.
func (r *Reader) Read(m *Message) error {
	m.reset()
	if r.err != nil {
		return r.err
	}
	err := r.read(m)
	if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Fatal) {
		r.err = err
	}
	return err
}

func (r *Reader) read(m *Message) error {
	r.release()
	if err := r.fill(headerBytes); err != nil {
		return err
	}
	n := length(r.buf[r.from:])
	if n < headerBytes || n > r.MaxMessage {
		return fatal(codeProtocol, "message msgLen %d is invalid. Min %d Max: %d", n, headerBytes, r.MaxMessage)
	}
	if err := r.fill(n); err != nil {
		return err
	}
	frame := r.buf[r.from : r.from+n : r.from+n]
	r.from += n
	return r.parse(m, frame)
}

// release gives up the memory of the last message.
func (r *Reader) release() {
	r.inflated = keepSmall(r.inflated)
	if r.from < r.to {
		return
	}
	r.from, r.to = 0, 0
	if len(r.buf) > len(r.small) {
		give(r.buf)
		r.buf = r.small
	}
}

// fill waits until n bytes have arrived that have not been read.
func (r *Reader) fill(n int) error {
	for idle := 0; r.to-r.from < n; idle++ {
		r.makeRoom(n)
		k, err := r.in.Read(r.buf[r.to:])
		r.to += k
		switch {
		case r.to-r.from >= n:
		case errors.Is(err, io.EOF) && r.to > r.from:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case k > 0:
			idle = 0
		case idle >= 100:
			return io.ErrNoProgress
		}
	}
	return nil
}

// makeRoom makes buf have room for a byte more, on the way to n.
func (r *Reader) makeRoom(n int) {
	if r.from > 0 && n > len(r.buf)-r.from {
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.from = 0
	}
	if r.to == len(r.buf) {
		b := larger(r.buf, n)
		r.buf = b[:cap(b)]
	}
}

func (r *Reader) parse(m *Message, frame []byte) error {
	m.Bytes = len(frame)
	m.ID = int32(binary.LittleEndian.Uint32(frame[4:]))
	m.ResponseTo = int32(binary.LittleEndian.Uint32(frame[8:]))
	m.Op = Op(binary.LittleEndian.Uint32(frame[12:]))
	if m.Op == OpCompressed {
		inner, err := r.inflate(m, frame)
		if err != nil {
			return err
		}
		frame = inner
	}
	switch m.Op {
	case OpMsg:
		return m.parseMsg(frame, r.MaxDepth)
	case OpQuery:
		return m.parseQuery(frame, r.MaxDepth)
	}
	return fatal(codeProtocol, "opcode %d is not supported", m.Op)
}
