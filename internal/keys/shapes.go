package keys

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The first byte of a key: whose it is.
const (
	spaceSystem    = 0x01
	spaceContainer = 0x02
)

// A Kind is the letter that says what a key of a container is for.
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
	KindReclaimed Kind = 'r' // run of numbers without documents
	KindMark      Kind = 'm' // how far reclaiming has come
	KindOrder     Kind = 'o' // order counter
	KindChange    Kind = 'h' // all versions and deletes; reserved, nothing writes it yet
	KindNamed     Kind = 'n' // entry of an index that has a name
	KindMultikey  Kind = 'y' // some document has several entries in that index
)

// MaxUniqueBytes is how long the values of a unique key may be in a key before their
// SHA-256 stands for them.
const MaxUniqueBytes = 1024

// hashedValues comes before the SHA-256; no encoded value begins with it.
const hashedValues = 0xFF

// prefixBytes is the length of what every key of a container begins with: space,
// container, range, kind.
const prefixBytes = 1 + 4 + 2 + 1

// A Range names a physical partition of a container. Its methods append keys. Numbers
// and sequences sort by value, as do the other integers.
type Range struct {
	Container uint32
	Range     uint16
}

// AppendPrefix appends what all keys of a kind begin with.
func (r Range) AppendPrefix(dst []byte, kind Kind) []byte {
	dst = append(dst, spaceContainer)
	dst = binary.BigEndian.AppendUint32(dst, r.Container)
	dst = binary.BigEndian.AppendUint16(dst, r.Range)
	return append(dst, byte(kind))
}

func (r Range) numbered(dst []byte, kind Kind, n uint64) []byte {
	return binary.BigEndian.AppendUint64(r.AppendPrefix(dst, kind), n)
}

// Record is the key of the document with that number.
func (r Range) Record(dst []byte, number uint64) []byte { return r.numbered(dst, KindRecord, number) }

// Lookup is the key that finds a document by what AppendPartition made of its partition
// key, and its id. Its value is a number (AppendNumber).
func (r Range) Lookup(dst, partition []byte, id string) []byte {
	return append(append(r.AppendPrefix(dst, KindLookup), partition...), id...)
}

// Posting is the key that lists a document under its partition, in order of creation.
// Its value is empty.
func (r Range) Posting(dst, partition []byte, number uint64) []byte {
	dst = append(r.AppendPrefix(dst, KindPosting), partition...)
	return binary.BigEndian.AppendUint64(dst, number)
}

// EntryPrefix is what all entries of a path begin with. A value in the form of
// AppendValue comes next.
func (r Range) EntryPrefix(dst []byte, generation uint16, path []byte) []byte {
	dst = binary.BigEndian.AppendUint16(r.AppendPrefix(dst, KindEntry), generation)
	return append(dst, path...)
}

// Composite is the key of an entry of the composite index with that ordinal in the
// indexing policy. descending has one element for each value. Its value is empty.
func (r Range) Composite(dst []byte, generation, ordinal uint16, values []doc.Value, descending []bool, number uint64) []byte {
	dst = r.CompositePrefix(dst, generation, ordinal)
	for i, v := range values {
		dst = AppendValue(dst, v, descending[i])
	}
	return binary.BigEndian.AppendUint64(dst, number)
}

// CompositePrefix is what all entries of a composite index begin with. Values in the
// form of AppendValue come next.
func (r Range) CompositePrefix(dst []byte, generation, ordinal uint16) []byte {
	dst = binary.BigEndian.AppendUint16(r.AppendPrefix(dst, KindComposite), generation)
	return binary.BigEndian.AppendUint16(dst, ordinal)
}

// Feed is the key of the last write of a document. Its value is a FeedEntry.
func (r Range) Feed(dst []byte, sequence uint64) []byte { return r.numbered(dst, KindFeed, sequence) }

// Deadline is the key of a document with its own positive ttl. deadline is in Unix
// seconds, negative ones too. Its value is a DeadlineEntry. With number 0 it is the
// bound below which everything is due before deadline.
func (r Range) Deadline(dst []byte, deadline int64, number uint64) []byte {
	dst = r.numbered(dst, KindDeadline, uint64(deadline)^signBit)
	return binary.BigEndian.AppendUint64(dst, number)
}

// Unique is the key that says who has these values under the constraint with that
// ordinal in the unique key policy. Values longer than MaxUniqueBytes are hashed. Its
// value is a number (AppendNumber).
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

// UniquePrefix is what all keys of one constraint begin with.
func (r Range) UniquePrefix(dst []byte, ordinal uint16) []byte {
	return binary.BigEndian.AppendUint16(r.AppendPrefix(dst, KindUnique), ordinal)
}

// Reclaimed is the key of a run of numbers, all reclaimed, by its first. Its value is
// the last (AppendNumber).
func (r Range) Reclaimed(dst []byte, first uint64) []byte {
	return r.numbered(dst, KindReclaimed, first)
}

// Order is the key of the range's counter, through which its commits pass one at a
// time.
func (r Range) Order(dst []byte) []byte { return r.AppendPrefix(dst, KindOrder) }
