package keys

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// mayfly never reads a path or a value back from a key. The decoders here show that it could: what is written has one
// meaning.

// eachElement is the token of appendPath that stands for every element of an array,
// `[]` in an indexing policy. No member name is equal to it, since names have no NUL.
const eachElement = "\x00[]"

// appendPath appends a path as index entries have it. Different paths give different
// bytes (long ones but for a collision of SHA-256), and none is a prefix of another:
// not even that of /a of that of /a/b.
func appendPath(dst []byte, tokens []string) []byte {
	var buffer [64]byte
	steps := buffer[:0]
	for _, t := range tokens {
		if t == eachElement {
			steps = AppendElementStep(steps)
		} else {
			steps = AppendMemberStep(steps, t)
		}
	}
	return AppendSteps(dst, steps)
}

// decodePath reads the path at the start of b and gives the bytes after it. hashed
// reports that the path was too long, so that its tokens are lost.
func decodePath(b []byte) (tokens []string, hashed bool, rest []byte, err error) {
	for first := true; ; first = false {
		name, end, rest, err := unescape(nil, b, 0)
		b = rest
		switch {
		case err != nil:
			return nil, false, nil, ErrCorrupt
		case end == endName:
			tokens = append(tokens, string(name))
		case len(name) > 0:
			return nil, false, nil, ErrCorrupt
		case end == endElement:
			tokens = append(tokens, eachElement)
		case end == endPath:
			return tokens, false, b, nil
		case end == endHashed && first && len(b) >= sha256.Size:
			return nil, true, b[sha256.Size:], nil
		default:
			return nil, false, nil, ErrCorrupt
		}
	}
}

// decodeEntry takes the key of an index entry apart. path is what appendPath wrote.
// truncated is as decodeValue reports it.
func decodeEntry(key []byte) (generation uint16, path []byte, v doc.Value, truncated bool, number uint64, err error) {
	fail := func() (uint16, []byte, doc.Value, bool, uint64, error) {
		return 0, nil, doc.Value{}, false, 0, ErrCorrupt
	}
	_, kind, b, err := Split(key)
	if err != nil || kind != KindEntry || len(b) < 2 {
		return fail()
	}
	generation, b = uint16(b[0])<<8|uint16(b[1]), b[2:]
	_, _, rest, err := decodePath(b)
	if err != nil {
		return fail()
	}
	path = b[:len(b)-len(rest)]
	v, truncated, rest, err = decodeValue(rest, false)
	if err != nil || len(rest) != 8 {
		return fail()
	}
	number, err = Number(key)
	return generation, path, v, truncated, number, err
}

// decodeValue reads what AppendValue wrote at the start of b and gives the bytes after
// it. truncated reports that v is only the beginning of a string, or an empty array or
// object in the place of the real one. A number comes back in one canonical type: int64
// when it is an integer that fits, Decimal128 for the integers from 2^63 below 2^64,
// else double. v shares no bytes with b.
func decodeValue(b []byte, descending bool) (v doc.Value, truncated bool, rest []byte, err error) {
	mask := byte(0)
	if descending {
		mask = 0xFF
	}
	return decodeScalar(b, mask, false)
}

// decodeExact reads what AppendExact wrote at the start of b, with numbers in their
// canonical type as decodeValue gives them.
func decodeExact(b []byte) (v doc.Value, rest []byte, err error) {
	v, truncated, rest, err := decodeScalar(b, 0, true)
	if truncated {
		return doc.Value{}, nil, ErrCorrupt
	}
	return v, rest, err
}

func decodeScalar(b []byte, mask byte, exact bool) (v doc.Value, truncated bool, rest []byte, err error) {
	if len(b) == 0 {
		return v, false, nil, ErrCorrupt
	}
	rest = b[1:]
	switch b[0] ^ mask {
	case tagUndefined:
	case tagNull:
		v.Type = bsoncore.TypeNull
	case tagFalse:
		v = doc.Value{Type: bsoncore.TypeBoolean, Data: []byte{0}}
	case tagTrue:
		v = doc.Value{Type: bsoncore.TypeBoolean, Data: []byte{1}}
	case tagNumber:
		v, rest, err = decodeReal(rest, mask)
	case tagString:
		return decodeString(rest, mask)
	case tagArray:
		return decodeTree(rest, bsoncore.TypeArray, exact)
	case tagObject:
		return decodeTree(rest, bsoncore.TypeEmbeddedDocument, exact)
	case tagOther:
		return decodeOther(rest, mask)
	default:
		err = ErrCorrupt
	}
	return v, false, rest, err
}

func decodeString(b []byte, mask byte) (v doc.Value, truncated bool, rest []byte, err error) {
	data, end, rest, err := unescape([]byte{0, 0, 0, 0}, b, mask)
	if err != nil || end != endWhole && end != endTruncated {
		return v, false, nil, ErrCorrupt
	}
	data = append(data, 0)
	binary.LittleEndian.PutUint32(data, uint32(len(data)-4))
	return doc.Value{Type: bsoncore.TypeString, Data: data}, end == endTruncated, rest, nil
}

// decodeTree is only exact in ascending form: descending forms are index entries.
func decodeTree(b []byte, kind bsoncore.Type, exact bool) (v doc.Value, truncated bool, rest []byte, err error) {
	if !exact {
		return doc.Value{Type: kind, Data: []byte{5, 0, 0, 0, 0}}, true, b, nil
	}
	data, end, rest, err := unescape(nil, b, 0)
	if err != nil || end != endWhole {
		return v, false, nil, ErrCorrupt
	}
	return doc.Value{Type: kind, Data: data}, false, rest, nil
}

func decodeOther(b []byte, mask byte) (v doc.Value, truncated bool, rest []byte, err error) {
	if len(b) == 0 {
		return v, false, nil, ErrCorrupt
	}
	data, end, rest, err := unescape(nil, b[1:], mask)
	if err != nil || end != endWhole && end != endTruncated {
		return v, false, nil, ErrCorrupt
	}
	v = doc.Value{Type: bsoncore.Type(b[0] ^ mask), Data: data}
	if AppendExact(nil, v)[0] != tagOther {
		return doc.Value{}, false, nil, ErrCorrupt
	}
	return v, end == endTruncated, rest, nil
}

func decodeReal(b []byte, mask byte) (v doc.Value, rest []byte, err error) {
	if len(b) < numberBytes {
		return v, nil, ErrCorrupt
	}
	bits, tail := binary.BigEndian.Uint64(b), binary.BigEndian.Uint16(b[8:])
	if mask != 0 {
		bits, tail = ^bits, ^tail
	}
	f, excess := unsortable(bits), int16(tail^noExcess)
	v, ok := join(f, excess)
	if !ok || sortable(f) != bits {
		return doc.Value{}, nil, ErrCorrupt
	}
	return v, b[numberBytes:], nil
}

// join is the inverse of number, in the canonical type. ok is false for pairs that
// number never gives.
func join(f float64, excess int16) (v doc.Value, ok bool) {
	if f >= -two63 && f < two63 && f == math.Trunc(f) {
		n := int64(f) + int64(excess)
		back, left := splitInt(n)
		return doc.Int(n), back == f && left == excess
	}
	if !(f >= two63 && f <= two64) || f == two64 && excess == 0 { // NaN too
		return doc.Double(f), excess == 0
	}
	n := uint64(excess) // for f = 2^64, modulo 2^64
	if f < two64 {
		n += uint64(f)
	}
	back, left := splitUint(n)
	if n < two63 {
		return doc.Int(int64(n)), back == f && left == excess
	}
	data := bsoncore.AppendDecimal128(nil, decimalInteger, n)
	return doc.Value{Type: bsoncore.TypeDecimal128, Data: data}, back == f && left == excess
}

// unescape appends the bytes that b begins with to dst. Every byte of b is first
// combined with mask, 0xFF for a descending form.
func unescape(dst, b []byte, mask byte) (s []byte, end byte, rest []byte, err error) {
	for {
		i := bytes.IndexByte(b, mask)
		if i < 0 || i+1 >= len(b) {
			return nil, 0, nil, ErrCorrupt
		}
		start := len(dst)
		dst = append(dst, b[:i]...)
		if mask != 0 {
			invert(dst[start:])
		}
		end, b = b[i+1]^mask, b[i+2:]
		if end != escapedNUL {
			return dst, end, b, nil
		}
		dst = append(dst, 0)
	}
}

// decodePartition reads the partition of n components at the start of b: its values,
// its effective partition key, and the bytes after it. Neither shares bytes with b.
func decodePartition(
	b []byte, version PartitionVersion, multi bool, n int,
) (values []doc.Value, epk, rest []byte, err error) {
	epk, rest, err = PartitionEPK(nil, b, version, multi, n)
	if err != nil {
		return nil, nil, nil, err
	}
	for i := range n {
		if i == 0 || multi {
			size, _ := epkBytes(b, version, multi, n)
			b = b[size:]
		}
		var v doc.Value
		if v, b, err = decodeExact(b); err != nil {
			return nil, nil, nil, err
		}
		if !Partitionable(v) {
			return nil, nil, nil, ErrCorrupt
		}
		values = append(values, v)
	}
	return values, epk, rest, nil
}

// formatEPK is the inverse of ParseEPK, in the upper case of the protocol.
func formatEPK(epk []byte) string { return strings.ToUpper(hex.EncodeToString(epk)) }

// entry is the key of an index entry with the value v under a path.
func entry(r Range, generation uint16, path []byte, v doc.Value, number uint64) []byte {
	return AppendNumber(AppendValue(r.EntryPrefix(nil, generation, path), v, false), number)
}
