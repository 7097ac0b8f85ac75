package pebble

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/kv"
)

// A create looks up an id that is not there, which takes a tenth of its time: in every memtable, and in every table
// that may have it. So where many gets find nothing, a filter in memory has the hashes of all keys, and what it lacks
// does not exist. Filters are for families of keys. See DESIGN.md.

const (
	familyBytes = 8 // with which all keys of a family begin: those of one kind, in one range of a container
	placeBits   = 6
	families    = 1 << placeBits // that are watched at the same time

	filterAfter = 512     // gets that found nothing before a filter is made
	filterWalk  = 16      // keys to walk over for each of them, at most
	filterKeys  = 1 << 16 // keys that a filter has room for, at least
	filterMost  = 1 << 20 // keys to walk over, at most
	filterShare = 20      // one part of the cache in this many, for all filters

	bitsOfKey = 12
	probes    = 7 // bits that a key sets, all in one cache line
	lineWords = 8
	mixer     = 0x9e3779b97f4a7c15
)

// absent knows of keys that they do not exist.
type absent struct {
	families [families]atomic.Pointer[family]
	limit    int64       // of bytes
	making   atomic.Bool // a filter, one at a time
	hand     int         // of the CLOCK over families: the next to give up its filter; with the mutex of commits
}

// A family has a filter if many gets find nothing.
type family struct {
	id     uint64
	misses atomic.Int64 // gets that found nothing, without a filter
	after  atomic.Int64 // so many of them a filter is made
	stay   atomic.Int64 // gets of families with the same place that the family stays for
	used   atomic.Bool  // the filter, since the hand or such a get came by
	filter atomic.Pointer[filter]

	// with the mutex of commits:
	making bool     // a filter is being made,
	added  []uint64 // which gets these hashes as well, of keys that were written meanwhile
}

// A filter has the hashes of all keys that a family has in any state from that after the batch with the number since
// on, and of some that are gone. It is a Bloom filter in which all bits of a key are in one cache line.
type filter struct {
	since uint64
	lines []atomic.Uint64
	room  int // for further keys, with the mutex of commits
}

func newFilter(room int) *filter {
	lines := room*bitsOfKey/(64*lineWords) + 1
	return &filter{lines: make([]atomic.Uint64, lines*lineWords), room: room}
}

func (f *filter) size() int64 { return int64(len(f.lines)) * 8 }

// line returns the line of a key, and what chooses its bits, nine for each.
func (f *filter) line(hash uint64) (line []atomic.Uint64, choice uint64) {
	at, _ := bits.Mul64(hash, uint64(len(f.lines)/lineWords))
	return f.lines[at*lineWords:][:lineWords], hash * mixer
}

func (f *filter) add(hash uint64) {
	line, choice := f.line(hash)
	for range probes {
		line[choice>>61].Or(1 << (choice >> 55 & 63))
		choice <<= 9
	}
	f.room--
}

func (f *filter) lacks(hash uint64) bool {
	line, choice := f.line(hash)
	for range probes {
		if line[choice>>61].Load()&(1<<(choice>>55&63)) == 0 {
			return true
		}
		choice <<= 9
	}
	return false
}

// place is where a family is watched.
func (a *absent) place(id uint64) *atomic.Pointer[family] {
	return &a.families[id*mixer>>(64-placeBits)]
}

// family returns the family of a key, nil if it is not watched.
func (a *absent) family(key []byte) *family {
	if len(key) < familyBytes {
		return nil
	}
	id := binary.BigEndian.Uint64(key)
	if f := a.place(id).Load(); f != nil && f.id == id {
		return f
	}
	return nil
}

// lacks reports whether it is known that a key does not exist in a snapshot with the mark, or in the newest state.
func (a *absent) lacks(hash uint64, key []byte, mark uint64) bool {
	in := a.family(key)
	if in == nil {
		return false
	}
	f := in.filter.Load()
	if f == nil || mark < f.since || !f.lacks(hash) {
		return false
	}
	if !in.used.Load() {
		in.used.Store(true)
	}
	return true
}

// missed notes that a get found nothing, and returns the family if it is to have a filter.
func (a *absent) missed(key []byte) *family {
	if len(key) < familyBytes {
		return nil
	}
	id := binary.BigEndian.Uint64(key)
	place := a.place(id)
	f := place.Load()
	if f == nil || f.id != id {
		if f != nil && !f.leaves() {
			return nil
		}
		mine := &family{id: id}
		mine.after.Store(filterAfter)
		if !place.CompareAndSwap(f, mine) {
			return nil
		}
		f = mine
	}
	if f.filter.Load() != nil {
		return nil
	}
	f.stay.Add(1)
	if f.misses.Add(1) < f.after.Load() {
		return nil
	}
	return f
}

// leaves reports whether a family gives up its place to another one, a key of which a get has not found: if such gets
// are more than its own, or many while its filter is not used.
func (f *family) leaves() bool {
	if f.used.Swap(false) {
		f.stay.Store(filterAfter)
		return false
	}
	return f.stay.Add(-1) < 0
}

// size is how many bytes all filters have.
func (a *absent) size() (bytes int64) {
	for i := range a.families {
		if f := a.families[i].Load(); f != nil {
			if f := f.filter.Load(); f != nil {
				bytes += f.size()
			}
		}
	}
	return bytes
}

// fits reports whether there is room for a filter. If need be, filters go that were not used since the hand came by. It
// is called with the mutex of commits.
func (a *absent) fits(f *filter) bool {
	for range families {
		if a.size()+f.size() <= a.limit {
			return true
		}
		if old := a.families[a.hand].Load(); old != nil && !old.used.Swap(false) {
			old.filter.Store(nil)
		}
		a.hand = (a.hand + 1) % families
	}
	return a.size()+f.size() <= a.limit
}

// forget gives up all filters.
func (a *absent) forget() {
	for i := range a.families {
		a.families[i].Store(nil)
	}
}

// addKeys adds what a batch is about to write to filters. It is called with the mutex of commits, before the batch
// becomes visible.
func (e *Engine) addKeys(ops []kv.Op) {
	for i := range ops {
		if ops[i].Value == nil || ops[i].End != nil {
			continue
		}
		in := e.absent.family(ops[i].Key)
		if in == nil {
			continue
		}
		f := in.filter.Load()
		if f == nil && !in.making {
			continue
		}
		hash := e.remembered.hash(ops[i].Key)
		if in.making {
			in.added = append(in.added, hash)
		}
		if f == nil || !f.lacks(hash) {
			continue
		}
		if f.add(hash); f.room < 0 {
			e.makeFilter(in) // a larger one, or one without what is gone
		}
	}
}

// makeFilter begins to make a filter for a family, if none is being made. Until there is one, the former remains.
func (e *Engine) makeFilter(of *family) {
	most := min(filterMost, e.absent.limit*8/bitsOfKey/2) // of which there may be twice as many
	if most < filterKeys/2 || !e.absent.making.CompareAndSwap(false, true) {
		return
	}
	if !e.calls.Enter() {
		e.absent.making.Store(false)
		return
	}
	go func() {
		defer e.calls.Leave()
		defer e.absent.making.Store(false)
		if of.filter.Load() == nil {
			most = min(most, filterWalk*of.misses.Load())
		}
		if !e.collectFilter(of, int(most)) {
			of.after.Store(4 * max(filterAfter, of.misses.Load()))
		}
	}()
}

// collectFilter makes a filter, unless a family has more keys than most, and reports whether the family has it now.
func (e *Engine) collectFilter(of *family, most int) bool {
	e.mu.Lock()
	of.making = true
	e.mu.Unlock()
	view := e.db.NewSnapshot() // may wait for a lock of Pebble, so without the mutex
	e.mu.Lock()
	since := e.newest.Load() // the view has no later batch
	e.mu.Unlock()

	hashes, ok := e.hashes(view, of.id, most)
	if view.Close() != nil {
		ok = false
	}
	f := newFilter(max(2*len(hashes), filterKeys))
	f.since = since
	for _, hash := range hashes {
		f.add(hash)
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	for _, hash := range of.added {
		if f.lacks(hash) {
			f.add(hash)
		}
	}
	of.making, of.added = false, nil
	of.filter.Store(nil)
	if !ok || e.absent.place(of.id).Load() != of || !e.absent.fits(f) {
		return false
	}
	of.misses.Store(0)
	of.after.Store(int64(max(filterAfter, len(hashes)/filterWalk))) // once it had to go
	of.stay.Store(filterAfter)
	of.used.Store(true)
	of.filter.Store(f)
	return true
}

// hashes returns those of all keys of a family, and reports whether it has found all of them, and not more than most.
// Where keys cannot be read there is no filter, and a get of such a key reports the error.
func (e *Engine) hashes(view *pebble.Snapshot, id uint64, most int) (list []uint64, ok bool) {
	o := pebble.IterOptions{LowerBound: binary.BigEndian.AppendUint64(nil, id)}
	if id < math.MaxUint64 {
		o.UpperBound = binary.BigEndian.AppendUint64(nil, id+1)
	}
	it, err := view.NewIter(&o)
	if err != nil {
		return nil, false
	}
	for valid := it.First(); valid; valid = it.Next() {
		if len(list) >= most || e.closing.Err() != nil {
			it.Close()
			return nil, false
		}
		list = append(list, e.remembered.hash(it.Key()))
	}
	return list, it.Close() == nil
}
