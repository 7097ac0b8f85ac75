package store

import "github.com/mayflydb/mayfly/internal/access"

// A walk whose order does not matter hands out the same documents as in order, but finds them in the way that costs
// least. In the order of values, each document is a seek in the records. If the range has few of the documents, its
// numbers are sorted, and the records are visited from the first to the last. If it has many, all records are read one
// after the other, which takes a fourth of the time for each of 1 KiB, and an entry is made of each document, which
// tells whether the range has it. The number of entries is not known before, so they are collected until they are too
// many.

// unordered reports whether a walk may be scanned by scanUnordered.
func (r *reading) unordered(a access.Access, of *access.Walk) bool {
	return a.Unordered && a.After == nil && !of.Absent && r.set == nil && r.scope == nil && !isStamp(&of.Range)
}

// scanUnordered hands out the documents of one range that have entries.
func (r *reading) scanUnordered(of *access.Walk) (err error) {
	w := orderedScan{reading: r, of: of}
	var ok bool
	if w.over, ok = w.entries(&of.Range); !ok || w.over.columns[0].path == nil {
		return errIndexChanged
	}
	counter, err := counterOf(r.ctx, r.snapshot, r.rng)
	if err != nil {
		return err
	}
	// A seek costs as much as reading so many bytes more. This is the number of documents whose seeks cost as much as
	// reading all documents.
	size := counter.Bytes / max(counter.Documents, 1)
	many := max(counter.Bytes/(size+uint64(costs.seekBytes)), uint64(costs.few))
	c := collector{r: r, left: int(min(many, uint64(costs.alone)))}
	some, err := c.addRange(&of.Range)
	switch {
	case err != nil:
		return err
	case some:
		return w.alongNumbers(newSorted(c.numbers))
	case many > uint64(costs.alone): // more than may be kept, but perhaps few of the documents
		w.shown = exposed(w.over.columns)
		return w.alongEntries()
	}
	return w.everyEntry()
}

// alongNumbers hands out the documents with these numbers, which all have entries.
func (w *orderedScan) alongNumbers(l list) error {
	return w.visitList(l, 0, func(_ []byte, number uint64) error {
		h, body, alive, err := w.record(number)
		if err == nil && alive {
			err = w.give(number, h, body)
		}
		return err
	})
}

// everyEntry reads all records, and hands out the documents whose entries the walk goes over.
func (w *orderedScan) everyEntry() error {
	var entry []byte
	all := everyRecord{r: w.reading}
	for n := uint64(0); ; n++ {
		number, ok, err := all.seek(n)
		if err != nil || !ok {
			return err
		}
		n = number
		h, body, alive, err := w.present()
		if err != nil {
			return err
		}
		if !alive {
			continue
		}
		if entry = w.entryOf(entry[:0], number, h, body); len(entry) == 0 || !w.over.has(entry) {
			continue
		}
		if err := w.give(number, h, body); err != nil {
			return err
		}
	}
}
