package store

import (
	"cmp"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// costLimits bound what it may cost to follow a Set, or to narrow a Walk down. Looking at an
// entry and sorting its number takes about a tenth of the time that loading a document takes.
type costLimits struct {
	// few is the number of documents up to which loading them is better than narrowing
	// them down further, or looking for them among the entries of a walk.
	few int
	// probed is how many numbers of a list are read to find out whether it is short.
	probed int
	// perNumber is how many entries may be looked at to save loading one document.
	perNumber int
	// perTested is how many strings of entries can be tested in the time of reading one of all documents.
	perTested int
	// tested is how many strings are tested at most for a page, which has a time.
	tested int
	// collected bounds the entries that are collected in addition to a long list.
	collected int
	// Without another list, as many entries are collected as the aloneShare-th part of the
	// container's documents, at least aloneLeast and at most alone (8 MiB in memory). Beyond
	// that, a page is full sooner by reading documents in order.
	aloneShare, aloneLeast, alone int
	// seekBytes is how many bytes of records can be read one after the other in the time of a seek.
	seekBytes int
	// merged is how many lists are read side by side; more are collected.
	merged int
	// filter is how many numbers a walk keeps so that it loads no other documents.
	filter int
	// first is how many numbers of a partition a walk keeps that is asked for its first documents.
	first int
	// absences and absent bound what is remembered of documents without a value: for how
	// many paths of a container, and how many of a path.
	absences, absent int
	// tabled is the least number of documents of a range whose values are read from entries, and columns is at most how
	// many of their paths.
	tabled, columns int
}

// costs is changed by tests only.
var costs = costLimits{
	few: 256, probed: 2_048, perNumber: 16, perTested: 4, tested: 1 << 19, collected: 32_768,
	aloneShare: 16, aloneLeast: 4_096, alone: 1 << 20,
	seekBytes: 3 << 10, merged: 8, filter: 4_096, first: 65_536, absences: 16, absent: 4_096,
	tabled: 64, columns: 3,
}

// errInexact ends a Count that entries cannot tell exactly.
var errInexact = fault.New(fault.Internal, "not to be counted by entries")

// narrowed lists the numbers, from r.from on, of documents in the Set and in the scope. The
// list may have others; nil stands for all numbers.
func (r *reading) narrowed() (list, error) {
	limit, err := r.limitAlone()
	if err != nil {
		return nil, err
	}
	var sets []access.Set
	if r.set != nil {
		sets = []access.Set{r.set}
	}
	return r.narrow(sets, r.scope != nil, limit)
}

// narrow is narrowed for documents that are in all of the sets and, with base, in the scope.
// limit is how many entries to collect for each set while there is no other list.
func (r *reading) narrow(sets []access.Set, base bool, limit int) (list, error) {
	lists, rest, err := r.split(sets)
	if err != nil {
		return nil, err
	}
	var tests []access.Set
	if !r.testing {
		if rest, tests = untested(rest); !r.inside {
			r.tests = tests
		}
	}
	// The postings of one partition are a list as they are stored.
	if base && r.whole {
		lower, _ := r.rng.PartitionBounds(keys.KindPosting, r.partition)
		lists, base, r.based = append(lists, &posted{r: r, prefix: lower}), false, true
	}
	if len(lists) > 0 && !r.strict && len(rest) > 0 {
		limit = r.collected
	}
	tried := base || len(rest) > 0
	if tried {
		candidates := rest
		if r.inside {
			candidates = nil
		}
		short, at, err := r.shortest(lists, candidates, limit)
		switch {
		case err != nil:
			return nil, err
		case short == nil:
		// If few numbers are left, visiting those documents is cheaper than collecting anything else.
		case at < 0 && len(short.numbers) <= costs.few && !r.strict:
			return short, nil
		case at < 0:
			lists, limit, tried = intersection{short}, costs.perNumber*len(short.numbers), false
		default:
			lists, rest = append(lists, short), slices.Delete(rest, at, at+1)
			limit, tried = min(limit, costs.perNumber*len(short.numbers)), false
		}
	}
	if base {
		c := collector{r: r, left: limit}
		if r.based, err = c.base(); err != nil {
			return nil, err
		}
		if r.based {
			lists = append(lists, newSorted(c.numbers))
		}
	}
	if !tried || r.inside {
		if lists, rest, err = r.collect(lists, rest, limit); err != nil {
			return nil, err
		}
	}
	// A count cannot check documents afterwards, so every set must be exact.
	if r.strict && len(tests) > 0 {
		if lists, rest, err = r.collectTests(lists, rest, tests); err != nil {
			return nil, err
		}
	}
	if r.strict && len(rest) > 0 {
		if r.inside {
			return nil, errInexact
		}
		return r.checked(lists, rest)
	}
	switch len(lists) {
	case 0:
		return nil, nil
	case 1:
		return lists[0], nil
	}
	return lists, nil
}

// collect adds the numbers of sets to lists, of at most limit entries each. It returns the sets that have more, or that
// need not be collected because few documents are left.
func (r *reading) collect(lists intersection, sets []access.Set, limit int) (intersection, []access.Set, error) {
	var rest []access.Set
	for _, set := range sets {
		if n := len(lists); n > 0 && !r.strict {
			// What is left is few enough to be checked document by document.
			if last, ok := lists[n-1].(*sorted); ok && len(last.numbers) <= costs.few {
				break
			}
		}
		c := collector{r: r, left: limit}
		ok, err := c.add(set)
		switch {
		case err != nil:
			return nil, nil, err
		case ok:
			lists = append(lists, newSorted(c.numbers))
		default:
			rest = append(rest, set)
		}
	}
	return lists, rest, nil
}

// shortest finds a short list: what lists as they are stored have in common (then at is negative), or one of the sets.
// It is nil if none has at most limit numbers. It looks at a few entries of each, then at more, so that it does not
// walk a long one before it has found a short one; beyond an eighth of the documents none is short.
func (r *reading) shortest(lists intersection, sets []access.Set, limit int) (l *sorted, at int, err error) {
	counter, err := counterOf(r.ctx, r.snapshot, r.rng)
	if err != nil {
		return nil, 0, err
	}
	probed := len(lists) == 0
	for some := 1 + costs.few; ; some *= 8 {
		if probed && uint64(some) > counter.Documents/8 {
			some = limit
		}
		if !probed {
			probed = some >= costs.probed
			numbers, whole, err := drain(lists, r.from, min(some, costs.probed))
			if lists.rewind(); err != nil || whole {
				return &sorted{numbers: numbers}, -1, err
			}
		}
		last := probed && (len(sets) <= 1 || some >= limit)
		if last {
			some = limit
		}
		for i, set := range sets {
			c := collector{r: r, left: min(some, limit)}
			if ok, err := c.add(set); err != nil || ok {
				return newSorted(c.numbers), i, err
			}
		}
		if last {
			return nil, 0, nil
		}
	}
}

// checked lists the numbers of lists whose documents are in all of the sets. It reads these documents, because the sets
// have far more entries than that, unless documents do not tell what is in the sets.
func (r *reading) checked(lists intersection, sets []access.Set) (list, error) {
	tests := make([]membership, len(sets))
	for i, set := range sets {
		var ok bool
		if tests[i], ok = r.membership(set); ok {
			continue
		}
		c := collector{r: r, left: costs.alone}
		if ok, err := c.add(set); err != nil || !ok {
			return nil, cmp.Or(err, errInexact)
		}
		lists, tests[i] = append(lists, newSorted(c.numbers)), everyDocument
	}
	if len(lists) == 0 {
		return nil, errInexact
	}
	some, whole, err := drain(lists, r.from, costs.alone/costs.perNumber)
	if err != nil || !whole {
		return nil, cmp.Or(err, errInexact)
	}
	numbers := some[:0:0]
	r.unsure = false
	ahead := r.lookAhead(func(_ []byte, number uint64) error {
		_, body, _, err := r.record(number)
		if err != nil || body == nil {
			return err
		}
		for _, test := range tests {
			if !test(number, body) {
				return nil
			}
		}
		numbers = append(numbers, number)
		return nil
	})
	if err := r.seeAll(ahead, some); err != nil {
		return nil, err
	}
	if r.unsure {
		return nil, errInexact
	}
	return &sorted{numbers: numbers}, nil
}

// limitAlone is how many entries of a Set to collect when there is no other list.
func (r *reading) limitAlone() (int, error) {
	if r.strict {
		return costs.alone, nil
	}
	counter, err := counterOf(r.ctx, r.snapshot, r.rng)
	return int(min(max(uint64(costs.aloneLeast), counter.Documents/uint64(costs.aloneShare)), uint64(costs.alone))), err
}

// split separates sets that must all hold into those that are lists as they are stored, and
// the rest.
func (r *reading) split(sets []access.Set) (lists intersection, rest []access.Set, err error) {
	for _, set := range sets {
		if all, ok := set.(access.Intersection); ok {
			more, left, err := r.split(all)
			if err != nil {
				return nil, nil, err
			}
			lists, rest = append(lists, more...), append(rest, left...)
			continue
		}
		if l := r.stream(set); l != nil {
			lists = append(lists, l)
		} else {
			rest = append(rest, set)
		}
	}
	return lists, rest, nil
}

// stream gives a Set as a list that needs no collecting, nil if that is not possible.
func (r *reading) stream(set access.Set) list {
	switch set := set.(type) {
	case *access.Range:
		if isStamp(set) {
			return nil
		}
		if st, ok := r.entries(set); ok && st.run {
			return &posted{r: r, prefix: st.lower}
		}
	case access.Union:
		if len(set) <= costs.merged {
			// A union asks each of its lists at every step, so it pays only for few.
			return r.streamAll(set, func(lists []list) list { return union(lists) })
		}
	case access.Intersection:
		if len(set) > 0 {
			return r.streamAll(set, func(lists []list) list { return intersection(lists) })
		}
	}
	return nil
}

func (r *reading) streamAll(sets []access.Set, join func([]list) list) list {
	lists := make([]list, len(sets))
	for i := range sets {
		if lists[i] = r.stream(sets[i]); lists[i] == nil {
			return nil
		}
	}
	return join(lists)
}

// A collector gathers the numbers of sets whose entries are not in the order of numbers.
type collector struct {
	r       *reading
	numbers []uint64 // in any order, some perhaps twice
	left    int      // entries that may still be looked at
}

// add collects the numbers of a Set. ok is false if they are too many, or not known.
func (c *collector) add(set access.Set) (ok bool, err error) {
	switch set := set.(type) {
	case *access.Range:
		return c.addRange(set)
	case *access.Tested:
		return c.addTested(set)
	case access.Union:
		for _, one := range set {
			if ok, err = c.add(one); err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	case access.Intersection:
		return c.addAll(set)
	}
	return false, nil
}

// addAll collects the numbers that are in every one of the sets.
func (c *collector) addAll(sets []access.Set) (ok bool, err error) {
	steps, inside := c.r.steps, c.r.inside
	c.r.inside = true
	l, err := c.r.narrow(sets, false, c.left)
	c.r.inside = inside
	if err == errInexact { // the caller may read the documents of another list
		return false, nil
	}
	if err != nil || l == nil {
		return false, err
	}
	numbers, whole, err := drain(l, c.r.from, c.left)
	c.numbers, c.left = append(c.numbers, numbers...), c.left-(c.r.steps-steps)
	return whole && c.left >= 0, err
}

func (c *collector) addRange(x *access.Range) (ok bool, err error) {
	if isStamp(x) {
		return c.addStamps(x)
	}
	st, ok := c.r.entries(x)
	if !ok {
		return false, nil
	}
	return c.take(st.interval, func(it kv.Iterator) (uint64, bool, error) {
		number, err := keys.Number(it.Key())
		return number, true, err
	})
}

// base collects the numbers of the scope.
func (c *collector) base() (ok bool, err error) {
	sel := c.r.postings()
	return c.take(sel.interval, func(it kv.Iterator) (uint64, bool, error) {
		number, err := keys.Number(it.Key())
		return number, sel.span == nil || inSpan(c.r.v.State, it.Key(), sel.span), err
	})
}

// take collects the numbers that the keys of an interval lead to.
func (c *collector) take(x interval, lead func(kv.Iterator) (number uint64, ok bool, err error)) (bool, error) {
	r := c.r
	if x.run && r.ahead.memory != nil {
		it, err := r.over(x)
		if err != nil {
			return false, err
		}
		defer it.Close()
		return c.takeFrom(it, it.Next(), x.upper, lead)
	}
	// One iterator for all short looks: opening one costs more than the look.
	if r.shared == nil {
		var err error
		if r.shared, err = r.iterate(keys.ContainerBounds(r.v.Container.ID)); err != nil {
			return false, err
		}
	}
	return c.takeFrom(r.shared, r.shared.Seek(x.lower), x.upper, lead)
}

// takeFrom collects from where an iterator is until upper.
func (c *collector) takeFrom(
	it kv.Iterator, more bool, upper []byte, lead func(kv.Iterator) (number uint64, ok bool, err error),
) (bool, error) {
	r := c.r
	for ; more && before(it.Key(), upper); more = it.Next() {
		if err := r.tick(); err != nil {
			return false, err
		}
		if c.left--; c.left < 0 || len(c.numbers) > costs.alone {
			return false, nil
		}
		number, ok, err := lead(it)
		if err != nil {
			return false, corrupt(err, "index entry")
		}
		if ok && number >= r.from {
			c.numbers = append(c.numbers, number)
		}
	}
	return true, it.Err()
}

// points gives the numbers of the documents with these ids in the partition.
func (r *reading) points(ids []string) (*sorted, error) {
	if !r.whole {
		return nil, fault.New(fault.Internal, "ids without their partition")
	}
	if err := r.fetchLookups(ids); err != nil {
		return nil, err
	}
	defer r.ahead.drop()
	numbers := make([]uint64, 0, len(ids))
	for _, id := range ids {
		if err := r.tick(); err != nil {
			return nil, err
		}
		r.key = r.rng.Lookup(r.key[:0], r.partition, id)
		// No document can have such a long id, so none is missed.
		if len(r.key) > kv.MaxKeyBytes {
			continue
		}
		number, found, err := getNumber(r.ctx, &r.ahead, r.key)
		if err != nil {
			return nil, err
		}
		if found {
			numbers = append(numbers, number)
		}
	}
	r.based = true
	slices.Sort(numbers)
	return &sorted{numbers: slices.Compact(numbers)}, nil
}

// fetchLookups fetches the numbers of the documents with these ids in the partition at once, where that is faster.
func (r *reading) fetchLookups(ids []string) error {
	if r.ahead.many == nil {
		return nil
	}
	for some := range slices.Chunk(ids, largeGroup) {
		var list [][]byte
		for _, id := range some {
			if key := r.rng.Lookup(nil, r.partition, id); len(key) <= kv.MaxKeyBytes {
				list = append(list, key)
			}
		}
		if err := r.ahead.fetch(r.ctx, list); err != nil {
			return err
		}
	}
	return nil
}
