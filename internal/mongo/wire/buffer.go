package wire

import "sync"

const (
	smallBuffer = 8 << 10   // what a connection keeps while it waits
	firstGrowth = 128 << 10 // what an announcement of a large frame is believed at once
	spareBuffer = 4 << 20   // larger ones are left to the garbage collector
)

// spare has buffers larger than small ones that no connection needs just now,
// so that an idle connection holds none.
var spare sync.Pool // of *[]byte

// give takes back a buffer that is no longer used.
func give(b []byte) {
	if cap(b) >= firstGrowth && cap(b) <= spareBuffer {
		b = b[:0]
		spare.Put(&b)
	}
}

// sized gives an empty buffer of at least n bytes.
func sized(n int) []byte {
	if n <= smallBuffer {
		return make([]byte, 0, smallBuffer)
	}
	if b, ok := spare.Get().(*[]byte); ok {
		if cap(*b) >= n {
			return *b
		}
		spare.Put(b)
	}
	return make([]byte, 0, max(n, firstGrowth))
}

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

// larger moves the content of b to a buffer that has room for more, of n bytes
// at the end: each step takes a multiple of what has arrived.
func larger(b []byte, n int) []byte {
	grown := append(sized(min(n, max(firstGrowth, 4*cap(b)))), b...)
	give(b)
	return grown
}
