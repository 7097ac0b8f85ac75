package keys

import (
	"encoding/binary"
	"fmt"
)

// The class of a document's lifetime, in the header of its record.
const (
	ClassInherit uint8 = 0 // the lifetime of the container
	ClassOwn     uint8 = 1 // its own positive ttl
	ClassNever   uint8 = 2 // its own ttl of -1
)

// recordVersion is the first byte of every record. A change of the header, or of the
// form of the body, needs the next version.
const recordVersion = 1

// HeaderBytes is the length of a record's header; the BSON body follows it.
const HeaderBytes = 1 + 1 + 8 + 8 + 4

// A Header is the part of a record before the body: everything that decides whether the
// document is alive.
type Header struct {
	Class    uint8 // ClassInherit, ClassOwn or ClassNever
	Sequence uint64
	Stamp    int64 // Unix seconds of the last write
	TTL      int32 // the document's own, 0 for none, -1 for never
}

// AppendHeader appends the header of a record. The caller appends the body.
func AppendHeader(dst []byte, h Header) []byte {
	dst = append(dst, recordVersion, h.Class)
	dst = binary.BigEndian.AppendUint64(dst, h.Sequence)
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.Stamp))
	return binary.BigEndian.AppendUint32(dst, uint32(h.TTL))
}

// DecodeHeader reads a record. body shares its bytes and is not checked. For a record of
// another version than this program's, the error wraps ErrCorrupt and names the version.
func DecodeHeader(record []byte) (h Header, body []byte, err error) {
	if len(record) < HeaderBytes {
		return h, nil, ErrCorrupt
	}
	if record[0] != recordVersion {
		return h, nil, fmt.Errorf("%w: a record has version %d, but this program reads version %d",
			ErrCorrupt, record[0], recordVersion)
	}
	if record[1] > ClassNever {
		return h, nil, ErrCorrupt
	}
	h = Header{
		Class:    record[1],
		Sequence: binary.BigEndian.Uint64(record[2:]),
		Stamp:    int64(binary.BigEndian.Uint64(record[10:])),
		TTL:      int32(binary.BigEndian.Uint32(record[18:])),
	}
	return h, record[HeaderBytes:], nil
}
