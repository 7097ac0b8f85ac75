package local

import (
	"hash/maphash"

	"github.com/mayflydb/mayfly/internal/kv"
)

// slots is how many places a table of changes has. With 64 writers at full speed a
// batch waits while some 600 keys change, and one key in 20,000 that it read
// meets two others in its slot.
const slots = 1 << 16

// tagBits is how much of a key's hash tells it from others in its slot.
const tagBits = 16

// Changes remembers when keys changed, in fixed space. A slot knows the newest
// change of one key exactly and for all others only a bound. So it may report a
// conflict that is none, and never hides one.
type Changes struct {
	seed  maphash.Seed
	table []slot
}

type slot struct {
	newest uint64 // batch number << tagBits | tag of the key that changed last
	others uint64 // newest batch number of any key with another tag
}

// NewChanges gives a memory of no changes.
func NewChanges() *Changes {
	return &Changes{seed: maphash.MakeSeed(), table: make([]slot, slots)}
}

func (c *Changes) find(key []byte) (s *slot, tag uint64) {
	hash := maphash.Bytes(c.seed, key)
	return &c.table[hash%slots], hash >> (64 - tagBits)
}

// Record notes that batch number changed the keys of ops. Ranges do not count.
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
