package keys

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The first byte of a key.
const (
	spaceSystem    = 0x01
	spaceContainer = 0x02
)

// A Kind is the letter in a key of a container that says what the key is for.
type Kind byte

// The kinds of keys of a container, see docs/format.md.
const (
	KindRecord    Kind = 'd' // a document
	KindLookup    Kind = 'k' // partition and id -> number
	KindPosting   Kind = 'p' // the documents of a partition
	KindEntry     Kind = 'i' // index entry
	KindComposite Kind = 'c' // entry of a composite index
	KindFeed      Kind = 'f' // change feed
	KindDeadline  Kind = 'x' // documents with a deadline of their own
	KindUnique    Kind = 'u' // unique key
	KindReclaimed Kind = 'r' // run of document numbers that are reclaimed
	KindMark      Kind = 'm' // progress of reclaiming
	KindOrder     Kind = 'o' // order counter
	KindDeletion  Kind = 'h' // a deletion in a range that is being split
	KindNamed     Kind = 'n' // entry of a named index
	KindMultikey  Kind = 'y' // some document has several entries in a named index
	KindBuilding  Kind = 'b' // progress of an index build, or of a split
)

// MaxUniqueBytes is the length up to which the values of a unique key are in a key
// themselves. Longer ones are hashed with SHA-256.
const MaxUniqueBytes = 1024

// hashedValues comes before a SHA-256. No encoded value begins with it.
const hashedValues = 0xFF

// prefixBytes is the length of the prefix of every key of a container: space, container,
// range, kind.
const prefixBytes = 1 + 4 + 2 + 1

// A Range names a physical partition of a container. Its methods append keys. All integers
// in keys sort by value.
type Range struct {
	Container uint32
	Range     uint16
}

// AppendPrefix appends the prefix of all keys of a kind.
func (r Range) AppendPrefix(dst []byte, kind Kind) []byte {
	dst = append(dst, spaceContainer)
	dst = binary.BigEndian.AppendUint32(dst, r.Container)
	dst = binary.BigEndian.AppendUint16(dst, r.Range)
	return append(dst, byte(kind))
}

func (r Range) numbered(dst []byte, kind Kind, n uint64) []byte {
	return binary.BigEndian.AppendUint64(r.AppendPrefix(dst, kind), n)
}

// Record is the key of a document by its number.
func (r Range) Record(dst []byte, number uint64) []byte { return r.numbered(dst, KindRecord, number) }

// Lookup is the key of a document by its partition (AppendPartition) and id. Its value is
// the document's number (AppendNumber).
func (r Range) Lookup(dst, partition []byte, id string) []byte {
	return append(append(r.AppendPrefix(dst, KindLookup), partition...), id...)
}

// Posting is the key that lists a document under its partition, in order of creation.
// Its value is empty.
func (r Range) Posting(dst, partition []byte, number uint64) []byte {
	dst = append(r.AppendPrefix(dst, KindPosting), partition...)
	return binary.BigEndian.AppendUint64(dst, number)
}

// EntryPrefix is the prefix of all index entries of a path, which AppendSteps has made. A
// value of the document in the form of AppendValue follows, then its number (AppendNumber).
// The value of the key is empty.
func (r Range) EntryPrefix(dst []byte, generation uint16, path []byte) []byte {
	dst = binary.BigEndian.AppendUint16(r.AppendPrefix(dst, KindEntry), generation)
	return append(dst, path...)
}

// Composite is the key of an entry of the composite index with this ordinal in the
// indexing policy. descending has one element for each value. Its value is empty.
func (r Range) Composite(
	dst []byte, generation, ordinal uint16, values []doc.Value, descending []bool, number uint64,
) []byte {
	dst = r.CompositePrefix(dst, generation, ordinal)
	for i, v := range values {
		dst = AppendValue(dst, v, descending[i])
	}
	return binary.BigEndian.AppendUint64(dst, number)
}

// CompositePrefix is the prefix of all entries of a composite index. Values in the form of
// AppendValue follow.
func (r Range) CompositePrefix(dst []byte, generation, ordinal uint16) []byte {
	dst = binary.BigEndian.AppendUint16(r.AppendPrefix(dst, KindComposite), generation)
	return binary.BigEndian.AppendUint16(dst, ordinal)
}

// Feed is the key of the last write of a document. Its value is a FeedEntry.
func (r Range) Feed(dst []byte, sequence uint64) []byte { return r.numbered(dst, KindFeed, sequence) }

// Deadline is the key of a document with its own positive ttl. deadline is in Unix
// seconds and may be negative. Its value is a DeadlineEntry. With number 0, it is the upper
// bound of all keys with an earlier deadline.
func (r Range) Deadline(dst []byte, deadline int64, number uint64) []byte {
	dst = r.numbered(dst, KindDeadline, uint64(deadline)^signBit)
	return binary.BigEndian.AppendUint64(dst, number)
}

// Unique is the key of the document that has these values under the constraint with this
// ordinal in the unique key policy. Values longer than MaxUniqueBytes are hashed. Its
// value is the document's number (AppendNumber).
func (r Range) Unique(dst []byte, ordinal uint16, partition []byte, values []doc.Value) []byte {
	dst = append(r.UniquePrefix(dst, ordinal), partition...)
	start := len(dst)
	for _, v := range values {
		dst = AppendExact(dst, v)
	}
	if len(dst)-start > MaxUniqueBytes {
		sum := sha256.Sum256(dst[start:])
		dst = append(append(dst[:start], hashedValues), sum[:]...)
	}
	return dst
}

// UniquePrefix is the prefix of all keys of one constraint.
func (r Range) UniquePrefix(dst []byte, ordinal uint16) []byte {
	return binary.BigEndian.AppendUint16(r.AppendPrefix(dst, KindUnique), ordinal)
}

// Reclaimed is the key of a run of reclaimed numbers, by the first of them. Its value is
// the last one (AppendNumber).
func (r Range) Reclaimed(dst []byte, first uint64) []byte {
	return r.numbered(dst, KindReclaimed, first)
}

// Deletion is the key of the deletion that has this sequence. Its value is the number of the document (AppendNumber).
func (r Range) Deletion(dst []byte, sequence uint64) []byte {
	return r.numbered(dst, KindDeletion, sequence)
}

// Order is the key of the range's Counter, which all commits of the range pass one at a
// time.
func (r Range) Order(dst []byte) []byte { return r.AppendPrefix(dst, KindOrder) }
