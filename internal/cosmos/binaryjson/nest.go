package binaryjson

import (
	"bytes"
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A frame is the size of an object or array, encoded in one of eight forms: empty, one element, a length of 1, 2 or 4
// bytes, or such a length with a count of the same width.
type frame struct {
	around int // end of the enclosing object or array
	end    int // its own end; -1 if only its elements determine it
	count  int // number of elements; -1 if only the end determines it
}

// open reads the header of an object or array and enters it.
func (r *reader) open(form byte) (f frame, err error) {
	if r.depth == doc.MaxDepth {
		return f, r.fail(r.at-1, "Objects and arrays are nested more than "+strconv.Itoa(doc.MaxDepth)+" deep")
	}
	r.depth++
	f = frame{around: r.end, end: -1, count: int(form)}
	if form >= 2 {
		if err := r.length(&f, form-2); err != nil {
			return f, err
		}
	}
	return f, r.spend(len("[]"))
}

// comma counts the separator before element i.
func (r *reader) comma(i int) error { return r.spend(min(i, len(","))) }

// length reads the length of a frame, and its count if the form has one.
func (r *reader) length(f *frame, form byte) (err error) {
	width := 1 << (form % 3)
	size, err := r.size(width)
	if err != nil {
		return err
	}
	if f.count = -1; form >= 3 {
		if f.count, err = r.size(width); err != nil {
			return err
		}
	}
	if size > r.end-r.at {
		return r.short()
	}
	f.end = r.at + size
	r.end = f.end
	return nil
}

// more reports whether there is an element i.
func (r *reader) more(f *frame, i int) (bool, error) {
	switch {
	case f.end < 0:
		return i < f.count, nil
	case (r.at < f.end) == (i < f.count) || f.count < 0:
		return r.at < f.end, nil
	}
	return false, r.fail(r.at, "An object or array of "+strconv.Itoa(f.count)+" elements has another number of them")
}

// close leaves an object or array.
func (r *reader) close(f *frame) {
	r.depth--
	r.end = f.around
}

func (r *reader) object(form byte) error {
	f, err := r.open(form)
	if err != nil {
		return err
	}
	n := r.Open()
	for i := 0; ; i++ {
		more, err := r.more(&f, i)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := r.comma(i); err != nil {
			return err
		}
		if err := r.member(&n); err != nil {
			return err
		}
	}
	r.Close(&n)
	r.close(&f)
	return nil
}

// member reads one name and value.
func (r *reader) member(n *doc.Nest) error {
	start := r.at
	marker, err := r.byte()
	if err != nil {
		return err
	}
	if !isString(marker) {
		return r.fail(start, "The name of a member was expected")
	}
	name, err := r.string(marker)
	if err != nil {
		return err
	}
	if bytes.IndexByte(name, 0) >= 0 {
		return r.fail(start, "The name of a member has a NUL character")
	}
	if err := r.spend(len(":")); err != nil {
		return err
	}
	skipped := r.depth == 1 && r.skip != nil && r.skip(name)
	r.Member(n, name)
	kind, err := r.value()
	if err != nil {
		return err
	}
	if skipped {
		r.Drop(n)
	} else {
		r.Keep(n, kind)
	}
	return nil
}

func (r *reader) array(form byte) error {
	f, err := r.open(form)
	if err != nil {
		return err
	}
	n := r.Open()
	for i := 0; ; i++ {
		more, err := r.more(&f, i)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := r.comma(i); err != nil {
			return err
		}
		r.Element(&n)
		kind, err := r.value()
		if err != nil {
			return err
		}
		r.Set(&n, kind)
	}
	r.Close(&n)
	r.close(&f)
	return nil
}
