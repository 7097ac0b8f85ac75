package exec

import (
	"bytes"
	"cmp"

	"github.com/mayflydb/mayfly/internal/access"
)

// groups makes a pass that returns the next groups, in order of their keys.
func (r *run) groups() (more bool, err error) {
	b := r.newTopK()
	b.enough = 0 // rows are computed at the end
	b.byKey, b.after = map[string]*entry{}, r.token.key
	if err := r.gather(b); err != nil {
		return false, err
	}
	r.f.begin(nil)
	for _, e := range b.sorted(r.f) {
		if r.full() {
			return true, nil
		}
		r.sel.finish(r.f, e.group)
		if err := r.give(r.write); err != nil {
			return false, err
		}
		r.f.reset()
		r.passedKey(e)
		if r.token.take == 0 {
			return false, nil
		}
	}
	return b.dropped, nil
}

// gather adds rows to their groups.
func (r *run) gather(b *topK) error {
	if ok, err := r.tabulateGroups(b); ok || err != nil {
		return err
	}
	var key []byte
	return r.over(func(_ *access.Document, at place) bool {
		key = key[:0]
		for _, get := range r.sel.keys {
			key = appendKey(key, get(r.f))
		}
		r.f.spend(len(key))
		e := b.group(clipKey(key), r.sel.parts)
		if e == nil {
			return true
		}
		grown := 0
		for i := range r.sel.parts {
			grown += e.group[i].add(&r.sel.parts[i], r.f, at)
		}
		if grown > 0 {
			r.growGroup(b, e, grown)
		}
		return true
	})
}

// group finds or adds the group with a key. It returns nil for a group of another page.
func (b *topK) group(id []byte, parts []part) *entry {
	e, ok := b.find(id)
	if ok {
		return e
	}
	if !b.admits(id) {
		return nil
	}
	e = &entry{key: bytes.Clone(id), group: make([]accumulator, len(parts)), size: overPart * len(parts)}
	b.add(e)
	return e
}

// growGroup records that a group has grown.
func (r *run) growGroup(b *topK, e *entry, by int) {
	b.grow(e, by)
	if b.used > b.memory {
		r.f.fail(cmp.Or(b.short, errGroup))
	}
}

// groupsUnique makes a pass over all groups that returns the next rows in order of their values, each value once.
func (r *run) groupsUnique() (more bool, err error) {
	groups := &topK{most: -1, memory: r.limit.Memory, keep: r.keep, byKey: map[string]*entry{}}
	if err := r.gather(groups); err != nil {
		return false, err
	}
	if groups.dropped {
		return false, cmp.Or(groups.short, errGroup)
	}
	b := r.newTopK()
	b.byKey, b.after = map[string]*entry{}, r.token.key
	r.f.begin(nil)
	for _, g := range groups.sorted(r.f) {
		r.f.reset()
		r.sel.finish(r.f, g.group)
		v := r.value(r.f)
		if r.f.err != nil {
			return false, r.f.err
		}
		if v.Type == 0 {
			continue
		}
		id := clipKey(appendKey(nil, v))
		if _, ok := b.find(id); ok || !b.admits(id) {
			continue
		}
		if e, ok := r.entry(id, place{}); ok {
			b.add(e)
		}
	}
	return r.flush(b, r.passedKey)
}
