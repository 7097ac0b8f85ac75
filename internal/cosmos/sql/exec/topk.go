package exec

import (
	"bytes"
	"container/heap"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
)

// An entry is a row, or a group, kept until all documents have been read.
type entry struct {
	key   []byte // the sort key
	row   []byte // JSON, unless it is written late
	group []accumulator
	err   error // of computing the row; reported only if the row is returned

	at       place
	position access.Position // of the row's document, in the order of the page
	size     int             // bytes of memory

	late     bool            // row, err and position are to be made of document, see addLate
	document access.Document // whose body is a copy, or stays as it is
	body     []byte          // memory of the copy
}

// overhead is roughly the memory of an entry in addition to its bytes.
const overhead = 160

// A topK keeps the entries with the smallest keys, as many as fit in a page, so that the memory of a page does not
// grow with the number of documents.
type topK struct {
	most   int                  // entries; negative for no limit
	memory int                  // bytes of entries
	keep   func(used int) error // reserves memory; after an error no more entries are kept
	short  error                // the error of keep
	enough int                  // bytes of rows that exceed a page; 0 for no limit
	after  []byte               // keys up to this one were on earlier pages; nil for none

	entries largest
	byKey   map[string]*entry // if rows with the same key are merged
	used    int
	rows    int    // bytes of rows only
	ceiling []byte // keys from this one on are left to later pages
	dropped bool   // some entries are left to later pages
	free    *entry // an entry that is written late and was dropped, for reuse
}

// admits reports whether an entry with this key would be kept. If not, it belongs to an earlier or a later page.
func (b *topK) admits(key []byte) bool {
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

// full reports that no key greater than the present ones can be admitted.
func (b *topK) full() bool { return b.most >= 0 && len(b.entries) >= b.most || b.ceiling != nil }

// find returns the entry with this key, if rows with the same key are merged.
func (b *topK) find(key []byte) (*entry, bool) {
	e, ok := b.byKey[string(key)]
	return e, ok
}

// add adds an admitted entry, and may drop others.
func (b *topK) add(e *entry) {
	if b.byKey != nil {
		b.byKey[string(e.key)] = e
	}
	b.count(e)
	heap.Push(&b.entries, e)
	b.shrink()
}

// count adds the memory of an entry.
func (b *topK) count(e *entry) {
	e.size += len(e.key) + len(e.row) + len(e.position) + overhead
	b.used += e.size
	b.rows += len(e.row)
}

// grow records that an entry has grown.
func (b *topK) grow(e *entry, by int) {
	e.size += by
	b.used += by
	b.shrink()
}

// shrink drops the entries with the greatest keys until the others fit. At least one stays.
func (b *topK) shrink() {
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
		b.ceiling, b.dropped = append(b.ceiling[:0], last.key...), true
		if b.byKey != nil {
			delete(b.byKey, string(last.key))
		}
		if last.late {
			b.free = last
		}
	}
}

// sorted returns the entries in order. If f says that the query must stop, their order is undefined.
func (b *topK) sorted(f *frame) []*entry {
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
