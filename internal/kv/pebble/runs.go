package pebble

import (
	"bytes"
	"sort"

	"github.com/mayflydb/mayfly/internal/kv"
)

// Runs, see kv.Rememberer, are remembered as values are if their keys have no values: as one value, which has the last
// eight bytes of each key, at the prefix. A batch that changes a key takes out the run that the key is in. See
// DESIGN.md.

const runEnd = 8 // bytes of a key of a run behind its prefix

// runHash makes the hash of a prefix that of its run, so that no value of a key with the same bytes is taken for it.
func runHash(prefix uint64) uint64 { return ^prefix }

// collectRun returns what collects a run that is not remembered, but was walked over before, not long ago; nil for
// others. mark is that of the snapshot that is walked over.
func (r *remembered) collectRun(hash uint64, prefix []byte, mark uint64) *collectedRun {
	if !r.admits(hash) || !r.again(hash) {
		return nil
	}
	run := &collectedRun{in: r, hash: hash, since: mark, prefix: bytes.Clone(prefix)}
	r.runs.Add(1)
	// A batch that is not there yet looks for runs from now on. One that is, and that the snapshot may not have, may
	// have found none to look for.
	if r.newest.Load() > mark {
		run.abandon()
		return nil
	}
	return run
}

// again reports whether a hash was missed before, not long ago, and notes that it was.
func (r *remembered) again(hash uint64) bool {
	set := r.set(hash)
	set.mu.Lock()
	defer set.mu.Unlock()
	return set.again(uint32(hash >> 32))
}

// A collectedRun is what a walk over a run has seen, from its first key on.
type collectedRun struct {
	in     *remembered
	hash   uint64
	since  uint64 // number of a batch whose state the walk is in, or an earlier one
	prefix []byte
	ends   []byte
	large  bool // more than may be remembered
}

// collect adds the key that Next has found. Without one the run is complete, and is remembered.
func (i *iterator) collect(found bool) {
	run := i.run
	if !found {
		if i.Err() != nil {
			i.stopCollecting()
			return
		}
		i.run = nil
		run.keep()
		return
	}
	key, n := i.walk.Key(), len(run.prefix)
	value, err := i.walk.ValueAndErr()
	switch {
	case err != nil || len(value) > 0 || len(key) != n+runEnd:
		i.stopCollecting()
	case n+len(run.ends)+runEnd > rememberedBytes:
		i.run, run.ends, run.large = nil, nil, true
		run.keep()
	default:
		run.ends = append(run.ends, key[n:]...)
	}
}

// stopCollecting gives up what collects a run, if there is something.
func (i *iterator) stopCollecting() {
	if i.run != nil {
		i.run.abandon()
		i.run = nil
	}
}

// keep remembers a run, if none of its keys may have changed meanwhile.
func (c *collectedRun) keep() {
	v := c.in.entry(c.hash, c.prefix, c.ends, c.since)
	if v.run = true; c.large {
		v.value = nil
	}
	set := c.in.set(c.hash)
	set.mu.Lock()
	kept := set.changed <= c.since
	if kept {
		c.in.put(set, v)
	}
	set.mu.Unlock()
	if !kept {
		c.abandon()
	} else if c.in.bytes.Load() > c.in.allowed() {
		c.in.makeRoom()
	}
}

// abandon ends the collection of a run that is not remembered.
func (c *collectedRun) abandon() { c.in.runs.Add(-1) }

// A runIterator walks over a run that is remembered.
type runIterator struct {
	engine *Engine
	key    []byte // prefix and end
	ends   []byte
	at     int // place of the key: -1 before the first, number of keys behind the last
	begun  bool
	closed bool
}

var _ kv.Iterator = (*runIterator)(nil)

func newRunIterator(e *Engine, run *rememberedValue) *runIterator {
	return &runIterator{engine: e, key: append(run.key, make([]byte, runEnd)...), ends: run.value, at: -1}
}

// move moves to a place, and reports whether a key is there.
func (i *runIterator) move(at int) bool {
	i.begun = true
	i.at = min(max(at, -1), len(i.ends)/runEnd)
	if i.at < 0 || i.at == len(i.ends)/runEnd {
		return false
	}
	copy(i.key[len(i.key)-runEnd:], i.ends[i.at*runEnd:])
	return true
}

func (i *runIterator) Next() bool { return i.move(i.at + 1) }

func (i *runIterator) Prev() bool {
	if !i.begun {
		return i.move(len(i.ends)/runEnd - 1)
	}
	return i.move(i.at - 1)
}

func (i *runIterator) Seek(key []byte) bool {
	return i.move(sort.Search(len(i.ends)/runEnd, func(at int) bool {
		i.move(at)
		return bytes.Compare(i.key, key) >= 0
	}))
}

func (i *runIterator) Key() []byte { return i.key }

func (i *runIterator) Value() []byte { return []byte{} }

func (i *runIterator) Err() error { return nil }

func (i *runIterator) Close() error {
	if !i.closed {
		i.closed = true
		i.engine.open.Add(-1)
	}
	return nil
}
