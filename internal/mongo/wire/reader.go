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
	// Memory is asked for what is more than a few kilobytes. A frame that it refuses memory for is not read.
	Memory Memory

	in       io.Reader
	buf      []byte // its length is its capacity
	from, to int    // the bytes of buf that have arrived and not been read
	small    []byte // buf of ordinary frames
	inflated []byte // what the last compressed frame held
	last     *Message
	held     int64 // bytes of inflated and of last, in Memory
	err      error // after which nothing can be read
}

// NewReader makes a Reader with the limits of the protocol.
func NewReader(in io.Reader) *Reader {
	small := make([]byte, smallBuffer)
	return &Reader{MaxMessage: MaxMessage, MaxDepth: MaxDepth, Memory: free{}, in: in, buf: small, small: small}
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
	r.release()
	err := r.read(m)
	r.last = m
	if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Fatal) {
		r.err = err
	}
	return err
}

func (r *Reader) read(m *Message) error {
	if err := r.fill(headerBytes); err != nil {
		return err
	}
	n := length(r.buf[r.from:])
	if n < headerBytes || n > r.MaxMessage {
		return fatal(codeProtocol, "message msgLen %d is invalid. Min %d Max: %d", n, headerBytes, r.MaxMessage)
	}
	if err := r.fill(n); err != nil {
		if refused, ok := err.(*refusal); ok {
			return r.skip(m, n, refused)
		}
		return err
	}
	frame := r.buf[r.from : r.from+n : r.from+n]
	r.from += n
	return r.parse(m, frame)
}

// A refusal is why Memory gives none.
type refusal struct{ error }

// skip reads past the n bytes of a frame that there is no memory for. m gets what its header says.
func (r *Reader) skip(m *Message, n int, why *refusal) error {
	m.header(r.buf[r.from:r.to], n)
	n -= r.to - r.from
	r.to = r.from
	for r.release(); n > 0; {
		r.from, r.to = 0, 0
		if err := r.fill(1); err != nil {
			return noEOF(err)
		}
		past := min(n, r.to)
		r.from, n = past, n-past
	}
	return refused(m, why.error)
}

// refused is the error of a frame for which there is no memory. Of a compressed one it is not known
// whether its sender awaits an answer, so that the connection ends.
func refused(m *Message, why error) *Error {
	return &Error{Code: codeMemory, Text: "no memory for a frame", Fatal: m.Op == OpCompressed, Cause: why}
}

// release gives up the memory of the last message.
func (r *Reader) release() {
	r.inflated = keepSmall(r.inflated)
	if r.last != nil {
		r.last.reset()
		r.last = nil
	}
	r.Memory.Give(r.held)
	r.held = 0
	if r.from < r.to {
		return
	}
	r.from, r.to = 0, 0
	r.shrink()
}

// shrink gives a large buffer back, of which nothing is in use.
func (r *Reader) shrink() {
	if len(r.buf) > len(r.small) {
		r.Memory.Give(int64(len(r.buf)))
		give(r.buf)
		r.buf = r.small
	}
}

// take counts n bytes more that the message needs.
func (r *Reader) take(n int) error {
	err := r.Memory.Take(int64(n))
	if err == nil {
		r.held += int64(n)
	}
	return err
}

// Close gives up the memory of all messages. Nothing can be read then.
func (r *Reader) Close() {
	r.from, r.to = 0, 0
	r.release()
	r.err = io.ErrClosedPipe
}

// fill waits until n bytes have arrived that have not been read.
func (r *Reader) fill(n int) error {
	for idle := 0; r.to-r.from < n; idle++ {
		if err := r.makeRoom(n); err != nil {
			return err
		}
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
func (r *Reader) makeRoom(n int) error {
	if r.from > 0 && n > len(r.buf)-r.from {
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.from = 0
	}
	if r.to < len(r.buf) {
		return nil
	}
	want := min(n, max(firstGrowth, 4*len(r.buf))) // each step takes a multiple of what has arrived
	if err := r.Memory.Take(int64(sizeOf(want))); err != nil {
		return &refusal{err}
	}
	b := append(sized(want), r.buf...)
	r.shrink()
	r.buf = b[:cap(b)]
	return nil
}

// heavy is from how many bytes on unpacking and checking a frame is work that takes turns.
const heavy = 1 << 20

func (r *Reader) parse(m *Message, frame []byte) error {
	m.header(frame, len(frame))
	if n := unpackedSize(m.Op, frame); n >= heavy {
		if err := r.Memory.Hold(int64(n)); err != nil {
			return refused(m, err)
		}
		defer r.Memory.Rest()
	}
	if m.Op == OpCompressed {
		inner, err := r.inflate(m, frame)
		if err != nil {
			return err
		}
		frame = inner
	}
	switch m.Op {
	case OpMsg:
		return m.parseMsg(frame, r)
	case OpQuery:
		return m.parseQuery(frame, r.MaxDepth)
	}
	return fatal(codeProtocol, "opcode %d is not supported", m.Op)
}

// header reads what the first bytes of a frame of n bytes say.
func (m *Message) header(frame []byte, n int) {
	m.Bytes = n
	m.ID = int32(binary.LittleEndian.Uint32(frame[4:]))
	m.ResponseTo = int32(binary.LittleEndian.Uint32(frame[8:]))
	m.Op = Op(binary.LittleEndian.Uint32(frame[12:]))
	if m.Op == OpMsg && len(frame) >= headerBytes+4 {
		m.Flags = Flags(binary.LittleEndian.Uint32(frame[headerBytes:]))
	}
}
