package store

import (
	"context"
	"encoding/binary"
	"iter"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// checkEvery is how many steps a walk takes between looks at its context.
const checkEvery = 256

// Scan walks the living documents that a selects. Order: creation for the whole
// container and for one full partition, else by partition, then creation.
// Documents are valid until the next step. An unknown position is fault.Invalid.
func (s *Store) Scan(ctx context.Context, v catalog.View, a access.Access) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		var err error
		if a.HasPartition || a.Span != nil {
			err = s.scanPostings(ctx, v, a, yield)
		} else {
			err = s.scanRecords(ctx, v, a.After, yield)
		}
		if err != nil && err != errStopped {
			yield(Document{}, err)
		}
	}
}

// errStopped says that the consumer of a walk wants no more.
var errStopped = fault.New(fault.Internal, "walk stopped")

// errPosition refuses a resume position of another shape.
var errPosition = fault.New(fault.Invalid, "Invalid Continuation Token")

// scanRecords walks all documents in order of creation. A position is a number.
func (s *Store) scanRecords(ctx context.Context, v catalog.View, after access.Position, yield func(Document, error) bool) error {
	lower, upper := v.Container.Keys().Bounds(keys.KindRecord)
	if after != nil {
		if len(after) != 8 {
			return errPosition
		}
		lower = v.Container.Keys().Record(nil, binary.BigEndian.Uint64(after)+1)
	}
	return walk(ctx, s.engine, lower, upper, func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "document")
		}
		h, body, err := keys.DecodeHeader(it.Value())
		if err != nil {
			return corrupt(err, "document")
		}
		if dead(v, h, body) {
			return nil
		}
		d := document(v, number, h, body)
		d.Position = keys.AppendNumber(nil, number)
		if !yield(d, nil) {
			return errStopped
		}
		return nil
	})
}

// walk calls step at every key in [lower, upper) until it fails.
func walk(ctx context.Context, r kv.Reader, lower, upper []byte, step func(kv.Iterator) error) error {
	it, err := r.Iterate(lower, upper)
	if err != nil {
		return err
	}
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

// A postings is a selection by partition.
type postings struct {
	lower, upper []byte
	base         int          // length of what a position leaves out
	span         *access.Span // to be checked for each posting, or nil
}

// scanPostings walks documents by partition. A position is the posting's key
// without what the whole selection has in common.
func (s *Store) scanPostings(ctx context.Context, v catalog.View, a access.Access, yield func(Document, error) bool) error {
	sel := selectPostings(v, a)
	lower := sel.lower
	if a.After != nil {
		if len(a.After) < 8 {
			return errPosition
		}
		lower = append(append(append([]byte(nil), sel.lower[:sel.base]...), a.After...), 0)
	}
	snapshot := s.engine.Snapshot()
	defer snapshot.Close()
	return walk(ctx, snapshot, lower, sel.upper, func(it kv.Iterator) error {
		if sel.span != nil && !inSpan(v.State, it.Key(), sel.span) {
			return nil
		}
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "posting")
		}
		_, err = getRecord(snapshot, v.Container.Keys().Record(nil, number), func(h keys.Header, body doc.Doc) error {
			if dead(v, h, body) {
				return nil
			}
			d := document(v, number, h, body)
			d.Position = append([]byte(nil), it.Key()[sel.base:]...)
			if !yield(d, nil) {
				return errStopped
			}
			return nil
		})
		return err
	})
}

func selectPostings(v catalog.View, a access.Access) postings {
	rng := v.Container.Keys()
	if a.HasPartition {
		lower, upper := rng.PartitionBounds(keys.KindPosting, partitionOf(nil, v.State, a.Partition))
		return postings{lower: lower, upper: upper, base: len(lower)}
	}
	lower, upper := rng.EPKBounds(keys.KindPosting, keys.PartitionVersion(v.Partition.Version), v.Partition.Multi, a.Span.Low, a.Span.High)
	return postings{lower: lower, upper: upper, base: len(rng.AppendPrefix(nil, keys.KindPosting)), span: a.Span}
}

// inSpan reports whether a posting's partition is within the span exactly.
func inSpan(st *catalog.State, posting []byte, span *access.Span) bool {
	partition, err := keys.PostingPartition(posting)
	return err == nil && partitionInSpan(st, partition, span)
}

func partitionInSpan(st *catalog.State, partition []byte, span *access.Span) bool {
	var room [128]byte
	epk, _, err := keys.PartitionEPK(room[:0], partition, keys.PartitionVersion(st.Partition.Version), st.Partition.Multi, len(st.Partition.Paths))
	return err == nil && keys.InEPKRange(epk, span.Low, span.High)
}
