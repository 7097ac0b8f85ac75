package store

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// No index has entries of stamps (_ts). The feed serves instead: it is in the order of sequences, and stamps never fall
// as sequences rise.

// overStamps hands out documents in order of sequence.
func (w *orderedScan) overStamps() error {
	var err error
	if w.over, err = w.stampEntries(&w.of.Range); err != nil {
		return err
	}
	if w.after != nil {
		if len(w.after) != 1 {
			return ErrPosition
		}
		sequence, err := w.resumeStamps()
		if err != nil {
			return err
		}
		w.resumeAt(w.rng.Feed(nil, sequence))
	}
	return w.alongEntries()
}

// resumeStamps is the sequence of the range at which a walk stands that has come to the position. Of one stamp, the
// documents of lower ranges come first; those of ranges that were split from one come in the order of their sequences.
func (w *orderedScan) resumeStamps() (sequence uint64, err error) {
	number := keys.RangeOfNumber(w.reached)
	if number == w.rng.Range {
		return keys.CountOfNumber(w.reached), nil
	}
	at, ok := doc.AsInt(w.after[0])
	if !ok {
		return 0, ErrPosition
	}
	here, there := w.layout.Lineage(w.rng.Range), w.layout.Lineage(number)
	if here[0] == there[0] {
		return w.resumeAmong(at, keys.CountOfNumber(w.reached), here, there)
	}
	if there[0] < here[0] {
		at-- // what has this stamp comes behind the position
	}
	if sequence, err = sequenceAt(w.ctx, w.snapshot, w.rng, at); w.of.Reverse {
		sequence++ // a walk in reverse has passed those above
	}
	return sequence, err
}

// resumeAmong is resumeStamps where the position has a stamp and a sequence of another range that came from the same
// one. here and there are the lineages of the range and of that other one.
func (w *orderedScan) resumeAmong(at expiry.Stamp, sequence uint64, here, there []uint16) (uint64, error) {
	first, err := sequenceAt(w.ctx, w.snapshot, w.rng, at-1)
	if err != nil {
		return 0, err
	}
	last, err := sequenceAt(w.ctx, w.snapshot, w.rng, at)
	if err != nil {
		return 0, err
	}
	parent := len(there) < len(here) && slices.Equal(there, here[:len(there)])
	if !parent && slices.Compare(here, there) > 0 {
		sequence-- // of one sequence, that of this range comes behind the position
	}
	if w.of.Reverse { // it goes on below
		if !parent {
			sequence++
		}
		return min(max(sequence, first+1), last+1), nil
	}
	return min(max(sequence, first), last), nil
}

// rankOfStamp is where a document comes in a walk over the feeds of several ranges.
func (w *orderedScan) rankOfStamp(dst []byte, h keys.Header) []byte {
	if w.lineage == nil {
		w.lineage = w.layout.Lineage(w.rng.Range)
	}
	dst = keys.AppendNumber(dst, uint64(h.Stamp)^1<<63)
	dst = keys.AppendNumber(dst, keys.NumberOf(w.lineage[0], h.Sequence))
	for _, number := range w.lineage {
		dst = binary.BigEndian.AppendUint16(dst, number)
	}
	return dst
}

// addStamps takes in the documents whose stamps are in a Range.
func (c *collector) addStamps(x *access.Range) (ok bool, err error) {
	st, err := c.r.stampEntries(x)
	if err != nil || st.empty() {
		return err == nil, err
	}
	return c.take(st.interval, func(it kv.Iterator) (uint64, bool, error) {
		e, err := keys.DecodeFeed(it.Value())
		return e.Number, true, err
	})
}

// stampEntries finds the part of the feed whose stamps are within the bounds of x.
func (r *reading) stampEntries(x *access.Range) (st entryRange, err error) {
	st.exact, st.once = true, true
	st.lower, st.upper = r.rng.Bounds(keys.KindFeed)
	first, last, ok := stampBounds(x)
	if !ok {
		st.upper = st.lower
		return st, nil
	}
	if first > math.MinInt64 {
		sequence, err := sequenceAt(r.ctx, r.snapshot, r.rng, first-1)
		if err != nil {
			return st, err
		}
		st.lower = r.rng.Feed(nil, sequence+1)
	}
	if last < math.MaxInt64 {
		sequence, err := sequenceAt(r.ctx, r.snapshot, r.rng, last)
		if err != nil {
			return st, err
		}
		st.upper = r.rng.Feed(nil, sequence+1)
	}
	return st, nil
}

// stampBounds gives the first and the last stamp within the bounds of x; ok is false if
// there is none.
func stampBounds(x *access.Range) (first, last expiry.Stamp, ok bool) {
	first, last = math.MinInt64, math.MaxInt64
	if b := x.Low; b != nil && !ofNumbers(b) {
		switch f, side := besideStamps(b); {
		case side > 0:
			return 0, 0, false
		case side == 0:
			if first = clampStamp(math.Ceil(f)); b.Open && float64(first) == f {
				first++
			}
		}
	}
	if b := x.High; b != nil && !ofNumbers(b) {
		switch f, side := besideStamps(b); {
		case side < 0:
			return 0, 0, false
		case side == 0:
			if last = clampStamp(math.Floor(f)); b.Open && float64(last) == f {
				last--
			}
		}
	}
	return first, last, first <= last
}

// besideStamps tells whether a bound lies below all stamps (-1), above them (1), or at the
// number f (0).
func besideStamps(b *access.Bound) (f float64, side int) {
	rank := doc.RankOf(b.Value)
	f, _ = doc.AsFloat(b.Value)
	switch {
	case rank < doc.RankNumber || f != f: // NaN is the lowest number
		return 0, -1
	case rank > doc.RankNumber:
		return 0, 1
	}
	return f, 0
}

// maxInstant bounds clampStamp: float64 is exact up to there, and no stamp is above.
const maxInstant = 1 << 53

func clampStamp(f float64) expiry.Stamp { return expiry.Stamp(max(-maxInstant, min(f, maxInstant))) }

// ofNumbers reports whether a bound lets all numbers in.
func ofNumbers(b *access.Bound) bool { return b.Type && doc.RankOf(b.Value) == doc.RankNumber }
