package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
)

// skips reports whether entries at the start of an access may be passed over: each is of one document, which the access
// selects.
func skips(a access.Access) bool {
	if a.Skip == nil || *a.Skip.Left <= 0 || a.After != nil {
		return false
	}
	switch of := a.Of.(type) {
	case *access.Walk:
		return of.Scope == nil && of.Set == nil
	case *access.IndexScans:
		return len(*of) == 1 && (*of)[0].Single
	}
	return false
}

// newSkipping begins a reading that passes over entries, if the container has one range and they lead to living
// documents, at a moment at which nothing is being reclaimed. The caller closes it.
func (s *Store) newSkipping(ctx context.Context, v catalog.View, a access.Access) (*reading, error) {
	t, err := s.newTally(ctx, v, a)
	if err != nil {
		return nil, err
	}
	if t.strict = false; len(t.ranges) != 1 {
		return t.reading, nil
	}
	err = t.eachSettled(func(catalog.Range) error {
		if walk, ok := t.of.(*access.Walk); !t.alive || ok && !t.exact(&walk.Range) {
			return nil
		}
		counter, err := counterOf(t.ctx, t.snapshot, t.rng)
		if err == nil && counter.Documents > 0 {
			t.skip, t.mean = a.Skip, counter.Bytes/counter.Documents
		}
		return err
	})
	if err != nil {
		t.close()
	}
	return t.reading, err
}

// skipping is visit, for entries of which the first may be passed over.
func (r *reading) skipping(visit func(key []byte, number uint64) error) func(key []byte, number uint64) error {
	if r.skip == nil {
		return visit
	}
	return func(key []byte, number uint64) error {
		if *r.skip.Left <= 0 {
			return visit(key, number)
		}
		*r.skip.Left--
		r.skip.Passed++
		r.skip.Bytes += r.mean
		r.stats.Keys++
		return nil
	}
}
