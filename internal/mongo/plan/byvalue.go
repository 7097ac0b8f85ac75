package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// ByValue returns a plan for the values that the documents of the query have at a path, and the access that reads each
// value at least once from an index. With whole, the value is that of the document, null if it has none, as for $group;
// without, elements of arrays are values, and documents without any do not matter, as for distinct. It is not ok if no
// index tells which documents the filter accepts and has the path.
func (p *Plan) ByValue(path string, whole bool) (by *Plan, of access.ByValue, ok bool) {
	of.Nulls = !whole
	if hasNumber(path) || p.nothing || p.identity || len(p.legs) > 1 {
		return nil, of, false
	}
	if len(p.legs) == 0 {
		return p.wholeByValue(path, whole, of)
	}
	l := &p.legs[0]
	ix := l.index
	for i := range ix.Columns {
		if ix.Columns[i].Path == path {
			of.Columns = i + 1
			break
		}
	}
	if of.Columns == 0 || len(l.checked) > 0 || ix.Wildcard || ix.Multikey || isUnique(ix, of.Columns) ||
		!acceptsAll(p.query.Filter) && !l.says(p.query.Filter.Tree()) {
		return nil, of, false
	}
	of.Scan = p.scans[0]
	of.Scan.Reverse, of.Scan.Single = false, true
	return p, of, true
}

// wholeByValue is ByValue of all documents of the container.
func (p *Plan) wholeByValue(path string, whole bool, of access.ByValue) (*Plan, access.ByValue, bool) {
	if !acceptsAll(p.query.Filter) || p.query.Hint.Type != 0 {
		return nil, of, false
	}
	best := -1
	for i := range p.indexes {
		ix := &p.indexes[i]
		switch {
		case ix.Columns[0].Path != path, ix.Wildcard, ix.Hidden, ix.Partial != nil, isUnique(ix, 1):
		case whole && (ix.Sparse || ix.Multikey), ix.Multikey && firstName(path) != path:
		case best < 0 || len(ix.Columns) < len(p.indexes[best].Columns):
			best = i
		}
	}
	if best < 0 {
		return nil, of, false
	}
	ix := &p.indexes[best]
	of.Columns, of.Scan = 1, access.IndexScan{Index: ix.Index, Single: !ix.Multikey}
	by := *p
	by.legs, by.scans = []leg{{candidate{index: best}, ix}}, access.IndexScans{of.Scan}
	by.Access.Of = &by.scans
	return &by, of, true
}

// isUnique reports whether no two documents have the same values in the first columns, so that each value is one
// document.
func isUnique(ix *access.NamedIndex, columns int) bool {
	return ix.Unique && len(ix.Columns) == columns
}

func acceptsAll(f *filter.Filter) bool {
	return f == nil || f.Tree().Kind == filter.Always
}
