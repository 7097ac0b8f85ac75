package store

import (
	"bytes"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A columnCheck is an access.Check on keys.
type columnCheck struct {
	column int
	within []interval // of what entries have from the column on, in order
}

// has reports whether the value at the start of form is within one of the intervals. If it is not, next is the first
// form behind it that is, nil if there is none.
func (c *columnCheck) has(form []byte) (ok bool, next []byte) {
	i, _ := slices.BinarySearchFunc(c.within, form, func(x interval, form []byte) int {
		if x.upper == nil || bytes.Compare(form, x.upper) < 0 {
			return 1
		}
		return -1
	})
	if i == len(c.within) {
		return false, nil
	}
	next = c.within[i].lower
	return bytes.Compare(form, next) >= 0, next
}

func (w *namedScan) newChecks(list []access.Check) (checks []columnCheck) {
	for _, of := range list {
		c := columnCheck{column: of.Column}
		for i := range of.Within {
			c.within = append(c.within, w.valuesWithin(nil, &of.Within[i], of.Column))
		}
		checks = append(checks, c)
	}
	return checks
}

// passes reports whether an entry passes the checks. If it does not, at is where the column begins that has failed, and
// next as has tells it.
func (w *namedScan) passes(key []byte) (ok bool, at int, next []byte, err error) {
	at = len(w.prefix)
	column := 0
	for i := range w.checks {
		for ; column < w.checks[i].column; column++ {
			n, err := keys.BSONBytes(key[at:], w.n.descending(column))
			if err != nil {
				return false, at, nil, corrupt(err, "index entry")
			}
			at += n
		}
		if ok, next = w.checks[i].has(key[at:]); !ok {
			return false, at, next, nil
		}
	}
	return true, at, nil, nil
}

// alike is after how many entries that fail a check, and are equal in the columns before it, a walk seeks the next one
// that may pass: on a disk, a seek takes about as long as so many steps.
const alike = 16

// A checkedWalk is a walk over one interval, which leaves out entries that fail a check.
type checkedWalk struct {
	*namedScan
	same []byte // what the last entry that failed has in the columns before
	n    int    // entries that failed and have the same there
	jump []byte // where to go on; empty for the next entry
}

// passes is that of the scan, and sets jump.
func (x *checkedWalk) passes(key []byte) (bool, error) {
	ok, at, next, err := x.namedScan.passes(key)
	x.jump = x.jump[:0]
	switch {
	case ok || err != nil || x.of.Reverse:
	case !bytes.Equal(key[:at], x.same):
		x.same, x.n = append(x.same[:0], key[:at]...), 1
	default:
		if x.n++; x.n < alike {
			break
		}
		x.n = 0
		if x.jump = append(x.jump, x.same...); next != nil {
			x.jump = append(x.jump, next...)
		} else {
			x.jump = append(x.jump[:0], keys.End(x.same)...)
		}
	}
	return ok, err
}

// move moves an iterator to the entry at which the walk goes on.
func (x *checkedWalk) move(it kv.Iterator) bool {
	if len(x.jump) > 0 {
		return it.Seek(x.jump)
	}
	return move(it, x.of.Reverse)
}
