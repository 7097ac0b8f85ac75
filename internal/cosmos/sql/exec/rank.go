package exec

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A ranking is the sort key of ORDER BY RANK: one score, or the fusion of several by the ranks of rows in each ("RRF"
// in the reference).
type ranking struct {
	components []component
	weights    []float64
}

// A component is one score. Higher is better.
type component struct {
	get     eval             // the text or the distance
	search  *function.Search // nil: the score is a distance
	nearest bool             // smaller distances are better
}

var errRank = fault.New(fault.Invalid, "ORDER BY RANK needs FULLTEXTSCORE, VECTORDISTANCE or an RRF of these.")

// ranking compiles the expression of ORDER BY RANK.
func (c *compiler) ranking(e syntax.Expr, s *scope) (*ranking, error) {
	call, ok := e.(*syntax.Call)
	if !ok || call.UDF {
		return nil, errRank
	}
	r := &ranking{}
	scores := []syntax.Expr{e}
	if strings.EqualFold(call.Name, "RRF") {
		scores = call.Args
		if last := len(scores) - 1; last > 0 {
			if v, ok := c.constant(scores[last]); ok && doc.IsArray(v) && function.Finite(v) {
				scores = scores[:last]
				for w := range doc.Elements(v) {
					weight, _ := doc.AsFloat(w)
					r.weights = append(r.weights, weight)
				}
			}
		}
	}
	if len(scores) > plan.MaxScores {
		return nil, plan.ErrManyScores
	}
	for _, score := range scores {
		comp, err := c.component(score, s)
		if err != nil {
			return nil, err
		}
		r.components = append(r.components, comp)
	}
	if r.weights != nil && len(r.weights) != len(r.components) {
		return nil, fault.New(fault.Invalid, "RRF needs as many weights as scores, or none.")
	}
	return r, nil
}

func (c *compiler) component(e syntax.Expr, s *scope) (comp component, err error) {
	call, ok := e.(*syntax.Call)
	if !ok || call.UDF || len(call.Args) < 2 {
		return comp, errRank
	}
	switch {
	case vectorCall(call):
		n, err := c.expr(call, s)
		return component{get: n.eval(), nearest: c.euclidean(call)}, err
	case strings.EqualFold(call.Name, "FULLTEXTSCORE"):
		n, err := c.expr(call.Args[0], s)
		if err != nil {
			return comp, err
		}
		terms, err := c.terms(call.Args[1:])
		if err != nil {
			return comp, err
		}
		comp = component{get: n.eval()}
		comp.search, err = function.NewSearch(terms)
		return comp, err
	}
	return comp, errRank
}

// terms are the constants to search for, as arguments or in one array.
func (c *compiler) terms(args []syntax.Expr) (terms []doc.Value, err error) {
	for _, e := range args {
		v, ok := c.constant(e)
		if !ok {
			return nil, syntax.Wrong("", e.Pos(), "The terms of FULLTEXTSCORE must be constants.")
		}
		if len(args) == 1 && doc.IsArray(v) {
			return slices.Collect(doc.Elements(v)), nil
		}
		terms = append(terms, v)
	}
	return terms, nil
}

func (c *compiler) euclidean(call *syntax.Call) bool {
	if len(call.Args) < 4 {
		return false
	}
	v, _ := c.constant(call.Args[3])
	name, _ := doc.AsString(member(v, "distanceFunction"))
	return strings.EqualFold(name, "euclidean")
}

var errCandidates = fault.New(fault.TooLarge,
	"ORDER BY RANK has more candidates than the query's memory holds. Filter them with WHERE.")

// worst is the score of rows without one.
var worst = math.Inf(-1)

// ranked makes a pass that returns the next rows by rank.
func (r *run) ranked() (more bool, err error) {
	scores, rows, err := r.scores()
	if err != nil {
		return false, err
	}
	s := sorter{run: r, topK: r.newTopK(), resume: r.token}
	if t := &r.token; t.after != nil {
		values, number, _ := t.after.Values()
		s.topK.after = r.tieKey(appendSortKey(nil, values[0], true), number, t.done-1)
	}
	err = r.over(func(d *access.Document, at place) bool {
		n, ok := rows.next(at)
		if !ok {
			return true
		}
		score := doc.Float(scores[n])
		s.key = r.tieKey(appendSortKey(s.key[:0], score, true), d.Number, at.ordinal)
		if !s.admits(s.key) {
			return true
		}
		if e, ok := r.entry(s.key, at); ok {
			e.position = access.ValuePosition(nil, []doc.Value{score}, d.Number)
			s.add(e)
		}
		return true
	})
	if err != nil {
		return false, err
	}
	return r.flush(s.topK, s.passed)
}

// A roll is the list of rows that one walk has seen, in which another walk finds them again. The second walk may see
// different rows: documents change, and RAND in a filter is random.
type roll struct {
	seen []place
	at   int
	all  map[place]int // built once a row is not in the expected place
}

// next is the index of the row. ok is false if the first walk did not see it.
func (l *roll) next(at place) (n int, ok bool) {
	if l.all == nil {
		if n = l.at; n < len(l.seen) && l.seen[n] == at {
			l.at++
			return n, true
		}
		l.all = make(map[place]int, len(l.seen))
		for i, p := range l.seen {
			l.all[p] = i
		}
	}
	n, ok = l.all[at]
	return n, ok
}

// placeBytes is the memory of a row in a roll.
const placeBytes = 64

// scores computes the score of every row, in the order of rows.
func (r *run) scores() ([]float64, *roll, error) {
	marks := make([]marking, len(r.rank.components))
	for i, c := range r.rank.components {
		if marks[i].component = c; c.search != nil {
			c.search.Meter = r.f.meter
		}
	}
	used, rows := 0, &roll{}
	err := r.over(func(_ *access.Document, at place) bool {
		rows.seen = append(rows.seen, at)
		used += placeBytes
		for i := range marks {
			used += marks[i].add(r.f)
		}
		if used > r.limit.Memory {
			r.f.fail(errCandidates)
		} else if err := r.keep(used); err != nil {
			r.f.fail(err)
		}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	all := make([][]float64, len(marks))
	for i := range marks {
		all[i] = marks[i].finish()
	}
	if len(all) == 1 {
		return all[0], rows, nil
	}
	return fuse(r.f, all, r.rank.weights), rows, r.f.err
}

// A marking computes one score over all rows.
type marking struct {
	component
	stats  function.Statistics
	hits   []int
	words  []int // per text: the number of words, then the hits of each term
	scores []float64
}

// add adds a row, and returns how many bytes of memory that needs.
func (m *marking) add(f *frame) int {
	v := m.get(f)
	if m.search == nil {
		score, ok := doc.AsFloat(v)
		switch {
		case !ok:
			score = worst
		case m.nearest:
			score = -score
		}
		m.scores = append(m.scores, score)
		return 16
	}
	if m.hits == nil {
		m.hits = make([]int, m.search.Terms())
	}
	clear(m.hits)
	words := 0
	if text, ok := doc.AsString(v); ok && f.spend(len(text)*len(m.hits)) {
		words = m.search.Look(text, m.hits)
	}
	m.stats.Add(words, m.hits)
	m.words = append(append(m.words, words), m.hits...)
	return 16 * (1 + len(m.hits))
}

func (m *marking) finish() []float64 {
	if m.search == nil {
		return m.scores
	}
	for n := 1 + len(m.hits); len(m.words) >= n; m.words = m.words[n:] {
		m.scores = append(m.scores, m.stats.BM25(m.words[0], m.words[1:n]))
	}
	return m.scores
}

// fuse computes one score from the ranks in several. Rows with equal scores share a rank. A negative weight inverts
// an order.
func fuse(f *frame, all [][]float64, weights []float64) []float64 {
	fused := make([]float64, len(all[0]))
	ranks := make([][]int, len(all))
	for i, scores := range all {
		ranks[i] = ranksOf(f, scores, weights != nil && weights[i] < 0)
	}
	row := make([]int, len(all))
	for n := range fused {
		if !f.work(len(row)) {
			break
		}
		for i := range ranks {
			row[i] = ranks[i][n]
		}
		fused[n] = function.ReciprocalRank(row, weights)
	}
	return fused
}

func ranksOf(f *frame, scores []float64, turned bool) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if !f.work(sortUnits) {
			return 0
		}
		if turned {
			return cmp.Compare(scores[a], scores[b])
		}
		return cmp.Compare(scores[b], scores[a])
	})
	ranks, rank := make([]int, len(scores)), 1
	for i, n := range order {
		if i > 0 && scores[n] != scores[order[i-1]] {
			rank++
		}
		ranks[n] = rank
	}
	return ranks
}
