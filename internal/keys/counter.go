package keys

import "encoding/binary"

// A Counter is the value of the order key of a range. Every write of the range reads and
// increases it.
type Counter struct {
	Sequence  uint64 // of the newest write
	Number    uint64 // of the newest document, within the range: see NumberOf
	Stamp     int64  // of the newest write; stamps never fall as sequences rise
	Documents uint64 // records on disk, expired ones included
	Bytes     uint64 // of their bodies
}

const counterSize = 5 * 8

// Append appends the counter's stored form: five big-endian integers.
func (c Counter) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, c.Sequence)
	dst = binary.BigEndian.AppendUint64(dst, c.Number)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Stamp))
	dst = binary.BigEndian.AppendUint64(dst, c.Documents)
	return binary.BigEndian.AppendUint64(dst, c.Bytes)
}

// DecodeCounter reads the form of Append. Nil gives the zero Counter, for a range that
// was never written.
func DecodeCounter(value []byte) (Counter, error) {
	if value == nil {
		return Counter{}, nil
	}
	if len(value) != counterSize {
		return Counter{}, ErrCorrupt
	}
	return Counter{
		Sequence:  binary.BigEndian.Uint64(value),
		Number:    binary.BigEndian.Uint64(value[8:]),
		Stamp:     int64(binary.BigEndian.Uint64(value[16:])),
		Documents: binary.BigEndian.Uint64(value[24:]),
		Bytes:     binary.BigEndian.Uint64(value[32:]),
	}, nil
}
