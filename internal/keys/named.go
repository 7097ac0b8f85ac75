package keys

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/doc"
)

// NamedUnique is the key that says who has these values, in the form of AppendBSON one
// after the other, under the unique index with that number. Longer ones than
// MaxUniqueBytes are hashed. Its value is a number (AppendNumber).
func (r Range) NamedUnique(dst []byte, index uint32, values []byte) []byte {
	dst = binary.BigEndian.AppendUint32(r.AppendPrefix(dst, KindUnique), index)
	if len(values) > MaxUniqueBytes {
		sum := sha256.Sum256(values)
		return append(append(dst, hashedValues), sum[:]...)
	}
	return append(dst, values...)
}

// NamedUniqueBounds are the bounds of all keys of a unique index.
func (r Range) NamedUniqueBounds(index uint32) (lower, upper []byte) {
	return Prefixed(binary.BigEndian.AppendUint32(r.AppendPrefix(nil, KindUnique), index))
}

// NamedPrefix is what all entries of the named index with that number begin with. Values
// in the form of AppendBSON come next, then AppendNumber. Their values are empty.
func (r Range) NamedPrefix(dst []byte, index uint32) []byte {
	return binary.BigEndian.AppendUint32(r.AppendPrefix(dst, KindNamed), index)
}

// NamedDate is the date, in milliseconds, in the key of an entry of a named index whose only value is one.
func NamedDate(key []byte, descending bool) (ms int64, err error) {
	if len(key) != prefixBytes+4+1+8+8 {
		return 0, ErrCorrupt
	}
	n := binary.BigEndian.Uint64(key[prefixBytes+5:]) ^ signBit
	if descending {
		n = ^n
	}
	return int64(n), nil
}

// NamedBounds are the bounds of all entries of a named index.
func (r Range) NamedBounds(index uint32) (lower, upper []byte) {
	return Prefixed(r.NamedPrefix(nil, index))
}

// Multikey is the key that is there when some document has had several entries in a named
// index. Its value is empty.
func (r Range) Multikey(dst []byte, index uint32) []byte {
	return binary.BigEndian.AppendUint32(r.AppendPrefix(dst, KindMultikey), index)
}

// AppendIDBound is AppendID without the hash: what a bound on the keys of _ids consists of. clipped
// reports that keys on both sides of v may begin with it.
func AppendIDBound(dst []byte, v doc.Value) (out []byte, clipped bool) {
	start := len(dst)
	dst = AppendBSON(dst, v, false)
	if len(dst)-start > MaxIDBytes {
		return dst[:start+MaxIDBytes], true
	}
	return dst, false
}
