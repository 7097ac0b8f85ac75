package update

import (
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
)

// An array is an array under construction. Elements are named by their index.
type array struct {
	dst   []byte
	start int
	n     int
}

func beginArray(dst []byte) array {
	return array{dst: append(dst, 0, 0, 0, 0), start: len(dst)}
}

func (a *array) add(v doc.Value) {
	a.dst = append(a.dst, byte(v.Type))
	a.dst = append(strconv.AppendInt(a.dst, int64(a.n), 10), 0)
	a.dst = append(a.dst, v.Data...)
	a.n++
}

// end closes the array and returns the buffer.
func (a *array) end() []byte { return end(a.dst, a.start) }

// resume begins with a copy of an array of n elements.
func resume(dst []byte, v doc.Value, n int) array {
	a := array{start: len(dst), n: n}
	a.dst = append(dst, v.Data[:len(v.Data)-1]...)
	return a
}

// length counts the elements of an array.
func length(v doc.Value) int {
	n := 0
	for range doc.Elements(v) {
		n++
	}
	return n
}
