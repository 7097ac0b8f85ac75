package exec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// newTopK returns the topK for a pass over all documents.
func (r *run) newTopK() *topK {
	b := &topK{most: r.capacity(), memory: r.limit.Memory, keep: r.keep}
	if r.token.skip == 0 {
		b.enough = r.limit.Bytes
	}
	return b
}

// sorted makes a pass that returns the next rows of an order computed in memory.
func (r *run) sorted() (more bool, err error) {
	s := sorter{run: r, topK: r.newTopK(), resume: r.token, late: r.writesLate()}
	if err := s.resumeAt(); err != nil {
		return false, err
	}
	if r.mode == modeSortedFirst {
		if err := s.findFirst(); err != nil {
			return false, err
		}
	}
	tabulated := false
	if r.mode == modeSortedUnique {
		s.byKey = map[string]*entry{}
		if tabulated, err = r.tabulateRows(s.topK, s.row); err != nil {
			return false, err
		}
	}
	if !tabulated {
		if err := r.overAfter(s.walkFrom(), s.row); err != nil {
			return false, err
		}
	}
	more, err = r.flush(s.topK, s.passed)
	r.spare()
	return more, err
}

// flush appends the entries of a pass to the page, as many as fit, and reports whether rows are left. It calls passed
// for each appended entry.
func (r *run) flush(b *topK, passed func(*entry)) (more bool, err error) {
	for _, e := range b.sorted(r.f) {
		if r.full() {
			return true, nil
		}
		if err := r.finish(e); err != nil {
			return false, err
		}
		if e.err != nil && r.token.skip == 0 {
			return false, e.err
		}
		if err := r.give(func(_ *frame, dst []byte) ([]byte, bool) { return append(dst, e.row...), true }); err != nil {
			return false, err
		}
		passed(e)
		if r.token.take == 0 {
			return false, nil
		}
	}
	return b.dropped, nil
}

// A sorter sorts rows by the keys of the order, then by document, then by row. If equal rows are merged, it sorts by
// the keys, then by the full values of keys that were cut, then by the row's value. Clients that merge
// partitions rely on that: they detect equal rows as neighbours.
type sorter struct {
	*run
	*topK
	resume token
	late   bool // rows are written when they are returned, see addLate
	key    []byte
	text   []byte // scratch for the key of the row's value
	first  map[[16]byte][]byte
}

// passed moves the token past a row.
func (s *sorter) passed(e *entry) {
	s.token.order = &s.order
	s.token.after, s.token.inside = e.position, true
	s.token.number, s.token.done = e.at.number, e.at.ordinal+1
	if s.mode == modeSortedUnique {
		s.token.number, s.token.done, s.token.key = 0, 0, e.key
	}
	s.topK.after = e.key
}

// row offers one row.
func (s *sorter) row(d *access.Document, at place) bool {
	if s.givenBefore(at) {
		return true
	}
	s.key = s.sortKey(s.key[:0])
	keys := len(s.key)
	if s.mode == modeSortedUnique {
		if !s.addValue() {
			return true
		}
	} else {
		s.key = s.tieKey(s.key, tie(&s.order, d), at.ordinal)
	}
	if s.mode == modeSortedFirst && !s.isFirst() {
		return true
	}
	if _, ok := s.find(s.key); ok {
		return true
	}
	if !s.admits(s.key) {
		return !s.beyond(s.key[:keys])
	}
	if s.late && len(d.Body) <= maxLateBody {
		s.addLate(d, at)
		return true
	}
	if e, ok := s.entry(s.key, at); ok {
		e.position = s.position(s.f, nil, d)
		s.add(e)
	}
	return true
}

// givenBefore reports that an earlier streamed page has returned the row.
func (s *sorter) givenBefore(at place) bool {
	return !s.resume.inside && at.number == s.resume.number && at.ordinal < s.resume.done
}

// entry computes the row. ok is false if the row is undefined. An error is stored in the entry.
func (r *run) entry(key []byte, at place) (*entry, bool) {
	r.f.start = 0
	row, ok := r.write(r.f, nil)
	r.f.spend(len(row))
	e := &entry{key: bytes.Clone(key), row: row, at: at, err: r.f.err}
	if r.f.err != nil {
		if r.f.err = r.ending(r.f.err); r.f.err != nil {
			return nil, false
		}
		e.row, r.f.made, ok = nil, 0, true
	}
	return e, ok
}

// addValue appends the row's value to the key. It is false if the value is undefined.
func (s *sorter) addValue() bool {
	v := s.value(s.f)
	if v.Type == 0 || s.f.err != nil {
		return false
	}
	for _, k := range s.sel.order {
		if whole := k.get(s.f); partly(whole) {
			s.text = appendKey(s.text[:0], whole)
			s.key = append(s.key, clipKey(s.text)...)
		}
	}
	s.text = appendKey(s.text[:0], v)
	s.key = append(s.key, clipKey(s.text)...)
	return true
}

// partly reports that a sort key holds only a part of v.
func partly(v doc.Value) bool {
	s, _ := doc.AsString(v)
	return doc.RankOf(v) >= doc.RankArray || len(s) > access.MaxSortBytes
}

// clipKey shortens a key for a token: it replaces the end of a long key with a hash.
func clipKey(key []byte) []byte {
	if len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256(key)
	return append(key[:maxKey:maxKey], sum[:16]...)
}

const maxKey = 480

func (r *run) sortKey(dst []byte) []byte {
	for _, k := range r.sel.order {
		dst = appendSortKey(dst, k.get(r.f), k.descending)
	}
	return dst
}

// tie is what decides between documents with equal keys.
func tie(o *plan.Order, d *access.Document) uint64 {
	if o.Stamps {
		return d.Place()
	}
	return d.Number
}

func (r *run) tieKey(dst []byte, number uint64, ordinal int) []byte {
	return binary.BigEndian.AppendUint32(appendNumber(dst, number, r.order.Ties), uint32(ordinal))
}

// resumeAt computes the last key of the previous page.
func (s *sorter) resumeAt() error {
	t := &s.resume
	switch {
	case s.mode == modeSortedUnique:
		s.topK.after = t.key
		return nil
	case t.after == nil:
		return nil
	}
	key, number := []byte(nil), uint64(0)
	if s.order.Kind == plan.ByValue {
		values, n, ok := t.after.Values()
		if !ok || len(values) < len(s.sel.order) {
			return errToken
		}
		for i, k := range s.sel.order {
			key = appendSortKey(key, values[i], k.descending)
		}
		number = n
	} else {
		n, ok := t.after.Number()
		if !ok {
			return errToken
		}
		number = n
	}
	last := math.MaxUint32
	if t.inside && t.done > 0 {
		last = t.done - 1
	}
	s.topK.after = s.tieKey(key, number, last)
	return nil
}

// walkFrom is the position at which a walk in the query's order resumes: before the last values of the previous page.
func (s *sorter) walkFrom() access.Position {
	if s.plan.Sort || s.inner != nil || s.mode != modeSortedUnique || s.token.after == nil {
		return nil
	}
	return s.toWalk(s.inFront(s.token.after))
}

// beyond reports that a walk in the query's order has passed the page: its keys are greater than all that could be
// admitted.
func (s *sorter) beyond(keys []byte) bool {
	if s.plan.Sort || s.inner != nil || s.mode != modeSortedUnique || !s.full() || len(s.entries) == 0 {
		return false
	}
	last := s.entries[0].key
	return bytes.Compare(keys, last) > 0 && !bytes.HasPrefix(last, keys)
}

// full hides the method of run.
func (s *sorter) full() bool { return s.topK.full() }

// findFirst finds the first row in the order for each distinct value.
func (s *sorter) findFirst() error {
	s.first = map[[16]byte][]byte{}
	used := 0
	return s.over(func(d *access.Document, at place) bool {
		v := s.value(s.f)
		if v.Type == 0 || s.f.err != nil {
			s.f.err = s.ending(s.f.err)
			return true
		}
		s.text = appendKey(s.text[:0], v)
		id := identity(s.text)
		s.key = s.tieKey(s.sortKey(s.key[:0]), tie(&s.order, d), at.ordinal)
		known, ok := s.first[id]
		if ok && bytes.Compare(known, s.key) <= 0 {
			return true
		}
		if !ok {
			used += len(s.key) + overhead
		}
		s.first[id] = slices.Clone(s.key)
		if used > s.limit.Memory {
			s.f.fail(errDistinct)
		} else if err := s.run.keep(used); err != nil {
			s.f.fail(err)
		}
		return true
	})
}

var errDistinct = fault.New(fault.TooLarge, "The query has too many different rows for SELECT DISTINCT in this order. "+
	"Put the expressions of ORDER BY into SELECT DISTINCT.")

// ending ignores an error of a single row, which is reported only if the row is returned. It returns errors that end
// the query at once.
func (r *run) ending(err error) error {
	if err == errWork || r.f.meter.Err != nil {
		return err
	}
	return nil
}

func identity(key []byte) (id [16]byte) {
	sum := sha256.Sum256(key)
	copy(id[:], sum[:])
	return id
}

// isFirst reports that no equal row comes before this one in the order.
func (s *sorter) isFirst() bool {
	v := s.value(s.f)
	if v.Type == 0 || s.f.err != nil {
		s.f.err = s.ending(s.f.err)
		return false
	}
	s.text = appendKey(s.text[:0], v)
	return bytes.Equal(s.first[identity(s.text)], s.key)
}
