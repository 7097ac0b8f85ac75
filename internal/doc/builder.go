package doc

import (
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// A Builder writes BSON for readers of other formats than JSON text, exactly as FromJSON does: numbers get the same
// types, and only the last of several members with the same name remains. The caller makes sure that nothing is nested
// deeper than MaxDepth, that no name contains a NUL, that strings are UTF-8 and numbers finite. Methods that write a
// value return its type.
type Builder struct {
	out  []byte
	seen []member // of all open objects; those of the innermost one come last
}

// keptNames is the number of names for which a Builder keeps memory when it is reset.
const keptNames = 1024

// Reset begins a new value, whose bytes are appended to dst.
func (b *Builder) Reset(dst []byte) {
	b.out, b.seen = dst, b.seen[:0]
	if cap(b.seen) > keptNames {
		b.seen = nil
	}
}

// Bytes is dst and what has been written since.
func (b *Builder) Bytes() []byte { return b.out }

// A Nest is an object or array that is being written.
type Nest struct {
	names scope
	start int   // the offset of its length
	at    int   // the offset of the current element
	value int   // the offset of the value of the current element
	count int64 // of elements, in an array
}

// Open begins an object or array.
func (b *Builder) Open() Nest {
	n := Nest{names: scope{base: len(b.seen)}, start: len(b.out)}
	b.out = append(b.out, 0, 0, 0, 0)
	return n
}

// Close ends an object or array.
func (b *Builder) Close(n *Nest) {
	b.forget(n.names)
	b.out = append(b.out, 0)
	binary.LittleEndian.PutUint32(b.out[n.start:], uint32(len(b.out)-n.start))
}

// Member begins a member of an object. The caller writes the value, then calls Keep or Drop.
func (b *Builder) Member(n *Nest, name []byte) {
	b.begin(n)
	b.out = append(append(b.out, name...), 0)
	b.named(n)
}

// begin begins an element. The caller appends its name and a NUL, then calls named.
func (b *Builder) begin(n *Nest) {
	n.at = len(b.out)
	b.out = append(b.out, 0)
}

func (b *Builder) named(n *Nest) { n.value = len(b.out) }

// nameOf is the name of the current element.
func (b *Builder) nameOf(n *Nest) []byte { return b.out[n.at+1 : n.value-1] }

// Keep ends a member whose value is of this type.
func (b *Builder) Keep(n *Nest, kind bsoncore.Type) {
	b.out[n.at] = byte(kind)
	b.note(&n.names, n.at, b.nameOf(n))
}

// Drop removes the current member.
func (b *Builder) Drop(n *Nest) { b.out = b.out[:n.at] }

// Element begins an element of an array. The caller writes the value, then calls Set.
func (b *Builder) Element(n *Nest) {
	b.begin(n)
	b.out = append(strconv.AppendInt(b.out, n.count, 10), 0)
	n.count++
}

// Set ends an element whose value is of this type.
func (b *Builder) Set(n *Nest, kind bsoncore.Type) { b.out[n.at] = byte(kind) }

// Null writes null.
func (b *Builder) Null() bsoncore.Type { return bsoncore.TypeNull }

// Bool writes a boolean.
func (b *Builder) Bool(v bool) bsoncore.Type {
	if v {
		b.out = append(b.out, 1)
	} else {
		b.out = append(b.out, 0)
	}
	return bsoncore.TypeBoolean
}

// Int writes an integer.
func (b *Builder) Int(i int64) bsoncore.Type {
	b.out = binary.LittleEndian.AppendUint64(b.out, uint64(i))
	return bsoncore.TypeInt64
}

// Uint writes an integer that is not negative.
func (b *Builder) Uint(u uint64) bsoncore.Type {
	if u <= math.MaxInt64 {
		return b.Int(int64(u))
	}
	b.out = appendUint(b.out, u)
	return bsoncore.TypeDecimal128
}

// Float writes a number as a double. A negative zero becomes zero.
func (b *Builder) Float(f float64) bsoncore.Type {
	b.out = binary.LittleEndian.AppendUint64(b.out, floatBits(f))
	return bsoncore.TypeDouble
}

// Text writes a string.
func (b *Builder) Text(text []byte) bsoncore.Type {
	b.out = binary.LittleEndian.AppendUint32(b.out, uint32(len(text)+1))
	b.out = append(append(b.out, text...), 0)
	return bsoncore.TypeString
}
