package store

import (
	"context"
	"sync"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
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
	for last := uint64(0); ; {
		number, found, err := getNumber(ctx, view.Reader, l.key)
		if err != nil {
			return err
		}
		if !found || number == last {
			return ErrNotFound // the same number again: the lookup has outlived its document
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
	view, err := s.open(ctx, v.Read)
	if err != nil {
		return err
	}
	record := v.Container.KeysAt(number).Record(nil, number)
	found, err := getRecord(ctx, view.Reader, record, func(h keys.Header, body doc.Doc) error {
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
