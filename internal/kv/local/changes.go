package local

import (
	"hash/maphash"

	"github.com/mayflydb/mayfly/internal/kv"
)

// The table of changes. With 64 writers of small batches at full speed, some 600 keys change while a batch waits. With
// four writers of large batches 30,000 do, and one key in 150,000 that a batch has read is in a bucket that eight of
// these have gone through.
const (
	buckets = 1 << 15 // of 64 bytes
	ways    = 7       // keys of a bucket
	tagBits = 20      // of a key's hash, which tell it from other keys of its bucket
	tagMask = 1<<tagBits - 1
)

// Changes remembers when keys changed, in constant memory. A bucket has the newest changes of some keys exactly, and an
// upper bound for all others. So Changes sometimes reports a conflict where there is none, but never misses one.
type Changes struct {
	seed  maphash.Seed
	table []bucket
}

// A bucket is what is known of the keys whose hashes end in the same bits.
type bucket struct {
	others uint64       // newest batch number of any key without an entry
	newest [ways]uint64 // batch number << tagBits | tag of a key
}

// NewChanges returns an empty Changes.
func NewChanges() *Changes {
	return &Changes{seed: maphash.MakeSeed(), table: make([]bucket, buckets)}
}

func (c *Changes) find(key []byte) (b *bucket, tag uint64) {
	hash := maphash.Bytes(c.seed, key)
	return &c.table[hash%buckets], hash >> (64 - tagBits)
}

// Record notes that the batch with this number changed the keys of ops, except ranges.
func (c *Changes) Record(ops []kv.Op, number uint64) {
	for i := range ops {
		if ops[i].End != nil {
			continue
		}
		b, tag := c.find(ops[i].Key)
		b.record(tag, number)
	}
}

// record notes a change of the key with the tag. If it has no entry, the one that changed longest ago makes way.
func (b *bucket) record(tag, number uint64) {
	oldest := 0
	for i, known := range b.newest {
		if known&tagMask == tag && known != 0 {
			b.newest[i] = number<<tagBits | tag
			return
		}
		if known < b.newest[oldest] {
			oldest = i
		}
	}
	b.others = max(b.others, b.newest[oldest]>>tagBits)
	b.newest[oldest] = number<<tagBits | tag
}

// Since reports whether one of keys may have changed after mark.
func (c *Changes) Since(keys [][]byte, mark kv.Mark) bool {
	for _, key := range keys {
		b, tag := c.find(key)
		if b.changed(tag) > uint64(mark) {
			return true
		}
	}
	return false
}

// changed is the number of the newest batch that may have changed the key with the tag.
func (b *bucket) changed(tag uint64) uint64 {
	for _, known := range b.newest {
		if known&tagMask == tag {
			return known >> tagBits
		}
	}
	return b.others
}
