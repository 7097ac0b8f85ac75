package store

import (
	"math"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A walk for the first documents of a partition, in the order of an index, goes over the entries of all partitions. If
// the partition has many documents, some of them are among the first entries, and it takes much less time than to read
// and sort the partition. If it has few, it takes more. Entries do not tell which, so the walk counts the documents of
// the partition, and expects them to be spread evenly. Where they are not, it ends when it has passed more entries than
// it would cost to read the partition.

// expect lists the numbers of the partition, and fails with access.ErrLong if the first documents are probably too far
// from the start. A large partition is not listed: then the documents to which entries lead tell their partition. It is
// large enough when loading these is expected to cost less than to list as many numbers again.
func (w *orderedScan) expect() error {
	counter, err := counterOf(w.ctx, w.snapshot, w.rng)
	if err != nil {
		return err
	}
	first, all, load := float64(w.first), float64(counter.Documents), float64(costs.perNumber)
	lower, _ := w.rng.PartitionBounds(keys.KindPosting, w.partition)
	numbers, whole, err := drain(&posted{r: w.reading, prefix: lower}, 0,
		max(costs.few, min(int(math.Sqrt(load*first*all)), costs.first)))
	if err != nil {
		return err
	}
	n, each := float64(len(numbers)), load
	if whole {
		w.based, w.among, each = true, &sorted{numbers: numbers}, 1
	}
	if len(numbers) <= costs.few || each*first*max(all/n, 1) > n {
		return access.ErrLong
	}
	w.brief, w.left = true, 2*len(numbers)
	return nil
}

// pass counts an entry that leads to no document of the partition, which has cost as much as reading some entries. A
// walk that is not brief may pass any number of them.
func (w *orderedScan) pass(entries int) error {
	if w.left -= entries; w.brief && w.left < 0 {
		return access.ErrLong
	}
	return nil
}
