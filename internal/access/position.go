package access

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A Position is where a walk stands: opaque bytes. It stays valid for the same selection
// and order of the same container, whatever is written, expires or is reclaimed, and
// whichever index serves the walk.
type Position []byte

// MaxSortBytes is how much of a string counts in the order of a Walk.
const MaxSortBytes = 256

// Clip gives the part of v that counts in the order of a Walk: strings longer
// than MaxSortBytes are cut, arrays and objects are empty ones. v is returned as
// it is when all of it counts.
func Clip(v doc.Value) doc.Value {
	switch v.Type {
	case bsoncore.TypeString:
		if s, ok := doc.AsString(v); ok && len(s) > MaxSortBytes {
			return doc.String(s[:MaxSortBytes])
		}
	case bsoncore.TypeArray, bsoncore.TypeEmbeddedDocument:
		return bsoncore.Value{Type: v.Type, Data: doc.Empty}
	}
	return v
}

// Compare is the order in which a Walk visits values: doc.Compare of what Clip
// leaves of them, except that a string that was cut comes after the one that is
// equal to its beginning.
func Compare(a, b doc.Value) int {
	if order := doc.Compare(Clip(a), Clip(b)); order != 0 {
		return order
	}
	switch cutA, cutB := cut(a), cut(b); {
	case cutA == cutB:
		return 0
	case cutB:
		return -1
	}
	return 1
}

func cut(v doc.Value) bool {
	if v.Type != bsoncore.TypeString {
		return false
	}
	s, ok := doc.AsString(v)
	return ok && len(s) > MaxSortBytes
}

// NumberPosition is where a walk in order of creation stands.
func NumberPosition(dst Position, number uint64) Position {
	return binary.BigEndian.AppendUint64(dst, number)
}

// Number reads a NumberPosition.
func (p Position) Number() (number uint64, ok bool) {
	if len(p) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(p), true
}

// InFront gives, for a position of a walk by partition, one right in front of the same document. Such a position is
// the partition in the store's own form, then the number. What is too short to be one is returned as it is.
func (p Position) InFront() Position {
	n := len(p) - 8
	if n < 0 {
		return p
	}
	return binary.BigEndian.AppendUint64(p[:n:n], binary.BigEndian.Uint64(p[n:])-1)
}

// ValuePosition is where a walk in order of values stands: the values of its
// columns (one for a path), and the number (on the path _ts: the Place) of the
// document. The values are kept as far as they count, one byte longer when they were cut.
func ValuePosition(dst Position, values []doc.Value, number uint64) Position {
	dst = append(dst, byte(len(values)))
	dst = binary.BigEndian.AppendUint64(dst, number)
	for _, v := range values {
		if cut(v) {
			s, _ := doc.AsString(v)
			v = doc.String(s[:MaxSortBytes+1])
		} else {
			v = Clip(v)
		}
		dst = append(dst, byte(v.Type))
		dst = binary.AppendUvarint(dst, uint64(len(v.Data)))
		dst = append(dst, v.Data...)
	}
	return dst
}

// Values reads a ValuePosition, whose memory the values share.
func (p Position) Values() (values []doc.Value, number uint64, ok bool) {
	if len(p) < 9 {
		return nil, 0, false
	}
	n, rest := int(p[0]), p[9:]
	for range n {
		if len(rest) == 0 {
			return nil, 0, false
		}
		kind := bsoncore.Type(rest[0])
		size, used := binary.Uvarint(rest[1:])
		if used <= 0 || size > uint64(len(rest)-1-used) {
			return nil, 0, false
		}
		rest = rest[1+used:]
		v := doc.Value{Type: kind, Data: rest[:size:size]}
		if kind == 0 {
			v = doc.Value{}
		} else if v.Validate() != nil {
			return nil, 0, false
		}
		values, rest = append(values, v), rest[size:]
	}
	return values, binary.BigEndian.Uint64(p[1:]), len(rest) == 0
}
