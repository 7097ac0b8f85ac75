package wire

import "encoding/binary"

// After its header an OP_COMPRESSED has the original opcode, the size without compression, and the compressorId; then
// come the compressed bytes.
// https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_compressed
const compressedStart = headerBytes + 4 + 4 + 1

// inflate decompresses an OP_COMPRESSED and sets the opcode and the compressor of m.
func (r *Reader) inflate(m *Message, frame []byte) ([]byte, error) {
	if len(frame) < compressedStart {
		return nil, fatal(codeProtocol, "OP_COMPRESSED of %d bytes has no compressorId", len(frame))
	}
	op, n, c := Op(length(frame[16:])), length(frame[20:]), Compressor(frame[24])
	switch {
	case op == OpCompressed:
		return nil, fatal(codeProtocol, "OP_COMPRESSED inside OP_COMPRESSED")
	case int(c) >= len(compressors):
		return nil, fatal(codeProtocol, "the compressorId %d is not known", c)
	case n < 0 || n > r.MaxMessage-headerBytes:
		return nil, fatal(codeProtocol, "the uncompressedSize %d is not between 0 and %d", n, r.MaxMessage-headerBytes)
	}
	if !c.allows(len(frame)-compressedStart, n) {
		return nil, fatal(codeProtocol, "so few bytes cannot stand for the uncompressedSize %d, with %s", n, c)
	}
	if n+headerBytes > cap(r.inflated) {
		if err := r.take(sizeOf(n + headerBytes)); err != nil {
			return nil, refused(m, err)
		}
		r.inflated = keepSmall(r.inflated)
		r.inflated = sized(n + headerBytes)
	}
	inner := appendHeader(r.inflated[:0], m.ID, m.ResponseTo, op)
	inner, err := c.expand(inner, frame[compressedStart:], n)
	if err != nil {
		return nil, &Error{Code: codeProtocol, Text: "OP_COMPRESSED does not hold what it says, with " + c.String(),
			Fatal: true, Cause: err}
	}
	binary.LittleEndian.PutUint32(inner, uint32(len(inner)))
	r.inflated = inner
	m.Op, m.Compressor = op, c
	return inner, nil
}

// unpackedSize is the size of a frame without compression.
func unpackedSize(op Op, frame []byte) int {
	if op == OpCompressed && len(frame) >= compressedStart {
		return length(frame[20:])
	}
	return len(frame)
}

// AppendCompressed appends to dst an OP_COMPRESSED of a whole frame. With Noop it appends the frame as it is. Like
// AppendMsg it is a client's side of the protocol, for tests.
func AppendCompressed(dst, frame []byte, c Compressor) []byte {
	if c == Noop {
		return append(dst, frame...)
	}
	packed := c.pack(nil, frame[headerBytes:])
	return appendPacked(dst, frame, packed, c)
}

// appendPacked appends an OP_COMPRESSED of a frame whose content is already compressed.
func appendPacked(dst, header, packed []byte, c Compressor) []byte {
	at := len(dst)
	n, op := length(header)-headerBytes, header[12:16]
	dst = append(dst, header[:12]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(OpCompressed))
	dst = append(dst, op...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	dst = append(dst, byte(c))
	dst = append(dst, packed...)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at))
	return dst
}
