package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

// parseQuery parses a whole OP_QUERY, which drivers still use for their first handshake: flags, name, numbers to skip
// and to return, query, and an optional selector.
// https://www.mongodb.com/docs/manual/legacy-opcodes/#op_query
func (m *Message) parseQuery(frame []byte, depth int) (err error) {
	if len(frame) < headerBytes+4 {
		return fatal(codeProtocol, "OP_QUERY of %d bytes has no flags", len(frame))
	}
	m.Flags = Flags(binary.LittleEndian.Uint32(frame[headerBytes:]))
	rest := frame[headerBytes+4:]
	end, _ := cstring(rest)
	if end == len(rest) || len(rest)-end-1 < 8 {
		return fatal(codeProtocol, "OP_QUERY of %d bytes is too short for its name and numbers", len(frame))
	}
	if !utf8.Valid(rest[:end]) {
		return fatal(codeProtocol, "The collection name of an OP_QUERY is not UTF-8")
	}
	m.Collection = collectionName(rest[:end])
	rest = rest[end+1:]
	m.Skip, m.Return = int32(length(rest)), int32(length(rest[4:]))
	rest = rest[8:]
	if m.Body, err = m.parseDocument(rest, depth); err != nil {
		return err
	}
	if rest = rest[len(m.Body):]; len(rest) == 0 {
		return nil
	}
	if m.Fields, err = m.parseDocument(rest, depth); err != nil {
		return err
	}
	if n := len(rest) - len(m.Fields); n > 0 {
		return refuse(codeProtocol, "%d bytes follow the selector of an OP_QUERY", n)
	}
	return nil
}

// collectionName is b as a string. It does not allocate for the name in handshakes.
func collectionName(b []byte) string {
	if string(b) == "admin.$cmd" {
		return "admin.$cmd"
	}
	return string(b)
}

// The flag of every OP_REPLY of MongoDB: AwaitCapable.
const awaitCapable = 8

// beginReply appends an OP_REPLY without a cursor to dst, up to its one document.
func beginReply(dst []byte, id, responseTo int32) []byte {
	dst = appendHeader(dst, id, responseTo, OpReply)
	dst = binary.LittleEndian.AppendUint32(dst, awaitCapable)
	dst = binary.LittleEndian.AppendUint64(dst, 0)  // cursorID
	dst = binary.LittleEndian.AppendUint32(dst, 0)  // startingFrom
	return binary.LittleEndian.AppendUint32(dst, 1) // numberReturned
}
