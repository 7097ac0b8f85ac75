package wire

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The kinds of sections of an OP_MSG.
const (
	kindBody     = 0
	kindSequence = 1
)

// parseMsg parses a whole OP_MSG.
// https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg
func (m *Message) parseMsg(frame []byte, r *Reader) error {
	if len(frame) < headerBytes+4 {
		return fatal(codeProtocol, "OP_MSG of %d bytes has no flags", len(frame))
	}
	m.Flags = Flags(binary.LittleEndian.Uint32(frame[headerBytes:]))
	if unknown := m.Flags & requiredFlags &^ (ChecksumPresent | MoreToCome); unknown != 0 {
		return fatal(codeFlags, "Message contains illegal flags value: 0b%b", m.Flags)
	}
	sections := frame[headerBytes+4:]
	if m.Flags&ChecksumPresent != 0 {
		if len(sections) < checksum {
			return fatal(codeProtocol, "OP_MSG of %d bytes has no checksum", len(frame))
		}
		signed := len(frame) - checksum
		if crc32.Checksum(frame[:signed], castagnoli) != binary.LittleEndian.Uint32(frame[signed:]) {
			return fatal(codeProtocol, "OP_MSG checksum does not match contents")
		}
		sections = sections[:len(sections)-checksum]
	}
	for len(sections) > 0 {
		n, err := m.parseSection(sections, r)
		if err != nil {
			return err
		}
		sections = sections[n:]
	}
	if m.Body == nil {
		return refuse(codeNoBody, "OP_MSG messages must have a body")
	}
	return m.checkTwice()
}

// parseSection parses the section at the start of b and returns its size in bytes, including its kind.
func (m *Message) parseSection(b []byte, r *Reader) (n int, err error) {
	switch b[0] {
	case kindBody:
		if m.Body != nil {
			return 0, refuse(codeTwoBodies, "Multiple body sections in message")
		}
		m.Body, err = m.parseDocument(b[1:], r.MaxDepth)
		return 1 + len(m.Body), err
	case kindSequence:
		n, err = m.parseSequence(b[1:], r)
		return 1 + n, err
	}
	return 0, refuse(codeSection, "Unknown section kind %d", b[0])
}

// parseDocument parses the document at the start of b.
func (m *Message) parseDocument(b []byte, depth int) (doc.Doc, error) {
	if len(b) < emptyBytes {
		return nil, refuse(codeBSON, "BSON data has to be at least 5 bytes")
	}
	n := length(b)
	switch {
	case n > MaxDocument:
		return nil, refuse(codeTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)", n,
			n, MaxDocument)
	case n < emptyBytes:
		return nil, refuse(codeBSON, "BSON data has to be at least 5 bytes")
	case n > len(b):
		return nil, refuse(codeBSON, "Incorrect BSON length")
	}
	d := doc.Doc(b[:n:n])
	levels, err := Validate(d, depth)
	if err != nil {
		return nil, err
	}
	m.Depth = max(m.Depth, levels)
	return d, nil
}

// parseSequence parses the document sequence at the start of b and returns its size in bytes.
func (m *Message) parseSequence(b []byte, r *Reader) (n int, err error) {
	if len(m.Sequences) == MaxSequences {
		return 0, fatal(codeProtocol, "Too many document sequences in OP_MSG")
	}
	if len(b) < 4 {
		return 0, refuse(codeProtocol, "A document sequence has no length")
	}
	if n = length(b); n < 5 || n > len(b) {
		return 0, refuse(codeProtocol,
			"The length %d of a document sequence is not between 5 and the %d bytes that remain", n, len(b))
	}
	rest := b[4:n]
	end, _ := cstring(rest)
	if end == len(rest) || !utf8.Valid(rest[:end]) {
		return 0, refuse(codeProtocol, "The name of a document sequence is not UTF-8 text that ends in a NUL")
	}
	name := sequenceName(rest[:end])
	if _, ok := m.Sequence(name); ok {
		return 0, refuse(codeTwoSequences, "Duplicate document sequence: %s", name)
	}
	return n, m.addSequence(name).parse(m, rest[end+1:], r)
}

// parse parses documents until b ends.
func (s *Sequence) parse(m *Message, b []byte, r *Reader) error {
	count := countDocuments(b)
	if n := min(count, MaxSequence); n > cap(s.Documents) {
		if n > keptDocuments {
			if err := r.take(n * sliceBytes); err != nil {
				return refused(m, err)
			}
		}
		s.Documents = make([]doc.Doc, 0, n)
	}
	for len(b) > 0 {
		d, err := m.parseDocument(b, r.MaxDepth)
		if err != nil {
			return err
		}
		if len(s.Documents) < MaxSequence {
			s.Documents = append(s.Documents, d)
		}
		b = b[len(d):]
	}
	if count > MaxSequence {
		return refuse(codeLength, "Write batch sizes must be between 1 and %d. Got %d operations.", MaxSequence, count)
	}
	return nil
}

const sliceBytes = 24 // of a document in a list, in addition to its own

// countDocuments counts the documents in b by their lengths, up to the first invalid length.
func countDocuments(b []byte) (n int) {
	for len(b) >= emptyBytes {
		size := length(b)
		if size < emptyBytes || size > len(b) {
			break
		}
		b = b[size:]
		n++
	}
	return n
}

// sequenceName is b as a string, without allocation for the names that commands have.
func sequenceName(b []byte) string {
	switch string(b) {
	case "documents":
		return "documents"
	case "updates":
		return "updates"
	case "deletes":
		return "deletes"
	case "ops":
		return "ops"
	case "nsInfo":
		return "nsInfo"
	}
	return string(b)
}

// checkTwice refuses a sequence named like a member of the body.
func (m *Message) checkTwice() error {
	if len(m.Sequences) == 0 {
		return nil
	}
	for name := range doc.Members(m.Body) {
		if _, ok := m.Sequence(name); ok {
			return refuse(codeTwice, "Duplicate field between body and document sequence %s", strings.Clone(name))
		}
	}
	return nil
}

// AppendMsg appends an OP_MSG with one body to dst. With the flag ChecksumPresent it ends in a checksum. It is a
// client's side of the protocol, for tests.
func AppendMsg(dst []byte, id, responseTo int32, flags Flags, body doc.Doc) []byte {
	at := len(dst)
	dst = beginMsg(dst, id, responseTo, flags)
	return finish(append(dst, body...), at)
}

func beginMsg(dst []byte, id, responseTo int32, flags Flags) []byte {
	dst = appendHeader(dst, id, responseTo, OpMsg)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(flags))
	return append(dst, kindBody)
}

// appendHeader appends a header whose length finish fills in.
func appendHeader(dst []byte, id, responseTo int32, op Op) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(id))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(responseTo))
	return binary.LittleEndian.AppendUint32(dst, uint32(op))
}

// finish completes the frame that begins at offset at of dst.
func finish(dst []byte, at int) []byte {
	signed := Op(length(dst[at+12:])) == OpMsg && Flags(length(dst[at+headerBytes:]))&ChecksumPresent != 0
	n := len(dst) - at
	if signed {
		n += checksum
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(n))
	if signed {
		dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
	}
	return dst
}
