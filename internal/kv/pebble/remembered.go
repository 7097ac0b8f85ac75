package pebble

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/kv"
)

// remembered has values of keys that were read one by one and more than once, so that they are found without a look
// into memtables and tables. What it has is the newest visible state: a batch takes out the keys that it changes before
// it becomes visible. See DESIGN.md.
type remembered struct {
	seed  maphash.Seed
	sets  []rememberedSet
	limit int64 // of bytes, and again of bytes of texts
	bytes atomic.Int64
	texts atomic.Int64 // bytes of texts

	all      atomic.Bool // any key may be remembered, else only those of the sample
	sample   sample
	deciding sync.Mutex    // held while all changes
	blocks   *pebble.Cache // which has less space meanwhile; nil in tests
	release  func()

	gaps atomic.Pointer[[]gap] // sorted, not overlapping

	runs   atomic.Int64  // that are remembered or being collected
	newest atomic.Uint64 // number of the newest batch of change

	renewed []int // changes of the batch that is being committed, by place: of values that were remembered

	making sync.Mutex // held while room is made
	hand   int        // of the CLOCK over sets: the next that gives some up
}

// Sizes of what is remembered.
const (
	rememberedShare = 10      // one part of the cache in this many
	rememberedWays  = 8       // keys of a set
	rememberedBytes = 8 << 10 // of the largest value, and of the largest text
	rememberedMean  = 256     // bytes of an entry, from which the number of sets follows
	entryOverhead   = 144     // bytes of an entry in addition to its key and value, about
	textOverhead    = 32      // bytes of a text in addition to its own, about
	maxGaps         = 256
	maxRenewing     = 64 // changes of a batch whose values may be remembered at once
)

// A sample shows whether remembering pays: one key in sampleOf is always remembered, in as small a part of the memory.
// So the share of their reads that find a value is about that of all keys, if all are remembered. See Waldspurger et
// al., Cache Modeling and Optimization using Miniature Simulations, USENIX ATC 2017.
//
// A key that every query reads may be in the sample, and would have many of its reads. So one read of any key in
// sampleOf is drawn at random. If the sample has more reads than that, these are of such keys, which find a value each
// time, and do not count. See Waldspurger et al., Efficient MRC Construction with SHARDS, FAST 2015, which corrects its
// sample by that difference.
type sample struct {
	reads   atomic.Int64
	found   atomic.Int64 // of these, a value
	drawn   atomic.Int64 // of all reads
	decided int64        // reads until the last decision
}

// take returns how many reads count, and how many of them found a value, and begins anew.
func (s *sample) take() (reads, found int64) {
	all := s.reads.Load()
	reads, s.decided = all-s.decided, all
	surplus := max(0, reads-s.drawn.Swap(0))
	return reads - surplus, s.found.Swap(0) - surplus
}

const (
	sampleOf      = 16
	sampleReads   = 2048 // before a decision; with 256 it changes too often, and leaves garbage
	worthBegin    = 3    // one read in so many finds a value: begin to remember all keys
	worthContinue = 5    // fewer than one in so many: end
)

// A rememberedSet has the keys whose hashes end in the same bits.
type rememberedSet struct {
	mu      sync.Mutex // held while entries come and go; they are found without it
	changed uint64     // number of the newest batch that has changed a key of the set
	entries [rememberedWays]atomic.Pointer[rememberedValue]
	missed  [rememberedWays]uint32 // hashes of keys that were read last and are not there
	next    uint8                  // of missed
	hand    uint8                  // the next of entries to give up
}

// A rememberedValue does not change, but for used and the text.
type rememberedValue struct {
	in         *remembered
	hash       uint64
	since      uint64 // number of a batch after which the key had the value
	key, value []byte
	run        bool                   // value has the ends of a run, nil if these are too many
	text       atomic.Pointer[[]byte] // nil for none
	used       atomic.Bool            // since the hand has passed
}

func (v *rememberedValue) size() int64 { return int64(len(v.key)+len(v.value)) + entryOverhead }

// Value returns the value.
func (v *rememberedValue) Value() []byte { return v.value }

// Text returns the text that is kept with the value.
func (v *rememberedValue) Text() []byte {
	if text := v.text.Load(); text != nil {
		return *text
	}
	return nil
}

// Keep keeps a text with the value, if texts have room. It takes none from other texts: those of values that are read
// less go with their values.
func (v *rememberedValue) Keep(text []byte) {
	size := int64(len(text)) + textOverhead
	if len(text) > rememberedBytes || !v.in.all.Load() || v.in.texts.Load()+size > v.in.limit {
		return
	}
	set := v.in.set(v.hash)
	set.mu.Lock()
	defer set.mu.Unlock()
	for i := range set.entries {
		if set.entries[i].Load() == v && v.text.Load() == nil {
			text = bytes.Clone(text)
			v.text.Store(&text)
			v.in.texts.Add(size)
		}
	}
}

// A gap is a range of keys that was deleted, by the batch with the number or by one before it.
type gap struct {
	lower, upper []byte
	number       uint64
}

// newRemembered remembers up to limit bytes, and as many bytes of texts. By both blocks gets smaller, unless it is nil.
func newRemembered(limit int64, blocks *pebble.Cache) *remembered {
	sets := 1
	for int64(sets)*rememberedWays*rememberedMean < limit {
		sets *= 2
	}
	return &remembered{seed: maphash.MakeSeed(), sets: make([]rememberedSet, sets), limit: limit, blocks: blocks}
}

func (r *remembered) hash(key []byte) uint64 { return maphash.Bytes(r.seed, key) }

func (r *remembered) set(hash uint64) *rememberedSet { return &r.sets[hash&uint64(len(r.sets)-1)] }

// sampled reports whether a key is of the sample. Sets have other bits of the hash.
func sampled(hash uint64) bool { return hash>>60 == 0 }

// find returns the value that a key has now, and has had since the batch with the number mark or longer; nil for none.
func (r *remembered) find(hash uint64, key []byte, mark uint64) *rememberedValue {
	return r.findUpTo(hash, key, key, mark)
}

// findUpTo is find for what depends on all keys up to last.
func (r *remembered) findUpTo(hash uint64, key, last []byte, mark uint64) *rememberedValue {
	if rand.Uint32()%sampleOf == 0 {
		r.sample.drawn.Add(1)
	}
	if !sampled(hash) {
		if !r.all.Load() {
			return nil
		}
		return r.look(hash, key, last, mark)
	}
	v := r.look(hash, key, last, mark)
	if v != nil {
		r.sample.found.Add(1)
	}
	if r.sample.reads.Add(1)%sampleReads == 0 {
		r.decide()
	}
	return v
}

// decide begins or ends to remember keys that are not of the sample.
func (r *remembered) decide() {
	if !r.deciding.TryLock() {
		return
	}
	defer r.deciding.Unlock()
	reads, found := r.sample.take()
	switch all := r.all.Load(); {
	case !all && found*worthBegin >= reads:
		if r.blocks != nil {
			r.release = r.blocks.Reserve(int(2*r.limit - r.limit/sampleOf))
		}
		r.all.Store(true)
	case all && found*worthContinue < reads:
		r.all.Store(false)
		r.makeRoom()
		if r.release != nil {
			r.release()
			r.release = nil
		}
	}
}

// size is how many bytes are remembered.
func (r *remembered) size() int64 { return r.bytes.Load() + r.texts.Load() }

// allowed is how many bytes may be remembered, without texts.
func (r *remembered) allowed() int64 {
	if r.all.Load() {
		return r.limit
	}
	return r.limit / sampleOf
}

func (r *remembered) look(hash uint64, key, last []byte, mark uint64) *rememberedValue {
	set := r.set(hash)
	for i := range set.entries {
		v := set.entries[i].Load()
		if v == nil || v.hash != hash || !bytes.Equal(v.key, key) {
			continue
		}
		if v.since > mark || r.inGap(key, last, v.since) {
			return nil
		}
		if !v.used.Load() {
			v.used.Store(true)
		}
		return v
	}
	return nil
}

// inGap reports whether a batch after since has deleted a range that has a key from first to last.
func (r *remembered) inGap(first, last []byte, since uint64) bool {
	gaps := r.gaps.Load()
	if gaps == nil {
		return false
	}
	i, _ := slices.BinarySearchFunc(*gaps, first, func(g gap, key []byte) int {
		if bytes.Compare(g.upper, key) <= 0 {
			return -1
		}
		return 1
	})
	for _, g := range (*gaps)[i:] {
		if bytes.Compare(g.lower, last) > 0 {
			break
		}
		if since < g.number {
			return true
		}
	}
	return false
}

// offer says that a key that find has not found had the value after the batch with the number since, or in a later
// state. It is remembered the second time, if the key has not changed in between.
func (r *remembered) offer(hash uint64, key, value []byte, since uint64) {
	if len(key)+len(value) > rememberedBytes || !r.admits(hash) {
		return
	}
	set := r.set(hash)
	set.mu.Lock()
	if set.changed > since || !set.again(uint32(hash>>32)) {
		set.mu.Unlock()
		return
	}
	r.put(set, r.entry(hash, key, value, since))
	set.mu.Unlock()
	if r.bytes.Load() > r.allowed() {
		r.makeRoom()
	}
}

// admits reports whether something more may be remembered now.
func (r *remembered) admits(hash uint64) bool {
	if !sampled(hash) && !r.all.Load() {
		return false
	}
	// Nearly full, each copy evicts another value, which is worth it only for keys that are read often.
	return r.bytes.Load() <= r.allowed()/8*7 || rand.N(8) == 0
}

// entry makes an entry of copies of a key and its value.
func (r *remembered) entry(hash uint64, key, value []byte, since uint64) *rememberedValue {
	memory := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	return &rememberedValue{in: r, hash: hash, since: since, key: memory[:len(key):len(key)], value: memory[len(key):]}
}

// put stores an entry in a set, whose lock is held.
func (r *remembered) put(set *rememberedSet, v *rememberedValue) {
	r.bytes.Add(v.size())
	r.gone(set.put(v))
}

// again reports whether a key was missed before, not long ago, and notes that it was.
func (s *rememberedSet) again(hash uint32) bool {
	if slices.Contains(s.missed[:], hash) {
		return true
	}
	s.missed[s.next%rememberedWays] = hash
	s.next++
	return false
}

// put stores an entry, and returns the one that made way.
func (s *rememberedSet) put(v *rememberedValue) (gone *rememberedValue) {
	place := -1
	for i := range s.entries {
		switch old := s.entries[i].Load(); {
		case old == nil:
			place = i
		case old.hash == v.hash && bytes.Equal(old.key, v.key):
			s.entries[i].Store(v)
			return old
		}
	}
	for place < 0 { // each that was used gets one more round
		i := int(s.hand % rememberedWays)
		s.hand++
		if old := s.entries[i].Load(); !old.used.Swap(false) {
			place, gone = i, old
		}
	}
	s.entries[place].Store(v)
	return gone
}

// gone subtracts an entry that was taken out of its set, whose lock is held. It may be nil.
func (r *remembered) gone(v *rememberedValue) {
	if v == nil {
		return
	}
	r.bytes.Add(-v.size())
	if v.run {
		r.runs.Add(-1)
	}
	if text := v.text.Load(); text != nil {
		r.texts.Add(-int64(len(*text)) - textOverhead)
	}
}

// makeRoom forgets what was not used, and all that may not be remembered, until the rest is within the limit.
func (r *remembered) makeRoom() {
	if !r.making.TryLock() {
		return
	}
	defer r.making.Unlock()
	for n := 0; n < 2*len(r.sets) && r.bytes.Load() > r.allowed(); n++ {
		set := &r.sets[r.hand%len(r.sets)]
		r.hand++
		set.mu.Lock()
		for i := range set.entries {
			v := set.entries[i].Load()
			if v != nil && (!v.used.Swap(false) || !sampled(v.hash) && !r.all.Load()) {
				set.entries[i].Store(nil)
				r.gone(v)
			}
		}
		set.mu.Unlock()
	}
}

// change forgets what the batch with the number is about to change. It is called before the batch becomes visible, for
// one batch at a time.
func (r *remembered) change(ops []kv.Op, number uint64) {
	r.renewed = r.renewed[:0]
	r.newest.Store(number)
	runs := r.runs.Load() > 0 // after newest, see collectRun
	for i := range ops {
		if ops[i].End != nil {
			r.remove(ops[i].Key, ops[i].End, number)
			continue
		}
		key := ops[i].Key
		if r.drop(r.hash(key), key, number) && len(ops) <= maxRenewing {
			r.renewed = append(r.renewed, i)
		}
		if n := len(key) - runEnd; n > 0 && runs {
			r.drop(runHash(r.hash(key[:n])), key[:n], number)
		}
	}
}

// drop forgets what is remembered of a key that the batch with the number is about to change, and reports whether
// there was something.
func (r *remembered) drop(hash uint64, key []byte, number uint64) (found bool) {
	set := r.set(hash)
	set.mu.Lock()
	defer set.mu.Unlock()
	set.changed = number
	for i := range set.entries {
		if v := set.entries[i].Load(); v != nil && v.hash == hash && bytes.Equal(v.key, key) {
			set.entries[i].Store(nil)
			r.gone(v)
			found = true
		}
	}
	return found
}

// renew remembers the new values of what change has forgotten: who changes a value has read it, and often reads it
// again to change it once more. It is called when the batch with the number is visible, and before another one is.
func (r *remembered) renew(ops []kv.Op, number uint64) {
	for _, i := range r.renewed {
		key, value := ops[i].Key, ops[i].Value
		later := func(op kv.Op) bool { return op.End != nil || bytes.Equal(op.Key, key) }
		if value == nil || len(key)+len(value) > rememberedBytes || slices.ContainsFunc(ops[i+1:], later) {
			continue
		}
		hash := r.hash(key)
		if !sampled(hash) && !r.all.Load() || r.bytes.Load() > r.allowed() {
			continue
		}
		set := r.set(hash)
		set.mu.Lock()
		r.put(set, r.entry(hash, key, value, number))
		set.mu.Unlock()
	}
}

// remove notes a gap. Runs of keys are deleted one after the other, from the first to the last, so most gaps continue
// another one.
func (r *remembered) remove(lower, upper []byte, number uint64) {
	if bytes.Compare(lower, upper) >= 0 {
		return
	}
	var old []gap
	if gaps := r.gaps.Load(); gaps != nil {
		old = *gaps
	}
	added := gap{bytes.Clone(lower), bytes.Clone(upper), number}
	list := make([]gap, 0, len(old)+1)
	before := 0
	for ; before < len(old) && bytes.Compare(old[before].upper, added.lower) < 0; before++ {
		list = append(list, old[before])
	}
	for ; before < len(old) && bytes.Compare(old[before].lower, added.upper) <= 0; before++ {
		if bytes.Compare(old[before].lower, added.lower) < 0 {
			added.lower = old[before].lower
		}
		if bytes.Compare(old[before].upper, added.upper) > 0 {
			added.upper = old[before].upper
		}
	}
	list = append(append(list, added), old[before:]...)
	if len(list) > maxGaps { // one gap that has everything: what is remembered from now on is behind it in time
		list = []gap{{lower: nil, upper: bytes.Repeat([]byte{0xFF}, kv.MaxKeyBytes+1), number: number}}
	}
	r.gaps.Store(&list)
}

// forget forgets everything.
func (r *remembered) forget() {
	for i := range r.sets {
		set := &r.sets[i]
		set.mu.Lock()
		for j := range set.entries {
			r.gone(set.entries[j].Swap(nil))
		}
		set.mu.Unlock()
	}
}
