package keys

import "encoding/binary"

// Mark is the key of the range's ReclaimMark.
func (r Range) Mark(dst []byte) []byte { return r.AppendPrefix(dst, KindMark) }

// A ReclaimMark says where the reaper goes on, so that it never steps over the
// same queue entries or tombstones twice.
type ReclaimMark struct {
	Feed    uint64 // every inheriting document up to this sequence is reclaimed
	Own     int64  // every document with its own deadline up to this second is
	Pending uint64 // documents reclaimed whose index entries are not swept
}

const markBytes = 3 * 8

// Append appends the mark's stored form: three big-endian integers.
func (m ReclaimMark) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, m.Feed)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.Own))
	return binary.BigEndian.AppendUint64(dst, m.Pending)
}

// DecodeReclaimMark reads what Append wrote.
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
