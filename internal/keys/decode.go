package keys

import "encoding/binary"

// Split splits the key of a container into its prefix and the rest, which shares its bytes.
func Split(key []byte) (r Range, kind Kind, rest []byte, err error) {
	if len(key) < prefixBytes || key[0] != spaceContainer {
		return Range{}, 0, nil, ErrCorrupt
	}
	r.Container = binary.BigEndian.Uint32(key[1:])
	r.Range = binary.BigEndian.Uint16(key[5:])
	return r, Kind(key[7]), key[prefixBytes:], nil
}

// Number is the document number at the end of a key: of a record, a posting, an index
// entry, a composite entry, a deadline, and the first number of a reclaimed run.
func Number(key []byte) (uint64, error) { return last8(key) }

// FeedSequence is the sequence in a key of KindFeed.
func FeedSequence(key []byte) (uint64, error) { return last8(key) }

func last8(key []byte) (uint64, error) {
	if len(key) < prefixBytes+8 {
		return 0, ErrCorrupt
	}
	return binary.BigEndian.Uint64(key[len(key)-8:]), nil
}

// Deadline is the deadline in a key of KindDeadline, in Unix seconds.
func Deadline(key []byte) (int64, error) {
	if len(key) != prefixBytes+16 {
		return 0, ErrCorrupt
	}
	return int64(binary.BigEndian.Uint64(key[prefixBytes:]) ^ signBit), nil
}

// PostingPartition is the partition in a key of KindPosting, as AppendPartition made
// it. It shares the key's bytes.
func PostingPartition(key []byte) ([]byte, error) {
	_, kind, b, err := Split(key)
	if err != nil || kind != KindPosting || len(b) < 8 {
		return nil, ErrCorrupt
	}
	return b[:len(b)-8], nil
}

// AppendNumber appends a number or a sequence in the form that values have.
func AppendNumber(dst []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(dst, n) }

// DecodeNumber reads the form of AppendNumber.
func DecodeNumber(value []byte) (uint64, error) {
	if len(value) != 8 {
		return 0, ErrCorrupt
	}
	return binary.BigEndian.Uint64(value), nil
}

// A FeedEntry is the value of a key of KindFeed: everything that the feed and the reaper
// need to know before they read a document.
type FeedEntry struct {
	Number uint64
	Stamp  int64  // Unix seconds
	TTL    int32  // the document's own, 0 for none, -1 for never
	Bytes  uint32 // length of the document's body
}

const feedBytes = 8 + 8 + 4 + 4

// AppendFeed appends the value of a key of KindFeed.
func AppendFeed(dst []byte, e FeedEntry) []byte {
	dst = binary.BigEndian.AppendUint64(dst, e.Number)
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Stamp))
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.TTL))
	return binary.BigEndian.AppendUint32(dst, e.Bytes)
}

// DecodeFeed reads the form of AppendFeed.
func DecodeFeed(value []byte) (FeedEntry, error) {
	if len(value) != feedBytes {
		return FeedEntry{}, ErrCorrupt
	}
	return FeedEntry{
		Number: binary.BigEndian.Uint64(value),
		Stamp:  int64(binary.BigEndian.Uint64(value[8:])),
		TTL:    int32(binary.BigEndian.Uint32(value[16:])),
		Bytes:  binary.BigEndian.Uint32(value[20:]),
	}, nil
}

// A DeadlineEntry is the value of a key of KindDeadline.
type DeadlineEntry struct {
	Sequence uint64 // of the write: the document's position in the feed
	Bytes    uint32 // length of the document's body
}

const deadlineBytes = 8 + 4

// AppendDeadline appends the value of a key of KindDeadline.
func AppendDeadline(dst []byte, e DeadlineEntry) []byte {
	dst = binary.BigEndian.AppendUint64(dst, e.Sequence)
	return binary.BigEndian.AppendUint32(dst, e.Bytes)
}

// DecodeDeadline reads the form of AppendDeadline.
func DecodeDeadline(value []byte) (DeadlineEntry, error) {
	if len(value) != deadlineBytes {
		return DeadlineEntry{}, ErrCorrupt
	}
	return DeadlineEntry{
		Sequence: binary.BigEndian.Uint64(value),
		Bytes:    binary.BigEndian.Uint32(value[8:]),
	}, nil
}
