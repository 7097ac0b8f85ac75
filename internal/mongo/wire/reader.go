package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

// A Reader reads the frames of one connection. It is for one goroutine. Deadlines are the connection's concern: Await
// lets the caller tell an idle connection from a slow request.
type Reader struct {
	// MaxMessage limits a frame, in bytes, also after decompression. It may change between reads, so that clients that
	// have not authenticated get less.
	MaxMessage int
	// MaxDepth limits the levels of documents and arrays inside of a document.
	MaxDepth int
	// Memory grants more than a few kilobytes. If it refuses memory for a frame, the frame is skipped.
	Memory Memory

	in       io.Reader
	buf      []byte // its length is its capacity
	from, to int    // the part of buf that has arrived and has not been read
	small    []byte // buf of ordinary frames
	inflated []byte // the content of the last compressed frame
	last     *Message
	held     int64 // bytes of inflated and of last, in Memory
	err      error // the error after which nothing can be read
}

// NewReader makes a Reader with the limits of the protocol.
func NewReader(in io.Reader) *Reader {
	small := make([]byte, smallBuffer)
	return &Reader{MaxMessage: MaxMessage, MaxDepth: MaxDepth, Memory: free{}, in: in, buf: small, small: small}
}

// Buffered is the number of bytes of the next frames that have arrived. If it is 0, no request is pipelined, and the
// caller should flush its answers.
func (r *Reader) Buffered() int { return r.to - r.from }

// Await blocks until a byte of the next frame has arrived. Like Read, it invalidates the last message. It returns
// io.EOF if the client closed the connection between frames.
func (r *Reader) Await() error {
	if r.err != nil {
		return r.err
	}
	r.release()
	return r.fill(1)
}

// Read reads the next frame into m, whose memory it reuses. Errors are io.EOF between frames, io.ErrUnexpectedEOF
// inside of a frame, those of the connection, and *Error. After an *Error that is not Fatal the next frame can be read,
// and m has enough for an answer.
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

// A refusal is an error of Memory.
type refusal struct{ error }

// skip reads past the n bytes of a frame for which there is no memory. m gets the contents of its header.
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

// refused is the error of a frame for which there is no memory. It is fatal for a compressed frame: its flags, which
// say whether the client expects an answer, have not been read.
func refused(m *Message, why error) *Error {
	return &Error{Code: codeMemory, Text: "no memory for a frame", Fatal: m.Op == OpCompressed, Cause: why}
}

// release releases the memory of the last message.
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

// shrink returns a large buffer that is not in use.
func (r *Reader) shrink() {
	if len(r.buf) > len(r.small) {
		r.Memory.Give(int64(len(r.buf)))
		give(r.buf)
		r.buf = r.small
	}
}

// take counts n more bytes for the message.
func (r *Reader) take(n int) error {
	err := r.Memory.Take(int64(n))
	if err == nil {
		r.held += int64(n)
	}
	return err
}

// Close releases the memory of all messages. Nothing can be read afterwards.
func (r *Reader) Close() {
	r.from, r.to = 0, 0
	r.release()
	r.err = io.ErrClosedPipe
}

// fill blocks until n bytes that have not been read have arrived.
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

// makeRoom makes room in buf for at least one more byte, up to n.
func (r *Reader) makeRoom(n int) error {
	if r.from > 0 && n > len(r.buf)-r.from {
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.from = 0
	}
	if r.to < len(r.buf) {
		return nil
	}
	want := min(n, max(firstGrowth, 4*len(r.buf))) // proportional to what has arrived, not to what was announced
	if err := r.Memory.Take(int64(sizeOf(want))); err != nil {
		return &refusal{err}
	}
	b := append(sized(want), r.buf...)
	r.shrink()
	r.buf = b[:cap(b)]
	return nil
}

// heavy is the size in bytes from which the work of decompressing and checking a frame needs Memory's Hold.
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

// header parses the header of a frame of n bytes.
func (m *Message) header(frame []byte, n int) {
	m.Bytes = n
	m.ID = int32(binary.LittleEndian.Uint32(frame[4:]))
	m.ResponseTo = int32(binary.LittleEndian.Uint32(frame[8:]))
	m.Op = Op(binary.LittleEndian.Uint32(frame[12:]))
	if m.Op == OpMsg && len(frame) >= headerBytes+4 {
		m.Flags = Flags(binary.LittleEndian.Uint32(frame[headerBytes:]))
	}
}
