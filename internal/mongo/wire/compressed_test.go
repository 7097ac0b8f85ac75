package wire

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

var everyCompressor = []Compressor{Noop, Snappy, Zlib, Zstd}

// Documents of sizes that take the different ways of getting memory.
func documentsOfSizes() (ds []doc.Doc) {
	for _, n := range []int{0, 100, 5_000, 9_000, 150_000, 6 << 20} {
		content := bytes.Repeat([]byte("all work and no play "), n/20+1)[:n]
		for i := 0; i < n; i += 50 {
			content[i] = byte(i * i >> 3)
		}
		ds = append(ds, build(func(b *bsoncore.DocumentBuilder) { b.AppendBinary("a", 0, content) }))
	}
	return ds
}

// driverPack compresses with the settings of the Go driver.
func driverPack(t *testing.T, c Compressor, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	switch c {
	case Snappy:
		return snappy.Encode(nil, b)
	case Zlib:
		w := zlib.NewWriter(&out)
		_, err := w.Write(b)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	case Zstd:
		w, err := zstd.NewWriter(nil, zstd.WithWindowSize(8<<20), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(6)))
		if err != nil {
			t.Fatal(err)
		}
		return w.EncodeAll(b, nil)
	}
	return b
}

// driverUnpack is the other way.
func driverUnpack(t *testing.T, c Compressor, b []byte) (out []byte) {
	t.Helper()
	var err error
	switch c {
	case Noop:
		return b
	case Snappy:
		out, err = snappy.Decode(nil, b)
	case Zlib:
		var r io.Reader
		if r, err = zlib.NewReader(bytes.NewReader(b)); err == nil {
			out, err = io.ReadAll(r)
		}
	case Zstd:
		var r *zstd.Decoder
		if r, err = zstd.NewReader(bytes.NewReader(b)); err == nil {
			defer r.Close()
			out, err = io.ReadAll(r)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a client compresses is read, and what we compress it can read.
func TestClientCompression(t *testing.T) {
	for _, c := range everyCompressor {
		t.Run(c.String(), func(t *testing.T) {
			var stream bytes.Buffer
			r := NewReader(&stream)
			var m Message
			for _, d := range documentsOfSizes() {
				frame := AppendMsg(nil, 7, 0, ExhaustAllowed, d)
				packed := driverPack(t, c, frame[headerBytes:])
				stream.Write(compressedOf(OpMsg, len(frame)-headerBytes, c, packed))
				if err := r.Read(&m); err != nil || m.Compressor != c || m.Op != OpMsg || !m.ExhaustAllowed() ||
					!bytes.Equal(m.Body, d) {
					t.Fatalf("document of %d bytes: %v", len(d), err)
				}
				ours := AppendCompressed(nil, frame, c)
				if c == Noop {
					if !bytes.Equal(ours, frame) {
						t.Error("noop changes a frame")
					}
					continue
				}
				if unpacked := driverUnpack(t, c, ours[compressedStart:]); !bytes.Equal(unpacked, frame[headerBytes:]) {
					t.Errorf("a client cannot read a document of %d bytes", len(d))
				}
			}
		})
	}
}

func TestCompressedQuery(t *testing.T) {
	for _, c := range everyCompressor {
		if m := mustRead(t, packedOf(c, queryOf("admin.$cmd", two))); m.Op != OpQuery || m.Compressor != c ||
			!bytes.Equal(m.Body, two) {
			t.Errorf("%s: %+v", c, m)
		}
	}
}

func TestCompressedErrors(t *testing.T) {
	frame := msgOf(0, bodyOf(everyType()))
	n := len(frame) - headerBytes
	zeros := make([]byte, 10<<20)
	bombs := map[Compressor][]byte{Snappy: snappy.Encode(nil, zeros), Zlib: packZlib(nil, zeros),
		Zstd: zstdEncoder().EncodeAll(zeros, nil)}
	type lie struct {
		name  string
		frame []byte
	}
	cases := []lie{
		{"no size", frameOf(OpCompressed, int32s(int(OpMsg)), []byte{1, 2, 3, 4})},
		{"no content", compressedOf(OpMsg, 0, Snappy, nil)},
		{"inside another", packedOf(Snappy, packedOf(Snappy, frame))},
		{"an opcode that is not known", compressedOf(2002, n, Noop, frame[headerBytes:])},
		{"a compressor that is not known", compressedOf(OpMsg, n, 4, frame[headerBytes:])},
		{"a compressor of 255", compressedOf(OpMsg, n, 255, frame[headerBytes:])},
		{"negative", compressedOf(OpMsg, -1, Noop, frame[headerBytes:])},
		{"over the limit", compressedOf(OpMsg, MaxMessage-headerBytes+1, Zstd, bombs[Zstd])},
		{"Zstandard frame that names a dictionary",
			compressedOf(OpMsg, n, Zstd, []byte{0x28, 0xb5, 0x2f, 0xfd, 0x21, 9, 5, 1, 0, 0})},
	}
	for _, c := range everyCompressor {
		packed := c.pack(nil, frame[headerBytes:])
		cases = append(cases,
			lie{"fewer: " + c.String(), compressedOf(OpMsg, n-1, c, packed)},
			lie{"more: " + c.String(), compressedOf(OpMsg, n+1, c, packed)},
			lie{"nothing: " + c.String(), compressedOf(OpMsg, 0, c, packed)},
			lie{"cut: " + c.String(), compressedOf(OpMsg, n, c, packed[:len(packed)-1])},
			lie{"empty: " + c.String(), compressedOf(OpMsg, n, c, nil)},
			lie{"far more: " + c.String(), compressedOf(OpMsg, MaxMessage-headerBytes, c, packed)},
			lie{"bomb: " + c.String(), compressedOf(OpMsg, n, c, bombs[c])},
		)
		if c != Noop {
			cases = append(cases,
				lie{"noise: " + c.String(), compressedOf(OpMsg, 100, c, bytes.Repeat([]byte{0xa5}, 100))})
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.frame)
			wantError(t, err, codeProtocol, true)
		})
	}
	r := NewReader(bytes.NewReader(compressedOf(OpMsg, len(zeros), Zstd, bombs[Zstd])))
	r.MaxMessage = 1 << 20
	wantError(t, r.Read(&Message{}), codeProtocol, true)
}

// What is announced takes no memory when so few bytes cannot stand for it.
func TestRatios(t *testing.T) {
	zeros := make([]byte, 40<<20)
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	var best bytes.Buffer
	z, _ := zlib.NewWriterLevel(&best, zlib.BestCompression)
	_, _ = z.Write(zeros)
	_ = z.Close()
	tight := map[Compressor][]byte{Snappy: snappy.Encode(nil, zeros), Zlib: best.Bytes(), Zstd: w.EncodeAll(zeros, nil)}
	for c, packed := range tight {
		if out, err := c.expand(sized(len(zeros)), packed, len(zeros)); err != nil || !bytes.Equal(out, zeros) ||
			!c.allows(len(packed), len(zeros)) {
			t.Errorf("%s: what it packed best, %d bytes, is refused: %v", c, len(packed), err)
		}
		if c.allows(10, ratios[c]*10+1) {
			t.Errorf("%s: too much of 10 bytes is accepted", c)
		}
	}
}

// Memory that is there already is used where bytes are put.
func TestExpandInPlace(t *testing.T) {
	content := everyType()
	for _, c := range everyCompressor {
		dst := append(make([]byte, 0, 4096), "head"...)
		packed := c.pack(nil, content)
		if c == Zstd { // in frames
			packed = append(c.pack(nil, content[:50]), c.pack(nil, content[50:])...)
		}
		out, err := c.expand(dst, packed, len(content))
		if err != nil || string(out) != "head"+string(content) || &out[0] != &dst[0] {
			t.Errorf("%s: %q, error %v", c, out, err)
		}
	}
}

func TestNegotiate(t *testing.T) {
	cases := []struct{ client, want []string }{
		{nil, nil},
		{[]string{"noop", "lz4"}, nil},
		{[]string{"zstd", "zlib", "snappy"}, []string{"zstd", "zlib", "snappy"}},
		{[]string{"zlib", "lzo", "zlib", "snappy", "zlib"}, []string{"zlib", "snappy"}},
	}
	for _, c := range cases {
		if got := Negotiate(c.client); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.client, got, c.want)
		}
	}
	for _, name := range Compressors() {
		if !slices.Contains(compressors[:], name) {
			t.Errorf("%s has no number", name)
		}
	}
}
