package store

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A visiting is a walk over the intervals of one index that has a name.
type visiting struct {
	*reading
	v         *access.IndexScan
	n         *named // nil for the index on _id
	prefix    []byte // of all entries
	intervals []bounds
	multikey  bool
	terms     terms
}

// bounds are the keys in [lower, upper).
type bounds struct{ lower, upper []byte }

func (b bounds) has(key []byte) bool {
	return bytes.Compare(key, b.lower) >= 0 && (b.upper == nil || bytes.Compare(key, b.upper) < 0)
}

// errManyEntries says that intervals were chosen in the belief that no document has several entries.
var errManyEntries = fault.New(fault.Conflict, "a document has several entries in the index")

// scanVisits hands out documents in the order of the indexes that have names. A position is
// the ordinal of the visit and the entry's key without its prefix. It is stateless: a document
// with several entries is handed out at the first of them that the walks meet.
func (r *reading) scanNamed(scans access.IndexScans) error {
	from, after := 0, []byte(nil)
	if r.after != nil {
		if len(r.after) < 2 || int(r.after[0]) >= len(scans) {
			return ErrPosition
		}
		from, after = int(r.after[0]), r.after[1:]
	}
	walks := make([]*visiting, len(scans))
	for i := range scans {
		w, err := r.visiting(&scans[i])
		if err != nil {
			return err
		}
		walks[i] = w
	}
	for i := from; i < len(walks); i++ {
		if err := walks[i].follow(i, walks[:i], after); err != nil {
			return err
		}
		after = nil
	}
	return nil
}

func (r *reading) visiting(v *access.IndexScan) (*visiting, error) {
	w := &visiting{reading: r, v: v}
	if v.Index == access.Identity {
		w.prefix = r.rng.AppendPrefix(nil, keys.KindLookup)
	} else {
		if w.n = r.s.indexer(r.v).find(v.Index); w.n == nil || w.n.Building {
			return nil, errIndexChanged
		}
		w.prefix = r.rng.NamedPrefix(nil, v.Index)
		var err error
		if w.multikey, err = r.s.isMultikey(r.snapshot, r.rng, w.n); err != nil {
			return nil, err
		}
		if w.multikey && v.Single {
			return nil, errManyEntries
		}
		w.multikey = w.multikey || w.n.Wildcard // which has an entry for each path
	}
	if v.Intervals == nil {
		lower, upper := keys.Prefixed(w.prefix)
		w.intervals = []bounds{{lower, upper}}
	}
	for i := range v.Intervals {
		w.intervals = append(w.intervals, w.bounds(&v.Intervals[i]))
	}
	return w, nil
}

// bounds finds the keys of an interval. A bound that entries keep only a part of leaves no one out.
func (w *visiting) bounds(x *access.Interval) bounds {
	prefix := bytes.Clone(w.prefix)
	for i, v := range x.Equal {
		prefix, _ = w.append(prefix, v, i)
	}
	descending := len(x.Equal) < w.columns() && w.n != nil && w.n.descending(len(x.Equal))
	first, last := x.Low, x.High
	if descending {
		first, last = last, first
	}
	return bounds{w.edge(prefix, first, len(x.Equal), false), w.edge(prefix, last, len(x.Equal), true)}
}

func (w *visiting) columns() int {
	switch {
	case w.n == nil:
		return 1
	case w.n.Wildcard:
		return 2
	}
	return len(w.n.Columns)
}

// append appends a value as entries of the index have it in a column.
func (w *visiting) append(dst []byte, v doc.Value, column int) (form []byte, clipped bool) {
	if w.n == nil {
		return keys.AppendIDBound(dst, v)
	}
	return keys.AppendBSONClipped(dst, v, w.n.descending(column))
}

// edge is the key before which, or with after behind which, entries are out of bounds.
func (w *visiting) edge(prefix []byte, b *access.Bound, column int, after bool) []byte {
	key, open := bytes.Clone(prefix), false
	if b != nil {
		var clipped bool
		key, clipped = w.append(key, b.Value, column)
		open = b.Open && !clipped
	}
	if after != open {
		return keys.End(key)
	}
	return key
}

// follow walks the intervals. before are the walks that have been made already.
func (w *visiting) follow(ordinal int, before []*visiting, after []byte) error {
	if after != nil {
		after = append(bytes.Clone(w.prefix), after...)
	}
	for i := range w.intervals {
		at := w.intervals[i]
		if w.v.Reverse {
			at = w.intervals[len(w.intervals)-1-i]
		}
		if after != nil {
			switch {
			case w.v.Reverse && (at.upper == nil || bytes.Compare(after, at.upper) < 0):
				at.upper = after
			case !w.v.Reverse && bytes.Compare(after, at.lower) >= 0:
				at.lower = append(bytes.Clone(after), 0)
			}
		}
		if at.upper != nil && bytes.Compare(at.lower, at.upper) >= 0 {
			continue
		}
		if err := w.interval(at, ordinal, before); err != nil {
			return err
		}
	}
	return nil
}

func (w *visiting) interval(at bounds, ordinal int, before []*visiting) error {
	it, err := w.snapshot.Iterate(at.lower, at.upper)
	if err != nil {
		return err
	}
	defer it.Close()
	for w.move(it) {
		if err := w.tick(); err != nil {
			return err
		}
		w.stats.Keys++
		number, err := w.leadsTo(it)
		if err != nil {
			if it.Err() != nil {
				return it.Err()
			}
			return corrupt(err, "index entry")
		}
		h, body, alive, err := w.record(number)
		if err != nil {
			return err
		}
		if !alive || !w.first(it.Key(), number, body) || met(before, number, body) {
			continue
		}
		w.position = append(append(w.position[:0], byte(ordinal)), it.Key()[len(w.prefix):]...)
		if err := w.give(number, h, body); err != nil {
			return err
		}
	}
	return it.Err()
}

func (w *visiting) move(it kv.Iterator) bool {
	if w.v.Reverse {
		return it.Prev()
	}
	return it.Next()
}

func (w *visiting) leadsTo(it kv.Iterator) (uint64, error) {
	if w.n == nil {
		return keys.DecodeNumber(it.Value())
	}
	return keys.Number(it.Key())
}

// first reports whether an entry is the one at which its document is handed out.
func (w *visiting) first(key []byte, number uint64, body doc.Doc) bool {
	return !w.multikey || bytes.Equal(key, w.entry(number, body))
}

// entry is the first entry of a document that the walk meets, nil if there is none.
func (w *visiting) entry(number uint64, body doc.Doc) []byte {
	if w.n == nil {
		form := keys.AppendID(bytes.Clone(w.prefix), doc.Lookup(body, "_id"))
		if w.within(form) < 0 {
			return nil
		}
		return form
	}
	if _, err := w.terms.collectNamed(w.n, w.rng, body); err != nil {
		return nil
	}
	found, at := []byte(nil), -1
	for i := range w.terms.list {
		key := w.terms.entry(i, number)
		in := w.within(key)
		if in < 0 || found != nil && !w.v.Reverse || found != nil && in < at {
			continue
		}
		found, at = key, in
	}
	return found
}

// within is the interval that has a key, -1 if none has.
func (w *visiting) within(key []byte) int {
	for i := range w.intervals {
		if w.intervals[i].has(key) {
			return i
		}
	}
	return -1
}

// met reports whether one of the walks has handed a document out.
func met(walks []*visiting, number uint64, body doc.Doc) bool {
	for _, w := range walks {
		if w.entry(number, body) != nil {
			return true
		}
	}
	return false
}
