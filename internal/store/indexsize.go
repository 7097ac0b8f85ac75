package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/keys"
)

// sizedEntries is how many entries of an index are looked at to estimate its size.
const sizedEntries = 200

// IndexSizes estimates how many bytes the entries of a container's named indexes take, by the numbers of the indexes;
// access.Identity is the one on _id. Entries of dead documents count until they are swept. An index of more than
// sizedEntries is taken to have one entry for each of documents, of the mean size of its first.
func (s *Store) IndexSizes(
	ctx context.Context, c *catalog.Container, documents uint64,
) (map[uint32]uint64, error) {
	sizes, ranges := map[uint32]uint64{}, c.State().Ranges()
	for _, x := range ranges {
		lower, upper := c.KeysOf(x.Number).Bounds(keys.KindLookup)
		size, err := s.sizeOf(ctx, lower, upper, documents/uint64(len(ranges)))
		if err != nil {
			return nil, err
		}
		sizes[access.Identity] += size
	}
	rng := c.Only()
	for _, x := range c.State().Named {
		lower, upper := rng.NamedBounds(x.ID)
		size, err := s.sizeOf(ctx, lower, upper, documents)
		if err != nil {
			return nil, err
		}
		sizes[x.ID] = size
		if !x.Unique {
			continue
		}
		lower, upper = rng.NamedUniqueBounds(x.ID)
		if size, err = s.sizeOf(ctx, lower, upper, documents); err != nil {
			return nil, err
		}
		sizes[x.ID] += size
	}
	return sizes, nil
}

// sizeOf estimates how many bytes there are between two keys.
func (s *Store) sizeOf(ctx context.Context, lower, upper []byte, documents uint64) (bytes uint64, err error) {
	it, err := s.engine.Iterate(ctx, lower, upper)
	if err != nil {
		return 0, err
	}
	n := uint64(0)
	for ; n < sizedEntries && it.Next(); n++ {
		bytes += uint64(len(it.Key()) + len(it.Value()))
	}
	if n == sizedEntries {
		bytes = bytes * max(n, documents) / n
	}
	return bytes, it.Close()
}
