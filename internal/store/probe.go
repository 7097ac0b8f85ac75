package store

import (
	"math"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A prober tells of single numbers whether they are in a set that is too long to be listed.
type prober interface {
	// has reports whether a number is in the set, and whether it had to look into the index for that.
	has(number uint64) (in, looked bool, err error)
}

// prober makes a prober of a Set, nil if entries are not in the order of numbers. It may have other numbers, too.
func (r *reading) prober(set access.Set) prober {
	switch set := set.(type) {
	case *access.Range:
		if isStamp(set) {
			return nil
		}
		if st, ok := r.entries(set); ok && st.run {
			return &postedProber{r: r, prefix: st.lower}
		}
	case access.Intersection:
		var all everyProber
		for _, one := range set {
			if p := r.prober(one); p != nil {
				all = append(all, p)
			}
		}
		if len(all) > 0 {
			return all
		}
	case access.Union:
		if len(set) == 0 || len(set) > costs.merged {
			return nil
		}
		some := make(anyProber, len(set))
		for i, one := range set {
			if some[i] = r.prober(one); some[i] == nil {
				return nil
			}
		}
		return some
	}
	return nil
}

// A postedProber looks for numbers in keys that all begin with prefix and end with a number. It remembers the gap
// between two of them that it has found last. Numbers rise as documents are created, so a walk in the order of writes,
// or of a time, stays in a gap for long where the set has no documents.
type postedProber struct {
	r         *reading
	prefix    []byte
	it        kv.Iterator
	gap       bool
	low, high uint64 // the numbers of the gap, ends included
	key       []byte
}

func (p *postedProber) has(number uint64) (in, looked bool, err error) {
	if p.gap && number >= p.low && number <= p.high {
		return false, false, nil
	}
	if p.it == nil {
		lower, upper := keys.Prefixed(p.prefix)
		if p.it, err = p.r.iterate(lower, upper); err != nil {
			return false, true, err
		}
	}
	p.key = keys.AppendNumber(append(p.key[:0], p.prefix...), number)
	p.low, p.high = 0, math.MaxUint64
	if p.it.Seek(p.key) {
		at, err := keys.Number(p.it.Key())
		if err != nil {
			return false, true, corrupt(err, "index entry")
		}
		if at == number {
			p.gap = false
			return true, true, nil
		}
		p.high = at - 1
	}
	if p.it.Prev() {
		at, err := keys.Number(p.it.Key())
		if err != nil {
			return false, true, corrupt(err, "index entry")
		}
		p.low = at + 1
	}
	p.gap = true
	return false, true, p.it.Err()
}

// An everyProber has the numbers that all of its probers have.
type everyProber []prober

func (x everyProber) has(number uint64) (in, looked bool, err error) {
	for _, p := range x {
		in, did, err := p.has(number)
		looked = looked || did
		if err != nil || !in {
			return false, looked, err
		}
	}
	return true, looked, nil
}

// An anyProber has the numbers that one of its probers has.
type anyProber []prober

func (x anyProber) has(number uint64) (in, looked bool, err error) {
	for _, p := range x {
		in, did, err := p.has(number)
		looked = looked || did
		if err != nil || in {
			return in, looked, err
		}
	}
	return false, looked, nil
}
