package store

import (
	"bytes"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// The strings of a Tested are all strings at a path, so to find those that pass takes a walk over all its entries: an
// eighth to a third of the time in which all documents are read. If many documents pass, a page is sooner full by
// reading some. So documents are read first, and the strings are tested when too few of them have passed.

const (
	// pageRows is how many documents are assumed to be wanted, if not all.
	pageRows = 100
	// seekReads is how many documents can be read one after the other in the time that a look at one takes.
	seekReads = 8
)

// untested takes away the sets that are not found without tests.
func untested(sets []access.Set) (rest, tests []access.Set) {
	for _, set := range sets {
		if needsTest(set) {
			tests = append(tests, set)
		} else {
			rest = append(rest, set)
		}
	}
	return rest, tests
}

// needsTest reports whether a set has no part that entries tell without tests.
func needsTest(set access.Set) bool {
	switch set := set.(type) {
	case *access.Tested:
		return true
	case access.Union:
		for _, one := range set {
			if needsTest(one) {
				return true
			}
		}
	case access.Intersection:
		for _, one := range set {
			if !needsTest(one) {
				return false
			}
		}
		return len(set) > 0
	}
	return false
}

// walksOf is the number of walks over all strings of a path that a set takes.
func walksOf(set access.Set) (n int) {
	switch set := set.(type) {
	case *access.Tested:
		return 1
	case access.Union:
		for _, one := range set {
			n += walksOf(one)
		}
	case access.Intersection:
		for _, one := range set {
			n += walksOf(one)
		}
	}
	return n
}

// A trial tells when to test the strings of all documents.
type trial struct {
	in           membership // of the tests that were left out
	seen, passed float64
	all, wanted  float64 // documents of the range, and of those that pass
	strings      float64 // that have to be tested
	least        float64 // documents that are read before
	over         bool    // so many pass that the strings need no test
	each         float64 // the cost of a document; that of reading one of all is 1
}

// newTrial begins a trial. It is nil if a document does not tell whether it passes, or if there are too many strings.
// In a part of the documents, which may be small, it lasts until these have cost as much as the tests.
func (r *reading) newTrial(each float64, part bool) (*trial, error) {
	in, ok := r.membership(access.Intersection(r.tests))
	if !ok {
		return nil, nil
	}
	counter, err := counterOf(r.ctx, r.snapshot, r.rng)
	t := &trial{in: in, all: float64(counter.Documents), wanted: pageRows, each: each}
	if t.strings = t.all * float64(walksOf(access.Intersection(r.tests))); t.strings > float64(costs.tested) {
		return nil, err
	}
	if r.every {
		t.wanted = t.all
	}
	if t.least = float64(costs.few); part {
		t.least = max(t.least, t.strings/float64(costs.perTested)/each)
	}
	return t, err
}

// ends counts a document that was read, and reports whether it takes less time to test all strings and look at the
// documents that pass than to read as many as are expected before enough have passed.
func (t *trial) ends(number uint64, body doc.Doc) bool {
	if t.over {
		return false
	}
	t.seen++
	if t.in(number, body) {
		t.passed++
	}
	share := (t.passed + 1) / t.seen
	left := t.wanted - t.passed
	if left <= 0 {
		left = pageRows // the page is longer
	}
	read := min(left/share, t.all-t.seen) * t.each
	test := t.strings/float64(costs.perTested) + seekReads*min(left, share*(t.all-t.seen))
	t.over = t.seen >= 8*t.least && test > 2*read
	return t.seen >= t.least && test < read
}

// testAll lists the numbers, from r.from on, of the documents that pass. It is nil if they are too many.
func (r *reading) testAll() (list, error) {
	r.testing = true
	l, err := r.narrow(r.tests, false, math.MaxInt)
	r.testing = false
	return l, err
}

// collectTests is collect for sets that need tests, for a count. If lists are short, their documents are read in less
// time.
func (r *reading) collectTests(
	lists intersection, rest, tests []access.Set,
) (intersection, []access.Set, error) {
	if len(lists) > 0 && !r.inside {
		counter, err := counterOf(r.ctx, r.snapshot, r.rng)
		if err != nil {
			return nil, nil, err
		}
		few := int(min(counter.Documents/uint64(costs.perTested), uint64(costs.alone/costs.perNumber)))
		_, whole, err := drain(lists, r.from, few)
		if lists.rewind(); err != nil || whole {
			return lists, append(rest, tests...), err
		}
	}
	for _, set := range tests {
		c := collector{r: r, left: math.MaxInt}
		switch ok, err := c.add(set); {
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

// visitTesting is visit for a list that was made without tests.
func (r *reading) visitTesting(l list) error {
	t, err := r.newTrial(1, false)
	if err != nil {
		return err
	}
	if t == nil {
		return r.visit(l)
	}
	err = r.visitList(l, r.from, func(_ []byte, number uint64) error {
		body, err := r.giveNumber(number)
		if err == nil && body != nil && t.ends(number, body) {
			r.from = number + 1
			return errTrialEnds
		}
		return err
	})
	if err != errTrialEnds {
		return err
	}
	r.ahead.drop()
	l.rewind()
	_, all := l.(*everyRecord)
	if !all {
		// Perhaps the rest of the list is read in less time.
		numbers, whole, err := drain(l, r.from, min(int(t.all)/costs.perTested, costs.alone))
		if err != nil {
			return err
		}
		if whole {
			return r.visit(&sorted{numbers: numbers})
		}
		l.rewind()
	}
	passed, err := r.testAll()
	switch {
	case err != nil:
		return err
	case all && passed != nil:
		l = passed
	case passed != nil:
		l = intersection{passed, l}
	}
	return r.visit(l)
}

// errTrialEnds ends a walk that goes on when strings were tested.
var errTrialEnds = fault.New(fault.Internal, "strings are to be tested")

// A tester tests the strings of entries, one after the other. Entries with equal strings follow one another.
type tester struct {
	x     *access.Tested
	over  entryRange
	begun bool
	form  []byte // of the last string
	text  []byte

	passes, certain bool // the last string
}

// test tests the string of an entry.
func (t *tester) test(key []byte) (number uint64, err error) {
	number, form, err := numberAndForm(key, t.over)
	if err != nil || t.begun && bytes.Equal(form, t.form) {
		return number, err
	}
	t.begun, t.form = true, append(t.form[:0], form...)
	v, whole, err := keys.DecodeValue(t.text[:0], form)
	if err != nil {
		return 0, corrupt(err, "index entry")
	}
	t.text = v.Data
	if t.passes, t.certain = true, false; whole {
		t.passes, t.certain = t.x.Test(v)
	}
	return number, nil
}

// inTested tests the string of each document.
func (r *reading) inTested(x *access.Tested) (m membership, ok bool) {
	over, ok := r.entries(&x.Range)
	if !ok || over.columns[0].path == nil {
		return nil, false
	}
	path := over.columns[0].path
	return func(_ uint64, body doc.Doc) bool {
		v := path.Lookup(body)
		if v.Type != bsoncore.TypeString {
			return false
		}
		passes, certain := x.Test(v)
		r.unsure = r.unsure || !certain
		return passes
	}, true
}

// addTested collects the numbers of the documents that pass, and if a count does not need certainty, those of which
// that is not known.
func (c *collector) addTested(x *access.Tested) (ok bool, err error) {
	st, ok := c.r.entries(&x.Range)
	if !ok {
		return false, nil
	}
	uncertain := false
	t := tester{x: x, over: st}
	ok, err = c.take(st.interval, func(it kv.Iterator) (uint64, bool, error) {
		number, err := t.test(it.Key())
		uncertain = uncertain || !t.certain
		return number, t.passes, err
	})
	if err == nil && uncertain && c.r.strict {
		return false, errInexact
	}
	return ok, err
}

// countTested counts the documents that pass. Those of which entries do not tell it are read, if they are few.
func (t *tally) countTested(x *access.Tested) error {
	st, ok := t.entries(&x.Range)
	in, known := t.membership(x)
	if !ok || !known {
		return errInexact
	}
	read, strings := 0, tester{x: x, over: st}
	t.unsure = false
	return t.walk(st.interval, func(it kv.Iterator) error {
		number, err := strings.test(it.Key())
		switch {
		case err != nil || !strings.passes:
			return err
		case strings.certain:
			return t.add(number)
		}
		if read++; read > costs.few {
			return errInexact
		}
		_, body, alive, err := t.record(number)
		if err == nil && alive && in(number, body) {
			t.n++
		}
		if t.unsure {
			return errInexact
		}
		return err
	})
}
