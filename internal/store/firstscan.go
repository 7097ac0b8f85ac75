package store

import (
	"math"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A walk for the first documents of a partition or of a set, in the order of an index, goes over the entries of all
// documents. If many documents are selected, some of them are among the first entries, and it takes much less time than
// to read and sort all of them. If they are few, it takes more. Entries do not tell which, so the walk counts the
// documents that are selected, and expects them to be spread evenly. Where they are not, it ends when it has passed
// more entries than it would cost to read what is selected.

// expectAbsent is expect, and finds out which documents come first because they have no value. Where that is not
// remembered, all documents have to be read. That is done when walks like this one could have saved as much.
func (w *orderedScan) expectAbsent() error {
	err := w.expect()
	if err != nil || !w.brief || !w.of.Absent || w.of.Range.Composite > 0 || w.of.Reverse ||
		w.after != nil && !w.inAbsent() {
		return err
	}
	counter, err := counterOf(w.ctx, w.snapshot, w.rng)
	if err != nil {
		return err
	}
	if counter.Bytes > searchedBytes || !w.absenceOf(w.of.Range.Path).isWorth(w.savedReads(), counter) {
		return access.ErrLong
	}
	// This takes another snapshot, so what is selected is listed after it.
	missing, err := w.absent()
	if err != nil {
		return err
	}
	w.missing, w.among, w.probes, w.brief, w.left = missing, nil, nil, false, 0
	if err := w.expect(); err != nil || !w.brief {
		return err
	}
	if missing == nil { // too many
		return access.ErrLong
	}
	return nil
}

// searchedBytes is the size of all documents up to which they are read, so that the request ends in time.
const searchedBytes = 1 << 30

// savedReads is how many documents could be read in the time that a brief walk saves. They are read one after the other
// in half the time that it takes in any other order.
func (w *orderedScan) savedReads() uint64 { return uint64(w.left / 2 * costs.perNumber / 2) }

// expect lists the numbers that are selected, and fails with access.ErrLong if the first documents are probably too far
// from the start. Many are not listed: then the index is asked for each, or the documents to which entries lead tell
// whether they are selected. They are many enough when loading these is expected to cost less than to list as many
// numbers again.
func (w *orderedScan) expect() error {
	counter, err := counterOf(w.ctx, w.snapshot, w.rng)
	if err != nil {
		return err
	}
	first, all, load := float64(w.first), float64(counter.Documents), float64(costs.perNumber)
	most := costs.first
	if w.borrowed { // others list theirs at the same time
		most /= len(w.layout.Ranges())
	}
	most = max(costs.few, min(int(math.Sqrt(load*first*all)), most))
	numbers, whole, err := w.listed(most)
	if err != nil {
		return err
	}
	count, each := most+1, load
	if whole {
		w.among, count, each = &sorted{numbers: numbers}, len(numbers), 1
	} else {
		w.based, w.blind, w.probes = false, w.set != nil, w.probeSelected()
	}
	w.blind = w.blind || len(w.tests) > 0
	if whole && w.set != nil && count <= costs.few {
		w.few = true
		return nil
	}
	if n := float64(count); count <= costs.few || each*first*max(all/n, 1) > n {
		return access.ErrLong
	}
	w.brief, w.left = true, 2*count
	return nil
}

// listed lists the numbers that are selected, and perhaps others, if they are at most so many.
func (w *orderedScan) listed(most int) (numbers []uint64, whole bool, err error) {
	if w.set == nil {
		lower, _ := w.rng.PartitionBounds(keys.KindPosting, w.partition)
		numbers, w.based, err = drain(&posted{r: w.reading, prefix: lower}, 0, most)
		return numbers, w.based, err
	}
	w.collected = most
	l, err := w.narrow([]access.Set{w.set}, w.scope != nil, most)
	if err != nil || l == nil {
		return nil, false, err
	}
	return drain(l, 0, most)
}

// probeSelected makes a prober for the documents that are selected, nil if there is none, or where a look into the
// index takes longer than to read several documents at once.
func (w *orderedScan) probeSelected() prober {
	if w.ahead.many != nil {
		return nil
	}
	var all everyProber
	if w.scope != nil && w.whole {
		lower, _ := w.rng.PartitionBounds(keys.KindPosting, w.partition)
		all = append(all, &postedProber{r: w.reading, prefix: lower})
	}
	if p := w.prober(w.set); p != nil {
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// leadsOutside passes an entry if it leads to a document that is not selected, as far as that is known without the
// document.
func (w *orderedScan) leadsOutside(number uint64) (bool, error) {
	if w.among != nil {
		if w.among.has(number) {
			return false, nil
		}
		return true, w.pass(1)
	}
	if w.probes == nil {
		return false, nil
	}
	in, looked, err := w.probes.has(number)
	if err != nil || in {
		return false, err
	}
	if looked {
		return true, w.pass(costs.perNumber)
	}
	return true, w.pass(1)
}

// pass counts an entry that leads to no document that is selected, or perhaps to none, and that has cost as much as
// reading so many entries. A walk that is not brief may pass any number of them.
func (w *orderedScan) pass(entries int) error {
	if w.left -= entries; w.brief && w.left < 0 {
		return access.ErrLong
	}
	return nil
}
