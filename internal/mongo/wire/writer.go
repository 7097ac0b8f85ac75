package wire

import "io"

// flushAt is the number of bytes at which answers are written without Flush.
const flushAt = 64 << 10

// A Writer writes the answers of one connection: OP_MSG to OP_MSG, OP_REPLY to OP_QUERY, with the compressor and the
// checksum of the request. It keeps them until Flush. It is for one goroutine.
type Writer struct {
	// Memory grants what compressing an answer needs. The caller counts the memory of the answers themselves.
	Memory Memory

	out    io.Writer
	buf    []byte
	begun  int        // start in buf of the frame that Begin began
	to     Compressor // of that frame
	packed []byte
}

// NewWriter makes a Writer.
func NewWriter(out io.Writer) *Writer { return &Writer{Memory: free{}, out: out} }

// Begin begins the answer to a request. The caller appends one document to dst and hands the result to End; nothing
// else may be written in between. Another Begin drops the answer that was begun. Flags are those of OP_MSG: MoreToCome
// if another answer follows, whose request ID is then the id of this one. Never answer a request that has MoreToCome.
func (w *Writer) Begin(request *Message, id int32, flags Flags) (dst []byte) {
	w.begun, w.to = len(w.buf), request.Compressor
	if request.Op == OpQuery {
		return beginReply(w.buf, id, request.ID)
	}
	return beginMsg(w.buf, id, request.ID, flags|request.Flags&ChecksumPresent)
}

// End completes the answer that Begin began. An answer over MaxMessage is dropped with an *Error that is not Fatal, and
// the caller may begin another one; other errors are the connection's, which cannot be used any more.
func (w *Writer) End(dst []byte) error {
	if n := len(dst) - w.begun; n > MaxMessage-checksum {
		w.buf = dst[:w.begun]
		return refuse(codeTooLarge, "an answer of %d bytes exceeds the limit of %d bytes for a message", n, MaxMessage)
	}
	w.buf = finish(dst, w.begun)
	if w.to != Noop {
		w.compress()
	}
	if len(w.buf) >= flushAt {
		return w.Flush()
	}
	return nil
}

// compress compresses the last frame, unless it would grow or there is no memory for that: an answer without
// compression is always valid.
func (w *Writer) compress() {
	frame := w.buf[w.begun:]
	extra := int64(len(frame))
	if !w.Memory.TryTake(extra) {
		return
	}
	defer w.Memory.Give(extra)
	packed := w.to.pack(w.packed[:0], frame[headerBytes:])
	if compressedStart+len(packed) < len(frame) {
		var header [headerBytes]byte
		copy(header[:], frame)
		w.buf = appendPacked(w.buf[:w.begun], header[:], packed, w.to)
	}
	w.packed = keepSmall(packed)
}

// Flush writes the answers that were kept.
func (w *Writer) Flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	_, err := w.out.Write(w.buf)
	w.buf = keepSmall(w.buf)
	return err
}
