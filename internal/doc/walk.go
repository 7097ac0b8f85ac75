package doc

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Members yields the members of d in their order. Names and values share the memory
// of d: they are valid, and constant, only as long as that is. The sequence ends at
// bytes that are not BSON.
func Members(d Doc) iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		b := body(d)
		for len(b) > 0 {
			at, end := measure(b)
			if end == 0 || !yield(view(b[1:at-1]), valueIn(b, at, end)) {
				return
			}
			b = b[end:]
		}
	}
}

// Elements yields the elements of an array, sharing its memory; nothing if v is not
// an array.
func Elements(v Value) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Type != bsoncore.TypeArray {
			return
		}
		b := body(v.Data)
		for len(b) > 0 {
			at, end := measure(b)
			if end == 0 || !yield(valueIn(b, at, end)) {
				return
			}
			b = b[end:]
		}
	}
}

// Lookup returns the member of d called name, undefined if there is none.
func Lookup(d Doc, name string) Value {
	b := body(d)
	for len(b) > 0 {
		at, end := 0, 0
		// What measure does, for names of up to seven bytes. Within the loop it takes half the time: most of what is
		// read of a document is passed on the way to a member.
		if len(b) >= shortElement {
			x := binary.LittleEndian.Uint64(b[1:])
			at = bits.TrailingZeros64((x-ones)&^x&highs)>>3 + 2
			if l := &layouts[b[0]]; l.known && at < 10 {
				end = at + l.more
				if l.prefixed {
					n := int32(binary.LittleEndian.Uint32(b[at:]))
					if n < l.least {
						break
					}
					end += int(n)
				}
				if end > len(b) {
					break
				}
			}
		}
		if end == 0 {
			if at, end = measure(b); end == 0 {
				break
			}
		}
		if string(b[1:at-1]) == name {
			return valueIn(b, at, end)
		}
		b = b[end:]
	}
	return Value{}
}

// shortElement is how many bytes Lookup reads of an element without a look at its size: the type, a name of seven
// bytes, its NUL, and the size of the value.
const shortElement = 1 + 7 + 1 + 4

// body is the bytes between the length and the closing NUL of a document or array;
// nil if d is damaged.
func body(d []byte) []byte {
	if len(d) < 5 {
		return nil
	}
	n := int(int32(binary.LittleEndian.Uint32(d)))
	if n < 5 || n > len(d) {
		return nil
	}
	return d[4 : n-1]
}

// An element is one member of a document or array, sharing its bytes.
type element struct {
	kind bsoncore.Type
	name []byte
	data []byte
	size int // of the whole element
}

func (e element) value() Value { return Value{Type: e.kind, Data: e.data} }

// next reads the element at the start of b; ok is false if there is none.
func next(b []byte) (e element, ok bool) {
	at, end := measure(b)
	if end == 0 {
		return element{}, false
	}
	return element{kind: bsoncore.Type(b[0]), name: b[1 : at-1], data: b[at:end:end], size: end}, true
}

// valueIn is the value of the element at the start of b, whose at and end measure has
// returned.
func valueIn(b []byte, at, end int) Value {
	return Value{Type: bsoncore.Type(b[0]), Data: b[at:end:end]}
}

// measure finds where the value of the element at the start of b begins and ends.
// The name is b[1:at-1]. An end of 0 means that there is no element.
func measure(b []byte) (at, end int) {
	if len(b) == 0 {
		return 0, 0
	}
	n := indexNUL(b[1:])
	if n < 0 {
		return 0, 0
	}
	at = n + 2
	size := valueSize(bsoncore.Type(b[0]), b[at:])
	if size < 0 || size > len(b)-at {
		return 0, 0
	}
	return at, at + size
}

// indexNUL is bytes.IndexByte(b, 0), but faster for short names, as most are.
func indexNUL(b []byte) int {
	if len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		if zero := (x - ones) &^ x & highs; zero != 0 {
			return bits.TrailingZeros64(zero) >> 3
		}
	}
	return bytes.IndexByte(b, 0)
}

// A layout says how many bytes a value of a type takes: more, and if it is prefixed,
// also the number in an int32 at its start, which is at least least.
type layout struct {
	known, prefixed bool
	least           int32
	more            int
}

// layouts of all types but regular expressions. https://bsonspec.org/spec.html
var layouts = [256]layout{
	bsoncore.TypeDouble:           {known: true, more: 8},
	bsoncore.TypeString:           {known: true, prefixed: true, least: 1, more: 4},
	bsoncore.TypeEmbeddedDocument: {known: true, prefixed: true, least: 5},
	bsoncore.TypeArray:            {known: true, prefixed: true, least: 5},
	bsoncore.TypeBinary:           {known: true, prefixed: true, more: 5},
	bsoncore.TypeUndefined:        {known: true},
	bsoncore.TypeObjectID:         {known: true, more: 12},
	bsoncore.TypeBoolean:          {known: true, more: 1},
	bsoncore.TypeDateTime:         {known: true, more: 8},
	bsoncore.TypeNull:             {known: true},
	bsoncore.TypeDBPointer:        {known: true, prefixed: true, least: 1, more: 16},
	bsoncore.TypeJavaScript:       {known: true, prefixed: true, least: 1, more: 4},
	bsoncore.TypeSymbol:           {known: true, prefixed: true, least: 1, more: 4},
	bsoncore.TypeCodeWithScope:    {known: true, prefixed: true, least: 5},
	bsoncore.TypeInt32:            {known: true, more: 4},
	bsoncore.TypeTimestamp:        {known: true, more: 8},
	bsoncore.TypeInt64:            {known: true, more: 8},
	bsoncore.TypeDecimal128:       {known: true, more: 16},
	bsoncore.TypeMinKey:           {known: true},
	bsoncore.TypeMaxKey:           {known: true},
}

// valueSize is the number of bytes of the value at the start of b, -1 if b is damaged.
// It may be more than b has.
func valueSize(kind bsoncore.Type, b []byte) int {
	l := &layouts[kind]
	switch {
	case !l.known:
		if kind == bsoncore.TypeRegex {
			return regexSize(b)
		}
		return -1
	case !l.prefixed:
		return l.more
	case len(b) < 4:
		return -1
	}
	n := int32(binary.LittleEndian.Uint32(b))
	if n < l.least {
		return -1
	}
	return int(n) + l.more
}

// regexSize is the size of a regular expression: two texts that end with NULs.
func regexSize(b []byte) int {
	pattern := bytes.IndexByte(b, 0)
	if pattern < 0 {
		return -1
	}
	options := bytes.IndexByte(b[pattern+1:], 0)
	if options < 0 {
		return -1
	}
	return pattern + options + 2
}

// LookupWalked is Lookup that also returns how many bytes of d it has read, for callers
// that count work.
func LookupWalked(d Doc, name string) (v Value, walked int) {
	b := body(d)
	size := len(b)
	for len(b) > 0 {
		at, end := measure(b)
		if end == 0 {
			break
		}
		if string(b[1:at-1]) == name {
			return valueIn(b, at, end), size - len(b)
		}
		b = b[end:]
	}
	return Value{}, size - len(b)
}
