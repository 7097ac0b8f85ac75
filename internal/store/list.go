package store

import (
	"encoding/binary"
	"slices"

	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A list is document numbers in rising order, each once.
type list interface {
	// seek gives the first number that is n or above, false if the list has no such number.
	// Between two calls of rewind, n must not fall.
	seek(n uint64) (number uint64, ok bool, err error)
	// rewind goes back to the beginning.
	rewind()
}

// posted is a list in keys, which are a run: all begin with prefix and end with a number.
type posted struct {
	r      *reading
	prefix []byte
	it     kv.Iterator
	key    []byte // scratch
	begun  bool
	there  bool
	at     uint64
}

func (p *posted) seek(n uint64) (uint64, bool, error) {
	if p.begun && (!p.there || p.at >= n) {
		return p.at, p.there, nil
	}
	if err := p.r.tick(); err != nil {
		return 0, false, err
	}
	if p.it == nil {
		lower, upper := keys.Prefixed(p.prefix)
		it, err := p.r.keep(p.r.over(interval{lower, upper, true}))
		if err != nil {
			return 0, false, err
		}
		if p.it = it; n == 0 {
			p.begun = true
			err = p.land(p.it.Next())
			return p.at, p.there, err
		}
	}
	// The next one is often right, and cheaper to reach than to look for.
	if p.begun {
		if err := p.land(p.it.Next()); err != nil || !p.there || p.at >= n {
			return p.at, p.there, err
		}
	}
	p.begun = true
	p.key = keys.AppendNumber(append(p.key[:0], p.prefix...), n)
	err := p.land(p.it.Seek(p.key))
	return p.at, p.there, err
}

func (p *posted) land(found bool) error {
	if p.there = found; !found {
		return p.it.Err()
	}
	key := p.it.Key()
	if len(key) != len(p.prefix)+8 {
		return corrupt(keys.ErrCorrupt, "index entry")
	}
	p.at = binary.BigEndian.Uint64(key[len(p.prefix):])
	return nil
}

func (p *posted) rewind() { p.begun = false }

// sorted is a list in memory.
type sorted struct {
	numbers []uint64
	next    int
}

// newSorted makes a list of numbers in any order. It keeps their memory.
func newSorted(numbers []uint64) *sorted {
	slices.Sort(numbers)
	return &sorted{numbers: slices.Compact(numbers)}
}

func (s *sorted) seek(n uint64) (uint64, bool, error) {
	if s.next < len(s.numbers) && s.numbers[s.next] < n {
		s.next++ // usually far enough
		if s.next < len(s.numbers) && s.numbers[s.next] < n {
			i, _ := slices.BinarySearch(s.numbers[s.next:], n)
			s.next += i
		}
	}
	if s.next == len(s.numbers) {
		return 0, false, nil
	}
	return s.numbers[s.next], true, nil
}

func (s *sorted) rewind() { s.next = 0 }

func (s *sorted) has(n uint64) bool {
	_, found := slices.BinarySearch(s.numbers, n)
	return found
}

// An intersection is the numbers that are in every one of its lists, at least one.
type intersection []list

func (x intersection) seek(n uint64) (uint64, bool, error) {
	// Each list moves to the highest number so far, until all agree. So the shortest list sets the pace.
	for agreed := 0; agreed < len(x); {
		agreed = 0
		for _, l := range x {
			number, ok, err := l.seek(n)
			if err != nil || !ok {
				return 0, false, err
			}
			if number != n {
				n = number
				break
			}
			agreed++
		}
	}
	return n, true, nil
}

func (x intersection) rewind() {
	for _, l := range x {
		l.rewind()
	}
}

// A union is the numbers that are in at least one of its lists.
type union []list

func (x union) seek(n uint64) (first uint64, found bool, err error) {
	for _, l := range x {
		number, ok, err := l.seek(n)
		if err != nil {
			return 0, false, err
		}
		if ok && (!found || number < first) {
			first, found = number, true
		}
	}
	return first, found, nil
}

func (x union) rewind() {
	for _, l := range x {
		l.rewind()
	}
}

// everyRecord is the numbers that have a record. It moves the reading's own iterator, which
// is then at the record of the number that seek gave.
type everyRecord struct {
	r     *reading
	begun bool
}

func (e *everyRecord) seek(n uint64) (uint64, bool, error) {
	r := e.r
	if err := r.tick(); err != nil {
		return 0, false, err
	}
	if r.records == nil {
		if err := r.openRecords(); err != nil {
			return 0, false, err
		}
	}
	// Stepping is cheaper than seeking, and right when all records are wanted.
	if e.begun && r.here && r.at < n {
		if err := r.land(r.records.Next()); err != nil || !r.here {
			return 0, false, err
		}
	}
	if !e.begun || !r.here || r.at < n {
		e.begun = true
		r.key = r.rng.Record(r.key[:0], n)
		if err := r.land(r.records.Seek(r.key)); err != nil {
			return 0, false, err
		}
	}
	return r.at, r.here, nil
}

func (e *everyRecord) rewind() { e.begun = false }

// drain takes numbers from a list, from n on, until the list ends or limit is passed.
func drain(l list, n uint64, limit int) (numbers []uint64, whole bool, err error) {
	for len(numbers) <= limit {
		number, ok, err := l.seek(n)
		if err != nil || !ok {
			return numbers, !ok, err
		}
		numbers = append(numbers, number)
		n = number + 1
	}
	return numbers, false, nil
}
