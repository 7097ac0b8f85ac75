package exec

import (
	"bytes"
	"container/heap"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
)

// An entry is a row, or a group, that waits for the end of a walk.
type entry struct {
	key   []byte // by which entries are sorted
	row   []byte // JSON
	group []accumulator
	err   error // of making the row: it only counts if the row is given

	at       place
	position access.Position // of the row's document in the order of the page
	size     int             // bytes kept
}

// overhead is about what an entry takes besides its bytes.
const overhead = 160

// A best keeps the least entries that it is shown, as many as fit in a page: so
// the memory of a page does not grow with the documents behind it.
type best struct {
	most   int                  // entries; negative: any number
	memory int                  // bytes of entries
	keep   func(used int) error // asked before there are more; when it refuses, these are all
	short  error                // with which it refused
	enough int                  // bytes of rows that are more than a page gives; 0: no such limit
	after  []byte               // keys up to here have been given before; nil: none

	entries largest
	byKey   map[string]*entry // when rows with the same key are one
	used    int
	rows    int    // bytes of rows alone
	ceiling []byte // keys from here on are left to later pages
	dropped bool   // there are such
}

// admits reports whether an entry with this key would be kept. One that would
// not belongs to a page before, or to one behind.
func (b *best) admits(key []byte) bool {
	switch {
	case b.after != nil && bytes.Compare(key, b.after) <= 0:
		return false
	case b.most == 0, b.ceiling != nil && bytes.Compare(key, b.ceiling) >= 0:
		b.dropped = true
		return false
	case b.most > 0 && len(b.entries) == b.most && bytes.Compare(key, b.entries[0].key) >= 0:
		b.dropped = true
		return false
	}
	return true
}

// full reports that no greater key than those here can be admitted.
func (b *best) full() bool { return b.most >= 0 && len(b.entries) >= b.most || b.ceiling != nil }

// find gives the entry with this key, if rows with the same key are one.
func (b *best) find(key []byte) (*entry, bool) {
	e, ok := b.byKey[string(key)]
	return e, ok
}

// add keeps an entry that was admitted, and drops others for it.
func (b *best) add(e *entry) {
	if b.byKey != nil {
		b.byKey[string(e.key)] = e
	}
	e.size += len(e.key) + len(e.row) + len(e.position) + overhead
	b.used += e.size
	b.rows += len(e.row)
	heap.Push(&b.entries, e)
	b.shrink()
}

// grow tells that an entry takes more memory than before.
func (b *best) grow(e *entry, by int) {
	e.size += by
	b.used += by
	b.shrink()
}

// shrink drops the greatest entries until the others fit. One always stays.
func (b *best) shrink() {
	if b.keep != nil && b.used <= b.memory {
		if err := b.keep(b.used); err != nil {
			b.memory, b.keep, b.short = b.used-1, nil, err
		}
	}
	for len(b.entries) > 1 {
		last := b.entries[0]
		crowded := b.most >= 0 && len(b.entries) > b.most || b.used > b.memory
		if !crowded && (b.enough == 0 || b.rows-len(last.row) < b.enough) {
			return
		}
		heap.Pop(&b.entries)
		b.used -= last.size
		b.rows -= len(last.row)
		b.ceiling, b.dropped = last.key, true
		if b.byKey != nil {
			delete(b.byKey, string(last.key))
		}
	}
}

// sorted gives the entries in order, or in none when f says that the query is to stop.
func (b *best) sorted(f *frame) []*entry {
	all := []*entry(b.entries)
	slices.SortFunc(all, func(a, b *entry) int { return f.compareKeys(a.key, b.key) })
	return all
}

// largest is a heap whose root has the greatest key.
type largest []*entry

func (l largest) Len() int           { return len(l) }
func (l largest) Less(i, j int) bool { return bytes.Compare(l[i].key, l[j].key) > 0 }
func (l largest) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
}
func (l *largest) Push(x any) { *l = append(*l, x.(*entry)) }
func (l *largest) Pop() any {
	old := *l
	e := old[len(old)-1]
	*l = old[:len(old)-1]
	return e
}
