package wire

import "sync"

const (
	smallBuffer = 8 << 10   // what a connection keeps while it waits
	firstGrowth = 128 << 10 // what an announcement of a large frame is believed at once
)

// A spare has buffers of one size, larger than small ones, that no connection needs just now, so that an
// idle connection holds none. The garbage collector takes them when nobody needs them for long.
type spare struct {
	size int
	pool sync.Pool // of *[]byte
}

// Larger buffers than the last of these are left to the garbage collector.
var spares = [...]*spare{{size: flushAt}, {size: firstGrowth}, {size: 4 * firstGrowth}, {size: 16 * firstGrowth}}

// sizeOf is the capacity of a buffer that n bytes are wanted of.
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

// give takes back a buffer that is no longer used.
func give(b []byte) {
	for _, s := range spares {
		if cap(b) == s.size {
			b = b[:0]
			s.pool.Put(&b)
			return
		}
	}
}

// sized gives an empty buffer of sizeOf(n) bytes.
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

// Size is how large the buffer is that Grown gives for n bytes.
func Size(n int) int { return sizeOf(n) }

// Grown gives a copy of b that has Size(n) bytes. It is how what was appended to a buffer of Begin may grow.
func Grown(b []byte, n int) []byte { return append(sized(n), b...) }

// Spare takes back a buffer of Grown that is no longer used.
func Spare(b []byte) { give(b) }

// withRoom gives b with room for n bytes more.
func withRoom(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	grown := append(sized(len(b)+n), b...)
	give(b)
	return grown
}

// keepSmall empties b, and gives it away when it is large.
func keepSmall(b []byte) []byte {
	if cap(b) > smallBuffer {
		give(b)
		return nil
	}
	return b[:0]
}

// Memory is what a Reader and a Writer ask before they take more than a few kilobytes or work for long. It may count
// them for the one who sends or takes the frame, and make it wait. It is used by one goroutine.
type Memory interface {
	// Take counts n bytes, and fails when they must not be used.
	Take(n int64) error
	// TryTake is Take that never waits.
	TryTake(n int64) bool
	Give(n int64)
	// Hold waits until so many bytes may be unpacked or checked, which cannot stop in between.
	Hold(bytes int64) error
	// Rest is called when that is done.
	Rest()
}

// free counts nothing.
type free struct{}

func (free) Take(int64) error   { return nil }
func (free) TryTake(int64) bool { return true }
func (free) Give(int64)         {}
func (free) Hold(int64) error   { return nil }
func (free) Rest()              {}
