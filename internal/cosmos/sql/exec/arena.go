package exec

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// An arena holds the values computed for one row. It is reset, not freed, between rows.
type arena struct {
	chunks  [][]byte // each used up to its length; the last is current
	used    int      // bytes in chunks before the current one
	outside int      // bytes of the row that are not in chunks
}

// A mark is a state of an arena that release returns to.
type mark struct{ chunk, length, outside int }

const (
	firstChunk = 4 << 10
	// maxRow is how many bytes the expressions of one row may compute.
	maxRow = 64 << 20
)

func (a *arena) mark() mark {
	if len(a.chunks) == 0 {
		return mark{outside: a.outside}
	}
	last := len(a.chunks) - 1
	return mark{chunk: last, length: len(a.chunks[last]), outside: a.outside}
}

// release frees everything allocated since m.
func (a *arena) release(m mark) {
	a.outside = m.outside
	if len(a.chunks) == 0 {
		return
	}
	for len(a.chunks)-1 > m.chunk {
		a.chunks = a.chunks[:len(a.chunks)-1]
		a.used -= len(a.chunks[len(a.chunks)-1])
	}
	a.chunks[m.chunk] = a.chunks[m.chunk][:m.length]
}

// reset frees everything, but keeps the largest chunk for reuse.
func (a *arena) reset() {
	if n := len(a.chunks); n > 1 {
		a.chunks[0] = a.chunks[n-1]
		clear(a.chunks[1:])
		a.chunks = a.chunks[:1]
		if cap(a.chunks[0]) > 1<<20 {
			a.chunks = a.chunks[:0]
		}
	}
	if len(a.chunks) == 1 {
		a.chunks[0] = a.chunks[0][:0]
	}
	a.used, a.outside = 0, 0
}

// size is the number of allocated bytes.
func (a *arena) size() int {
	if len(a.chunks) == 0 {
		return a.outside
	}
	return a.outside + a.used + len(a.chunks[len(a.chunks)-1])
}

// take allocates n bytes, which are not cleared.
func (a *arena) take(n int) []byte {
	if last := len(a.chunks) - 1; last >= 0 {
		c := a.chunks[last]
		if at := len(c); cap(c)-at >= n {
			a.chunks[last] = c[:at+n]
			return c[at : at+n : at+n]
		}
		a.used += len(c)
	}
	size := firstChunk << min(len(a.chunks), 8)
	a.chunks = append(a.chunks, make([]byte, n, max(n, size)))
	return a.chunks[len(a.chunks)-1][:n:n]
}

// keep copies b into the arena.
func (a *arena) keep(b []byte) []byte {
	out := a.take(len(b))
	copy(out, b)
	return out
}

func (a *arena) float(f float64) doc.Value {
	b := a.take(8)
	if f == 0 {
		f = 0 // not -0
	}
	binary.LittleEndian.PutUint64(b, math.Float64bits(f))
	return doc.Value{Type: bsoncore.TypeDouble, Data: b}
}

func (a *arena) int(i int64) doc.Value {
	b := a.take(8)
	binary.LittleEndian.PutUint64(b, uint64(i))
	return doc.Value{Type: bsoncore.TypeInt64, Data: b}
}

// text is the concatenation of pieces.
func (a *arena) text(pieces ...string) doc.Value {
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	b := a.take(n + 5)
	binary.LittleEndian.PutUint32(b, uint32(n+1))
	at := 4
	for _, p := range pieces {
		at += copy(b[at:], p)
	}
	b[at] = 0
	return doc.Value{Type: bsoncore.TypeString, Data: b}
}
