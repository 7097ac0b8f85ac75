package transfer

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// maxBSON is the most bytes of one document in a dump: MongoDB's limit, and the room that it adds for its own commands.
const maxBSON = 16<<20 + 16<<10

// A bsonSource reads documents of BSON, one after the other, as mongodump writes them for a collection.
type bsonSource struct {
	file    *file
	in      *bufio.Reader
	relaxed bool
	number  int64
	offset  int64
	body    []byte
	text    []byte
}

func (s *bsonSource) Next() (Row, error) {
	body, err := readBSON(s.in, &s.body)
	if err != nil {
		if err != io.EOF {
			err = fmt.Errorf("document %d, at byte %d: %w", s.number+1, s.offset, err)
		}
		return Row{}, err
	}
	s.number++
	s.offset += int64(len(body))
	row := Row{Number: s.number}
	s.text, row.Reason = appendBSONLine(s.text[:0], body, s.relaxed)
	row.Text = s.text
	return row, nil
}

// appendBSONLine appends the line of a document, or says why it has none.
func appendBSONLine(dst []byte, body doc.Doc, relaxed bool) (line []byte, reason string) {
	if err := body.Validate(); err != nil {
		return dst, "The document is no valid BSON."
	}
	if relaxed {
		return doc.AppendJSON(dst, body), ""
	}
	return doc.AppendCanonicalJSON(dst, QuoteStamp(body)), ""
}

// readBSON reads one document into room, which grows as bytes arrive. At the end it returns io.EOF.
func readBSON(in *bufio.Reader, room *[]byte) (doc.Doc, error) {
	head, err := in.Peek(4)
	if err != nil {
		if len(head) > 0 {
			err = cut(err)
		}
		return nil, err
	}
	size := int64(int32(binary.LittleEndian.Uint32(head)))
	if size < int64(len(doc.Empty)) || size > maxBSON {
		return nil, fmt.Errorf("a document of BSON has %d bytes: this is no BSON, or it is damaged", size)
	}
	// A damaged length must not cost memory that the file does not fill.
	const step = 1 << 20
	b := (*room)[:0]
	for int64(len(b)) < size {
		n := min(int(size)-len(b), step)
		at := len(b)
		b = append(b, make([]byte, n)...)
		if _, err := io.ReadFull(in, b[at:]); err != nil {
			return nil, cut(err)
		}
	}
	*room = b
	return bsoncore.Document(b), nil
}

func (s *bsonSource) Read() (done, total int64) { return s.file.progress() }
func (s *bsonSource) Close() error              { return s.file.close() }
