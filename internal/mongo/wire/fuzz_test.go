package wire

import (
	"bytes"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

func FuzzRead(f *testing.F) {
	insert := msgOf(0, bodyOf(ping), sequenceOf("documents", one, two, everyType()))
	seeds := [][]byte{
		insert, append(append([]byte(nil), insert...), insert...), queryOf("admin.$cmd", ping, one),
		msgOf(MoreToCome, sequenceOf("ops"), bodyOf(ping), sequenceOf("nsInfo", one)),
		AppendMsg(nil, 1, 0, ChecksumPresent, ping), appendReply(nil, 1, 2, one),
		int32s(MaxMessage, 1, 0, int(OpMsg)), int32s(MaxMessage+1, 1, 0, int(OpMsg)), int32s(15, 1, 0, int(OpMsg)),
		int32s(-1),
		compressedOf(OpMsg, MaxMessage-headerBytes, Zlib, packZlib(nil, make([]byte, 1000))),
		compressedOf(OpMsg, 1000, Zstd, zstdEncoder().EncodeAll(make([]byte, 100_000), nil)),
		compressedOf(OpMsg, -1, Snappy, []byte{0xff, 0xff, 0xff, 0xff, 0x0f}),
		msgOf(0, []byte{1}, int32s(0x7fffffff), []byte("documents\x00")),
		msgOf(0, []byte{0}, int32s(0x7fffffff), []byte{0}),
		msgOf(0, bodyOf(nestedTo(201))),
		[]byte("GET / HTTP/1.1\r\n\r\n"),
	}
	for _, c := range everyCompressor {
		seeds = append(seeds, packedOf(c, insert))
	}
	for i, seed := range seeds {
		f.Add(seed, []byte{byte(i), 1})
	}
	f.Fuzz(func(t *testing.T, stream, sizes []byte) {
		r := NewReader(&trickle{from: bytes.NewReader(stream), sizes: sizes})
		var m Message
		var err error
		for err == nil {
			before := r.Buffered()
			err = r.Read(&m)
			if cap(r.buf) > max(firstGrowth+4*len(stream), 16*firstGrowth) {
				t.Fatalf("%d bytes for a stream of %d", cap(r.buf), len(stream))
			}
			if e, ok := errors.AsType[*Error](err); ok && !e.Fatal {
				err = nil
				continue
			}
			if err == nil {
				checkMessage(t, &m)
			}
			if err == nil && before > 0 && m.Bytes < headerBytes {
				t.Fatalf("a frame of %d bytes", m.Bytes)
			}
		}
		if again := r.Read(&m); again != err {
			t.Errorf("error %v, then %v", err, again)
		}
	})
}

// checkMessage checks what every message that is read promises.
func checkMessage(t *testing.T, m *Message) {
	if m.Op != OpMsg && m.Op != OpQuery {
		t.Fatalf("opcode %d", m.Op)
	}
	documents := []doc.Doc{m.Body}
	if m.Fields != nil {
		documents = append(documents, m.Fields)
	}
	for _, s := range m.Sequences {
		documents = append(documents, s.Documents...)
		if !doc.IsUndefined(doc.Lookup(m.Body, s.Name)) {
			t.Errorf("%q is in the body too", s.Name)
		}
	}
	deepest := 0
	for _, d := range documents {
		deepest = max(deepest, mustWalk(t, doc.Object(d)))
	}
	if deepest != m.Depth+1 {
		t.Errorf("depth %d, want %d", m.Depth, deepest-1)
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := errors.Join(reply(w, m, 1, 0, m.Body), w.Flush()); err != nil {
		t.Error(err)
	}
	if got, rest := readAnswer(t, out.Bytes()); got.to != m.ID || !bytes.Equal(got.body, m.Body) || len(rest) > 0 {
		t.Errorf("the answer is %+v", got)
	}
}

// mustWalk reaches every value inside v and counts the levels.
func mustWalk(t *testing.T, v doc.Value) (levels int) {
	if levels > MaxDepth+1 {
		t.Fatal("too deep")
	}
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		bytesSeen := emptyBytes
		for name, inside := range doc.Members(v.Data) {
			bytesSeen += 1 + len(name) + 1 + len(inside.Data)
			levels = max(levels, mustWalk(t, inside))
		}
		if bytesSeen != len(v.Data) {
			t.Errorf("a walk sees %d of %d bytes", bytesSeen, len(v.Data))
		}
		return levels + 1
	case bsoncore.TypeArray:
		return mustWalk(t, doc.Object(v.Data))
	case bsoncore.TypeCodeWithScope:
		_, scope := v.CodeWithScope()
		return mustWalk(t, doc.Object(scope))
	case bsoncore.TypeBinary:
		v.Binary()
	case bsoncore.TypeRegex:
		v.Regex()
	case bsoncore.TypeDBPointer:
		v.DBPointer()
	}
	return 0
}

// What is accepted is valid for the driver too, and can be walked. What is
// refused only for text or a rarer rule is the difference.
func FuzzValidate(f *testing.F) {
	for _, d := range []doc.Doc{
		empty, one, two, everyType(), nestedTo(5), nestedTo(200), nestedTo(201), {5, 0, 0, 0}, {5, 0, 0, 128, 0},
		{6, 0, 0, 0, 10, 0},
		element(bsoncore.TypeString, int32s(0x7fffffff), []byte("a\x00")),
		element(bsoncore.TypeString, int32s(2), []byte("\xff\x00")),
		element(bsoncore.TypeEmbeddedDocument, int32s(-5), []byte{0}),
		element(bsoncore.TypeCodeWithScope, int32s(15), int32s(2), []byte("a\x00"), empty),
		element(bsoncore.TypeBinary, int32s(5), []byte{2}, int32s(1), []byte{1}),
		element(bsoncore.TypeBoolean, []byte{2}),
	} {
		f.Add([]byte(d))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		depth, err := Validate(b, MaxDepth)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || e.Fatal {
				t.Fatal(err)
			}
			if simple(b) {
				t.Errorf("%x is refused: %v", b, err)
			}
			return
		}
		if err := doc.Doc(b).Validate(); err != nil {
			t.Errorf("%x is accepted, but not by the driver: %v", b, err)
		}
		if levels := mustWalk(t, doc.Object(b)); levels != depth+1 {
			t.Errorf("%x: depth %d, want %d", b, depth, levels-1)
		}
		if depth > 0 {
			if _, err := Validate(b, depth-1); err == nil {
				t.Errorf("%x has %d levels, and is accepted with one less", b, depth)
			}
		}
	})
}

// simple reports whether both validators must accept b: a flat document that
// the driver finds valid, of numbers and the like.
func simple(b []byte) bool {
	if len(b) < 4 || length(b) != len(b) || doc.Doc(b).Validate() != nil {
		return false
	}
	size := emptyBytes
	for name, v := range doc.Members(b) {
		for _, c := range []byte(name) {
			if c >= 0x80 {
				return false
			}
		}
		if s := styles[v.Type]; s == 0 || s >= text {
			return false
		}
		size += 1 + len(name) + 1 + len(v.Data)
	}
	return size == len(b)
}
