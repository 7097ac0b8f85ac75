package store

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// The least and the greatest value at a path are at the ends of its entries, the least and the greatest stamp at those
// of the feed. Unlike for a whole table, it does not matter whether everything is alive: the first document that is.

// ends adds the values at the ends of each column in a range.
func (w *tabulation) ends(catalog.Range) error {
	counter, err := counterOf(w.ctx, w.snapshot, w.rng)
	if err != nil || counter.Documents == 0 {
		return err
	}
	if w.table.Counts && (w.only != nil || !w.alive) {
		return errInexact
	}
	before := w.of.Documents
	group, err := w.table.Group(doc.Value{})
	if err != nil {
		return err
	}
	for column, path := range w.table.Columns {
		x := w.valuesAt(path)
		stamps := isStamp(x)
		var e entryRange
		if stamps {
			e, err = w.stampEntries(x)
		} else {
			e, err = w.entriesAt(x)
		}
		if err != nil {
			return err
		}
		added := w.of.Documents
		for _, step := range []func(kv.Iterator) bool{kv.Iterator.Next, kv.Iterator.Prev} {
			if err := w.end(e, stamps, step, group, column); err != nil {
				return err
			}
		}
		if w.table.Counts {
			defined, err := w.countDefined(path, counter)
			if err != nil {
				return err
			}
			// Both ends may be the same document.
			if added = w.of.Documents - added; defined < added {
				return errInexact
			}
			w.table.Defined(group, column, defined-added)
		}
	}
	if w.table.Counts {
		w.table.Count(group, counter.Documents)
	}
	w.of.Bytes += (w.of.Documents - before) * (counter.Bytes / counter.Documents)
	return nil
}

// countDefined counts the documents with a value at a path, all of which are alive: all but those without, if these are
// few.
func (w *tabulation) countDefined(of access.Path, counter keys.Counter) (n uint64, err error) {
	if isStamp(&access.Range{Path: of}) {
		return counter.Documents, nil
	}
	l, path, err := w.lacking(of, counter)
	if err != nil {
		return 0, err
	}
	few, ok := l.(*sorted)
	if n = counter.Documents; !ok || uint64(len(few.numbers)*costs.perNumber) > n {
		return 0, errInexact // a walk over the entries takes less time
	}
	err = w.eachLacking(few, path, func() error {
		n--
		return nil
	})
	return n, err
}

// end adds the value of the first living document in one direction.
func (w *tabulation) end(e entryRange, stamps bool, step func(kv.Iterator) bool, group, column int) error {
	if e.empty() {
		return nil
	}
	it, err := w.snapshot.Iterate(w.ctx, e.lower, e.upper)
	if err != nil {
		return err
	}
	defer it.Close()
	for left := costs.filter; step(it); left-- {
		if left == 0 {
			return errInexact // many are dead, and there may be no end of them
		}
		if err := w.tick(); err != nil {
			return err
		}
		number, v, whole, err := w.valueOf(it, e, stamps)
		if err != nil {
			return err
		}
		if !w.alive {
			if _, _, alive, err := w.record(number); err != nil {
				return err
			} else if !alive {
				continue
			}
		}
		w.of.Documents++
		if doc.IsUndefined(v) || !w.table.Add(group, column, v, whole) {
			return errInexact
		}
		break
	}
	return it.Err()
}

// valueOf reads the entry at which an iterator is.
func (w *tabulation) valueOf(it kv.Iterator, e entryRange, stamps bool) (n uint64, v doc.Value, whole bool, err error) {
	if stamps {
		f, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return 0, v, false, corrupt(err, "change feed entry")
		}
		return f.Number, doc.Int(f.Stamp), true, nil
	}
	number, form, err := numberAndForm(it.Key(), e)
	if err != nil {
		return 0, v, false, err
	}
	v, whole, err = keys.DecodeValue(w.room[:0], form)
	if err != nil {
		err = corrupt(err, "index entry")
	}
	return number, v, whole, err
}

// numberAndForm takes an entry of a path apart.
func numberAndForm(key []byte, e entryRange) (number uint64, form []byte, err error) {
	number, err = keys.Number(key)
	if err != nil || len(key) < len(e.prefix)+numberBytes {
		return 0, nil, corrupt(err, "index entry")
	}
	return number, key[len(e.prefix) : len(key)-numberBytes], nil
}

// atEnds reports whether the values that a table asks for are at the ends of the range that selects the documents, nil
// for all.
func atEnds(x *access.Table, only *access.Range) bool {
	return x.Ends && x.By == nil && (only == nil || !slices.ContainsFunc(x.Columns, func(p access.Path) bool {
		return !slices.Equal(p, only.Path)
	}))
}
