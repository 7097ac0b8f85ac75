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

	// Epoch is that of the container's state, see EpochKey. It is 0 where one process alone has the data.
	Epoch uint64
}

const counterSize = 5 * 8

// Append appends the counter's stored form: five big-endian integers, and the epoch as the sixth unless it is 0.
func (c Counter) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, c.Sequence)
	dst = binary.BigEndian.AppendUint64(dst, c.Number)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Stamp))
	dst = binary.BigEndian.AppendUint64(dst, c.Documents)
	dst = binary.BigEndian.AppendUint64(dst, c.Bytes)
	if c.Epoch != 0 {
		dst = binary.BigEndian.AppendUint64(dst, c.Epoch)
	}
	return dst
}

// DecodeCounter reads the form of Append. Nil gives the zero Counter, for a range that
// was never written.
func DecodeCounter(value []byte) (Counter, error) {
	if value == nil {
		return Counter{}, nil
	}
	var epoch uint64
	switch len(value) {
	case counterSize:
	case counterSize + 8:
		epoch = binary.BigEndian.Uint64(value[counterSize:])
	default:
		return Counter{}, ErrCorrupt
	}
	return Counter{
		Sequence:  binary.BigEndian.Uint64(value),
		Number:    binary.BigEndian.Uint64(value[8:]),
		Stamp:     int64(binary.BigEndian.Uint64(value[16:])),
		Documents: binary.BigEndian.Uint64(value[24:]),
		Bytes:     binary.BigEndian.Uint64(value[32:]),
		Epoch:     epoch,
	}, nil
}
