package plan

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// Counted returns the access whose index entries are as many as the documents that the filter accepts, so that these
// can be counted without being read. It is not ok if the bounds accept more, or if a document may have several entries.
func (p *Plan) Counted() (a access.Access, ok bool) {
	if len(p.legs) != 1 || p.query.Filter == nil {
		return a, false
	}
	l, of := &p.legs[0], p.scans[0]
	of.Single, of.Once = !l.index.Multikey, l.index.Multikey
	if l.index.Wildcard || !l.says(p.query.Filter.Tree()) || of.Once && !isOneValue(of, l.index) {
		return a, false
	}
	a.Of = &access.IndexScans{of}
	return a, true
}

// isOneValue reports whether a scan is of one value of all columns of an index. An array that has it several times has
// one entry with it. A number in a path may be the place of an element or the name of a member, which are several.
func isOneValue(of access.IndexScan, ix *access.NamedIndex) bool {
	if len(of.Intervals) != 1 || slices.ContainsFunc(ix.Columns, func(c access.NamedColumn) bool {
		return hasNumber(c.Path)
	}) {
		return false
	}
	x, last := &of.Intervals[0], len(ix.Columns)-1
	if len(x.Equal) != last || x.Low == nil || x.High == nil {
		return len(x.Equal) > last
	}
	return !x.Low.Open && !x.High.Open && doc.CompareBSON(x.Low.Value, x.High.Value) == 0
}

// Skipped is an access to the documents of the plan, in its order, of which each entry leads to one that the filter
// accepts, so that the first can be passed over without being read. It is not ok if that is not certain.
func (p *Plan) Skipped() (a access.Access, ok bool) {
	if len(p.legs) != 1 {
		return a, false
	}
	l := &p.legs[0]
	if l.index.Multikey || l.index.Wildcard || p.query.Filter != nil && !l.says(p.query.Filter.Tree()) {
		return a, false
	}
	a = p.Access
	single := p.scans[0]
	single.Single = true
	a.Of = &access.IndexScans{single}
	return a, true
}
