package plan

import (
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// partitionKey converts equality with the parts of the partition key to a partition, or to all partitions with a
// prefix of a hierarchical key. It assumes the key that the request already has.
func (b *builder) partitionKey() bool {
	paths := b.env.Schema.Partition
	given, limited := b.partition()
	if b.plan.Nothing || !limited && b.in() != nil || len(paths) == 0 {
		return false
	}
	key := slices.Clip(given)
	for i, path := range paths {
		v, ok := b.pointAt(path)
		switch {
		case i < len(key) && ok && !onePartition(v, key[i]):
			b.plan.Nothing, b.plan.Exact = true, true
			return true
		case i < len(key):
		case !ok || i != len(key):
		default:
			key = append(key, v)
		}
	}
	if !b.env.Schema.Hierarchical && len(key) < len(paths) {
		return false
	}
	found := len(key) > len(given)
	if len(key) == 0 {
		return false
	}
	if found {
		b.plan.Access.Of = key
	}
	b.use(func(c *condition) bool {
		v, ok := c.point()
		return ok && !sharesPartition(v) && slices.ContainsFunc(paths[:len(key)],
			func(p access.Path) bool { return slices.Equal(p, c.leaf.Path) })
	})
	return found
}

// onePartition reports that a value in a filter and a value in a key belong to one partition: keys store numbers as
// doubles, while filters compare them exactly.
func onePartition(a, b doc.Value) bool {
	if doc.RankOf(a) == doc.RankNumber && doc.RankOf(b) == doc.RankNumber {
		x, _ := doc.AsFloat(a)
		y, _ := doc.AsFloat(b)
		return x == y
	}
	return doc.Equal(a, b)
}

// sharesPartition reports that the partition of v may have documents with other values.
func sharesPartition(v doc.Value) bool {
	f, ok := doc.AsFloat(v)
	return ok && math.Abs(f) >= 1<<53
}

// pointAt is the only scalar value that the filter allows at a path.
func (b *builder) pointAt(path access.Path) (doc.Value, bool) {
	for i := range b.parts {
		c := &b.parts[i]
		if v, ok := c.point(); ok && slices.Equal(c.leaf.Path, path) && doc.RankOf(v) < doc.RankArray {
			return v, true
		}
	}
	return doc.Value{}, false
}

// fixedAt is the only scalar value that the filter or the partition allows at a path.
func (b *builder) fixedAt(path access.Path) (doc.Value, bool) {
	if v, ok := b.pointAt(path); ok {
		return v, true
	}
	partition, _ := b.partition()
	for i, v := range partition {
		if slices.Equal(b.env.Schema.Partition[i], path) && !doc.IsUndefined(v) && doc.RankOf(v) < doc.RankArray &&
			!sharesPartition(v) {
			return v, true
		}
	}
	return doc.Value{}, false
}

// pointLookup converts equality with ids, in one partition, to lookups of the documents.
func (b *builder) pointLookup() bool {
	partition, ok := b.partition()
	if b.plan.Nothing || !ok || len(partition) != len(b.env.Schema.Partition) {
		return false
	}
	for i := range b.parts {
		ids, ok := lookups(&b.parts[i])
		if !ok {
			continue
		}
		b.plan.Access.Of = &access.Lookup{Partition: partition, IDs: ids}
		at := &b.parts[i]
		b.use(func(c *condition) bool { return c == at })
		return true
	}
	return false
}

// lookups are the ids that a condition allows.
func lookups(c *condition) (ids []string, ok bool) {
	switch {
	case c.kind == within && isID(c.leaf.Path):
		v, ok := c.point()
		if !ok {
			return nil, false
		}
		id, _ := doc.AsString(v)
		return []string{id}, true
	case c.kind != anyOf:
		return nil, false
	}
	for i := range c.parts {
		one, ok := lookups(&c.parts[i])
		if !ok {
			return nil, false
		}
		ids = append(ids, one...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), true
}
