package wire

import "sync"

const (
	smallBuffer = 8 << 10   // what a connection keeps while it waits
	firstGrowth = 128 << 10 // what is allocated at once for a frame that announces to be large
)

// A spare is a pool of buffers of one size, so that an idle connection keeps only a small buffer. The garbage collector
// frees those that stay unused.
type spare struct {
	size int
	pool sync.Pool // of *[]byte
}

// Buffers larger than the last of these are left to the garbage collector.
var spares = [...]*spare{{size: flushAt}, {size: firstGrowth}, {size: 4 * firstGrowth}, {size: 16 * firstGrowth}}

// sizeOf is the capacity of the buffer for n bytes.
func sizeOf(n int) int {
	if n <= smallBuffer {
		return smallBuffer
	}
	for _, s := range spares {
		if n <= s.size {
			return s.size
		}
	}
	return n
}

// give returns a buffer that is no longer used to its pool.
func give(b []byte) {
	for _, s := range spares {
		if cap(b) == s.size {
			b = b[:0]
			s.pool.Put(&b)
			return
		}
	}
}

// sized returns an empty buffer of sizeOf(n) bytes.
func sized(n int) []byte {
	size := sizeOf(n)
	for _, s := range spares {
		if size == s.size {
			if b, ok := s.pool.Get().(*[]byte); ok {
				return *b
			}
		}
	}
	return make([]byte, 0, size)
}

// Size is the capacity of the buffer that Grown returns for n bytes.
func Size(n int) int { return sizeOf(n) }

// Grown returns a copy of b with capacity Size(n). With it the buffer that Begin returned may grow.
func Grown(b []byte, n int) []byte { return append(sized(n), b...) }

// Spare takes back a buffer from Grown that is no longer used.
func Spare(b []byte) { give(b) }

// withRoom returns b with room for n more bytes.
func withRoom(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	grown := append(sized(len(b)+n), b...)
	give(b)
	return grown
}

// keepSmall empties b, and returns it to its pool if it is large.
func keepSmall(b []byte) []byte {
	if cap(b) > smallBuffer {
		give(b)
		return nil
	}
	return b[:0]
}

// Memory grants a Reader or a Writer memory and processor time before it uses more than a few kilobytes or works for
// long. It may count them for the client, and block. One goroutine uses it.
type Memory interface {
	// Take counts n bytes. It fails if they may not be used.
	Take(n int64) error
	// TryTake is Take without blocking.
	TryTake(n int64) bool
	Give(n int64)
	// Hold blocks until that many bytes may be decompressed or checked, which cannot be interrupted.
	Hold(bytes int64) error
	// Rest is called when the work of Hold is done.
	Rest()
}

// free counts nothing.
type free struct{}

func (free) Take(int64) error   { return nil }
func (free) TryTake(int64) bool { return true }
func (free) Give(int64)         {}
func (free) Hold(int64) error   { return nil }
func (free) Rest()              {}
