package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/kv"
)

// countNamed counts the documents of a scan, each of which has one entry within its intervals.
func (t *tally) countNamed(of *access.IndexScan) error {
	w, err := t.newNamedScan(of)
	if err != nil {
		return err
	}
	if w.multikey && !of.Once {
		return errManyEntries
	}
	leads := w.leads()
	for _, x := range w.intervals {
		if x.empty() {
			continue
		}
		if len(w.checks) > 0 {
			err := w.visitChecked(x, leads, func(_ []byte, number uint64) error {
				t.stats.Keys++
				return t.add(number)
			})
			if err != nil {
				return err
			}
			continue
		}
		err := t.walk(x, func(it kv.Iterator) error {
			if t.stats.Keys++; t.alive {
				t.n++
				return nil
			}
			number, err := leads(it)
			if err != nil {
				return corrupt(err, "index entry")
			}
			return t.add(number)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CountEntries counts the entries that a scan of a named index reads, up to most, and one more for the seek of each of
// its intervals. Those of dead documents count until they are reclaimed. Of those that do not pass its checks, which
// lead to no document, checkedShare count as one. It fails with fault.Conflict if the index is gone.
func (s *Store) CountEntries(ctx context.Context, v catalog.View, of *access.IndexScan, most int) (n int, err error) {
	w := namedScan{of: of}
	if !w.find(s, v, v.Container.Only()) {
		return 0, errIndexChanged
	}
	w.bound()
	for _, x := range w.intervals {
		if n++; n >= most {
			return most, nil
		}
		more, err := w.countEntries(ctx, s.engine, x, most-n)
		if n += more; err != nil || n >= most {
			return n, err
		}
	}
	return n, nil
}

// checkedShare is how many entries are compared in the time in which one document is read.
const checkedShare = 8

// countEntries counts the entries of an interval, up to most.
func (w *namedScan) countEntries(ctx context.Context, from kv.Reader, x interval, most int) (n int, err error) {
	if x.empty() {
		return 0, nil
	}
	it, err := from.Iterate(ctx, x.lower, x.upper)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	c, failed := checkedWalk{namedScan: w}, 0
	for steps := 0; n < most && c.move(it); steps++ {
		if steps%checkEvery == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		ok, err := c.passes(it.Key())
		if err != nil {
			return n, err
		}
		if !ok {
			failed++
		}
		if ok || failed%checkedShare == 0 {
			n++
		}
	}
	return n, it.Err()
}
