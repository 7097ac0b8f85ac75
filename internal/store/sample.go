package store

import (
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A sample is drawn if it is small beside the documents on disk, and most numbers have one. To look a number up takes
// about eight times as long as to read a document in a walk over all.
const (
	sampledMost  = 4096 // documents of a sample
	sampledShare = 20   // documents on disk for each of a sample
	sampledAmong = 16   // numbers for each document on disk
	triedAtLeast = 64   // numbers that are looked up before that is given up,
	triedShare   = 8    // and documents on disk for each of them
)

// Sample draws the numbers of n different living documents, each with the same probability, without reading the others.
// random gives numbers in [0, 1). ok is false if it is better to read all documents: if n is not small beside their
// number, most numbers have no document, or the container has several ranges or several processes.
func (s *Store) Sample(
	ctx context.Context, v catalog.View, n int, random func() float64,
) (numbers []uint64, ok bool, err error) {
	if n > sampledMost || s.catalog.Shared() {
		return nil, false, nil
	}
	stored, _, err := s.Stored(ctx, v.Container)
	if err != nil || stored < uint64(n)*sampledShare {
		return nil, false, err
	}
	r, err := s.newReading(ctx, v, access.Access{})
	if err != nil {
		return nil, false, err
	}
	defer r.close()
	if len(r.ranges) != 1 {
		return nil, false, nil
	}
	first, last, err := r.ends()
	if err != nil || last-first >= stored*sampledAmong {
		return nil, false, err
	}
	seen := make(map[uint64]bool, n)
	for range max(triedAtLeast, stored/triedShare) {
		if err := r.tick(); err != nil {
			return nil, false, err
		}
		at := first + uint64(random()*float64(last-first+1))
		if seen[at] {
			continue
		}
		alive := false
		r.key = r.rng.Record(r.key[:0], at)
		_, err := getRecord(ctx, r.snapshot, r.key, func(h keys.Header, body doc.Doc) error {
			alive = !dead(v, h, body)
			return nil
		})
		if err != nil {
			return nil, false, err
		}
		if alive {
			seen[at] = true
			if numbers = append(numbers, at); len(numbers) == n {
				return numbers, true, nil
			}
		}
	}
	return nil, false, nil
}

// ends are the numbers of the first and the last record of the range.
func (r *reading) ends() (first, last uint64, err error) {
	lower, upper := r.rng.Bounds(keys.KindRecord)
	ends := make([]uint64, 0, 2)
	for _, back := range []bool{false, true} {
		it, err := r.iterate(lower, upper)
		if err != nil {
			return 0, 0, err
		}
		move := it.Next
		if back {
			move = it.Prev
		}
		if !move() {
			return 0, 0, it.Err()
		}
		number, err := keys.Number(it.Key())
		if err != nil {
			return 0, 0, corrupt(err, "document")
		}
		ends = append(ends, number)
	}
	return slices.Min(ends), slices.Max(ends), nil
}
