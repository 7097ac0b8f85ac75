package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A Ref is how a row of a query names its document: by the number, or by the key if that is 0.
type Ref struct {
	Number uint64
	Key    Key
}

// A Fate is what the policy in force says about a document that a Ref names.
type Fate struct {
	Stored bool         // it is on disk
	Alive  bool         // at the instant of the View
	Ends   bool         // the policy ends it, or has ended it
	At     expiry.Stamp // when, if Ends
}

// Fate asks the policy about a document. Unlike Read it tells one that has ended, and whose space is not free yet, from
// one that is not there. That is for callers who have shown the document before and must not show it any more.
func (s *Store) Fate(ctx context.Context, v catalog.View, ref Ref) (f Fate, err error) {
	if err := ctx.Err(); err != nil {
		return f, err
	}
	take := func(h keys.Header, body doc.Doc) error {
		f.Stored, f.Alive = true, !dead(v, h, body)
		f.At, f.Ends = v.Policy.Deadline(versionOf(h, body))
		return nil
	}
	if ref.Number != 0 {
		_, err = s.getNumbered(ctx, v, ref.Number, take)
		return f, err
	}
	view, err := s.open(ctx, v.Read)
	if err != nil {
		return f, err
	}
	partition := v.Identity().AppendPartition(nil, ref.Key.Partition)
	at, rng := v.State, v.KeysForForm(partition)
	for last := uint64(0); ; { // as in read
		number, found, err := getNumber(ctx, view.Reader, rng.Lookup(nil, partition, ref.Key.ID))
		if err != nil {
			return f, err
		}
		if !found || number == last {
			if at, err = v.Container.Moved(ctx, at); err != nil || at == nil {
				return f, err
			}
			rng, last = v.Container.KeysOf(at.RangeOfForm(partition)), 0
			continue
		}
		if found, err = getRecord(ctx, view.Reader, rng.Record(nil, number), take); found || err != nil {
			return f, err
		}
		last = number
	}
}
