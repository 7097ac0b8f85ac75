package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A limited Memory counts, and refuses what is beyond its limit.
type limited struct {
	limit, used, most int64
	holds             int
}

var errFull = errors.New("full")

func (l *limited) Take(n int64) error {
	if l.used+n > l.limit {
		return errFull
	}
	l.used += n
	l.most = max(l.most, l.used)
	return nil
}
func (l *limited) TryTake(n int64) bool { return l.Take(n) == nil }
func (l *limited) Give(n int64)         { l.used -= n }
func (l *limited) Hold(int64) error     { l.holds++; return nil }
func (l *limited) Rest()                { l.holds-- }

// A reader counts what it holds, as much as has arrived, and gives it back before it waits for the next frame.
func TestReaderCounts(t *testing.T) {
	big := build(func(b *bsoncore.DocumentBuilder) { b.AppendBinary("a", 0, make([]byte, 10<<20)) })
	long := sequenceOf("documents", everyOf(50_000)...)
	for name, frame := range map[string][]byte{
		"plain": msgOf(0, bodyOf(big)), "zlib": packedOf(Zlib, msgOf(0, bodyOf(big))),
		"zstd":   packedOf(Zstd, msgOf(0, bodyOf(big))),
		"snappy": packedOf(Snappy, msgOf(0, bodyOf(big))), "many documents": msgOf(0, bodyOf(ping), long),
	} {
		t.Run(name, func(t *testing.T) {
			m := &limited{limit: 64 << 20}
			r := NewReader(bytes.NewReader(append(bytes.Clone(frame), msgOf(0, bodyOf(ping))...)))
			r.Memory = m
			var msg Message
			if err := r.Read(&msg); err != nil {
				t.Fatal(err)
			}
			held := int64(cap(r.inflated))
			if len(r.buf) > len(r.small) {
				held += int64(len(r.buf))
			}
			for _, s := range msg.Sequences {
				held += int64(cap(s.Documents)) * sliceBytes
			}
			if m.used < held-2*smallBuffer || m.used > held+smallBuffer || m.holds != 0 {
				t.Errorf("%d bytes are counted and %d held, %d turns are taken", m.used, held, m.holds)
			}
			if err := r.Read(&msg); err != nil {
				t.Fatal(err)
			}
			if err := r.Await(); err != io.EOF {
				t.Fatal(err)
			}
			if m.used != 0 {
				t.Errorf("%d bytes are counted between two frames", m.used)
			}
		})
	}
	t.Run("announced", func(t *testing.T) {
		m := &limited{limit: 64 << 20}
		r := NewReader(bytes.NewReader(append(int32s(MaxMessage, 1, 0, int(OpMsg)), make([]byte, 100_000)...)))
		r.Memory = m
		if err := r.Read(&Message{}); err != io.ErrUnexpectedEOF {
			t.Fatal(err)
		}
		if m.most > firstGrowth {
			t.Errorf("100 kB arrived and %d bytes were counted", m.most)
		}
		if r.Close(); m.used != 0 {
			t.Errorf("%d bytes are counted after Close", m.used)
		}
	})
}

// A frame that there is no memory for is skipped: its sender is told, and the next one can be read.
func TestFrameWithoutMemory(t *testing.T) {
	big := build(func(b *bsoncore.DocumentBuilder) { b.AppendBinary("a", 0, make([]byte, 10<<20)) })
	t.Run("plain", func(t *testing.T) {
		m := &limited{limit: 1 << 20}
		r := NewReader(bytes.NewReader(append(msgOf(MoreToCome, bodyOf(big)), msgOf(0, bodyOf(ping))...)))
		r.Memory = m
		var msg Message
		err := r.Read(&msg)
		wantError(t, err, codeMemory, false)
		if !errors.Is(err, errFull) || msg.ID != 7 || !msg.MoreToCome() || m.used != 0 {
			t.Errorf("%v, message %d with flags %b, %d bytes are counted", err, msg.ID, msg.Flags, m.used)
		}
		if err := r.Read(&msg); err != nil || !bytes.Equal(msg.Body, ping) {
			t.Errorf("the next frame: %v", err)
		}
	})
	t.Run("documents", func(t *testing.T) {
		m := &limited{limit: 1 << 20}
		r := NewReader(bytes.NewReader(append(msgOf(0, bodyOf(ping), sequenceOf("documents", everyOf(60_000)...)),
			msgOf(0, bodyOf(ping))...)))
		r.Memory = m
		var msg Message
		wantError(t, r.Read(&msg), codeMemory, false)
		if err := r.Read(&msg); err != nil || m.used != 0 {
			t.Errorf("the next frame: %v, %d bytes are counted", err, m.used)
		}
	})
	for _, c := range []Compressor{Snappy, Zlib, Zstd} { // whether an answer is awaited is not known
		r := NewReader(bytes.NewReader(packedOf(c, msgOf(0, bodyOf(big)))))
		r.Memory = &limited{limit: 8 << 20}
		var msg Message
		err := r.Read(&msg)
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", c, err)
		}
		wantError(t, err, codeMemory, true)
	}
}

// An answer that there is no memory to pack for goes as it is.
func TestAnswerWithoutMemoryToPack(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	m := &limited{limit: 100}
	w.Memory = m
	big := build(func(b *bsoncore.DocumentBuilder) { b.AppendBinary("a", 0, make([]byte, 1<<20)) })
	if err := errors.Join(reply(w, &Message{Op: OpMsg, Compressor: Zlib}, 1, 0, big), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if got, _ := readAnswer(t, out.Bytes()); !bytes.Equal(got.body, big) || out.Len() < 1<<20 || m.used != 0 {
		t.Errorf("%d bytes were written, %d are counted", out.Len(), m.used)
	}
}

// everyOf is n small documents.
func everyOf(n int) []doc.Doc {
	list := make([]doc.Doc, n)
	for i := range list {
		list[i] = one
	}
	return list
}
