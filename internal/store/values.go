package store

import (
	"bytes"
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// The values that documents have at a path are read from its entries by going from each value to the next one: a seek,
// however many documents have the value. As for the ends, the first living document of a value is enough.

// withinPath reports whether a table asks for values of a path that also selects the documents, if anything does.
func withinPath(x *access.Table, only *access.Range) bool {
	return x.Values && x.By != nil && (only == nil || slices.Equal(x.By, only.Path))
}

// values tells the groups of a range.
func (w *tabulation) values(catalog.Range) error {
	counter, err := counterOf(w.ctx, w.snapshot, w.rng)
	if err != nil || counter.Documents == 0 {
		return err
	}
	before := w.of.Documents
	e, err := w.entriesAt(w.valuesAt(w.table.By))
	if err != nil {
		return err
	}
	if err := w.eachValue(e); err != nil {
		return err
	}
	if w.only == nil && w.table.Lacking {
		lacking, err := w.someLack(counter)
		if err != nil {
			return err
		}
		if lacking {
			if _, err := w.table.Group(doc.Value{}); err != nil {
				return err
			}
		}
	}
	w.of.Bytes += (w.of.Documents - before) * (counter.Bytes / counter.Documents)
	return nil
}

func (w *tabulation) eachValue(e entryRange) error {
	if e.empty() {
		return nil
	}
	it, err := w.snapshot.Iterate(w.ctx, e.lower, e.upper)
	if err != nil {
		return err
	}
	defer it.Close()
	for more := it.Next(); more; {
		if err := w.tick(); err != nil {
			return err
		}
		number, form, err := numberAndForm(it.Key(), e)
		if err != nil {
			return err
		}
		if !w.alive {
			if _, _, alive, err := w.record(number); err != nil {
				return err
			} else if !alive {
				more = it.Next()
				continue
			}
		}
		v, whole, err := keys.DecodeValue(w.room[:0], form)
		switch {
		case err != nil:
			return corrupt(err, "index entry")
		case !whole || doc.IsUndefined(v):
			return errInexact
		}
		if err := w.table.Work(nearby); err != nil {
			return err
		}
		w.of.Documents++
		if _, err := w.table.Group(v); err != nil {
			return err
		}
		more = w.behind(it, it.Key()[:len(e.prefix)+len(form)])
	}
	return it.Err()
}

// behind moves an iterator behind all entries that begin with the value at which it is.
func (w *tabulation) behind(it kv.Iterator, value []byte) (more bool) {
	w.last = append(w.last[:0], value...)
	for range nearby {
		if !it.Next() {
			return false
		}
		if key := it.Key(); len(key) != len(w.last)+numberBytes || !bytes.HasPrefix(key, w.last) {
			return true
		}
	}
	w.key = keys.AppendNumber(append(w.key[:0], w.last...), math.MaxUint64)
	return it.Seek(w.key)
}

// someLack reports whether a living document has no value at the path of the groups.
func (w *tabulation) someLack(counter keys.Counter) (found bool, err error) {
	l, path, err := w.lacking(w.table.By, counter)
	if err == nil {
		err = w.eachLacking(l, path, func() error { return errFound })
	}
	if err == errFound {
		return true, nil
	}
	return false, err
}

// eachLacking calls do for each living document of a list without a value at a path.
func (w *tabulation) eachLacking(l list, path doc.Path, do func() error) error {
	return w.visitList(l, 0, func(_ []byte, number uint64) error {
		_, body, alive, err := w.record(number)
		if err == nil && alive && doc.IsUndefined(path.Lookup(body)) {
			err = do()
		}
		return err
	})
}

// lacking lists the documents that may have no value at a path: those that are remembered, or all if they are too many
// for that.
func (w *tabulation) lacking(of access.Path, counter keys.Counter) (l list, path doc.Path, err error) {
	path, ok := plainPath(of)
	if !ok {
		return nil, nil, errInexact
	}
	a := w.absenceOf(of)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known && a.sequence > counter.Sequence { // it has read what the snapshot does not have
		return nil, nil, errInexact
	}
	if err := a.refresh(w.reading, path, counter); err != nil {
		return nil, nil, err
	}
	if a.many {
		return &everyRecord{r: w.reading}, path, nil
	}
	return &sorted{numbers: slices.Clone(a.numbers)}, path, nil
}
