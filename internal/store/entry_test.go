package store_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Readers of index entries, as docs/format.md describes them: mayfly itself never reads a path or a value back from a
// key. They panic on bytes that do not have that form.

// readPath reads the path at the start of b. hashed reports that the path was too long for a key, and so is lost.
func readPath(b []byte) (path doc.Path, hashed bool, rest []byte) {
	for {
		name, end, rest := unescape(b, 0)
		switch end {
		case 0:
			return path, false, rest
		case 1:
			path = append(path, doc.Token{Name: string(name)})
		case 2:
			path = append(path, doc.Token{Kind: doc.TokenElement})
		default:
			return nil, true, rest[sha256.Size:]
		}
		b = rest
	}
}

// readValue reads the value at the start of b. cut reports that v is only the beginning of a string, or an empty
// array or object in the place of the real one.
func readValue(b []byte, descending bool) (v doc.Value, cut bool, rest []byte) {
	var mask byte
	if descending {
		mask = 0xFF
	}
	tag, b := b[0]^mask, b[1:]
	switch tag {
	case 0x04:
		return doc.Value{}, false, b
	case 0x08:
		return doc.Null(), false, b
	case 0x0C, 0x0D:
		return doc.Bool(tag == 0x0D), false, b
	case 0x10:
		return readNumber(b[:10], mask), false, b[10:]
	case 0x18:
		s, end, rest := unescape(b, mask)
		return doc.String(string(s)), end == 2, rest
	case 0x1C:
		return doc.Array(doc.Empty), true, b
	case 0x20:
		return doc.Object(doc.Empty), true, b
	case 0x28:
		s, end, rest := unescape(b[1:], mask)
		return doc.Value{Type: bsoncore.Type(b[0] ^ mask), Data: s}, end == 2, rest
	}
	panic("no value begins with this byte")
}

// readNumber reads the sortable bits of a double, and how far the number is from it.
func readNumber(b []byte, mask byte) doc.Value {
	bits, excess := binary.BigEndian.Uint64(b), binary.BigEndian.Uint16(b[8:])
	if mask != 0 {
		bits, excess = ^bits, ^excess
	}
	if bits == 0 {
		return doc.Double(math.NaN())
	}
	if bits>>63 == 1 {
		bits &^= 1 << 63
	} else {
		bits = ^bits
	}
	f, above := math.Float64frombits(bits), int64(int16(excess^1<<15))
	if f != math.Trunc(f) || math.Abs(f) > 1<<64 || above == 0 && math.Abs(f) > 1<<63 {
		return doc.Float(f)
	}
	whole, _ := new(big.Float).SetFloat64(f).Int(nil)
	v, err := doc.ValueFromJSON(whole.Add(whole, big.NewInt(above)).Append(nil, 10))
	if err != nil {
		panic(err)
	}
	return v
}

// unescape reads bytes in which 0x00 0xFF stands for a NUL, and 0x00 with another byte is the end.
func unescape(b []byte, mask byte) (s []byte, end byte, rest []byte) {
	for i := 0; ; i++ {
		c := b[i] ^ mask
		if c == 0 {
			i++
			if end = b[i] ^ mask; end != 0xFF {
				return s, end, b[i+1:]
			}
		}
		s = append(s, c)
	}
}
