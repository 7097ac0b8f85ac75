package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

	"github.com/mayflydb/mayfly/internal/doc"
)

// An answer is what the driver's functions make of a frame.
type answer struct {
	id, to     int32
	op         wiremessage.OpCode
	flags      wiremessage.MsgFlag
	reply      wiremessage.ReplyFlag
	compressor wiremessage.CompressorID
	body       doc.Doc
}

// readAnswer reads one frame as a client does, and gives what follows it.
func readAnswer(t *testing.T, b []byte) (a answer, rest []byte) {
	t.Helper()
	n, id, to, op, content, ok := wiremessage.ReadHeader(b)
	if !ok || int(n) > len(b) {
		t.Fatalf("a frame of %d bytes, of which there are %d", n, len(b))
	}
	content, rest = content[:n-headerBytes], b[n:]
	a = answer{id: id, to: to, op: op}
	if op == wiremessage.OpCompressed {
		var size int32
		a.op, content, _ = wiremessage.ReadCompressedOriginalOpCode(content)
		size, content, _ = wiremessage.ReadCompressedUncompressedSize(content)
		a.compressor, content, _ = wiremessage.ReadCompressedCompressorID(content)
		content = driverUnpack(t, Compressor(a.compressor), content)
		if len(content) != int(size) {
			t.Fatalf("%d bytes, though %d are announced", len(content), size)
		}
	}
	if a.op == wiremessage.OpReply {
		a.reply, content, _ = wiremessage.ReadReplyFlags(content)
		_, content, _ = wiremessage.ReadReplyCursorID(content)
		_, content, _ = wiremessage.ReadReplyStartingFrom(content)
		returned, content, _ := wiremessage.ReadReplyNumberReturned(content)
		a.body, content, ok = wiremessage.ReadReplyDocument(content)
		if !ok || returned != 1 || len(content) > 0 {
			t.Fatalf("%d documents and %d bytes", returned, len(content))
		}
		return a, rest
	}
	a.flags, content, _ = wiremessage.ReadMsgFlags(content)
	kind, content, _ := wiremessage.ReadMsgSectionType(content)
	a.body, content, ok = wiremessage.ReadMsgSectionSingleDocument(content)
	if a.flags&wiremessage.ChecksumPresent != 0 {
		_, content, _ = wiremessage.ReadMsgChecksum(content)
	}
	if !ok || kind != wiremessage.SingleDocument || len(content) > 0 {
		t.Fatalf("kind %d, and %d bytes after it", kind, len(content))
	}
	return a, rest
}

func TestReply(t *testing.T) {
	long := build(func(b *bsoncore.DocumentBuilder) { b.AppendString("text", strings.Repeat("mayfly ", 1000)) })
	cases := []struct {
		name    string
		request []byte
		flags   Flags
		body    doc.Doc
		want    answer
	}{
		{"OP_MSG", msgOf(0, bodyOf(ping)), 0, one, answer{op: wiremessage.OpMsg}},
		{"one of many", msgOf(ExhaustAllowed, bodyOf(ping)), MoreToCome, one,
			answer{op: wiremessage.OpMsg, flags: wiremessage.MoreToCome}},
		{"checksum", AppendMsg(nil, 7, 0, ChecksumPresent, ping), 0, one,
			answer{op: wiremessage.OpMsg, flags: wiremessage.ChecksumPresent}},
		{"OP_QUERY", queryOf("admin.$cmd", ping), 0, one,
			answer{op: wiremessage.OpReply, reply: wiremessage.AwaitCapable}},
		{"snappy", packedOf(Snappy, msgOf(0, bodyOf(ping))), 0, long,
			answer{op: wiremessage.OpMsg, compressor: wiremessage.CompressorSnappy}},
		{"zlib", packedOf(Zlib, msgOf(0, bodyOf(ping))), 0, long,
			answer{op: wiremessage.OpMsg, compressor: wiremessage.CompressorZLib}},
		{"zstd", packedOf(Zstd, msgOf(0, bodyOf(ping))), 0, long,
			answer{op: wiremessage.OpMsg, compressor: wiremessage.CompressorZstd}},
		{"noop", packedOf(Noop, msgOf(0, bodyOf(ping))), 0, long, answer{op: wiremessage.OpMsg}},
		{"zstd that would grow", packedOf(Zstd, msgOf(0, bodyOf(ping))), 0, empty, answer{op: wiremessage.OpMsg}},
		{"compressed OP_QUERY", packedOf(Zlib, queryOf("admin.$cmd", ping)), 0, long,
			answer{op: wiremessage.OpReply, reply: wiremessage.AwaitCapable, compressor: wiremessage.CompressorZLib}},
		{"compressed with a checksum", packedOf(Snappy, AppendMsg(nil, 7, 0, ChecksumPresent, ping)), 0, long,
			answer{op: wiremessage.OpMsg, flags: wiremessage.ChecksumPresent,
				compressor: wiremessage.CompressorSnappy}},
	}
	var all bytes.Buffer
	together := NewWriter(&all)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			for _, w := range []*Writer{NewWriter(&out), together} {
				if err := reply(w, mustRead(t, c.request), int32(100+i), c.flags, c.body); err != nil {
					t.Fatal(err)
				}
			}
			if all.Len() > 0 {
				t.Fatal("written before Flush")
			}
		})
	}
	if err := together.Flush(); err != nil {
		t.Fatal(err)
	}
	rest := all.Bytes()
	for i, c := range cases {
		var got answer
		got, rest = readAnswer(t, rest)
		c.want.id, c.want.to, c.want.body = int32(100+i), 7, c.body
		if !bytes.Equal(got.body, c.body) || got.id != c.want.id || got.to != 7 || got.op != c.want.op ||
			got.flags != c.want.flags || got.reply != c.want.reply || got.compressor != c.want.compressor {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes follow", len(rest))
	}
}

func TestReplyFrame(t *testing.T) {
	frame := appendReply([]byte("before"), 3, 4, two)
	got, rest := readAnswer(t, frame[len("before"):])
	if got.id != 3 || got.to != 4 || got.op != wiremessage.OpReply || !bytes.Equal(got.body, two) || len(rest) > 0 {
		t.Errorf("got %+v", got)
	}
}

func TestBeginInPlace(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	m := mustRead(t, msgOf(0, bodyOf(ping)))
	w.Begin(m, 1, 0) // dropped
	for id := range int32(3) {
		dst := w.Begin(m, id, 0)
		at, dst := bsoncore.AppendDocumentStart(dst)
		dst = bsoncore.AppendInt32Element(dst, "n", id)
		dst, err := bsoncore.AppendDocumentEnd(dst, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.End(dst); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	rest := out.Bytes()
	for id := range int32(3) {
		var got answer
		got, rest = readAnswer(t, rest)
		if n, ok := got.body.Lookup("n").Int32OK(); got.id != id || !ok || n != id {
			t.Errorf("got %+v, want %d", got, id)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes follow", len(rest))
	}
}

func TestAnswerTooLarge(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	m := mustRead(t, msgOf(0, bodyOf(ping)))
	if err := reply(w, m, 1, 0, one); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.End(append(w.Begin(m, 2, 0), make([]byte, MaxMessage)...)), codeTooLarge, false)
	if err := reply(w, m, 3, 0, two); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	first, rest := readAnswer(t, out.Bytes())
	second, rest := readAnswer(t, rest)
	if first.id != 1 || second.id != 3 || len(rest) > 0 {
		t.Errorf("answers %d and %d, %d bytes follow", first.id, second.id, len(rest))
	}
}

func TestLargeAnswers(t *testing.T) {
	for _, c := range everyCompressor {
		var out bytes.Buffer
		w := NewWriter(&out)
		m := &Message{Op: OpMsg, Compressor: c}
		for _, d := range documentsOfSizes() {
			out.Reset()
			if err := errors.Join(reply(w, m, 1, 0, d), reply(w, m, 2, 0, one), w.Flush()); err != nil {
				t.Fatal(err)
			}
			got, rest := readAnswer(t, out.Bytes())
			if !bytes.Equal(got.body, d) {
				t.Errorf("%s: a document of %d bytes came as another", c, len(d))
			}
			if got, _ = readAnswer(t, rest); !bytes.Equal(got.body, one) {
				t.Errorf("%s: the answer after one of %d bytes: %+v", c, len(d), got)
			}
			if held := cap(w.buf) + cap(w.packed); held > 2*smallBuffer {
				t.Errorf("%s: %d bytes are held", c, held)
			}
		}
	}
}

type failing struct{}

var errFailing = errors.New("gone")

func (failing) Write([]byte) (int, error) { return 0, errFailing }

func TestWriteErrors(t *testing.T) {
	m := &Message{Op: OpMsg}
	w := NewWriter(failing{})
	if err := reply(w, m, 1, 0, one); err != nil {
		t.Error(err)
	}
	if err := w.Flush(); err != errFailing {
		t.Errorf("got %v", err)
	}
	if err := reply(w, m, 1, 0, build(func(b *bsoncore.DocumentBuilder) {
		b.AppendBinary("a", 0, make([]byte, flushAt))
	})); err != errFailing {
		t.Errorf("got %v", err)
	}
	if err := w.Flush(); err != nil {
		t.Errorf("nothing to write: %v", err)
	}
}
