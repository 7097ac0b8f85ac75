package store

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A membership tells from a document whether it is in a Set, just as its entries do.
type membership func(number uint64, body doc.Doc) bool

// everyDocument is the membership of all documents.
func everyDocument(uint64, doc.Doc) bool { return true }

// membership makes the membership of a Set. ok is false for values in arrays, for stamps, and where the index does not
// have the entries.
func (r *reading) membership(set access.Set) (m membership, ok bool) {
	switch set := set.(type) {
	case *access.Range:
		return r.inRange(set)
	case *access.Tested:
		return r.inTested(set)
	case access.Union:
		all, ok := r.memberships(set)
		return func(number uint64, body doc.Doc) bool {
			return slices.ContainsFunc(all, func(m membership) bool { return m(number, body) })
		}, ok
	case access.Intersection:
		all, ok := r.memberships(set)
		return func(number uint64, body doc.Doc) bool {
			return !slices.ContainsFunc(all, func(m membership) bool { return !m(number, body) })
		}, ok
	}
	return nil, false
}

func (r *reading) memberships(sets []access.Set) (all []membership, ok bool) {
	for _, set := range sets {
		m, ok := r.membership(set)
		if !ok {
			return nil, false
		}
		all = append(all, m)
	}
	return all, true
}

// inRange makes the entry of each document and compares it with the bounds.
func (r *reading) inRange(x *access.Range) (m membership, ok bool) {
	if isStamp(x) {
		return nil, false
	}
	over, ok := r.entries(x)
	if !ok || over.columns[0].path == nil {
		return nil, false
	}
	var entry []byte
	return func(number uint64, body doc.Doc) bool {
		entry = over.entryOf(entry[:0], number, body)
		return len(entry) > 0 && over.has(entry)
	}, true
}
