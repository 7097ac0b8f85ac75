package keys

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/doc"
)

// NamedUnique is the key of the document that has these values under a unique index. values
// are in the form of AppendBSON, one after the other; if they are longer than MaxUniqueBytes,
// they are hashed. Its value is the document's number (AppendNumber).
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

// NamedPrefix is the prefix of all entries of a named index. The values of a document in the
// form of AppendBSON follow, then its number (AppendNumber). The value of the key is empty.
func (r Range) NamedPrefix(dst []byte, index uint32) []byte {
	return binary.BigEndian.AppendUint32(r.AppendPrefix(dst, KindNamed), index)
}

// NamedDate is the date, in milliseconds, in the key of an entry of a named index with one value, which must be a date.
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

// Multikey is a key that exists if some document has had several entries in a named index. Its
// value is empty.
func (r Range) Multikey(dst []byte, index uint32) []byte {
	return binary.BigEndian.AppendUint32(r.AppendPrefix(dst, KindMultikey), index)
}

// AppendIDBound is AppendID without the hash, for bounds of key ranges. If clipped is set, keys of
// _ids on both sides of v may begin with it.
func AppendIDBound(dst []byte, v doc.Value) (out []byte, clipped bool) {
	start := len(dst)
	dst = AppendBSON(dst, v, false)
	if len(dst)-start > MaxIDBytes {
		return dst[:start+MaxIDBytes], true
	}
	return dst, false
}
