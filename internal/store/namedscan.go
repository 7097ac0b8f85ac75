package store

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A namedScan is a walk over the intervals of one named index.
type namedScan struct {
	*reading
	of        *access.IndexScan
	n         *named // nil for the index on _id
	prefix    []byte // of all entries
	intervals []interval
	checks    []columnCheck
	multikey  bool
	terms     terms
}

// errManyEntries rejects intervals that are right only while no document has several entries.
var errManyEntries = fault.New(fault.Conflict, "a document has several entries in the index")

// scanNamed hands out documents in the order of named indexes. A position is the ordinal of
// the scan and the entry's key without its prefix: it needs no state between pages. A document
// with several entries is handed out at the first of them that the scans meet.
func (r *reading) scanNamed(scans access.IndexScans) error {
	from, after := 0, []byte(nil)
	if r.after != nil {
		if len(r.after) < 2 || int(r.after[0]) >= len(scans) {
			return ErrPosition
		}
		from, after = int(r.after[0]), r.after[1:]
	}
	walks, err := r.newNamedScans(scans)
	if err != nil {
		return err
	}
	for i := from; i < len(walks); i++ {
		if err := walks[i].follow(i, walks[:i], after); err != nil {
			return err
		}
		after = nil
	}
	return nil
}

func (r *reading) newNamedScans(scans access.IndexScans) ([]*namedScan, error) {
	walks := make([]*namedScan, len(scans))
	for i := range scans {
		w, err := r.newNamedScan(&scans[i])
		if err != nil {
			return nil, err
		}
		walks[i] = w
	}
	return walks, nil
}

func (r *reading) newNamedScan(of *access.IndexScan) (*namedScan, error) {
	w := &namedScan{reading: r, of: of}
	if !w.find(r.s, r.v, r.rng) {
		return nil, errIndexChanged
	}
	if w.n != nil {
		var err error
		if w.multikey, err = r.s.isMultikey(r.ctx, r.snapshot, r.rng, w.n); err != nil {
			return nil, err
		}
		// Read from the snapshot: the mark may have been set after the language chose its plan.
		if w.multikey && of.Single {
			return nil, errManyEntries
		}
		w.multikey = w.multikey || w.n.Wildcard // which has an entry for each path
	}
	w.bound()
	return w, nil
}

// find finds the index in a range, and reports whether it is there and complete.
func (w *namedScan) find(s *Store, v catalog.View, rng keys.Range) bool {
	if w.of.Index == access.Identity {
		w.prefix = rng.AppendPrefix(nil, keys.KindLookup)
		return true
	}
	w.prefix = rng.NamedPrefix(nil, w.of.Index)
	w.n = s.indexer(v).find(w.of.Index)
	return w.n != nil && !w.n.Building
}

// bound finds the keys of all intervals.
func (w *namedScan) bound() {
	if w.of.Intervals == nil {
		w.intervals = []interval{prefixed(w.prefix)}
	}
	for i := range w.of.Intervals {
		w.intervals = append(w.intervals, w.interval(&w.of.Intervals[i]))
	}
	w.checks = w.newChecks(w.of.Checks)
}

// interval finds the keys of an interval.
func (w *namedScan) interval(x *access.Interval) interval {
	prefix, column := bytes.Clone(w.prefix), len(x.Equal)
	for i, v := range x.Equal {
		prefix, _ = w.append(prefix, v, i)
	}
	return w.valuesWithin(prefix, x, column)
}

// valuesWithin finds the keys that begin with a prefix and have a value within the bounds of an interval in a column.
func (w *namedScan) valuesWithin(prefix []byte, x *access.Interval, column int) interval {
	descending := column < w.columns() && w.n != nil && w.n.descending(column)
	return between(prefix, x.Low, x.High, descending, func(dst []byte, v doc.Value) ([]byte, bool) {
		return w.append(dst, v, column)
	})
}

func (w *namedScan) columns() int {
	switch {
	case w.n == nil:
		return 1
	case w.n.Wildcard:
		return 2
	}
	return len(w.n.Columns)
}

// append appends a value as entries of the index have it in a column.
func (w *namedScan) append(dst []byte, v doc.Value, column int) (form []byte, clipped bool) {
	if w.n == nil {
		return keys.AppendIDBound(dst, v)
	}
	return keys.AppendBSONClipped(dst, v, w.n.descending(column))
}

// follow walks the intervals, from behind a position on. before are the scans that have been
// made already.
func (w *namedScan) follow(ordinal int, before []*namedScan, after []byte) error {
	if after != nil {
		after = append(bytes.Clone(w.prefix), after...)
	}
	leads := w.leads()
	ahead := w.lookAhead(func(key []byte, number uint64) error { return w.giveAt(key, number, ordinal, before) })
	for i := range w.intervals {
		at := w.intervals[i]
		if w.of.Reverse {
			at = w.intervals[len(w.intervals)-1-i]
		}
		if after != nil {
			at = at.behind(after, w.of.Reverse)
		}
		if err := w.visitChecked(at, leads, w.skipping(ahead.see)); err != nil {
			return err
		}
	}
	return ahead.rest()
}

// visitChecked is along for entries that pass the checks.
func (w *namedScan) visitChecked(
	x interval, leads func(kv.Iterator) (uint64, error), visit func(key []byte, number uint64) error,
) error {
	if len(w.checks) == 0 {
		return w.along(x, w.of.Reverse, leads, visit)
	}
	c := checkedWalk{namedScan: w}
	return w.alongBy(x, c.move, leads, func(key []byte, number uint64) error {
		ok, err := c.passes(key)
		if ok {
			return visit(key, number)
		}
		w.stats.Keys++
		return err
	})
}

// leads reads the number of the document that an entry leads to.
func (w *namedScan) leads() func(kv.Iterator) (uint64, error) {
	if w.n == nil {
		return numberInValue
	}
	return numberInKey
}

// giveAt hands out the document that an entry leads to, unless it comes at another entry.
func (w *namedScan) giveAt(key []byte, number uint64, ordinal int, before []*namedScan) error {
	w.stats.Keys++
	h, body, alive, err := w.record(number)
	// Which entry comes first is computed from the document, so no set of numbers grows with the scan, and pages need
	// no memory of each other.
	if err != nil || !alive || !w.first(key, number, body) || met(before, number, body) {
		return err
	}
	w.position = append(append(w.position[:0], byte(ordinal)), key[len(w.prefix):]...)
	return w.give(number, h, body)
}

// first reports whether an entry is the one at which its document is handed out.
func (w *namedScan) first(key []byte, number uint64, body doc.Doc) bool {
	return !w.multikey || bytes.Equal(key, w.entry(number, body))
}

// entry is the first entry of a document that the walk meets, nil if there is none.
func (w *namedScan) entry(number uint64, body doc.Doc) []byte {
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
		// The terms are sorted. Forward, the first one within an interval is met first; in reverse, the last one of the
		// latest interval.
		if in < 0 || found != nil && !w.of.Reverse || found != nil && in < at {
			continue
		}
		found, at = key, in
	}
	return found
}

// within is the ordinal of the interval that has a key, -1 if none has it or the key does not pass the checks.
func (w *namedScan) within(key []byte) int {
	for i := range w.intervals {
		if !w.intervals[i].has(key) {
			continue
		}
		if ok, _, _, err := w.passes(key); ok && err == nil { // no error: the key was just made of a document
			return i
		}
		return -1
	}
	return -1
}

// met reports whether one of the scans has handed a document out.
func met(scans []*namedScan, number uint64, body doc.Doc) bool {
	for _, w := range scans {
		if w.entry(number, body) != nil {
			return true
		}
	}
	return false
}

// Places tells where forward scans, one after the other, come to a document, or where a walk in order of creation does
// if there are none: as bytes that are in the order of the documents. It fails with fault.Conflict if an index is gone.
func (s *Store) Places(v catalog.View, scans access.IndexScans) (func(number uint64, body doc.Doc) []byte, error) {
	walks := make([]*namedScan, len(scans))
	for i := range scans {
		w := &namedScan{reading: &reading{s: s, v: v, rng: v.Container.Only()}, of: &scans[i]}
		if !w.find(s, v, w.rng) {
			return nil, errIndexChanged
		}
		w.bound()
		walks[i] = w
	}
	return func(number uint64, body doc.Doc) []byte {
		for i, w := range walks {
			if key := w.entry(number, body); key != nil {
				return append([]byte{byte(i)}, key...)
			}
		}
		return keys.AppendNumber(nil, number)
	}, nil
}
