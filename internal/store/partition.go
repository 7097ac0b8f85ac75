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
func (s *Store) DeletePartition(ctx context.Context, c *catalog.Container, now expiry.Stamp, partition []doc.Value) (int, error) {
	deleted := 0
	var after access.Position
	for {
		keys, last, err := s.partitionIDs(ctx, c, now, partition, after)
		if err != nil || len(keys) == 0 {
			return deleted, err
		}
		n, err := s.deleteEach(ctx, c, now, keys)
		deleted += n
		if err != nil {
			return deleted, err
		}
		after = last
	}
}

// partitionIDs finds the next documents to delete.
func (s *Store) partitionIDs(ctx context.Context, c *catalog.Container, now expiry.Stamp, partition []doc.Value, after access.Position) (found []Key, last access.Position, err error) {
	v, err := c.Enter(now)
	if err != nil {
		return nil, nil, err
	}
	for d, err := range s.Scan(ctx, v, access.Access{Partition: partition, HasPartition: true, After: after}) {
		if err != nil {
			return nil, nil, err
		}
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		found = append(found, Key{Partition: partition, ID: string([]byte(id))})
		if last = d.Position; len(found) == deleteStep {
			break
		}
	}
	return found, last, nil
}

// deleteEach deletes documents together. If one of them has gone meanwhile,
// it falls back to one after the other.
func (s *Store) deleteEach(ctx context.Context, c *catalog.Container, now expiry.Stamp, found []Key) (int, error) {
	ops := make([]Op, len(found))
	for i, key := range found {
		ops[i] = Op{Verb: Delete, Key: key}
	}
	_, err := s.WriteAll(ctx, c, now, ops)
	if err == nil {
		return len(ops), nil
	}
	if fault.KindOf(err) != fault.NotFound {
		return 0, err
	}
	deleted := 0
	for _, op := range ops {
		_, err := s.Write(ctx, c, now, op)
		if err == nil {
			deleted++
		} else if fault.KindOf(err) != fault.NotFound {
			return deleted, err
		}
	}
	return deleted, nil
}
