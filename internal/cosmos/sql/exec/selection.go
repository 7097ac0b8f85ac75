package exec

import (
	"math"
	"slices"
	"strconv"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A selection is a compiled query or subquery.
type selection struct {
	sources []source
	filters [][]test // per source, the conditions on it and the sources before it
	where   []test   // the conditions if there are no sources

	grouped bool // by GROUP BY, or by an aggregate in SELECT
	keys    []eval
	paths   [][]string // of keys in the document, nil for others; see node
	parts   []part     // values to compute per group

	order    []orderKey
	distinct bool
	size     int // number of expressions to compute for a row
	skip     int // rows skipped by OFFSET
	take     int // limit by TOP and LIMIT, -1 for none

	row    node
	always bool // the row is never undefined
	stable bool // the row stays valid as long as the enclosing rows

	scope  *scope
	walker walker
	loop   loop
}

// An orderKey is one key of ORDER BY.
type orderKey struct {
	get        eval
	descending bool
}

// A sourceKind is the origin of the values of a source.
type sourceKind uint8

const (
	fromDocument sourceKind = iota // the document itself, which has no slot
	fromRow                        // a derived row, which is already in its slot
	fromValue                      // an expression
	fromElements                   // the elements of an array
	fromQuery                      // the rows of a subquery
)

// A source is one part of FROM.
type source struct {
	kind  sourceKind
	slot  int
	get   eval
	query *selection
}

// selection compiles a query. outer is the enclosing scope, which is empty for queries whose FROM refers to the
// container.
func (c *compiler) selection(q *syntax.Query, outer *scope) (*selection, error) {
	into, nodes := c.into, c.nodes
	c.into = nil
	defer func() { c.into = into }()
	sel := &selection{scope: &scope{outer: outer}, distinct: q.Select.Distinct}
	for i := range q.From {
		if err := c.source(&q.From[i], sel); err != nil {
			return nil, err
		}
	}
	if err := c.where(q.Where, sel); err != nil {
		return nil, err
	}
	for _, e := range q.GroupBy {
		n, err := c.expr(e, sel.scope)
		if err != nil {
			return nil, err
		}
		sel.keys, sel.paths = append(sel.keys, n.eval()), append(sel.paths, n.path)
	}
	if err := c.projection(q, sel); err != nil {
		return nil, err
	}
	sel.size = c.nodes - nodes
	sel.makeLoop()
	return sel, c.slice(q, sel)
}

// derived reports that a query must read all documents before it has rows.
func derived(q *syntax.Query) bool {
	return len(q.From) > 0 && (q.Select.Distinct || q.Select.Top != nil || q.Limit != nil || len(q.OrderBy) > 0 ||
		q.Rank != nil ||
		len(q.GroupBy) > 0 || hasAggregate(q) || q.From[0].Query != nil && derived(q.From[0].Query))
}

// source compiles one part of FROM, in which names to its left are visible.
func (c *compiler) source(f *syntax.Source, sel *selection) error {
	s := source{slot: -1}
	name := binding{name: f.Name()}
	of := node{document: true, get: (*frame).all}
	switch {
	case f.Query != nil && sel.scope.empty() && derived(f.Query):
		s.kind, of = fromRow, node{}
	case f.Query != nil:
		inner, err := c.selection(f.Query, sel.scope)
		if err == nil {
			err = c.orderBy(f.Query.OrderBy, inner)
		}
		if err != nil {
			return err
		}
		s.kind, s.query, of = fromQuery, inner, node{}
	case !sel.scope.empty():
		n, err := c.name(&syntax.Name{Span: f.Span, Name: f.Root}, sel.scope)
		if err != nil {
			return err
		}
		s.kind, of = fromValue, n
	case len(f.Path) > 0 || f.In:
		s.kind = fromValue
	default:
		name.document = true
	}
	if s.kind != fromDocument {
		s.slot = c.slot()
		name.slot = s.slot
	}
	if s.kind == fromValue {
		for _, step := range f.Path {
			n, err := c.expr(step, sel.scope)
			if err != nil {
				return err
			}
			of = c.indexOf(of, n)
		}
		s.get = of.eval()
	}
	if f.In {
		s = c.elements(s, sel)
		name.slot = s.slot
	}
	sel.sources = append(sel.sources, s)
	sel.scope.names = append(sel.scope.names, name)
	return nil
}

// elements converts a source to one over the elements of its values. The rows of a subquery then become a separate
// source without a name.
func (c *compiler) elements(s source, sel *selection) source {
	if s.kind == fromValue {
		s.kind = fromElements
		return s
	}
	rows := s.slot
	sel.sources = append(sel.sources, s)
	sel.scope.names = append(sel.scope.names, binding{slot: rows})
	return source{kind: fromElements, slot: c.slot(), get: func(f *frame) doc.Value { return f.slots[rows] }}
}

// where splits the filter, so that conditions on a source are evaluated before the sources to its right are iterated.
func (c *compiler) where(e syntax.Expr, sel *selection) error {
	sel.filters = make([][]test, len(sel.sources))
	if e == nil {
		return nil
	}
	terms := []syntax.Expr{e}
	if b, ok := e.(*syntax.Binary); ok && b.Op == syntax.And {
		terms = chainOperands(b)
	}
	for _, term := range terms {
		n, err := c.expr(term, sel.scope)
		if err != nil {
			return err
		}
		if len(sel.sources) == 0 {
			sel.where = append(sel.where, n.truth())
			continue
		}
		level := rightmost(term, sel.scope.names)
		sel.filters[level] = append(sel.filters[level], n.truth())
	}
	return nil
}

// rightmost is the index of the last name that an expression may refer to.
func rightmost(e syntax.Expr, names []binding) int {
	level := 0
	walk(e, func(e syntax.Expr) {
		name, ok := e.(*syntax.Name)
		if _, inner := e.(*syntax.Subquery); inner {
			level = len(names) - 1
		}
		for i := range names {
			if ok && names[i].name == name.Name {
				level = max(level, i)
			}
		}
	})
	return level
}

// projection compiles SELECT.
func (c *compiler) projection(q *syntax.Query, sel *selection) (err error) {
	sel.grouped = len(q.GroupBy) > 0 || hasAggregate(q)
	var g *grouping
	if sel.grouped {
		g = &grouping{seen: map[syntax.Expr]content{}}
		c.into = g
	}
	switch {
	case q.Select.Star:
		sel.row, err = c.star(q, sel)
	case q.Select.Value != nil:
		sel.row, err = c.expr(q.Select.Value, sel.scope)
	default:
		sel.row, err = c.items(q.Select.Items, sel.scope)
	}
	c.into = nil
	if g != nil {
		sel.parts = g.parts
	}
	sel.always = q.Select.Value == nil || sel.row.document || sel.row.constant && sel.row.value.Type != 0
	_, named := q.Select.Value.(*syntax.Name)
	passing := slices.ContainsFunc(sel.sources, func(s source) bool { return s.kind == fromQuery })
	sel.stable = !passing && (q.Select.Star || named || sel.row.path != nil) || sel.row.constant
	return err
}

func (c *compiler) star(q *syntax.Query, sel *selection) (node, error) {
	if len(q.From) != 1 {
		return node{}, syntax.Wrong("SC2040", q.Select.Span, "'SELECT *' is only valid with a single input set.")
	}
	if c.into != nil {
		return node{}, syntax.Wrong("SC2041", q.Select.Span, "'SELECT *' is not valid with GROUP BY.")
	}
	if s := sel.sources[len(sel.sources)-1]; s.kind != fromDocument {
		n := computed(func(f *frame) doc.Value { return f.slots[s.slot] })
		return n, nil
	}
	return node{document: true, get: (*frame).all}, nil
}

// items compiles a SELECT list. Members are named by alias, by the last name of a path, or numbered $1, $2 and so on.
func (c *compiler) items(items []syntax.Item, s *scope) (node, error) {
	names, nodes := make([]string, len(items)), make([]node, len(items))
	unnamed := 0
	for i := range items {
		if names[i] = items[i].Name(); names[i] == "" {
			unnamed++
			names[i] = "$" + strconv.Itoa(unnamed)
		}
		if indexZero(names[i]) >= 0 {
			return node{}, errName(items[i].Span)
		}
		n, err := c.expr(items[i].Expr, s)
		if err != nil {
			return node{}, err
		}
		nodes[i] = n
	}
	o := newObject(names, nodes)
	return node{get: o.value, object: o}, nil
}

// orderBy compiles the sort keys.
func (c *compiler) orderBy(keys []syntax.SortKey, sel *selection) error {
	sel.order = sel.order[:0]
	for i := range keys {
		n, err := c.expr(keys[i].Expr, sel.scope)
		if err != nil {
			return err
		}
		sel.order = append(sel.order, orderKey{get: n.eval(), descending: keys[i].Descending})
	}
	return nil
}

// slice computes TOP, OFFSET and LIMIT. TOP is applied before OFFSET.
func (c *compiler) slice(q *syntax.Query, sel *selection) (err error) {
	sel.take = -1
	if q.Select.Top != nil {
		if sel.take, err = c.count("TOP", q.Select.Top); err != nil {
			return err
		}
	}
	if q.Offset != nil {
		if sel.skip, err = c.count("OFFSET", q.Offset); err != nil {
			return err
		}
	}
	if sel.take >= 0 {
		sel.take = max(0, sel.take-sel.skip)
	}
	if q.Limit != nil {
		limit, err := c.count("LIMIT", q.Limit)
		if err != nil {
			return err
		}
		if sel.take < 0 || limit < sel.take {
			sel.take = limit
		}
	}
	return nil
}

// maxCount is the largest number of rows in TOP and OFFSET. LIMIT allows twice as many: clients that merge partitions
// request as many rows from each as OFFSET and LIMIT of the query together.
const maxCount = 1<<32 - 1

// countErrors are the service's texts for invalid numbers.
var countErrors = map[string]struct{ code, message string }{
	"TOP":    {"SC2060", "The count value provided for a TOP clause must be an integer."},
	"LIMIT":  {"SC2061", "The LIMIT count value exceeds the maximum allowed value."},
	"OFFSET": {"SC2062", "The OFFSET count value exceeds the maximum allowed value."},
}

func (c *compiler) count(clause string, e syntax.Expr) (int, error) {
	n, err := c.expr(e, &scope{})
	if err != nil {
		return 0, err
	}
	most := int64(maxCount)
	if clause == "LIMIT" {
		most *= 2
	}
	i, ok := doc.AsInt(n.value)
	if !n.constant || !ok || i < 0 || i > most {
		wrong := countErrors[clause]
		return 0, syntax.Wrong(wrong.code, e.Pos(), "%s", wrong.message)
	}
	return int(min(i, math.MaxInt)), nil
}
