package exec

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// Keys are encodings of values whose byte order is that of doc.Compare. Equal values have the same key, and no key is
// a prefix of another. Rows are sorted, grouped and deduplicated by keys.
//
// A key begins with the rank of the value. A number follows as 8 bytes of the double at or below it and 2 bytes of
// the difference; a string as its bytes, with 00 as 00 FF, and 00 00 at the end; an array as its elements and 00; an
// object as its members by name, each 01, the name as a string's bytes, and the value, and 00 at the end.
const (
	keyEnd     = 0x00
	keyMember  = 0x01
	keyEscape  = 0xFF
	keyCutText = 0x01 // instead of the second 00 after a truncated string
)

// appendKey appends the key of v.
func appendKey(dst []byte, v doc.Value) []byte {
	rank := doc.RankOf(v)
	dst = append(dst, byte(rank))
	switch rank {
	case doc.RankNumber:
		return appendNumberKey(dst, v)
	case doc.RankString:
		s, _ := doc.AsString(v)
		return append(appendTextKey(dst, s), keyEnd, keyEnd)
	case doc.RankArray:
		for e := range doc.Elements(v) {
			dst = appendKey(dst, e)
		}
		return append(dst, keyEnd)
	case doc.RankObject:
		return append(appendMembersKey(dst, v.Data), keyEnd)
	case doc.RankOther:
		return append(appendTextKey(append(dst, byte(v.Type)), string(v.Data)), keyEnd, keyEnd)
	}
	return dst
}

func appendTextKey(dst []byte, s string) []byte {
	for {
		at := indexZero(s)
		if at < 0 {
			return append(dst, s...)
		}
		dst = append(append(dst, s[:at]...), 0, keyEscape)
		s = s[at+1:]
	}
}

func indexZero(s string) int {
	for i := range len(s) {
		if s[i] == 0 {
			return i
		}
	}
	return -1
}

// appendNumberKey is exact for whole numbers of 64 bits: they differ from the
// double below them by less than 2^11.
func appendNumberKey(dst []byte, v doc.Value) []byte {
	f, _ := doc.AsFloat(v)
	left := uint16(0)
	if v.Type != bsoncore.TypeDouble {
		f, left = splitWhole(v, f)
	}
	bits := math.Float64bits(f)
	switch {
	case math.IsNaN(f):
		bits = 0
	case f == 0:
		bits = 1 << 63
	case bits>>63 == 1:
		bits = ^bits
	default:
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(dst, bits), left)
}

// splitWhole splits a whole number into the double at or below it and the difference.
func splitWhole(v doc.Value, nearest float64) (float64, uint16) {
	if math.Abs(nearest) < 1<<53 {
		return nearest, 0
	}
	if i, ok := doc.AsInt(v); ok {
		below := nearest
		if below >= 1<<63 || int64(below) > i {
			below = math.Nextafter(below, math.Inf(-1))
		}
		return below, uint16(uint64(i) - uint64(int64(below)))
	}
	if len(v.Data) < 8 {
		return nearest, 0
	}
	u, below := binary.LittleEndian.Uint64(v.Data), nearest // above int64: the low half of a decimal
	if below >= 1<<64 || uint64(below) > u {
		below = math.Nextafter(below, 0)
	}
	return below, uint16(u - uint64(below))
}

// A namedValue is a member of an object.
type namedValue struct {
	name  string
	value doc.Value
}

func appendMembersKey(dst []byte, d doc.Doc) []byte {
	var space [32]namedValue
	members := space[:0]
	for name, v := range doc.Members(d) {
		members = append(members, namedValue{name, v})
	}
	slices.SortStableFunc(members, func(a, b namedValue) int { return strings.Compare(a.name, b.name) })
	for _, m := range members {
		dst = append(dst, keyMember)
		dst = append(appendTextKey(dst, m.name), keyEnd, keyEnd)
		dst = appendKey(dst, m.value)
	}
	return dst
}

// appendSortKey appends a key with the order of access.Compare, inverted if descending.
func appendSortKey(dst []byte, v doc.Value, descending bool) []byte {
	start := len(dst)
	rank := doc.RankOf(v)
	switch rank {
	case doc.RankArray, doc.RankObject:
		dst = append(dst, byte(rank))
	case doc.RankString:
		s, _ := doc.AsString(v)
		cut := byte(keyEnd)
		if len(s) > access.MaxSortBytes {
			s, cut = s[:access.MaxSortBytes], keyCutText
		}
		dst = append(appendTextKey(append(dst, byte(rank)), s), keyEnd, cut)
	default:
		dst = appendKey(dst, v)
	}
	if descending {
		invert(dst[start:])
	}
	return dst
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func appendNumber(dst []byte, n uint64, descending bool) []byte {
	if descending {
		n = ^n
	}
	return binary.BigEndian.AppendUint64(dst, n)
}
