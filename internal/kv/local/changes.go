package local

import (
	"hash/maphash"

	"github.com/mayflydb/mayfly/internal/kv"
)

// slots is the size of the hash table of changes. With 64 writers at full speed, some 600
// keys change while a batch waits, and one key in 20,000 that it has read shares its slot
// with two of them.
const slots = 1 << 16

// tagBits is the number of bits of a key's hash that tell it from other keys in its slot.
const tagBits = 16

// Changes remembers when keys changed, in constant memory. A slot has the newest change of
// one key exactly, and an upper bound for all others. So Changes sometimes reports a
// conflict where there is none, but never misses one.
type Changes struct {
	seed  maphash.Seed
	table []slot
}

type slot struct {
	newest uint64 // batch number << tagBits | tag of the key that changed last
	others uint64 // newest batch number of any key with another tag
}

// NewChanges returns an empty Changes.
func NewChanges() *Changes {
	return &Changes{seed: maphash.MakeSeed(), table: make([]slot, slots)}
}

func (c *Changes) find(key []byte) (s *slot, tag uint64) {
	hash := maphash.Bytes(c.seed, key)
	return &c.table[hash%slots], hash >> (64 - tagBits)
}

// Record notes that the batch with this number changed the keys of ops, except ranges.
func (c *Changes) Record(ops []kv.Op, number uint64) {
	for i := range ops {
		if ops[i].End != nil {
			continue
		}
		s, tag := c.find(ops[i].Key)
		if s.newest&(1<<tagBits-1) != tag {
			s.others = s.newest >> tagBits
		}
		s.newest = number<<tagBits | tag
	}
}

// Since reports whether one of keys may have changed after mark.
func (c *Changes) Since(keys [][]byte, mark kv.Mark) bool {
	for _, key := range keys {
		s, tag := c.find(key)
		changed := s.others
		if s.newest&(1<<tagBits-1) == tag {
			changed = s.newest >> tagBits
		}
		if changed > uint64(mark) {
			return true
		}
	}
	return false
}
