package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// deleteStep is how many documents DeletePartition deletes at once: few, so
// that other writes do not wait for it.
const deleteStep = 64

// DeletePartition deletes the documents of one partition that live when it is
// called, in bounded steps, and returns how many. Expired ones do not count.
func (s *Store) DeletePartition(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, partition []doc.Value,
) (int, error) {
	// Documents that are written during the deletion are not deleted, or it might never end.
	until, err := s.newestOf(ctx, c, now, partition)
	if err != nil {
		return 0, err
	}
	deleted := 0
	var after access.Position
	for {
		ops, last, err := s.partitionDeletes(ctx, c, now, partition, until, after)
		if err != nil || last == nil {
			return deleted, err
		}
		n, err := s.deleteEach(ctx, c, now, ops)
		deleted += n
		if err != nil {
			return deleted, err
		}
		after = last
	}
}

// newestOf is the newest sequence of the range of a partition.
func (s *Store) newestOf(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, partition []doc.Value,
) (sequence uint64, err error) {
	for {
		v, err := c.Enter(ctx, now)
		if err != nil {
			return 0, err
		}
		if sequence, err = s.NewestIn(ctx, v, v.RangeOf(partition)); err != ErrRangeGone {
			return sequence, err
		}
	}
}

// partitionDeletes makes the next operations; last is nil when there are no more.
// Documents written after the sequence until are not meant.
func (s *Store) partitionDeletes(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, partition []doc.Value, until uint64,
	after access.Position,
) (ops []Op, last access.Position, err error) {
	v, err := c.Enter(ctx, now)
	if err != nil {
		return nil, nil, err
	}
	for d, err := range s.Scan(ctx, v, access.Access{Of: access.Partition(partition), After: after}) {
		if err != nil {
			return nil, nil, err
		}
		last = append(last[:0], d.Position...)
		if d.Sequence > until {
			continue
		}
		id, _ := v.Identity().AppendID(nil, d.Body)
		version := d.Version
		ops = append(ops, Op{Verb: Delete, Key: Key{Partition: partition, ID: string(id)}, IfMatch: &version})
		if len(ops) == deleteStep {
			break
		}
	}
	return ops, last, nil
}

// deleteEach deletes documents together. If one of them was deleted or written since the scan, it deletes one after the
// other.
func (s *Store) deleteEach(ctx context.Context, c *catalog.Container, now expiry.Stamp, ops []Op) (int, error) {
	if len(ops) == 0 {
		return 0, nil
	}
	_, err := s.WriteAll(ctx, c, now, ops)
	if err == nil {
		return len(ops), nil
	}
	if !overtaken(err) {
		return 0, err
	}
	deleted := 0
	for _, op := range ops {
		_, err := s.Write(ctx, c, now, op)
		if err == nil {
			deleted++
		} else if !overtaken(err) {
			return deleted, err
		}
	}
	return deleted, nil
}

// overtaken reports whether another write came first.
func overtaken(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.NotFound || kind == fault.Precondition
}
