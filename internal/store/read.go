package store

import (
	"cmp"
	"context"
	"sync"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A lookup is the scratch memory of one point read. It is reused, so that a point read allocates nothing.
type lookup struct{ partition, key, record []byte }

var lookups = sync.Pool{New: func() any { return new(lookup) }}

func (s *Store) read(ctx context.Context, v catalog.View, key Key, use func(access.Document) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l := lookups.Get().(*lookup)
	defer lookups.Put(l)
	l.partition = v.Identity().AppendPartition(l.partition[:0], key.Partition)
	rng := v.KeysForForm(l.partition)
	l.key = rng.Lookup(l.key[:0], l.partition, key.ID)
	// Lookup and record are read one after the other, without a snapshot, which would cost more than a second look. The
	// view may show a later record than lookup: if the record is missing, the document may have been created again in
	// between, under another number.
	view, err := s.open(ctx, v.Read)
	if err != nil {
		return err
	}
	at := v.State
	for last := uint64(0); ; {
		number, found, err := getNumber(ctx, view.Reader, l.key)
		if err != nil {
			return err
		}
		if !found || number == last { // the same number again: the lookup has outlived its document
			if at, err = v.Container.Moved(ctx, at); err != nil || at == nil {
				return cmp.Or(err, ErrNotFound)
			}
			rng, last = v.Container.KeysOf(at.RangeOfForm(l.partition)), 0
			l.key = rng.Lookup(l.key[:0], l.partition, key.ID)
			continue
		}
		l.record = rng.Record(l.record[:0], number)
		found, err = getRecord(ctx, view.Reader, l.record, func(h keys.Header, body doc.Doc) error {
			if dead(v, h, body) {
				return ErrNotFound
			}
			return use(document(v, number, h, body))
		})
		if found || err != nil {
			return err
		}
		last = number
	}
}

// Find calls use with the living document of that number; fault.NotFound if
// there is none. The body is valid only inside use.
func (s *Store) Find(ctx context.Context, v catalog.View, number uint64, use func(access.Document) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	found, err := s.getNumbered(ctx, v, number, func(h keys.Header, body doc.Doc) error {
		if dead(v, h, body) {
			return ErrNotFound
		}
		return use(document(v, number, h, body))
	})
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

// getNumbered calls use with the record of a document of which only the number is known, and reports whether there is
// one.
func (s *Store) getNumbered(
	ctx context.Context, v catalog.View, number uint64, use func(keys.Header, doc.Doc) error,
) (found bool, err error) {
	view, err := s.open(ctx, v.Read)
	if err != nil {
		return false, err
	}
	for at := v.State; at != nil; {
		if found, err = getAtHome(ctx, view.Reader, v.Container, at, number, use); found || err != nil {
			return found, err
		}
		if at, err = v.Container.Moved(ctx, at); err != nil {
			return false, err
		}
	}
	return false, nil
}

// getAtHome looks for the record in each range that may have it.
func getAtHome(
	ctx context.Context, r kv.Reader, c *catalog.Container, st *catalog.State, number uint64,
	use func(keys.Header, doc.Doc) error,
) (found bool, err error) {
	for _, x := range st.Homes(number) {
		found, err = getRecord(ctx, r, c.KeysOf(x.Number).Record(nil, number), use)
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}
