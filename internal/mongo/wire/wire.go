// Package wire reads and writes the frames of the MongoDB wire protocol: OP_MSG, OP_QUERY with its OP_REPLY, and
// OP_COMPRESSED around them. Every document that it returns is valid BSON within limits, however hostile the client. A
// frame takes memory in proportion to the bytes that arrived, not to those that it announces. Before more than a few
// kilobytes are used, a Memory has to grant them. The package knows no command, keeps no state of a connection but its
// buffers, and sets no deadlines. https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
package wire

import "github.com/mayflydb/mayfly/internal/doc"

// Limits of the protocol, as MongoDB 7.0 has them.
const (
	MaxMessage = 48_000_000 // bytes of a frame with its header, also after decompression
	// bytes of one document in a frame: a stored document and room for a command around it
	MaxDocument  = 16<<20 + 16<<10
	MaxDepth     = 200                 // levels of documents and arrays inside a document
	MaxSequence  = 100_000             // documents in a sequence: maxWriteBatchSize
	MaxSequences = 2                   // sequences in a frame
	headerBytes  = 16                  // length, requestID, responseTo and opcode
	emptyBytes   = 5                   // of the smallest document
	checksum     = 4                   // bytes of a CRC-32C
	opMsgStart   = headerBytes + 4 + 1 // offset of the body in our OP_MSG, after flags and kind
)

// An Op is the opcode of a frame.
type Op int32

// The opcodes that this package reads or writes.
const (
	OpReply      Op = 1
	OpQuery      Op = 2004
	OpCompressed Op = 2012
	OpMsg        Op = 2013
)

// Flags are the flag bits of an OP_MSG or an OP_QUERY. Their meanings differ.
type Flags uint32

// The flag bits of OP_MSG.
const (
	ChecksumPresent Flags = 1 << 0 // a CRC-32C of the frame follows its sections
	// in a request: the client expects no answer; in an answer: another one follows without a request
	MoreToCome     Flags = 1 << 1
	ExhaustAllowed Flags = 1 << 16 // in a request: its answer may have MoreToCome

	requiredFlags Flags = 1<<16 - 1 // bits that a reader must understand
)

// A Message is one request as it arrived. Its documents share the memory of the Reader and are valid until its next
// Read, so copy what outlives the request.
type Message struct {
	ID         int32 // requestID, to which the answer refers
	ResponseTo int32 // 0 in requests
	Op         Op    // OpMsg or OpQuery; the opcode of the inner frame if it was compressed
	Flags      Flags
	Body       doc.Doc    // the command
	Sequences  []Sequence // of OP_MSG, in the order of the frame; no name is also a member of Body
	Collection string     // of OP_QUERY: fullCollectionName, such as "admin.$cmd"
	Skip       int32      // of OP_QUERY: numberToSkip
	Return     int32      // of OP_QUERY: numberToReturn
	Fields     doc.Doc    // of OP_QUERY: returnFieldsSelector, nil if absent
	Compressor Compressor // of the frame, and of its answer
	Depth      int        // levels of its deepest document, 0 if that is flat
	Bytes      int        // of the frame on the wire
}

// A Sequence is a document sequence of OP_MSG: an array member of the command whose elements are separate documents in
// the frame.
type Sequence struct {
	Name      string
	Documents []doc.Doc
}

// MoreToCome reports whether the client expects no answer. It would take an answer for that of its next request.
func (m *Message) MoreToCome() bool { return m.Op == OpMsg && m.Flags&MoreToCome != 0 }

// ExhaustAllowed reports whether the answer may have MoreToCome set.
func (m *Message) ExhaustAllowed() bool { return m.Op == OpMsg && m.Flags&ExhaustAllowed != 0 }

// Sequence returns the documents of the sequence with a name. It is not ok if the message has no such sequence.
func (m *Message) Sequence(name string) (documents []doc.Doc, ok bool) {
	for _, s := range m.Sequences {
		if s.Name == name {
			return s.Documents, true
		}
	}
	return nil, false
}

// keptDocuments is the number of documents up to which a sequence keeps its memory for the next message.
const keptDocuments = 256

// reset empties m and keeps memory for sequences of ordinary length.
func (m *Message) reset() {
	sequences := m.Sequences[:cap(m.Sequences)]
	for i := range sequences {
		if cap(sequences[i].Documents) > keptDocuments {
			sequences[i].Documents = nil
		}
		clear(sequences[i].Documents)
	}
	*m = Message{Sequences: sequences[:0]}
}

// addSequence adds a sequence to m, with the memory of an earlier message.
func (m *Message) addSequence(name string) *Sequence {
	n := len(m.Sequences)
	if n == cap(m.Sequences) {
		m.Sequences = append(m.Sequences, Sequence{})
	}
	m.Sequences = m.Sequences[:n+1]
	s := &m.Sequences[n]
	s.Name, s.Documents = name, s.Documents[:0]
	return s
}
