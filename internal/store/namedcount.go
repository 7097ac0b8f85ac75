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
// its intervals. Those of dead documents count until they are reclaimed. It fails with fault.Conflict if the index is
// gone.
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
		err := walk(ctx, s.engine, x.lower, x.upper, func(kv.Iterator) error {
			if n++; n == most {
				return errFound
			}
			return nil
		})
		if err == errFound {
			return most, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
