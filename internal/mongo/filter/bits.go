package filter

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A mask is the bits that $bitsAllSet and similar operators examine, as a list of positions or as bytes. Position 0 is
// the lowest bit of the first byte.
type mask struct {
	positions []int
	bytes     []byte
	word      uint64 // both, for numbers of 64 bits; bits beyond have the value of the sign
}

// bits is {$bitsAllSet: mask}, $bitsAllClear, $bitsAnySet and $bitsAnyClear, for numbers and binary data. A mask is a
// number, binary data or an array of positions.
// https://www.mongodb.com/docs/v7.0/reference/operator/query-bitwise/
func bits(_ *compiler, name string, arg doc.Value, at spot) (condition, error) {
	m, err := readMask(name, arg, at.path.text)
	if err != nil {
		return condition{}, err
	}
	set := name == "$bitsAllSet" || name == "$bitsAnySet"
	every := name == "$bitsAllSet" || name == "$bitsAllClear"
	have := check(func(v doc.Value, meter *work.Meter) bool {
		_ = meter.Spend(len(m.positions) + work.Scanned(len(m.bytes)))
		return m.has(v, set, every)
	})
	return onValues(at.path, Both, have, &Node{Kind: Other}), nil
}

func readMask(name string, arg doc.Value, path string) (*mask, error) {
	switch {
	case arg.Type == bsoncore.TypeArray:
		return readPositions(arg)
	case arg.Type == bsoncore.TypeBinary:
		m := &mask{bytes: binaryOf(arg)}
		for i, b := range m.bytes {
			if i < 8 {
				m.word |= uint64(b) << (8 * i)
			} else if b != 0 {
				m.word |= 1 << 63
			}
		}
		return m, nil
	case doc.IsNumberBSON(arg):
		n, err := countNumber(name, arg)
		m := &mask{word: uint64(n)}
		for i := range 8 {
			m.bytes = append(m.bytes, byte(n>>(8*i)))
		}
		return m, err
	}
	return nil, code.New(code.BadValue, "%s takes an Array, a number, or a BinData but received: %s: %s", path, name,
		code.Show(arg))
}

func readPositions(arg doc.Value) (*mask, error) {
	m := &mask{}
	for name, e := range doc.Members(arg.Data) {
		n, err := wholeNumber(name, e)
		switch {
		case err != nil:
			return nil, code.New(code.BadValue, "Failed to parse bit position. %s", err)
		case n < 0:
			return nil, code.New(code.BadValue,
				"Failed to parse bit position. Expected a non-negative number in: %s: %s", name, code.Show(e))
		case n > math.MaxInt32:
			return nil, code.New(code.BadValue, "Failed to parse bit position. Cannot represent %s: %s in an int", name,
				code.Show(e))
		}
		m.positions = append(m.positions, int(n))
		m.word |= 1 << min(n, 63)
	}
	return m, nil
}

// binaryOf is the content of binary data, after its length and subtype.
func binaryOf(v doc.Value) []byte { return v.Data[min(5, len(v.Data)):] }

// has reports whether the bits are set, or clear if set is false: all of them if every is set, else any.
func (m *mask) has(v doc.Value, set, every bool) bool {
	if v.Type == bsoncore.TypeBinary {
		return m.inBytes(binaryOf(v), set, every)
	}
	n, ok := wholeOrTruncated(v)
	if !ok {
		return false
	}
	found := uint64(n) & m.word
	if !set {
		found = ^uint64(n) & m.word
	}
	if every {
		return found == m.word
	}
	return found != 0
}

// wholeOrTruncated is a number as an integer. It is not ok for a double with a fraction; a decimal loses its fraction.
func wholeOrTruncated(v doc.Value) (int64, bool) {
	if v.Type == bsoncore.TypeDecimal128 {
		return truncated(v)
	}
	return doc.AsInt(v)
}

// inBytes is has for binary data. Bits beyond the data are clear.
func (m *mask) inBytes(data []byte, set, every bool) bool {
	for _, p := range m.positions {
		isSet := p/8 < len(data) && data[p/8]>>(p%8)&1 == 1
		if (isSet == set) != every {
			return !every
		}
	}
	for i, asked := range m.bytes {
		var b byte
		if i < len(data) {
			b = data[i]
		}
		if !set {
			b = ^b
		}
		if every && b&asked != asked || !every && b&asked != 0 {
			return !every
		}
	}
	return every
}
