package store

import (
	"slices"
	"sync"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A walk over a path begins (or, in reverse, ends) with the documents that have no value at the path. No index has
// entries of them. So the first walk reads all documents and remembers their numbers. A later walk reads only what has
// been written since then.

// absences caches these numbers for the paths of one container.
type absences struct {
	mu   sync.Mutex
	list map[string]map[uint16]*absence // by path, as index entries have it, and range
}

// of finds the absence of a path in a range of a container that has so many.
func (x *absences) of(path string, number uint16, ranges int) *absence {
	x.mu.Lock()
	defer x.mu.Unlock()
	parts := x.list[path]
	if parts == nil {
		if x.list == nil || len(x.list) >= costs.absences {
			x.list = map[string]map[uint16]*absence{}
		}
		parts = map[uint16]*absence{}
		x.list[path] = parts
	}
	a := parts[number]
	if a == nil {
		a = &absence{most: max(costs.absent/ranges, min(costs.absent, fewAbsent))}
		parts[number] = a
	}
	return a
}

// fewAbsent is how many numbers are remembered of each range in any case.
const fewAbsent = 64

// An absence is the numbers of the documents of a range that have no value at a path.
type absence struct {
	most     int // to remember
	mu       sync.Mutex
	known    bool
	sequence uint64   // of the newest write that has been read
	numbers  []uint64 // rising: every document without a value up to then, and some that have got one since
	many     bool     // there are too many to remember
	wanted   uint64   // reads whose time would have been saved if the absence had been known
}

// isWorth notes that the time of so many reads is saved if the absence is known, and reports whether it is known or
// worth a search: if all that could have been saved is as much as reading all documents. It does not wait for a search.
func (a *absence) isWorth(reads uint64, counter keys.Counter) bool {
	if !a.mu.TryLock() {
		return false
	}
	defer a.mu.Unlock()
	if a.known || a.many {
		return !a.many
	}
	if a.wanted += reads; a.wanted < counter.Documents {
		return false
	}
	a.wanted = 0
	return true
}

// absenceOf finds the absence of a path of members in the range that the reading is in.
func (r *reading) absenceOf(path access.Path) *absence {
	var steps []byte
	for _, s := range path {
		steps = keys.AppendMemberStep(steps, s.Name)
	}
	return r.s.indexer(r.v).absences.of(string(steps), r.rng.Range, len(r.layout.Ranges()))
}

// absent gives the numbers that documents without a value at the walk's path have, among
// others; nil for all numbers. Forward it takes a new snapshot, since what is remembered
// can be used only with one that is as new; in reverse the walk has begun already. One over
// several ranges keeps the snapshot that they share, which was taken just before.
func (w *orderedScan) absent() (*sorted, error) {
	path, ok := plainPath(w.of.Range.Path)
	if !ok {
		return nil, errIndexChanged
	}
	a := w.absenceOf(w.of.Range.Path)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !w.of.Reverse && !w.borrowed {
		here := w.rng
		if err := w.renew(); err != nil {
			return nil, err
		}
		if w.rng != here || len(w.ranges) != 1 { // the walk has begun in a range that was split since
			return nil, ErrRangeGone
		}
	}
	counter, err := counterOf(w.ctx, w.snapshot, w.rng)
	if err != nil || a.known && a.sequence > counter.Sequence {
		return nil, err
	}
	if err := a.refresh(w.reading, path, counter); err != nil || a.many {
		return nil, err
	}
	return &sorted{numbers: slices.Clone(a.numbers)}, nil
}

// refresh brings the absence up to the reading's snapshot.
func (a *absence) refresh(r *reading, path doc.Path, counter keys.Counter) error {
	if a.known && a.many && counter.Sequence-a.sequence <= counter.Documents {
		return nil
	}
	if a.known && !a.many {
		ok, err := a.follow(r, path, counter)
		if err != nil || ok {
			return err
		}
	}
	a.known = false
	if err := a.search(r, path); err != nil {
		return err
	}
	a.known, a.sequence = true, counter.Sequence
	return nil
}

// search looks at every document.
func (a *absence) search(r *reading, path doc.Path) error {
	a.numbers, a.many = a.numbers[:0], false
	all := everyRecord{r: r}
	for n := uint64(0); ; n++ {
		number, ok, err := all.seek(n)
		if err != nil || !ok {
			return err
		}
		n = number
		lacks, err := r.lacks(n, path)
		if err != nil {
			return err
		}
		if !lacks {
			continue
		}
		if a.numbers = append(a.numbers, n); len(a.numbers) > a.most {
			a.numbers, a.many = nil, true
			return nil
		}
	}
}

// follow looks at what was written since. ok is false if that is so much that a search
// is better.
func (a *absence) follow(r *reading, path doc.Path, counter keys.Counter) (ok bool, err error) {
	_, upper := r.rng.Bounds(keys.KindFeed)
	left := 1_024 + counter.Documents/8
	numbers := slices.Clone(a.numbers)
	ahead := r.lookAhead(func(_ []byte, number uint64) error {
		lacks, err := r.lacks(number, path)
		if lacks {
			numbers = append(numbers, number)
		}
		return err
	})
	err = walk(r.ctx, r.snapshot, r.rng.Feed(nil, a.sequence+1), upper, func(it kv.Iterator) error {
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		if left--; left == 0 || len(numbers) > a.most {
			return errStopped
		}
		return ahead.see(nil, e.Number)
	})
	if err == nil {
		err = ahead.rest()
	}
	if err == errStopped || err == nil && len(numbers) > a.most {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	slices.Sort(numbers)
	a.numbers, a.sequence = slices.Compact(numbers), counter.Sequence
	return true, nil
}

// lacks reports whether a document has no value at a path. The dead are left out where
// they are dead to every later reading as well: a view whose lifetime counts from a property
// may have been replaced before the document was written.
func (r *reading) lacks(number uint64, path doc.Path) (bool, error) {
	_, body, alive, err := r.record(number)
	if err != nil || body == nil || !alive && r.v.Policy.Plain() {
		return false, err
	}
	return doc.IsUndefined(path.Lookup(body)), nil
}

// absentUp hands out the documents that have no value at the walk's path, among the
// numbers given; nil stands for all.
func (w *orderedScan) absentUp(among *sorted) error {
	var l list = &everyRecord{r: w.reading}
	if among != nil {
		l = among
	}
	return w.visitList(l, w.reached+1, w.stopAbsent)
}

// absentDown is absentUp by falling number; resumed tells that the position is one of them.
func (w *orderedScan) absentDown(resumed bool) error {
	among := w.among
	if among == nil {
		var err error
		if among, err = w.absent(); err != nil {
			return err
		}
	}
	if among == nil {
		return w.everyDown(resumed)
	}
	numbers := among.numbers
	if resumed {
		i, _ := slices.BinarySearch(numbers, w.reached)
		numbers = numbers[:i]
	}
	numbers = slices.Clone(numbers)
	slices.Reverse(numbers)
	return w.seeAll(w.lookAhead(w.stopAbsent), numbers)
}

// everyDown goes through all documents by falling number.
func (w *orderedScan) everyDown(resumed bool) error {
	lower, upper := w.rng.Bounds(keys.KindRecord)
	if resumed {
		upper = w.rng.Record(nil, w.reached)
	}
	it, err := w.iterate(lower, upper)
	if err != nil {
		return err
	}
	ahead := w.lookAhead(w.stopAbsent)
	for it.Prev() {
		if err := w.tick(); err != nil {
			return err
		}
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "document")
		}
		if err := ahead.see(nil, number); err != nil {
			return err
		}
	}
	if it.Err() != nil {
		return it.Err()
	}
	return ahead.rest()
}

// stopAbsent hands out a document if it has no value at the walk's path.
func (w *orderedScan) stopAbsent(_ []byte, number uint64) error {
	if w.brief {
		if outside, err := w.leadsOutside(number); err != nil || outside {
			return err
		}
		if err := w.pass(costs.perNumber); err != nil {
			return err
		}
	}
	h, body, alive, err := w.record(number)
	if err != nil || !alive || !doc.IsUndefined(w.over.columns[0].path.Lookup(body)) || !w.selected(body) {
		return err
	}
	w.position = access.ValuePosition(w.position[:0], undefined[:], number)
	if w.borrowed {
		w.rank = keys.AppendNumber(append(w.rank[:0], rankAbsent), number)
	}
	return w.give(number, h, body)
}

// undefined is what the position of an absent value holds.
var undefined = [1]doc.Value{}
