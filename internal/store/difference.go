package store

import (
	"bytes"
	"slices"
)

// diff notes the entries of one index that come and go with a slot's change. gather adds those before and after it to
// terms. Both sets are sorted, so one pass finds the difference, and unchanged entries are not written.
func (ws *writeSet) diff(sl *slot, gather func() error) error {
	var starts [2]int
	for side := range ws.terms {
		x := &ws.terms[side]
		starts[side], x.list, x.path = len(x.bytes), x.list[:0], x.path[:0]
	}
	if err := gather(); err != nil {
		return err
	}
	before, after := &ws.terms[0], &ws.terms[1]
	all := [...][]term{before.list, after.list}
	var same [2][]term
	if !sl.renewed {
		same = trim(before, after)
	}
	before.sort()
	after.sort()
	first := len(ws.entries)
	ws.merge(sl)
	ws.leaveOut(first, same)
	before.list, after.list = all[0], all[1]
	dropped, added := false, false
	for _, e := range ws.entries[first:] {
		dropped, added = dropped || e.gone, added || !e.gone
	}
	// Keys that no entry refers to make space for those of the next index.
	if !dropped {
		before.bytes = before.bytes[:starts[0]]
	}
	if !added {
		after.bytes = after.bytes[:starts[1]]
	}
	return ws.work.err
}

// trim takes away the terms with which both lists begin and those with which they end, and returns them. Most elements
// of an array that changes stay, and their terms need not be sorted.
func trim(before, after *terms) (same [2][]term) {
	n := min(len(before.list), len(after.list))
	first := 0
	for first < n && bytes.Equal(before.at(first), after.at(first)) && !before.over() {
		first++
	}
	b, a := len(before.list), len(after.list)
	for b > first && a > first && bytes.Equal(before.at(b-1), after.at(a-1)) && !before.over() {
		b, a = b-1, a-1
	}
	same = [...][]term{before.list[:first], before.list[b:]}
	before.list, after.list = before.list[first:b], after.list[first:a]
	return same
}

// over yields the processor now and then, and reports whether the request has ended.
func (t *terms) over() bool { return t.work != nil && t.work.step() }

// merge adds the entries that differ, in order.
func (ws *writeSet) merge(sl *slot) {
	before, after := &ws.terms[0], &ws.terms[1]
	for i, j := 0, 0; i < len(before.list) || j < len(after.list); {
		if before.over() {
			break
		}
		order := -1
		if !sl.renewed || i == len(before.list) { // a new document has no entry of the one before
			order = compareAt(before, i, after, j)
		}
		switch {
		case order < 0:
			ws.entries = append(ws.entries, entry{term: before.list[i], gone: true})
			i++
		case order > 0:
			ws.entries = append(ws.entries, entry{term: after.list[j]})
			j++
		default:
			i, j = i+1, j+1
		}
	}
}

// compareAt compares two terms; one that is past the end is the greater.
func compareAt(a *terms, i int, b *terms, j int) int {
	switch {
	case i == len(a.list):
		return 1
	case j == len(b.list):
		return -1
	}
	return bytes.Compare(a.at(i), b.at(j))
}

// leaveOut takes away the entries from the first one on whose terms are among those that are the same before and after:
// of two equal elements of an array one stays.
func (ws *writeSet) leaveOut(first int, same [2][]term) {
	found := ws.entries[first:]
	if len(found) == 0 {
		return
	}
	before, after := &ws.terms[0], &ws.terms[1]
	compare := func(e entry, key []byte) int {
		if e.gone {
			return bytes.Compare(before.key(e.term), key)
		}
		return bytes.Compare(after.key(e.term), key)
	}
	for _, list := range same {
		for _, x := range list {
			if before.over() {
				return
			}
			if i, ok := slices.BinarySearchFunc(found, before.key(x), compare); ok {
				found[i].stays = true
			}
		}
	}
	found = slices.DeleteFunc(found, func(e entry) bool { return e.stays })
	ws.entries = ws.entries[:first+len(found)]
}
