package store

import (
	"bytes"
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Count returns how many living documents a selects, from index entries alone. ok is false if they do not suffice: if
// entries hold only a part of a bound, a path is not indexed, more than a million numbers would have to be sorted, or a
// is a Walk with Absent, several IndexScans, one that is neither Single nor Once, or a walk that resumes. The bounds of
// an IndexScan are not checked for parts.
func (s *Store) Count(ctx context.Context, v catalog.View, a access.Access) (n uint64, ok bool, err error) {
	if a.After != nil {
		return 0, false, nil
	}
	switch of := a.Of.(type) {
	case *access.IndexScans:
		if len(*of) != 1 || !(*of)[0].Single && !(*of)[0].Once {
			return 0, false, nil
		}
	case *access.Walk:
		if of.Absent {
			return 0, false, nil
		}
		// The order of a walk does not matter for its count.
		sets := access.Intersection{&of.Range}
		if of.Set != nil {
			sets = append(sets, of.Set)
		}
		a.Of = &access.Filter{Scope: of.Scope, Set: sets}
	case nil:
		usage, err := s.Usage(ctx, v)
		if err == nil {
			err = v.Container.There(ctx, s.engine)
		}
		return usage.Documents, err == nil, err
	}
	t, err := s.newTally(ctx, v, a)
	if err != nil {
		return 0, false, err
	}
	defer t.close()
	if t.set != nil && (!t.exact(t.set) || walksOf(t.set) > costs.perTested) {
		return 0, false, nil
	}
	if err = t.countAll(); err == errInexact {
		return 0, false, nil
	}
	return t.n, err == nil, err
}

// A tally is one Count.
type tally struct {
	*reading
	marks []rangeMarks // of reading.ranges
	room  [1]rangeMarks
	alive bool // whatever an entry of the range leads to is alive
	looks *lookahead
	n     uint64
}

func (s *Store) newTally(ctx context.Context, v catalog.View, a access.Access) (*tally, error) {
	t := &tally{reading: s.prepare(ctx, v, a)}
	t.strict = true
	for {
		// A snapshot that has what the marks say.
		known, err := t.layout, error(nil)
		if t.marks, err = s.whileNotReclaiming(ctx, v.Container, t.ranges, t.room[:0], t.begin); err != nil {
			return nil, err
		}
		if t.layout == known {
			return t, nil
		}
		t.close() // the marks are of other ranges
	}
}

// countAll counts in all ranges.
func (t *tally) countAll() error {
	return t.eachSettled(func(catalog.Range) error {
		t.looks = t.lookAhead(t.look)
		if err := t.count(); err != nil {
			return err
		}
		return t.looks.rest()
	})
}

// eachSettled does something in one range after the other, once it is known whether the entries of the range lead to
// living documents only.
func (t *tally) eachSettled(do func(catalog.Range) error) error {
	at := 0
	return t.each(func() (err error) {
		marks, x := &t.marks[at], t.ranges[at]
		at++
		if t.s.catalog.Shared() { // another process may have reclaimed since the marks were read
			if marks.pending, err = pendingIn(t.ctx, t.snapshot, marks.rng); err != nil {
				return err
			}
		}
		// With a rule that looks at documents, or with entries that lead to reclaimed ones, each entry has to be
		// checked.
		if t.alive = marks.pending == 0 && t.v.Policy.Plain(); t.alive {
			some, err := t.someDead(marks)
			if err != nil {
				return err
			}
			t.alive = !some
		}
		return do(x)
	})
}

// errFound ends a walk that has seen what it looked for.
var errFound = fault.New(fault.Internal, "found")

// someDead reports whether a dead document is still on disk.
func (t *tally) someDead(at *rangeMarks) (bool, error) {
	_, until := t.v.Policy.Floors(t.v.Now)
	from := at.ownNext
	if from == nil {
		from = t.rng.Deadline(nil, at.own+1, 0)
	}
	err := walk(t.ctx, t.snapshot, from, t.rng.Deadline(nil, until+1, 0), func(kv.Iterator) error { return errFound })
	// Where no stamp is old enough, not even 0, the feed is not asked: much that upserts have deleted may lie before
	// its first entry.
	if err == nil && t.v.Policy.DeadByTTL(0, expiry.Unset, t.v.Now) {
		_, upper := t.rng.Bounds(keys.KindFeed)
		err = walk(t.ctx, t.snapshot, t.rng.Feed(nil, at.feed+1), upper, func(it kv.Iterator) error {
			e, err := keys.DecodeFeed(it.Value())
			switch {
			case err != nil:
				return corrupt(err, "change feed entry")
			case !t.v.Policy.DeadByTTL(e.Stamp, expiry.Unset, t.v.Now):
				return errStopped // and so is no later one
			case e.TTL == int32(expiry.Unset):
				return errFound
			}
			return nil
		})
	}
	if err == errFound {
		return true, nil
	}
	if err == errStopped {
		err = nil
	}
	return false, err
}

// exact reports whether entries tell who is in a Set.
func (t *tally) exact(set access.Set) bool {
	inexact := func(set access.Set) bool { return !t.exact(set) }
	switch set := set.(type) {
	case *access.Range:
		if isStamp(set) {
			return true
		}
		st, ok := t.entries(set)
		return ok && st.exact
	case *access.Tested:
		return t.exact(&set.Range) // as far as its test is certain
	case access.Union:
		return !slices.ContainsFunc(set, inexact)
	case access.Intersection:
		return !slices.ContainsFunc(set, inexact)
	}
	return false
}

// count chooses the cheapest way.
func (t *tally) count() error {
	switch of := t.of.(type) {
	case access.Scope:
		return t.countPostings()
	case *access.IndexScans:
		return t.countNamed(&(*of)[0])
	}
	if t.set != nil && t.scope == nil {
		// Entries of ranges that have each document once are counted as they come. If documents have to be looked at,
		// those of several ranges are sooner read in the order of their numbers.
		if x, ok := onlySet(t.set).(*access.Tested); ok {
			return t.countTested(x)
		}
		if ranges := t.disjoint(); len(ranges) == 1 || len(ranges) > 1 && t.alive {
			for _, x := range ranges {
				if err := t.countRange(x); err != nil {
					return err
				}
			}
			return nil
		}
	}
	l, err := t.choose()
	if err != nil {
		return err
	}
	return t.countList(l)
}

// disjoint gives the Ranges whose union is the Set, if no document is in two of them or twice in one: their entries
// need not be put in order. Otherwise it gives nil.
func (t *tally) disjoint() []*access.Range {
	switch set := onlySet(t.set).(type) {
	case *access.Range:
		if st, ok := t.entries(set); isStamp(set) || ok && st.once {
			return []*access.Range{set}
		}
	case access.Union:
		return t.disjointUnion(set)
	}
	return nil
}

// onlySet is the set of which an intersection consists, if it is one.
func onlySet(set access.Set) access.Set {
	for {
		all, ok := set.(access.Intersection)
		if !ok || len(all) != 1 {
			return set
		}
		set = all[0]
	}
}

// disjointUnion is disjoint for ranges of one path whose documents have one value each.
func (t *tally) disjointUnion(sets access.Union) []*access.Range {
	type part struct {
		x *access.Range
		entryRange
	}
	parts := make([]part, len(sets))
	for i, set := range sets {
		x, ok := set.(*access.Range)
		if !ok || isStamp(x) {
			return nil
		}
		st, ok := t.entries(x)
		if !ok || st.columns[0].path == nil || !bytes.Equal(st.prefix, parts[0].prefix) && i > 0 {
			return nil
		}
		parts[i] = part{x, st}
	}
	slices.SortFunc(parts, func(a, b part) int { return bytes.Compare(a.lower, b.lower) })
	ranges := make([]*access.Range, len(parts))
	for i, p := range parts {
		if i > 0 && !parts[i-1].empty() && (parts[i-1].upper == nil || bytes.Compare(parts[i-1].upper, p.lower) > 0) {
			return nil
		}
		ranges[i] = p.x
	}
	return ranges
}

func (t *tally) countRange(x *access.Range) error {
	stamps := isStamp(x)
	st, err := t.stampOrEntries(x)
	if err != nil || st.empty() {
		return err
	}
	return t.walk(st.interval, func(it kv.Iterator) error {
		if t.alive {
			t.n++
			return nil
		}
		number, err := keys.Number(it.Key())
		if stamps {
			var e keys.FeedEntry
			e, err = keys.DecodeFeed(it.Value())
			number = e.Number
		}
		if err != nil {
			return corrupt(err, "index entry")
		}
		return t.add(number)
	})
}

func (t *tally) stampOrEntries(x *access.Range) (entryRange, error) {
	if isStamp(x) {
		return t.stampEntries(x)
	}
	st, _ := t.entries(x)
	return st, nil
}

func (t *tally) countPostings() error {
	sel := t.postings()
	t.based = true
	return t.walk(sel.interval, func(it kv.Iterator) error {
		if sel.span != nil && !inSpan(t.v.State, it.Key(), sel.span) {
			return nil
		}
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "posting")
		}
		return t.add(number)
	})
}

func (t *tally) countList(l list) error {
	_, t.looks.near = l.(*everyRecord)
	for n := uint64(0); ; n++ {
		number, ok, err := l.seek(n)
		if err != nil || !ok {
			return err
		}
		n = number
		if err := t.add(n); err != nil {
			return err
		}
	}
}

// add counts a document if it is alive and in the partition or span.
func (t *tally) add(number uint64) error {
	if t.alive && (t.based || t.scope == nil) {
		t.n++
		return nil
	}
	return t.looks.see(nil, number)
}

// look counts a document if its record says that it is alive and selected.
func (t *tally) look(_ []byte, number uint64) error {
	_, body, alive, err := t.record(number)
	if err == nil && alive && t.selected(body) {
		t.n++
	}
	return err
}
