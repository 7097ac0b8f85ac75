package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

	"github.com/mayflydb/mayfly/internal/doc"
)

func TestReadMsg(t *testing.T) {
	insert := sequenceOf("documents", one, two)
	cases := []struct {
		name      string
		frame     []byte
		sequences []string
		flags     Flags
	}{
		{"body", msgOf(0, bodyOf(ping)), nil, 0},
		{"body, sequence", msgOf(0, bodyOf(ping), insert), []string{"documents"}, 0},
		{"sequence, body", msgOf(0, insert, bodyOf(ping)), []string{"documents"}, 0},
		{"sequence, body, sequence", msgOf(0, sequenceOf("ops", one), bodyOf(ping), sequenceOf("nsInfo", two)),
			[]string{"ops", "nsInfo"}, 0},
		{"sequence of another name", msgOf(0, bodyOf(ping), sequenceOf("größe")), []string{"größe"}, 0},
		{"more to come", msgOf(MoreToCome, bodyOf(ping)), nil, MoreToCome},
		{"exhaust allowed", msgOf(ExhaustAllowed, bodyOf(ping)), nil, ExhaustAllowed},
		{"flags that may be ignored", msgOf(1<<17|1<<31, bodyOf(ping)), nil, 1<<17 | 1<<31},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := mustRead(t, c.frame)
			if m.ID != 7 || m.Op != OpMsg || m.Flags != c.flags || m.Bytes != len(c.frame) ||
				!bytes.Equal(m.Body, ping) {
				t.Errorf("got %+v", m)
			}
			if m.MoreToCome() != (c.flags == MoreToCome) || m.ExhaustAllowed() != (c.flags == ExhaustAllowed) {
				t.Errorf("more to come %v, exhaust allowed %v", m.MoreToCome(), m.ExhaustAllowed())
			}
			if len(m.Sequences) != len(c.sequences) {
				t.Fatalf("sequences %v, want %v", m.Sequences, c.sequences)
			}
			for i, name := range c.sequences {
				if m.Sequences[i].Name != name {
					t.Errorf("sequence %q, want %q", m.Sequences[i].Name, name)
				}
			}
		})
	}
	m := mustRead(t, msgOf(0, insert, bodyOf(ping)))
	if d, ok := m.Sequence("documents"); !ok || len(d) != 2 || !bytes.Equal(d[0], one) || !bytes.Equal(d[1], two) {
		t.Errorf("documents %v, %v", d, ok)
	}
	if d, ok := m.Sequence("updates"); ok {
		t.Errorf("there are no updates, but %v", d)
	}
}

func TestReadDepth(t *testing.T) {
	if m := mustRead(t, msgOf(0, bodyOf(nestedTo(3)), sequenceOf("documents", one, nestedTo(7), two))); m.Depth != 7 {
		t.Errorf("depth %d, want 7", m.Depth)
	}
	r := NewReader(bytes.NewReader(msgOf(0, bodyOf(ping), sequenceOf("documents", nestedTo(4)))))
	r.MaxDepth = 3
	wantError(t, r.Read(&Message{}), codeOverflow, false)
}

func TestReadMsgErrors(t *testing.T) {
	withDocuments := build(func(b *bsoncore.DocumentBuilder) { b.AppendInt32("insert", 1).AppendNull("documents") })
	invalid := doc.Doc{8, 0, 0, 0, 8, 0, 2, 0}
	cases := []struct {
		name  string
		frame []byte
		code  int32
		fatal bool
	}{
		{"no flags", frameOf(OpMsg, []byte{0, 0, 0}), codeProtocol, true},
		{"no section", msgOf(0), codeNoBody, false},
		{"no body", msgOf(0, sequenceOf("documents", one)), codeNoBody, false},
		{"two bodies", msgOf(0, bodyOf(ping), bodyOf(ping)), codeTwoBodies, false},
		{"unknown kind", msgOf(0, bodyOf(ping), []byte{2}, empty), codeSection, false},
		{"internal kind", msgOf(0, []byte{255}), codeSection, false},
		{"flag 2", msgOf(1<<2, bodyOf(ping)), codeFlags, true},
		{"flag 15", msgOf(1<<15, bodyOf(ping)), codeFlags, true},
		{"sequence twice", msgOf(0, bodyOf(ping), sequenceOf("documents"), sequenceOf("documents")), codeTwoSequences,
			false},
		{"three sequences", msgOf(0, bodyOf(ping), sequenceOf("a"), sequenceOf("b"), sequenceOf("c")), codeProtocol,
			true},
		{"field twice", msgOf(0, bodyOf(withDocuments), sequenceOf("documents", one)), codeTwice, false},
		{"field twice, sequence first", msgOf(0, sequenceOf("documents", one), bodyOf(withDocuments)), codeTwice,
			false},
		{"body of no bytes", msgOf(0, []byte{0}), codeBSON, false},
		{"body too long", msgOf(0, []byte{0}, int32s(6), []byte{0}), codeBSON, false},
		{"body of length 4", msgOf(0, []byte{0}, int32s(4), []byte{0}), codeBSON, false},
		{"body of length -1", msgOf(0, []byte{0}, int32s(-1), []byte{0}), codeBSON, false},
		{"body larger than a document", msgOf(0, []byte{0}, int32s(MaxDocument+1), []byte{0}), codeTooLarge, false},
		{"invalid body", msgOf(0, bodyOf(invalid)), codeBSON, false},
		{"invalid document", msgOf(0, bodyOf(ping), sequenceOf("documents", one, invalid)), codeBSON, false},
		{"deep document", msgOf(0, bodyOf(ping), sequenceOf("documents", nestedTo(201))), codeOverflow, false},
		{"sequence without a length", msgOf(0, bodyOf(ping), []byte{1, 9}), codeProtocol, false},
		{"sequence of length 4", msgOf(0, bodyOf(ping), []byte{1}, int32s(4)), codeProtocol, false},
		{"sequence of length -1", msgOf(0, bodyOf(ping), []byte{1}, int32s(-1), []byte("a\x00")), codeProtocol, false},
		{"sequence too long", msgOf(0, bodyOf(ping), []byte{1}, int32s(7), []byte("a\x00")), codeProtocol, false},
		{"name that does not end", msgOf(0, bodyOf(ping), []byte{1}, int32s(6), []byte("ab")), codeProtocol, false},
		{"name that is no UTF-8", msgOf(0, bodyOf(ping), sequenceOf("\xff")), codeProtocol, false},
		{"sequence cuts a document", msgOf(0, bodyOf(ping), []byte{1}, int32s(4+2+3), []byte("a\x00"), one), codeBSON,
			false},
		{"no checksum", msgOf(ChecksumPresent, []byte{0}), codeProtocol, true},
		{"wrong checksum", msgOf(ChecksumPresent, bodyOf(ping), int32s(1)), codeProtocol, true},
		{"old opcode", frameOf(2002, ping), codeProtocol, true},
		{"answer", appendReply(nil, 1, 2, one), codeProtocol, true},
		{"opcode 0", frameOf(0), codeProtocol, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(append(c.frame, msgOf(0, bodyOf(two))...)))
			m := &Message{}
			err := r.Read(m)
			wantError(t, err, c.code, c.fatal)
			if m.ID != 7 && m.Op != OpReply {
				t.Errorf("the message has the ID %d", m.ID)
			}
			again := r.Read(m)
			if c.fatal && again != err {
				t.Errorf("after a fatal error: %v", again)
			}
			if !c.fatal && (again != nil || !bytes.Equal(m.Body, two) || len(m.Sequences) > 0) {
				t.Errorf("the next message: %+v, %v", m, again)
			}
		})
	}
}

func TestReadLengths(t *testing.T) {
	cases := []struct {
		name  string
		n     int
		limit int
		fatal bool
	}{
		{"negative", -1, MaxMessage, true},
		{"0", 0, MaxMessage, true},
		{"15", 15, MaxMessage, true},
		{"over the limit", MaxMessage + 1, MaxMessage, true},
		{"HTTP", int(binary.LittleEndian.Uint32([]byte("GET "))), MaxMessage, true},
		{"over a limit of less", 1001, 1000, true},
		{"the limit", MaxMessage, MaxMessage, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(int32s(c.n, 1, 0, int(OpMsg))))
			r.MaxMessage = c.limit
			err := r.Read(&Message{})
			if c.fatal {
				wantError(t, err, codeProtocol, true)
			} else if err != io.ErrUnexpectedEOF {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReadEnds(t *testing.T) {
	frame := msgOf(0, bodyOf(ping))
	for i := range len(frame) {
		want := io.ErrUnexpectedEOF
		if i == 0 {
			want = io.EOF
		}
		r := NewReader(bytes.NewReader(frame[:i]))
		if err := r.Read(&Message{}); err != want {
			t.Errorf("after %d of %d bytes: %v", i, len(frame), err)
		}
		if err := r.Await(); err != want {
			t.Errorf("Await after %d of %d bytes: %v", i, len(frame), err)
		}
	}
	broken := errors.New("broken")
	if err := NewReader(io.MultiReader(bytes.NewReader(frame[:20]),
		iotest.ErrReader(broken))).Read(&Message{}); err != broken {
		t.Errorf("got %v", err)
	}
	if err := NewReader(nothing{}).Read(&Message{}); err != io.ErrNoProgress {
		t.Errorf("got %v", err)
	}
}

// nothing is a reader that never has bytes nor errors.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

// A frame that is announced costs what has arrived of it.
func TestStalledFrameCostsLittle(t *testing.T) {
	for _, arrived := range []int{16, 1000, 100_000, 1_000_000, 10_000_000} {
		head := append(int32s(MaxMessage, 1, 0, int(OpMsg)), make([]byte, arrived-headerBytes)...)
		r := NewReader(bytes.NewReader(head))
		if err := r.Read(&Message{}); err != io.ErrUnexpectedEOF {
			t.Fatal(err)
		}
		if bound := firstGrowth + 4*arrived; cap(r.buf) > max(bound, 16*firstGrowth) {
			t.Errorf("%d bytes arrived and took %d", arrived, cap(r.buf))
		}
	}
}

func TestIdleReaderHoldsLittle(t *testing.T) {
	big := build(func(b *bsoncore.DocumentBuilder) { b.AppendBinary("a", 0, make([]byte, 10<<20)) })
	for _, frame := range [][]byte{msgOf(0, bodyOf(big)), packedOf(Zlib, msgOf(0, bodyOf(big)))} {
		r := NewReader(bytes.NewReader(frame))
		if err := r.Read(&Message{}); err != nil {
			t.Fatal(err)
		}
		if err := r.Await(); err != io.EOF {
			t.Fatal(err)
		}
		if held := cap(r.buf) + cap(r.small) + cap(r.inflated); held > 3*smallBuffer {
			t.Errorf("%d bytes are held", held)
		}
	}
}

func TestLongSequences(t *testing.T) {
	documents := func(n int) []byte { return bytes.Repeat(one, n) }
	sequence := func(n int) []byte {
		content := append([]byte("documents\x00"), documents(n)...)
		return append(append([]byte{1}, int32s(4+len(content))...), content...)
	}
	m := &Message{}
	r := NewReader(bytes.NewReader(bytes.Join([][]byte{
		msgOf(0, bodyOf(ping), sequence(MaxSequence)),
		msgOf(0, bodyOf(ping), sequence(MaxSequence+1)),
		msgOf(0, bodyOf(ping), sequence(1)),
	}, nil)))
	if err := r.Read(m); err != nil || len(m.Sequences[0].Documents) != MaxSequence {
		t.Errorf("error %v", err)
	}
	err := r.Read(m)
	wantError(t, err, codeLength, false)
	if !strings.Contains(err.Error(), "Got 100001 operations") {
		t.Error(err)
	}
	if err := r.Read(m); err != nil || cap(m.Sequences[0].Documents) > keptDocuments {
		t.Errorf("error %v, %d documents are kept", err, cap(m.Sequences[0].Documents))
	}
}

func TestReadChecksum(t *testing.T) {
	frame := AppendMsg(nil, 7, 0, ChecksumPresent, ping)
	end := len(frame) - checksum
	if want := crc32.Checksum(frame[:end],
		crc32.MakeTable(crc32.Castagnoli)); binary.LittleEndian.Uint32(frame[end:]) != want {
		t.Errorf("checksum %x, want %x", frame[end:], want)
	}
	if m := mustRead(t, frame); !bytes.Equal(m.Body, ping) {
		t.Errorf("got %+v", m)
	}
	for _, c := range []Compressor{Noop, Snappy} {
		if m := mustRead(t, packedOf(c, frame)); !bytes.Equal(m.Body, ping) {
			t.Errorf("compressed: %+v", m)
		}
	}
	for i := 4; i < len(frame); i++ {
		frame[i] ^= 64
		if _, err := read(frame); err == nil {
			t.Errorf("byte %d was changed, and nobody saw it", i)
		}
		frame[i] ^= 64
	}
}

func TestReadQuery(t *testing.T) {
	hello := build(func(b *bsoncore.DocumentBuilder) { b.AppendInt32("isMaster", 1).AppendBoolean("helloOk", true) })
	m := mustRead(t, queryOf("admin.$cmd", hello))
	if m.Op != OpQuery || m.Collection != "admin.$cmd" || m.Skip != 0 || m.Return != -1 || m.Flags != 4 ||
		!bytes.Equal(m.Body, hello) || m.Fields != nil {
		t.Errorf("got %+v", m)
	}
	if m := mustRead(t, queryOf("a.b", hello, one)); m.Collection != "a.b" || !bytes.Equal(m.Fields, one) {
		t.Errorf("with a selector: %+v", m)
	}
	m = mustRead(t, frameOf(OpQuery, int32s(1<<1|1<<16), []byte("a.b\x00"), int32s(3, 4), one))
	if m.MoreToCome() || m.ExhaustAllowed() || m.Skip != 3 || m.Return != 4 {
		t.Errorf("flags of OP_QUERY are not those of OP_MSG: %+v", m)
	}
	cases := []struct {
		name  string
		frame []byte
		code  int32
		fatal bool
	}{
		{"nothing", frameOf(OpQuery), codeProtocol, true},
		{"name that does not end", frameOf(OpQuery, int32s(0), []byte("admin.$cmd")), codeProtocol, true},
		{"no numbers", frameOf(OpQuery, int32s(0), []byte("admin.$cmd\x00"), int32s(0)), codeProtocol, true},
		{"name that is no UTF-8", queryOf("\xff.$cmd", hello), codeProtocol, true},
		{"no query", queryOf("admin.$cmd"), codeBSON, false},
		{"query too long", queryOf("admin.$cmd", int32s(100), []byte{0}), codeBSON, false},
		{"deep query", queryOf("admin.$cmd", nestedTo(201)), codeOverflow, false},
		{"invalid selector", queryOf("admin.$cmd", hello, []byte{1, 2, 3}), codeBSON, false},
		{"something after the selector", queryOf("admin.$cmd", hello, one, []byte{0}), codeProtocol, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.frame)
			wantError(t, err, c.code, c.fatal)
		})
	}
}

// Frames that come in pieces, together, and of sizes that make buffers move.
func TestReadPipelined(t *testing.T) {
	var stream []byte
	var want []doc.Doc
	for i := range 60 {
		d := build(func(b *bsoncore.DocumentBuilder) {
			b.AppendInt32("n", int32(i)).AppendString("text", strings.Repeat(string(rune('a'+i%26)), (i*i*i*7)%40_000))
		})
		frame := AppendMsg(nil, int32(i), 0, 0, d)
		if c := Compressor(i % 4); i%3 == 0 {
			frame = AppendCompressed(nil, frame, c)
		}
		stream, want = append(stream, frame...), append(want, d)
	}
	for _, sizes := range [][]byte{nil, {255}, {0, 3, 100}, {200, 1, 1, 50, 84}} {
		r := NewReader(&trickle{from: bytes.NewReader(stream), sizes: sizes})
		var m Message
		for i, d := range want {
			if err := r.Await(); err != nil {
				t.Fatal(err)
			}
			if err := r.Read(&m); err != nil || m.ID != int32(i) || !bytes.Equal(m.Body, d) {
				t.Fatalf("message %d of %d bytes: number %d, error %v", i, len(d), m.ID, err)
			}
		}
		if err := r.Read(&m); err != io.EOF || r.Buffered() != 0 {
			t.Errorf("at the end: %v, %d bytes", err, r.Buffered())
		}
	}
}

func TestBuffered(t *testing.T) {
	frame := msgOf(0, bodyOf(ping))
	r := NewReader(bytes.NewReader(append(frame, frame...)))
	var m Message
	for _, want := range []int{len(frame), 0} {
		if err := r.Read(&m); err != nil || r.Buffered() != want {
			t.Errorf("%d bytes, want %d, error %v", r.Buffered(), want, err)
		}
	}
}

// What the driver writes is what is read.
func TestDriverFrames(t *testing.T) {
	at, frame := wiremessage.AppendHeaderStart(nil, 42, 0, wiremessage.OpMsg)
	frame = wiremessage.AppendMsgFlags(frame, wiremessage.ExhaustAllowed)
	frame = wiremessage.AppendMsgSectionType(frame, wiremessage.SingleDocument)
	frame = append(frame, ping...)
	frame = wiremessage.AppendMsgSectionType(frame, wiremessage.DocumentSequence)
	frame = append(frame, sequenceOf("documents", one, two)[1:]...)
	frame = bsoncore.UpdateLength(frame, at, int32(len(frame)))
	if m := mustRead(t, frame); m.ID != 42 || !m.ExhaustAllowed() || !bytes.Equal(m.Body, ping) ||
		len(m.Sequences[0].Documents) != 2 {
		t.Errorf("got %+v", m)
	}

	at, frame = wiremessage.AppendHeaderStart(nil, 43, 0, wiremessage.OpCode(OpQuery))
	frame = wiremessage.AppendQueryFlags(frame, wiremessage.SecondaryOK)
	frame = wiremessage.AppendQueryFullCollectionName(frame, "admin.$cmd")
	frame = wiremessage.AppendQueryNumberToSkip(frame, 0)
	frame = wiremessage.AppendQueryNumberToReturn(frame, -1)
	frame = append(frame, two...)
	frame = bsoncore.UpdateLength(frame, at, int32(len(frame)))
	if m := mustRead(t, frame); m.ID != 43 || m.Collection != "admin.$cmd" || m.Return != -1 ||
		!bytes.Equal(m.Body, two) {
		t.Errorf("got %+v", m)
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	insert := msgOf(0, bodyOf(ping), sequenceOf("documents", one, two, everyType()))
	from := bytes.NewReader(nil)
	r := NewReader(from)
	var m Message
	for _, frame := range [][]byte{insert, msgOf(0, bodyOf(ping)), queryOf("admin.$cmd", ping),
		packedOf(Snappy, insert)} {
		if n := testing.AllocsPerRun(100, func() {
			from.Reset(frame)
			if err := r.Read(&m); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("a frame with the opcode %d: %v allocations", length(frame[12:]), n)
		}
	}
}
