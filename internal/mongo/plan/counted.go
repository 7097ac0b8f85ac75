package plan

import "github.com/mayflydb/mayfly/internal/access"

// Counted returns the access whose index entries are as many as the documents that the filter accepts, so that these
// can be counted without being read. It is not ok if the bounds accept more, or if a document may have several entries.
func (p *Plan) Counted() (a access.Access, ok bool) {
	if len(p.legs) != 1 || p.query.Filter == nil {
		return a, false
	}
	l := &p.legs[0]
	if l.index.Multikey || l.index.Wildcard || !l.says(p.query.Filter.Tree()) {
		return a, false
	}
	single := p.scans[0]
	single.Single = true
	a.Of = &access.IndexScans{single}
	return a, true
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
