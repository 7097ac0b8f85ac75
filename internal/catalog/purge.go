package catalog

import (
	"bytes"
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/kv"
)

// purgeStep is how many keys one step of a purge deletes on an engine that cannot delete ranges.
const purgeStep = 1_000

// A span is a range of keys that no request reads or writes any more.
type span struct {
	Number uint64 `json:"number"` // of the record, unique while it waits
	Lower  []byte `json:"lower"`
	Upper  []byte `json:"upper"`
}

// dropRange adds to b the deletion of every key in [lower, upper): in the batch itself if the engine can, else by a
// purge that the batch records.
func (c *Catalog) dropRange(n *revision, b *kv.Batch, lower, upper []byte) {
	if c.deletesRanges() {
		b.DeleteRange(lower, upper)
		return
	}
	n.Purge++
	b.Set(numberKey(purgeKind, n.Purge), encode(span{n.Purge, lower, upper}))
}

func (c *Catalog) deletesRanges() bool {
	r, ok := c.engine.(kv.RangeDeleter)
	return ok && r.DeletesRanges()
}

// purge deletes the spans that dropRange has recorded, including those that a crash has left. Where several processes
// share the data, one of them does it later, see Purge.
func (c *Catalog) purge(ctx context.Context) error {
	if c.shared {
		return nil
	}
	return c.Purge(ctx, func(context.Context, *kv.Batch) error { return nil })
}

// Purge deletes what deletions of containers and indexes have left. guard makes each batch depend on the right to do
// so.
func (c *Catalog) Purge(ctx context.Context, guard func(context.Context, *kv.Batch) error) error {
	var waiting []*span
	err := each(ctx, c.engine, purgeKind, func(s *span) error {
		waiting = append(waiting, s)
		return nil
	})
	for _, s := range waiting {
		if err == nil {
			err = c.purgeSpan(ctx, s, guard)
		}
	}
	return err
}

// Leftover tells keys that Purge is going to delete, as a snapshot of the engine has them, from all others.
func (c *Catalog) Leftover(ctx context.Context, snapshot kv.Reader) (func(key []byte) bool, error) {
	var waiting []*span
	err := each(ctx, snapshot, purgeKind, func(s *span) error {
		waiting = append(waiting, s)
		return nil
	})
	return func(key []byte) bool {
		return slices.ContainsFunc(waiting, func(s *span) bool {
			return bytes.Compare(key, s.Lower) >= 0 && (s.Upper == nil || bytes.Compare(key, s.Upper) < 0)
		})
	}, err
}

func (c *Catalog) purgeSpan(
	ctx context.Context, s *span, guard func(context.Context, *kv.Batch) error,
) error {
	for from := s.Lower; from != nil; {
		b := &kv.Batch{NoSync: true, Frees: true}
		var err error
		if from, err = collect(ctx, c.engine, from, s.Upper, b); err != nil {
			return err
		}
		if from == nil {
			b.Delete(numberKey(purgeKind, s.Number))
		}
		if err := guard(ctx, b); err != nil {
			return err
		}
		if err := c.engine.Apply(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// collect adds the deletion of the first keys in [lower, upper) to b, and returns where to continue, nil at the end.
func collect(ctx context.Context, r kv.Reader, lower, upper []byte, b *kv.Batch) ([]byte, error) {
	it, err := r.Iterate(ctx, lower, upper)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for it.Next() {
		if len(b.Ops) == purgeStep {
			return bytes.Clone(it.Key()), nil
		}
		b.Delete(bytes.Clone(it.Key()))
	}
	return nil, it.Err()
}
