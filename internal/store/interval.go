package store

import (
	"bytes"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Indexes by path and named indexes both keep entries in the order of their values, so a
// walk along either is a walk over intervals of keys: this file. What they do not share is
// how a value becomes bytes, where an entry has the number of its document, and what a walk
// does at an entry; see orderedScan and namedScan.

// An interval is the keys in [lower, upper). A nil upper is the end of all keys.
type interval struct {
	lower, upper []byte
	run          bool // all of its keys begin with lower, and are eight bytes longer: see kv.Rememberer
}

// prefixed is the interval of all keys that begin with prefix.
func prefixed(prefix []byte) interval {
	lower, upper := keys.Prefixed(prefix)
	return interval{lower: lower, upper: upper}
}

func (x interval) empty() bool {
	return x.upper != nil && bytes.Compare(x.lower, x.upper) >= 0
}

func (x interval) has(key []byte) bool {
	return bytes.Compare(key, x.lower) >= 0 && (x.upper == nil || bytes.Compare(key, x.upper) < 0)
}

// behind is what is left of the interval for a walk that has come to key.
func (x interval) behind(key []byte, reverse bool) interval {
	x.run = false
	switch {
	case reverse && (x.upper == nil || bytes.Compare(key, x.upper) < 0):
		x.upper = key
	case !reverse && bytes.Compare(key, x.lower) >= 0:
		x.lower = append(slices.Clip(key), 0)
	}
	return x
}

// A valueForm appends a value as the entries of an index have it in one column. clipped
// reports that they keep only a part of it.
type valueForm func(dst []byte, v doc.Value) (form []byte, clipped bool)

// between is the keys that begin with prefix and a value within the bounds; descending is
// the direction of the column.
func between(prefix []byte, low, high *access.Bound, descending bool, form valueForm) interval {
	first, last := low, high
	if descending {
		first, last = last, first
	}
	return interval{
		lower: edge(prefix, first, descending, false, form),
		upper: edge(prefix, last, descending, true, form),
	}
}

// edge is the key at which entries get within a bound, or with after, the key at which they
// get out of it. A bound that entries keep only a part of excludes no document: some with
// the same part may be within.
func edge(prefix []byte, b *access.Bound, descending, after bool, form valueForm) []byte {
	key, open := slices.Clone(prefix), false
	switch {
	case b == nil:
	case b.Type:
		key, _ = form(key, endOfType(b.Value, descending != after))
		key = key[:len(prefix)+1] // the form of a value begins with its type
	default:
		var clipped bool
		key, clipped = form(key, b.Value)
		open = b.Open && !clipped
	}
	if after != open {
		return keys.End(key)
	}
	return key
}

// over opens an iterator over an interval.
func (r *reading) over(x interval) (kv.Iterator, error) {
	if x.run && r.ahead.memory != nil {
		return r.ahead.memory.IterateRun(r.ctx, x.lower, x.upper)
	}
	return r.snapshot.Iterate(r.ctx, x.lower, x.upper)
}

// walk calls step at every key of an interval until it fails.
func (r *reading) walk(x interval, step func(kv.Iterator) error) error {
	it, err := r.over(x)
	if err != nil {
		return err
	}
	return walkOver(r.ctx, it, step)
}

// along calls visit with each entry of an interval, in the order of keys or in reverse, and
// with the number of the document that the entry leads to. The key is valid until the next.
func (r *reading) along(
	x interval, reverse bool, leads func(kv.Iterator) (uint64, error), visit func(key []byte, number uint64) error,
) error {
	return r.alongBy(x, func(it kv.Iterator) bool { return move(it, reverse) }, leads, visit)
}

// alongBy is along for a walk that goes on by next, which is called after the visit of each entry.
func (r *reading) alongBy(
	x interval, next func(kv.Iterator) bool, leads func(kv.Iterator) (uint64, error),
	visit func(key []byte, number uint64) error,
) error {
	if x.empty() {
		return nil
	}
	it, err := r.over(x)
	if err != nil {
		return err
	}
	defer it.Close()
	r.walked = it
	defer func() { r.walked = nil }()
	for next(it) {
		if err := r.tick(); err != nil {
			return err
		}
		number, err := leads(it)
		if err != nil {
			if it.Err() != nil {
				return it.Err()
			}
			return corrupt(err, "index entry")
		}
		if err := visit(it.Key(), number); err != nil {
			return err
		}
	}
	return it.Err()
}

func move(it kv.Iterator, reverse bool) bool {
	if reverse {
		return it.Prev()
	}
	return it.Next()
}

// Where entries have the number of their document: at the end of the key; as the value, in
// the index on _id; within the value, in the change feed.

func numberInKey(it kv.Iterator) (uint64, error) { return keys.Number(it.Key()) }

func numberInValue(it kv.Iterator) (uint64, error) { return keys.DecodeNumber(it.Value()) }

func numberInFeed(it kv.Iterator) (uint64, error) {
	e, err := keys.DecodeFeed(it.Value())
	return e.Number, err
}
