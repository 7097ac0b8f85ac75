package catalog

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// MaxPartitions is how many ranges a container may have when it is created.
const MaxPartitions = 256

// A Range is a part of a container: the documents whose effective partition keys are in [Low, High). It has an order of
// writes, a feed and queues of its own. It is immutable.
type Range struct {
	Number    uint16   // also the id that clients see, in decimal
	Low, High []byte   // as keys.EffectivePartitionKey makes them; Low of the first is empty, High of the last is 0xFF
	Parents   []uint16 // ranges that were split into this one, oldest first
}

// cut divides the effective partition keys evenly into the ranges of a new container.
func (d *Definition) cut() ([]Range, error) {
	n := max(d.Partitions, 1)
	if d.Partitions < 0 || n > MaxPartitions {
		return nil, fault.New(fault.Invalid, "A container has 1 to %d partitions, not %d.", MaxPartitions, d.Partitions)
	}
	if n > 1 && d.Dialect != NoSQL {
		return nil, fault.New(fault.Invalid, "A collection has one partition: it has no partition key.")
	}
	ranges := make([]Range, n)
	for i := range ranges {
		ranges[i].Number = uint16(i)
		ranges[i].Low = keys.EPKBound(keys.PartitionVersion(d.Partition.Version), d.Partition.Multi, i, n)
		ranges[i].High = keys.EPKBound(keys.PartitionVersion(d.Partition.Version), d.Partition.Multi, i+1, n)
	}
	return ranges, nil
}

// Ranges are the parts of the container in order of Low. The caller does not change them.
func (s *State) Ranges() []Range { return s.compiled.ranges }

// RangeNumbered finds a range by its number.
func (s *State) RangeNumbered(number uint16) (Range, bool) {
	for _, r := range s.compiled.ranges {
		if r.Number == number {
			return r, true
		}
	}
	return Range{}, false
}

// RangesIn are the ranges that overlap an interval of effective partition keys, in order of Low. Empty bounds are open.
func (s *State) RangesIn(low, high []byte) []Range {
	ranges := s.compiled.ranges
	first := 0
	if len(low) > 0 {
		first = s.place(low)
	}
	last := len(ranges)
	if len(high) > 0 {
		last = sort.Search(len(ranges), func(i int) bool { return bytes.Compare(ranges[i].Low, high) >= 0 })
	}
	return ranges[first:max(first, last)]
}

// RangeOf is the number of the range that has a partition, or all partitions under a prefix of a hierarchical key: no
// range ends within them. It is 0 for a container without partitions.
func (s *State) RangeOf(partition []doc.Value) uint16 {
	if len(s.compiled.ranges) == 1 {
		return s.compiled.ranges[0].Number
	}
	var room [512]byte
	return s.RangeOfForm(s.Identity().AppendPartition(room[:0], partition))
}

// RangeOfForm is RangeOf for a partition in the form that keys on disk have. It begins with the effective partition key
// of the first component, which is as long as a bound of a range or longer, so both are in the same order.
func (s *State) RangeOfForm(partition []byte) uint16 {
	if len(s.compiled.ranges) == 1 {
		return s.compiled.ranges[0].Number
	}
	return s.compiled.ranges[s.place(partition)].Number
}

// RangesOfForm is the range that RangeOfForm names, as a list.
func (s *State) RangesOfForm(partition []byte) []Range {
	at := s.place(partition)
	return s.compiled.ranges[at : at+1]
}

// place is the index of the range with a key.
func (s *State) place(epk []byte) int {
	ranges := s.compiled.ranges
	above := sort.Search(len(ranges), func(i int) bool { return bytes.Compare(ranges[i].Low, epk) > 0 })
	return max(above-1, 0)
}

// KeysOf is the range of keys that the documents of a range have.
func (c *Container) KeysOf(number uint16) keys.Range {
	return keys.Range{Container: c.ID, Range: number}
}

// follow makes b pass the counters of all ranges, in the order in which every batch passes several: by number. Behind
// the last of them it ends with errPassed.
func (c *Container) follow(b *kv.Batch) {
	numbers := c.numbersOf()
	for i, number := range numbers {
		b.Follow(c.KeysOf(number).Order(nil), func(last []byte, _ *kv.Batch) ([]byte, error) {
			if i == len(numbers)-1 {
				return nil, errPassed
			}
			return last, nil
		})
	}
}

// numbersOf are the numbers of the container's ranges, rising.
func (c *Container) numbersOf() []uint16 {
	ranges := c.State().Ranges()
	numbers := make([]uint16, len(ranges))
	for i := range ranges {
		numbers[i] = ranges[i].Number
	}
	slices.SortFunc(numbers, cmp.Compare[uint16])
	return numbers
}

// eachCounter calls use with the counter of each range that was written.
func (c *Container) eachCounter(ctx context.Context, r kv.Reader, use func(number uint16, counter keys.Counter)) error {
	for _, rng := range c.State().Ranges() {
		counter, found, err := counterIn(ctx, r, c.KeysOf(rng.Number))
		if err != nil {
			return err
		}
		if found {
			use(rng.Number, counter)
		}
	}
	return nil
}

// counterIn is the counter of a range, the zero Counter if it was never written.
func counterIn(ctx context.Context, r kv.Reader, rng keys.Range) (counter keys.Counter, found bool, err error) {
	found, err = r.Get(ctx, rng.Order(nil), func(value []byte) (err error) {
		if counter, err = keys.DecodeCounter(value); err != nil {
			return fault.Wrap(fault.Corrupt, err, "the counter of container %d cannot be read", rng.Container)
		}
		return nil
	})
	return counter, found, err
}

// Only is the range of keys of a container of the MongoDB dialect, and so of its named indexes: it has one, since
// all its documents have the same effective partition key.
func (c *Container) Only() keys.Range { return c.KeysOf(0) }

// KeysFor is the range of keys of the documents of a partition.
func (v View) KeysFor(partition []doc.Value) keys.Range {
	return v.Container.KeysOf(v.RangeOf(partition))
}

// KeysForForm is KeysFor for a partition in the form that keys on disk have.
func (v View) KeysForForm(partition []byte) keys.Range {
	return v.Container.KeysOf(v.RangeOfForm(partition))
}
