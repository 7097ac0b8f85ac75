package exec

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A grouping collects what a SELECT needs from each group: aggregates, and values of the group's first row for
// everything else that depends on a row.
type grouping struct {
	parts []part
	seen  map[syntax.Expr]content
}

// A part is one value to compute over the rows of a group. The result is stored in a slot.
type part struct {
	kind partKind
	get  eval     // nil if the value is always defined
	test test     // for COUNTIF
	path []string // of the value in the document, see node
	slot int
}

type partKind uint8

const (
	partFirst partKind = iota // the value for the first row, in order of creation
	partCount
	partCountIf
	partSum
	partAverage
	partLeast
	partGreatest
	partList
	partSet
)

var partKinds = map[string]partKind{
	"COUNT":     partCount,
	"COUNTIF":   partCountIf,
	"SUM":       partSum,
	"AVG":       partAverage,
	"MIN":       partLeast,
	"MAX":       partGreatest,
	"MAKELIST":  partList,
	"ARRAY_AGG": partList,
	"MAKESET":   partSet,
}

// content is what a grouping must know about an expression: whether it contains aggregates, and names.
type content struct{ aggregates, names bool }

func (g *grouping) content(e syntax.Expr, s *scope) content {
	if c, ok := g.seen[e]; ok {
		return c
	}
	var c content
	if _, ok := aggregate(e); ok {
		c.aggregates = true
	}
	switch x := e.(type) {
	case *syntax.Name:
		_, c.names = s.find(x.Name)
	case *syntax.Subquery:
		c.names = true
	default:
		c = c.and(g.below(e, s))
	}
	g.seen[e] = c
	return c
}

// below is the content of everything in n.
func (g *grouping) below(n syntax.Node, s *scope) (c content) {
	syntax.Children(n, func(child syntax.Node) bool {
		if e, ok := child.(syntax.Expr); ok {
			c = c.and(g.content(e, s))
		} else {
			c = c.and(g.below(child, s))
		}
		return true
	})
	return c
}

func (c content) and(d content) content {
	return content{c.aggregates || d.aggregates, c.names || d.names}
}

// part compiles e if it is a part: an aggregate, or an expression with names but without aggregates. Other
// expressions consist of parts.
func (g *grouping) part(c *compiler, e syntax.Expr, s *scope) (node, bool, error) {
	call, isAggregate := aggregate(e)
	what := g.content(e, s)
	if !isAggregate && (what.aggregates || !what.names) {
		return node{}, false, nil
	}
	c.into = nil
	defer func() { c.into = g }()
	p := part{slot: c.slot()}
	if isAggregate {
		if len(call.Args) != 1 {
			return node{}, false, wrongArguments(call, strings.ToUpper(call.Name), 1, 1)
		}
		p.kind, e = partKinds[strings.ToUpper(call.Name)], call.Args[0]
	}
	n, err := c.expr(e, s)
	if err != nil {
		return node{}, false, err
	}
	p.get, p.test, p.path = n.eval(), n.truth(), n.path
	if n.stamp {
		p.path = []string{stampName}
	}
	if n.document || n.constant && n.value.Type != 0 {
		if p.kind == partCount {
			p.get = nil
		}
	}
	g.parts = append(g.parts, p)
	return computed(func(f *frame) doc.Value { return f.slots[p.slot] }), true, nil
}

// A place identifies a row and orders rows: by document, then within the document.
type place struct {
	number  uint64
	ordinal int
}

func (p place) before(q place) bool {
	return p.number < q.number || p.number == q.number && p.ordinal < q.ordinal
}

// An accumulator is the state of a part over the rows of a group. Its result does not depend on the order of rows.
type accumulator struct {
	count uint64
	bad   bool // the result is undefined. SUM, AVG: not a number; MIN, MAX: an array or object
	sum   exactSum
	value doc.Value // for MIN, MAX, first
	at    place     // for first
	list  []listed
	set   map[string]doc.Value
}

// A listed value is a value of MAKELIST with the place of its row.
type listed struct {
	at    place
	value doc.Value
}

// add adds a row, and returns how many bytes of memory that needs.
func (a *accumulator) add(p *part, f *frame, at place) int {
	if p.kind == partFirst {
		if a.count > 0 && !at.before(a.at) {
			return 0
		}
		a.count, a.at, a.value = 1, at, doc.Clone(p.get(f))
		return len(a.value.Data)
	}
	if p.kind == partCountIf {
		if p.test(f) == yes {
			a.count++
		}
		return 0
	}
	if p.get == nil {
		a.count++
		return 0
	}
	v := p.get(f)
	if v.Type == 0 || !f.spend(len(v.Data)) {
		return 0
	}
	return a.take(p, v, at)
}

// take adds a value, and returns how many bytes of memory that needs.
func (a *accumulator) take(p *part, v doc.Value, at place) int {
	a.count++
	switch p.kind {
	case partSum, partAverage:
		a.addNumber(v)
	case partLeast, partGreatest:
		return a.choose(v, p.kind == partGreatest)
	case partList:
		v = doc.Clone(v)
		a.list = append(a.list, listed{at, v})
		return len(v.Data) + 64
	case partSet:
		return a.addToSet(v)
	}
	return 0
}

func (a *accumulator) addNumber(v doc.Value) {
	if !a.sum.add(v) {
		a.bad = true
	}
}

// choose keeps the least or greatest value across types: null, booleans, numbers, strings, as the reference documents
// for MIN and MAX.
func (a *accumulator) choose(v doc.Value, greatest bool) int {
	if v.Type == bsoncore.TypeArray || v.Type == bsoncore.TypeEmbeddedDocument {
		a.bad = true
	}
	if a.bad {
		return 0
	}
	if a.value.Type != 0 {
		c := doc.Compare(v, a.value)
		if c == 0 || (c > 0) != greatest {
			return 0
		}
	}
	before := len(a.value.Data)
	a.value.Type, a.value.Data = v.Type, append(a.value.Data[:0], v.Data...)
	return max(0, len(v.Data)-before)
}

func (a *accumulator) addToSet(v doc.Value) int {
	key := appendKey(nil, v)
	if _, ok := a.set[string(key)]; ok {
		return 0
	}
	if a.set == nil {
		a.set = map[string]doc.Value{}
	}
	v = doc.Clone(v)
	a.set[string(key)] = v
	return len(key) + len(v.Data) + 96
}

// result is the part's value for the group, or undefined.
func (a *accumulator) result(p *part, f *frame) doc.Value {
	switch p.kind {
	case partCount, partCountIf:
		return doc.Int(int64(a.count))
	case partSum:
		if a.bad {
			return doc.Value{}
		}
		return doc.Float(a.sum.result())
	case partAverage:
		if a.bad || a.count == 0 {
			return doc.Value{}
		}
		return doc.Float(a.sum.result() / float64(a.count))
	case partLeast, partGreatest:
		if a.bad {
			return doc.Value{}
		}
		return a.value
	case partList:
		return a.listValue(f)
	case partSet:
		return a.setValue(f)
	}
	return a.value
}
