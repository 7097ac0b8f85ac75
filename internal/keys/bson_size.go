package keys

import (
	"bytes"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/doc"
)

// BSONBytes returns how many bytes of b are the form that it begins with, one of AppendBSONClipped. It does not look at
// what follows them.
func BSONBytes(b []byte, descending bool) (int, error) {
	whole := b[:min(len(b), MaxIndexedBytes)]
	x := bsonSkip{rest: whole}
	if descending {
		x.flip = 0xFF
	}
	x.content(x.next(), doc.MaxCompareDepth)
	switch {
	case !x.over:
		return len(whole) - len(x.rest), nil
	case len(b) >= MaxIndexedBytes:
		return MaxIndexedBytes, nil // clipped
	}
	return 0, ErrCorrupt
}

// A bsonSkip passes over a form.
type bsonSkip struct {
	rest []byte
	flip byte // 0xFF if all bytes are inverted
	over bool // the form does not end in rest
}

func (x *bsonSkip) take(n int) []byte {
	if n < 0 || n > len(x.rest) {
		x.over, x.rest = true, nil
		return nil
	}
	taken := x.rest[:n]
	x.rest = x.rest[n:]
	return taken
}

// next is a byte, bsonEnd where there is none.
func (x *bsonSkip) next() byte {
	if b := x.take(1); b != nil {
		return b[0] ^ x.flip
	}
	return bsonEnd
}

func (x *bsonSkip) content(tag byte, levels int) {
	switch tag {
	case bsonNumber:
		x.number()
	case bsonString, bsonCode, bsonRegex:
		x.escaped()
	case bsonObjectID:
		x.take(12)
	case bsonBool:
		x.take(1)
	case bsonDate, bsonTimestamp:
		x.take(8)
	case bsonBinary, bsonDBPointer:
		if b := x.take(4); b != nil {
			x.take(int(binary.BigEndian.Uint32(b) ^ x.mask()))
		}
	case bsonObject:
		x.members(levels)
	case bsonArray:
		x.elements(levels)
	case bsonCodeScoped:
		x.escaped()
		x.members(levels)
	case bsonUnknown:
		x.escaped()
		x.take(1)
	}
}

// mask inverts four bytes if they are inverted.
func (x *bsonSkip) mask() uint32 { return uint32(x.flip) * 0x01010101 }

func (x *bsonSkip) number() {
	b := x.take(8)
	if b == nil {
		return
	}
	bits := binary.BigEndian.Uint64(b)
	if x.flip != 0 {
		bits = ^bits
	}
	if sparse(unsortable(bits)) {
		x.take(2)
	}
	if x.next() == numberDigits {
		x.take(18)
	}
}

func (x *bsonSkip) escaped() {
	for {
		i := bytes.IndexByte(x.rest, x.flip)
		if i < 0 {
			x.over, x.rest = true, nil
			return
		}
		x.rest = x.rest[i+1:]
		if x.next() != escapedNUL {
			return
		}
	}
}

func (x *bsonSkip) members(levels int) {
	if levels == 0 {
		x.escaped()
		return
	}
	for tag := x.next(); tag != bsonEnd; tag = x.next() {
		i := bytes.IndexByte(x.rest, x.flip)
		if i < 0 { // clipped within the name
			x.over, x.rest = true, nil
			return
		}
		x.rest = x.rest[i+1:]
		x.content(tag, levels-1)
	}
}

func (x *bsonSkip) elements(levels int) {
	if levels == 0 {
		x.escaped()
		return
	}
	for tag := x.next(); tag != bsonEnd; tag = x.next() {
		x.content(tag, levels-1)
	}
}
