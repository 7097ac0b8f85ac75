package store

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

// An orderedScan is a walk over the entries of a path or a composite index, or over the
// change feed.
type orderedScan struct {
	*reading
	of      *access.Walk
	over    entryRange
	stamps  bool    // it goes over the feed
	shown   int     // columns that positions have
	among   *sorted // the only numbers to visit, nil for all
	probes  prober  // tells which numbers not to visit, where among does not; nil if nothing does
	missing *sorted // of a brief walk: the documents that come first because they have no value, and perhaps others
	trial   *trial  // tells when to test strings, nil if there is no need
	few     bool    // among is short enough to sort its documents by value
	brief   bool    // the walk may fail with access.ErrLong, when nothing is left
	blind   bool    // documents that are handed out may be outside the set
	left    int     // entries that it may still pass, see pass
	after   []doc.Value
	reached uint64 // the number of the position, which has the values after; of the feed, its place
	values  []doc.Value
	lineage []uint16 // of the range, see rankOfStamp
	room    [8]byte
}

// scanOrdered hands out the documents of one range in the order of entries. Those are ordered by their values and by
// the number that they end with, so the ranks of documents are entries without the prefix that names the range.
func (r *reading) scanOrdered(of *access.Walk) error {
	w := orderedScan{reading: r, of: of, stamps: isStamp(&of.Range)}
	if r.after != nil {
		var ok bool
		if w.after, w.reached, ok = r.after.Values(); !ok || len(w.after) == 0 {
			return ErrPosition
		}
	}
	w.tests = nil
	if err := w.narrowDown(); err != nil {
		return err
	}
	if len(w.tests) > 0 && w.among == nil && w.first == 0 {
		x, err := &of.Range, error(nil)
		part := x.Low != nil || x.High != nil || len(x.Equal) > 0
		if w.trial, err = w.newTrial(seekReads, part); err != nil {
			return err
		}
	}
	if w.stamps {
		return w.overStamps()
	}
	return w.overEntries()
}

// narrowDown lists the numbers of the documents to visit, if a set or a scope tells them.
// When they are few, and their square is below the number of documents in the container, it
// is cheaper to load and sort them than to look for twenty of them among the entries.
func (w *orderedScan) narrowDown() error {
	if w.set == nil && (w.scope == nil || w.inScope()) {
		return nil
	}
	if w.first > 0 && (w.set != nil || w.whole) {
		return w.expectAbsent()
	}
	w.collected = 2 * costs.filter
	l, err := w.narrowed()
	if err != nil || l == nil {
		return err
	}
	numbers, whole, err := drain(l, 0, costs.filter)
	if err != nil {
		return err
	}
	if !whole {
		w.based = false
		return nil
	}
	counter, err := counterOf(w.ctx, w.snapshot, w.rng)
	if err != nil {
		return err
	}
	n := uint64(len(numbers))
	w.among = &sorted{numbers: numbers}
	w.few = n <= uint64(costs.few) || n*n <= counter.Documents
	return nil
}

// inScope reports whether the walk leaves out other partitions by itself, but for values that entries have in part: the
// columns of its index that have one value each are those of the partition key, or more.
func (w *orderedScan) inScope() bool {
	partition, one := w.scope.(access.Partition)
	over, ok := w.entries(&w.of.Range)
	if !one || !ok {
		return false
	}
	fixed := over.columns[:len(w.of.Range.Equal)]
	for _, path := range w.v.PartitionPaths()[:len(partition)] {
		if !slices.ContainsFunc(fixed, func(c column) bool { return slices.Equal(c.path, path) }) {
			return false
		}
	}
	return true
}

// overEntries visits the documents that have entries, and those that have no value: before
// the others, or in reverse after them.
func (w *orderedScan) overEntries() error {
	absent := w.of.Absent && w.of.Range.Composite == 0
	inAbsent := w.inAbsent()
	if w.brief && w.of.Reverse && inAbsent {
		return access.ErrLong // to look for absent values may be to read all documents
	}
	missing := w.among
	if w.brief {
		missing = w.missing
	}
	if _, ok := w.entries(&w.of.Range); !ok {
		return errIndexChanged // now, rather than after a search for absent values
	}
	if absent && missing == nil && !w.of.Reverse && (w.after == nil || inAbsent) {
		var err error
		if missing, err = w.absent(); err != nil {
			return err
		}
	}
	var ok bool
	if w.over, ok = w.entries(&w.of.Range); !ok || w.over.columns[0].path == nil {
		return errIndexChanged
	}
	w.shown = exposed(w.over.columns)
	if w.after != nil && (w.of.Range.Composite > 0 || !inAbsent) {
		if err := w.resumeEntries(); err != nil {
			return err
		}
	}
	if absent && !w.of.Reverse && (w.after == nil || inAbsent) {
		if err := w.absentUp(missing); err != nil {
			return err
		}
	}
	if w.of.Range.Composite > 0 || !inAbsent || !w.of.Reverse {
		if err := w.alongEntries(); err != nil {
			return err
		}
	}
	if absent && w.of.Reverse {
		if w.brief {
			return access.ErrLong
		}
		return w.absentDown(inAbsent)
	}
	return nil
}

// inAbsent reports whether the walk resumes among the documents without a value.
func (w *orderedScan) inAbsent() bool { return len(w.after) == 1 && doc.IsUndefined(w.after[0]) }

// resumeEntries moves the bounds of the entries behind the position.
func (w *orderedScan) resumeEntries() error {
	values := w.after
	if w.of.Range.Composite > 0 && len(values) == w.shown-len(w.of.Range.Equal) {
		values = append(slices.Clone(w.of.Range.Equal), values...)
	}
	if len(values) != w.shown {
		return ErrPosition
	}
	key := slices.Clone(w.over.prefix)
	for i, c := range w.over.columns {
		var v doc.Value
		if i < len(values) {
			v = values[i]
		}
		key = keys.AppendValue(key, v, c.descending)
	}
	w.resumeAt(keys.AppendNumber(key, w.reached))
	return nil
}

// resumeAt takes away the entries that the walk has passed when it has come to key.
func (w *orderedScan) resumeAt(key []byte) {
	w.over.interval = w.over.behind(key, w.of.Reverse)
}

// alongEntries visits the documents of the entries.
func (w *orderedScan) alongEntries() error {
	if w.over.empty() {
		return nil
	}
	if w.few {
		return w.alongFew()
	}
	leads := numberInKey
	if w.stamps {
		leads = numberInFeed
	}
	ahead := w.lookAhead(func(_ []byte, number uint64) error { return w.stop(number) })
	err := w.along(w.over.interval, w.of.Reverse, leads, w.skipping(func(_ []byte, number uint64) error {
		if outside, err := w.leadsOutside(number); err != nil || outside {
			return err
		}
		return ahead.see(nil, number)
	}))
	if err != nil {
		return err
	}
	return ahead.rest()
}

// stop hands out the document that an entry leads to, if it is alive and selected.
func (w *orderedScan) stop(number uint64) error {
	h, body, alive, err := w.record(number)
	if err != nil {
		return err
	}
	if !alive || !w.selected(body) {
		return w.pass(costs.perNumber)
	}
	if w.blind {
		if err := w.pass(costs.perNumber); err != nil {
			return err
		}
	}
	w.values = w.values[:0]
	if w.stamps {
		w.values = append(w.values,
			doc.Value{Type: bsoncore.TypeInt64, Data: bsoncore.AppendInt64(w.room[:0], h.Stamp)})
		place := keys.NumberOf(w.rng.Range, h.Sequence)
		w.position = access.ValuePosition(w.position[:0], w.values, place)
		if w.borrowed {
			w.rank = w.rankOfStamp(w.rank[:0], h)
		}
		return w.giveTrying(number, h, body)
	}
	for _, c := range w.over.columns[:w.shown] {
		w.values = append(w.values, c.path.Lookup(body))
	}
	w.position = access.ValuePosition(w.position[:0], w.values, number)
	if w.borrowed {
		w.rank = w.over.appendForm(append(w.rank[:0], rankPresent), number, body)
	}
	return w.giveTrying(number, h, body)
}

// giveTrying is give. If the trial ends, the walk visits the documents that pass from there on.
func (w *orderedScan) giveTrying(number uint64, h keys.Header, body doc.Doc) error {
	err := w.give(number, h, body)
	if err != nil || w.trial == nil || !w.trial.ends(number, body) {
		return err
	}
	w.trial = nil
	l, err := w.testAll()
	if err != nil || l == nil {
		return err
	}
	numbers, whole, err := drain(l, 0, costs.alone)
	if whole {
		w.among = &sorted{numbers: numbers}
	}
	return err
}

// The first byte of a rank: documents without a value come before those that have an entry.
const (
	rankAbsent  = 0
	rankPresent = 1
)

// A madeEntry is the entry of a document, made from its body.
type madeEntry struct {
	from, to int // of the key, in one arena
	number   uint64
}

// alongFew visits the documents of among by making their entries and sorting them.
func (w *orderedScan) alongFew() error {
	var arena []byte
	var list []madeEntry
	ahead := w.lookAhead(func(_ []byte, number uint64) error {
		h, body, alive, err := w.record(number)
		if err != nil || !alive {
			return err
		}
		from := len(arena)
		arena = w.entryOf(arena, number, h, body)
		if key := arena[from:]; len(key) == 0 || !w.over.has(key) {
			arena = arena[:from]
			return nil
		}
		list = append(list, madeEntry{from, len(arena), number})
		return nil
	})
	if err := w.seeAll(ahead, w.among.numbers); err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b madeEntry) int {
		if w.of.Reverse {
			a, b = b, a
		}
		return bytes.Compare(arena[a.from:a.to], arena[b.from:b.to])
	})
	ahead = w.lookAhead(func(_ []byte, number uint64) error { return w.stop(number) })
	for _, f := range list {
		if err := ahead.see(nil, f.number); err != nil {
			return err
		}
	}
	return ahead.rest()
}

// seeAll sees numbers to the last.
func (r *reading) seeAll(ahead *lookahead, numbers []uint64) error {
	for _, number := range numbers {
		if err := r.tick(); err != nil {
			return err
		}
		if err := ahead.see(nil, number); err != nil {
			return err
		}
	}
	return ahead.rest()
}

// entryOf appends the entry of a document, nothing if it has none.
func (w *orderedScan) entryOf(dst []byte, number uint64, h keys.Header, body doc.Doc) []byte {
	if w.stamps {
		return w.rng.Feed(dst, h.Sequence)
	}
	return w.over.entryOf(dst, number, body)
}

// before reports whether key is below an upper bound of an iterator.
func before(key, upper []byte) bool { return bytes.Compare(key, upper) < 0 }
