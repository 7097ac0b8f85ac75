package wire

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// A Compressor is the compressorId of an OP_COMPRESSED. The zero value leaves
// bytes as they are.
type Compressor uint8

// The compressors of the protocol.
const (
	Noop   Compressor = 0
	Snappy Compressor = 1
	Zlib   Compressor = 2
	Zstd   Compressor = 3
)

var compressors = [...]string{Noop: "noop", Snappy: "snappy", Zlib: "zlib", Zstd: "zstd"}

func (c Compressor) String() string {
	if int(c) < len(compressors) {
		return compressors[c]
	}
	return "unknown"
}

// Compressors lists the names for handshakes, the fastest first.
func Compressors() []string { return []string{"snappy", "zstd", "zlib"} }

// Negotiate returns the client's compressors that this package supports, in the client's order, each once. They are the
// compression member of a handshake's answer.
func Negotiate(client []string) []string {
	var agreed []string
	for _, name := range client {
		if slices.Contains(Compressors(), name) && !slices.Contains(agreed, name) {
			agreed = append(agreed, name)
		}
	}
	return agreed
}

// ratios limit how many bytes one compressed byte can stand for. A frame that announces more is invalid, and is refused
// before memory is allocated for it. Snappy copies 64 bytes with three, DEFLATE 258 bytes with two bits, and four bytes
// of Zstandard make a block of 128 KiB.
var ratios = [...]int{Noop: 1, Snappy: 22, Zlib: 1032, Zstd: 32 << 10}

// allows reports whether that many compressed bytes can stand for n.
func (c Compressor) allows(packed, n int) bool { return n <= ratios[c]*packed }

// expand appends the decompressed bytes to dst, which has room for them. It fails unless they are exactly n.
func (c Compressor) expand(dst, packed []byte, n int) ([]byte, error) {
	at := len(dst)
	room := dst[at : at : at+n]
	var err error
	switch c {
	case Noop:
		if len(packed) == n {
			room = append(room, packed...)
		}
	case Snappy:
		if size, bad := snappy.DecodedLen(packed); bad != nil || size != n {
			return nil, snappy.ErrCorrupt
		}
		room, err = snappy.Decode(room[:n], packed)
	case Zlib:
		room = room[:n]
		err = expandZlib(room, packed)
	case Zstd:
		room, err = zstdDecoder().DecodeAll(packed, room)
	}
	if err == nil && len(room) != n {
		err = io.ErrUnexpectedEOF
	}
	return dst[:at+n], err
}

// pack appends the compressed bytes to dst, which is empty.
func (c Compressor) pack(dst, b []byte) []byte {
	switch c {
	case Snappy:
		dst = withRoom(dst, snappy.MaxEncodedLen(len(b)))
		return snappy.Encode(dst[:cap(dst)], b)
	case Zlib:
		return packZlib(dst, b)
	case Zstd:
		return zstdEncoder().EncodeAll(b, dst)
	}
	return append(dst, b...)
}

// One of each serves all connections: EncodeAll and DecodeAll are safe for concurrent use. DecodeAll fills the memory
// that it is given and allocates no more.
var (
	zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxMessage), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderLowmem(true))
		return must(d, err)
	})
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20),
			zstd.WithLowerEncoderMem(true))
		return must(e, err)
	})
)

// must is for constructors with constant options, which cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A zlibReader is a decompressor that is reused.
type zlibReader struct {
	from bytes.Reader
	z    io.ReadCloser
}

var zlibReaders = sync.Pool{New: func() any { return new(zlibReader) }}

// expandZlib fills dst with the decompressed bytes. It fails if there are more or fewer.
func expandZlib(dst, packed []byte) error {
	r := zlibReaders.Get().(*zlibReader)
	defer zlibReaders.Put(r)
	r.from.Reset(packed)
	defer r.from.Reset(nil)
	if err := r.reset(); err != nil {
		return err
	}
	if _, err := io.ReadFull(r.z, dst); err != nil {
		return noEOF(err)
	}
	return r.atEnd()
}

func (r *zlibReader) reset() (err error) {
	if r.z == nil {
		r.z, err = zlib.NewReader(&r.from)
		return err
	}
	return r.z.(zlib.Resetter).Reset(&r.from, nil)
}

// atEnd checks that nothing follows. That also verifies the checksum.
func (r *zlibReader) atEnd() error {
	var more [1]byte
	switch k, err := r.z.Read(more[:]); {
	case k > 0:
		return errors.New("more bytes than announced")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A zlibWriter is a compressor that is reused. It appends to a buffer.
type zlibWriter struct {
	to []byte
	z  *zlib.Writer
}

func (w *zlibWriter) Write(b []byte) (int, error) {
	w.to = append(w.to, b...)
	return len(b), nil
}

var zlibWriters = sync.Pool{New: func() any {
	w := &zlibWriter{}
	w.z = must(zlib.NewWriterLevel(w, zlib.BestSpeed))
	return w
}}

// packZlib cannot fail, as appending cannot.
func packZlib(dst, b []byte) []byte {
	w := zlibWriters.Get().(*zlibWriter)
	defer zlibWriters.Put(w)
	w.to = dst
	w.z.Reset(w)
	_, _ = w.z.Write(b)
	_ = w.z.Close()
	dst, w.to = w.to, nil
	return dst
}
