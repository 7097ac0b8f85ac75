package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// int32s are the bytes of numbers as frames have them.
func int32s(numbers ...int) (b []byte) {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// frameOf is a frame with the number 7 and a true length.
func frameOf(op Op, parts ...[]byte) []byte {
	content := bytes.Join(parts, nil)
	return append(int32s(headerBytes+len(content), 7, 0, int(op)), content...)
}

// msgOf is an OP_MSG of these sections.
func msgOf(flags Flags, sections ...[]byte) []byte {
	return frameOf(OpMsg, int32s(int(flags)), bytes.Join(sections, nil))
}

func bodyOf(d doc.Doc) []byte { return append([]byte{kindBody}, d...) }

func sequenceOf(name string, documents ...doc.Doc) []byte {
	content := append([]byte(name), 0)
	for _, d := range documents {
		content = append(content, d...)
	}
	return append(append([]byte{kindSequence}, int32s(4+len(content))...), content...)
}

// queryOf is an OP_QUERY for one document.
func queryOf(name string, rest ...[]byte) []byte {
	return frameOf(OpQuery, int32s(4), []byte(name), []byte{0}, int32s(0, -1), bytes.Join(rest, nil))
}

// packedOf is an OP_COMPRESSED that tells the truth about frame.
func packedOf(c Compressor, frame []byte) []byte {
	return compressedOf(Op(length(frame[12:])), len(frame)-headerBytes, c, c.pack(nil, frame[headerBytes:]))
}

// compressedOf is an OP_COMPRESSED that says what it is told to.
func compressedOf(op Op, n int, c Compressor, packed []byte) []byte {
	return frameOf(OpCompressed, int32s(int(op), n), []byte{byte(c)}, packed)
}

var (
	ping  = build(func(b *bsoncore.DocumentBuilder) { b.AppendInt32("ping", 1).AppendString("$db", "admin") })
	one   = build(func(b *bsoncore.DocumentBuilder) { b.AppendInt32("_id", 1) })
	two   = build(func(b *bsoncore.DocumentBuilder) { b.AppendInt32("_id", 2).AppendString("name", "Käthe") })
	empty = doc.Doc{5, 0, 0, 0, 0}
)

func build(with func(*bsoncore.DocumentBuilder)) doc.Doc {
	b := bsoncore.NewDocumentBuilder()
	with(b)
	return b.Build()
}

// nestedTo is a document with levels of documents and arrays inside.
func nestedTo(levels int) doc.Doc {
	d := empty
	for i := range levels {
		kind := bsoncore.TypeEmbeddedDocument
		if i%2 == 1 {
			kind = bsoncore.TypeArray
		}
		d = bsoncore.BuildDocument(nil, bsoncore.AppendValueElement(nil, "0", doc.Value{Type: kind, Data: d}))
	}
	return d
}

// everyType has a member of every type.
func everyType() doc.Doc {
	return build(func(b *bsoncore.DocumentBuilder) {
		b.AppendDouble("double", 1.5)
		b.AppendString("text", "a\x00b ä")
		b.AppendDocument("document", two)
		b.AppendArray("array", bsoncore.NewArrayBuilder().AppendInt32(1).AppendDocument(one).Build())
		b.AppendBinary("binary", 0, []byte{1, 2, 3})
		b.AppendBinary("old binary", 2, []byte{1, 2, 3})
		b.AppendBinary("no binary", 4, nil)
		b.AppendUndefined("undefined")
		b.AppendObjectID("id", [12]byte{1, 2, 3})
		b.AppendBoolean("yes", true)
		b.AppendBoolean("no", false)
		b.AppendDateTime("date", -1)
		b.AppendNull("null")
		b.AppendRegex("pattern", "^ä+$", "im")
		b.AppendDBPointer("pointer", "db.c", [12]byte{})
		b.AppendJavaScript("code", "function() {}")
		b.AppendSymbol("symbol", "s")
		b.AppendCodeWithScope("scoped", "x", one)
		b.AppendInt32("int", 1)
		b.AppendTimestamp("timestamp", 1, 2)
		b.AppendInt64("long", 1<<40)
		b.AppendDecimal128("decimal", 1, 2)
		b.AppendMinKey("min")
		b.AppendMaxKey("max")
		b.AppendInt32("", 0)
		b.AppendInt32("a name of more than eight bytes, with ä", 0)
	})
}

// read reads one frame that came alone.
func read(frame []byte) (*Message, error) {
	m := &Message{}
	return m, NewReader(bytes.NewReader(frame)).Read(m)
}

// mustRead reads one frame that is right.
func mustRead(t *testing.T, frame []byte) *Message {
	t.Helper()
	m, err := read(frame)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wantError checks the number of an error about a frame, and whether it ends the connection.
func wantError(t *testing.T, err error, code int32, isFatal bool) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != code || e.Fatal != isFatal {
		t.Fatalf("got %#v, want code %d, fatal %v", err, code, isFatal)
	}
}

// A trickle gives as many bytes at each read as sizes says, over and over.
type trickle struct {
	from  io.Reader
	sizes []byte
	next  int
}

func (r *trickle) Read(b []byte) (int, error) {
	n := 1
	if len(r.sizes) > 0 {
		n = 1 + 97*int(r.sizes[r.next%len(r.sizes)])
		r.next++
	}
	return r.from.Read(b[:min(n, len(b))])
}

// reply answers a request with body.
func reply(w *Writer, request *Message, id int32, flags Flags, body doc.Doc) error {
	return w.End(append(w.Begin(request, id, flags), body...))
}

// appendReply appends a frame of OP_REPLY to dst.
func appendReply(dst []byte, id, responseTo int32, body doc.Doc) []byte {
	return finish(append(beginReply(dst, id, responseTo), body...), len(dst))
}
