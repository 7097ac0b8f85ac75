package keys

import "encoding/binary"

// Mark is the key of the range's ReclaimMark.
func (r Range) Mark(dst []byte) []byte { return r.AppendPrefix(dst, KindMark) }

// A ReclaimMark says where the reaper continues, so that it reads no queue entry or
// tombstone twice.
type ReclaimMark struct {
	Feed    uint64 // every document with the container's TTL up to this sequence is reclaimed
	Own     int64  // every document with a deadline of its own up to this second is reclaimed
	Pending uint64 // reclaimed documents whose index entries are not swept yet
}

const markBytes = 3 * 8

// Append appends the mark's stored form: three big-endian integers.
func (m ReclaimMark) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, m.Feed)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.Own))
	return binary.BigEndian.AppendUint64(dst, m.Pending)
}

// DecodeReclaimMark reads the form of Append.
func DecodeReclaimMark(value []byte) (ReclaimMark, error) {
	if len(value) != markBytes {
		return ReclaimMark{}, ErrCorrupt
	}
	return ReclaimMark{
		Feed:    binary.BigEndian.Uint64(value),
		Own:     int64(binary.BigEndian.Uint64(value[8:])),
		Pending: binary.BigEndian.Uint64(value[16:]),
	}, nil
}
