package plan

import (
	"math/bits"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// The parts of a candidate's score. A single value of a column counts more than any range.
const (
	scoreUnique  = 10_000 // at most one document
	scoreFew     = 5_000  // at most one document for each of a few values
	scorePoint   = 100    // each column with one value
	scorePoints  = 90     // each column with a few values
	scoreBetween = 50     // a range with two ends
	scoreBeyond  = 35     // a range with one end
	scoreSorted  = 20     // the order
	scoreFirst   = 60     // the order, if only the first documents are wanted
	scoreWhole   = 5      // an index without bounds that does not have all documents
	scoreShare   = 50     // a check scores so much less than bounds
	scoreOr      = 1 << 20
)

// A candidate is a way to use an index.
type candidate struct {
	index  int
	by     int          // of the conjunction's conditions, counted from 1, the one that it is for; 0 for the best
	path   string       // in a wildcard index
	below  bool         // in a wildcard index, all values at path and below it
	bounds [][]span     // of the first columns; all but the last are points
	used   []*condition // behind the bounds
	wider  bool         // bounds or checks are wider than their conditions

	checks  [][]span     // of the columns that have no bounds, each nil for all values; see access.Check
	checked []*condition // behind the checks

	single  bool // see access.IndexScan
	sorted  bool
	merged  bool // the order is that of scans, one for each value of the columns before it, that are merged
	fixed   int  // so many columns, if merged
	reverse bool
	score   int
}

// fit rates an index for a conjunction. The score is 0 if the index does not help.
func (p *planner) fit(index int, all *conjunction, ordered bool) candidate {
	ix := &p.indexes[index]
	c := candidate{index: index}
	switch {
	case ix.Wildcard:
		if c.fitWildcard(ix, all); c.path == "" {
			return candidate{}
		}
	default:
		c.fitColumns(ix, all)
	}
	c.rate(ix)
	if ordered && !p.merging {
		c.order(ix, p.query.Sort)
	}
	if ordered && !c.sorted {
		c.orderMerged(ix, p.query.Sort)
	}
	whole := len(c.bounds) == 0 && !c.below
	hinted := p.hinted >= 0
	switch {
	case hinted:
		c.score = max(c.score, 1)
	case whole && ix.Sparse && !excludesAll(ix, all):
		return candidate{}
	case whole && ix.Sparse:
		c.score = max(c.score, scoreWhole)
	}
	if c.sorted {
		c.score += p.orderScore()
	}
	if c.score > 0 && !hinted {
		c.score += c.checkScore()
	}
	if c.score > 0 && ix.Partial != nil {
		if !hinted && !implies(all, ix.Partial) {
			return candidate{}
		}
		c.score++
	}
	return c
}

// excludesAll reports whether the conditions accept only documents that a sparse index has.
func excludesAll(ix *access.NamedIndex, all *conjunction) bool {
	for i := range ix.Columns {
		if all.excludesMissing(ix.Columns[i].Path) {
			return true
		}
	}
	return false
}

// fitColumns bounds columns, up to the first that has more than points, and checks those behind it.
func (c *candidate) fitColumns(ix *access.NamedIndex, all *conjunction) {
	var room [32]*condition
	chosen, product, open := room[:0], 1, true
	for i := range ix.Columns {
		if len(chosen) == cap(chosen) {
			return
		}
		from := len(c.used)
		spans := c.column(ix, i, all, chosen)
		if spans != nil {
			chosen = append(chosen, c.used[from])
		}
		if !open {
			c.check(ix, i, spans, from)
			continue
		}
		if spans == nil {
			open = false
			continue
		}
		if product *= len(spans); product > maxProduct && (i > 0 || ix.Multikey) {
			spans, c.wider = hull(spans), true
		}
		c.bounds = append(c.bounds, spans)
		open = allPoints(spans) && len(spans) > 0
	}
}

// check makes spans of a column a check. The conditions behind them are those of used from there on.
func (c *candidate) check(ix *access.NamedIndex, column int, spans []span, from int) {
	if spans == nil {
		return
	}
	if c.checks == nil {
		c.checks = make([][]span, len(ix.Columns))
	}
	if len(spans) > maxProduct { // each scan that is merged has its own
		spans, c.wider = hull(spans), true
	}
	c.checks[column] = spans
	c.checked = append(c.checked, c.used[from:]...)
	c.used = c.used[:from]
}

// checkScore tells indexes apart that have the same bounds: with checks, fewer documents are read.
func (c *candidate) checkScore() (score int) {
	for _, spans := range c.checks {
		if spans != nil {
			score += 1 + weight(spans)/scoreShare
		}
	}
	return score
}

// column finds the spans of one column, nil for all values, and notes the conditions behind them. If no document has
// several entries, all conditions apply to its one entry. Otherwise an entry of an accepted document is only known to
// satisfy one condition, conditions of other columns that are apart from it, and all conditions of one $elemMatch.
func (c *candidate) column(ix *access.NamedIndex, i int, all *conjunction, chosen []*condition) (spans []span) {
	path := ix.Columns[i].Path
	if ix.Multikey {
		return c.multikey(ix, path, all, chosen)
	}
	from := len(c.used)
	for _, x := range all.list {
		if !x.bind(ix, path) {
			continue
		}
		if spans == nil {
			spans = x.spans
		} else {
			c.wider = c.wider || !intersects(spans, x.spans)
			spans, c.single = narrow(spans, x.spans), true
		}
		c.used = append(c.used, x)
	}
	for _, other := range chosen {
		c.single = c.single || spans != nil && !apart(c.used[from], other)
	}
	return distinct(spans)
}

// bind reports whether a condition has bounds for a column.
func (c *condition) bind(ix *access.NamedIndex, path string) bool {
	return c.path == path && c.bounds().spans != nil && !(c.missing && ix.Sparse)
}

func (c *candidate) multikey(ix *access.NamedIndex, path string, all *conjunction, chosen []*condition) (spans []span) {
	from, best := len(c.used), -1
	for _, x := range all.list {
		if !x.bind(ix, path) || !x.isApart(chosen) {
			continue
		}
		found := x.spans
		if x.ofElement() {
			found = elementSpans(x, all)
		}
		if w := weight(found); w > best {
			spans, best = found, w
			c.used = append(c.used[:from], x)
		}
	}
	if best >= 0 && c.used[from].ofElement() {
		for _, x := range all.list {
			if x != c.used[from] && x.isBeside(c.used[from]) {
				c.used = append(c.used, x)
			}
		}
	}
	return spans
}

func (c *condition) isApart(chosen []*condition) bool {
	for _, other := range chosen {
		if !apart(c, other) {
			return false
		}
	}
	return true
}

// isBeside reports whether two conditions are in the same $elemMatch, so that they are about the same element.
func (c *condition) isBeside(other *condition) bool {
	return c.ofElement() && c.within == other.within && c.bounds().spans != nil
}

// elementSpans is the intersection of all conditions on the same element.
func elementSpans(c *condition, all *conjunction) []span {
	spans := c.spans
	for _, x := range all.list {
		if x != c && x.isBeside(c) {
			spans = narrow(spans, x.spans)
		}
	}
	return distinct(spans)
}

// rate scores the bounds.
func (c *candidate) rate(ix *access.NamedIndex) {
	unique, documents := ix.Unique && len(c.bounds) == len(ix.Columns), 1
	for _, spans := range c.bounds {
		c.score += weight(spans)
		unique, documents = unique && allPoints(spans), documents*len(spans)
	}
	switch {
	case unique && documents <= 1:
		c.score += scoreUnique
	case unique && documents <= maxProduct:
		c.score += scoreFew
	}
	if c.below {
		c.score = scoreWhole + 1
	}
}

// weight is the score of a column's bounds.
func weight(spans []span) int {
	switch {
	case len(spans) == 0 || len(spans) == 1 && spans[0].point:
		return scorePoint
	case allPoints(spans):
		return max(scorePoints-bits.Len(uint(len(spans)))+1, scoreBetween+1)
	}
	least := scorePoint
	for i := range spans {
		low, high := spans[i].low.given, spans[i].high.given
		switch {
		case !low && !high:
			return 0
		case !low || !high:
			least = min(least, scoreBeyond)
		default:
			least = min(least, scoreBetween)
		}
	}
	return least
}

// scan is the scan of the candidate's index.
func (c *candidate) scan(ix *access.NamedIndex) access.IndexScan {
	of := access.IndexScan{Index: ix.Index, Intervals: c.intervals(ix), Fixed: c.fixed, Reverse: c.reverse,
		Single: c.single}
	for i, spans := range c.checks {
		if spans != nil {
			of.Checks = append(of.Checks, access.Check{Column: i, Within: within(spans, ix.Columns[i].Descending)})
		}
	}
	return of
}

// within is the spans as intervals, in the order of a column.
func within(spans []span, descending bool) []access.Interval {
	list := make([]access.Interval, len(spans))
	for i := range spans {
		s := inOrder(spans, i, descending)
		list[i] = access.Interval{Low: s.low.bound(), High: s.high.bound()}
	}
	return list
}

// intervals returns the bounds in the order of the index.
func (c *candidate) intervals(ix *access.NamedIndex) []access.Interval {
	switch {
	case c.below:
		return wildcardBelow(c.path)
	case len(c.bounds) == 0:
		return nil
	}
	if only := c.bounds[0]; len(c.bounds) == 1 && len(only) == 1 && only[0].point && !ix.Wildcard {
		return []access.Interval{{Equal: []doc.Value{only[0].low.value}}}
	}
	prefixes := [][]doc.Value{nil}
	if ix.Wildcard {
		prefixes[0] = []doc.Value{doc.String(c.path)}
	}
	last := len(c.bounds) - 1
	for i, spans := range c.bounds[:last] {
		prefixes = extend(prefixes, spans, ix.Columns[i].Descending)
	}
	descending := ix.Columns[last].Descending && !ix.Wildcard
	if allPoints(c.bounds[last]) {
		prefixes = extend(prefixes, c.bounds[last], descending)
		list := make([]access.Interval, len(prefixes))
		for i, values := range prefixes {
			list[i].Equal = values
		}
		return list
	}
	list := make([]access.Interval, 0, len(prefixes)*len(c.bounds[last]))
	for _, values := range prefixes {
		for i := range c.bounds[last] {
			s := inOrder(c.bounds[last], i, descending)
			list = append(list, access.Interval{Equal: values, Low: s.low.bound(), High: s.high.bound()})
		}
	}
	return list
}

// extend appends each point to each prefix.
func extend(prefixes [][]doc.Value, points []span, descending bool) [][]doc.Value {
	list := make([][]doc.Value, 0, len(prefixes)*len(points))
	for _, prefix := range prefixes {
		for i := range points {
			values := make([]doc.Value, 0, len(prefix)+1)
			list = append(list, append(append(values, prefix...), inOrder(points, i, descending).low.value))
		}
	}
	return list
}

func inOrder(spans []span, i int, descending bool) *span {
	if descending {
		i = len(spans) - 1 - i
	}
	return &spans[i]
}
