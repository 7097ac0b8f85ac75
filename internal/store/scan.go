package store

import (
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// checkEvery is how many steps a walk takes between looks at its context.
const checkEvery = 256

func (s *Store) scan(
	ctx context.Context, v catalog.View, a access.Access, yield func(access.Document, error) bool,
) error {
	begin := s.newReading
	if skips(a) {
		begin = s.newSkipping
	}
	r, err := begin(ctx, v, a)
	if err != nil {
		return err
	}
	defer r.close()
	r.yield = yield
	switch of := r.of.(type) {
	case *access.Walk:
		if r.unordered(a, of) {
			return r.each(func() error { return r.scanUnordered(of) })
		}
		return r.merged(of)
	case *access.IndexScans:
		if a.Merged {
			return r.scanMerged(*of)
		}
		return r.scanNamed(*of)
	case access.Scope:
		return r.each(r.scanPostings)
	}
	if a.Reverse {
		return r.scanBack()
	}
	if err := r.resume(); err != nil {
		return err
	}
	return r.inNumbers()
}

// scanBack hands out the documents of the only range from the newest to the oldest.
func (r *reading) scanBack() error {
	if r.of != nil || len(r.ranges) != 1 {
		return fault.New(fault.Internal, "a part of a container, or several ranges, from the end")
	}
	lower, upper := r.rng.Bounds(keys.KindRecord)
	if r.after != nil {
		number, ok := r.after.Number()
		if !ok {
			return ErrPosition
		}
		upper = r.rng.Record(nil, number)
	}
	var err error
	if r.records, err = r.iterate(lower, upper); err != nil {
		return err
	}
	for {
		if err := r.tick(); err != nil {
			return err
		}
		if err := r.land(r.records.Prev()); err != nil || !r.here {
			return err
		}
		h, body, alive, err := r.present()
		if err != nil {
			return err
		}
		if !alive {
			continue
		}
		r.position = access.NumberPosition(r.position[:0], r.at)
		if err := r.give(r.at, h, body); err != nil {
			return err
		}
	}
}

// inNumbersOfRange hands out the documents of the range that r is in, in the order of their numbers.
func (r *reading) inNumbersOfRange() error {
	if r.passed() {
		return nil
	}
	r.tests = nil
	l, err := r.choose()
	if err != nil {
		return err
	}
	if len(r.tests) > 0 {
		return r.visitTesting(l)
	}
	return r.visit(l)
}

// passed reports whether a reading that resumes has done with the range.
func (r *reading) passed() bool { return keys.RangeOfNumber(r.from) > r.rng.Range }

// choose gives the numbers to visit in order of creation.
func (r *reading) choose() (list, error) {
	switch of := r.of.(type) {
	case *access.Lookup:
		return r.points(of.IDs)
	case *access.Filter:
		if l, err := r.narrowed(); l != nil || err != nil {
			return l, err
		}
	}
	return &everyRecord{r: r}, nil
}

// errStopped ends a walk whose consumer wants no more.
var errStopped = fault.New(fault.Internal, "walk stopped")

// walk calls step at every key in [lower, upper) until it fails.
func walk(ctx context.Context, r kv.Reader, lower, upper []byte, step func(kv.Iterator) error) error {
	it, err := r.Iterate(ctx, lower, upper)
	if err != nil {
		return err
	}
	return walkOver(ctx, it, step)
}

// walkOver calls step at every key of an iterator until it fails, and closes the iterator.
func walkOver(ctx context.Context, it kv.Iterator, step func(kv.Iterator) error) error {
	defer it.Close()
	for n := 0; it.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := step(it); err != nil {
			return err
		}
	}
	return it.Err()
}

// A postings is the posting keys of a scope.
type postings struct {
	interval
	base int          // length of the prefix that positions leave out
	span *access.Span // each posting is checked against it, unless it is nil
}

// scanPostings walks documents by partition. A position is the posting's key without the
// prefix that all postings of the scope share.
func (r *reading) scanPostings() error {
	sel := r.postings()
	if r.after != nil {
		if len(r.after) < 8 {
			return ErrPosition
		}
		sel.interval = sel.behind(append(slices.Clone(sel.lower[:sel.base]), r.after...), false)
	}
	ahead := r.lookAhead(func(key []byte, number uint64) error {
		h, body, alive, err := r.record(number)
		if err != nil || !alive {
			return err
		}
		r.position = append(r.position[:0], key[sel.base:]...)
		return r.give(number, h, body)
	})
	err := r.walk(sel.interval, func(it kv.Iterator) error {
		if sel.span != nil && !inSpan(r.v.State, it.Key(), sel.span) {
			return nil
		}
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "posting")
		}
		return ahead.see(it.Key(), number)
	})
	if err != nil {
		return err
	}
	return ahead.rest()
}

// postings finds the postings of the scope, which must not be the whole container.
func (r *reading) postings() postings {
	span, ok := r.scope.(*access.Span)
	if !ok {
		lower, upper := r.rng.PartitionBounds(keys.KindPosting, r.partition)
		return postings{interval: interval{lower, upper, r.whole}, base: len(lower)}
	}
	lower, upper := r.rng.EPKBounds(keys.KindPosting, keys.PartitionVersion(r.v.Partition.Version), r.v.Partition.Multi,
		span.Low, span.High)
	base := len(r.rng.AppendPrefix(nil, keys.KindPosting))
	return postings{interval: interval{lower: lower, upper: upper}, base: base, span: span}
}

// inSpan reports whether a posting's partition is within the span exactly.
func inSpan(st *catalog.State, posting []byte, span *access.Span) bool {
	partition, err := keys.PostingPartition(posting)
	return err == nil && partitionInSpan(st, partition, span)
}

func partitionInSpan(st *catalog.State, partition []byte, span *access.Span) bool {
	var room [128]byte
	epk, _, err := keys.PartitionEPK(room[:0], partition, keys.PartitionVersion(st.Partition.Version),
		st.Partition.Multi, len(st.Partition.Paths))
	return err == nil && keys.InEPKRange(epk, span.Low, span.High)
}
