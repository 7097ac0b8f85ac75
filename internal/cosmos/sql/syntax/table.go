package syntax

import (
	"hash/maphash"
	"math"
	"strings"
)

// A Table finds expressions that are Equal to one in a list. A lookup takes the time of one walk over the expression,
// whatever the number of entries. It is not safe for concurrent use.
type Table struct {
	seed  maphash.Seed
	known map[Expr]uint64
	rows  map[uint64][]Expr
}

// NewTable creates a table of expressions, which must not be modified afterwards.
func NewTable(list []Expr) *Table {
	t := &Table{seed: maphash.MakeSeed(), known: map[Expr]uint64{}, rows: map[uint64][]Expr{}}
	for _, x := range list {
		if !t.Has(x) {
			sum := t.sum(x)
			t.rows[sum] = append(t.rows[sum], x)
		}
	}
	return t
}

// Has reports whether the table has an expression that is Equal to x.
func (t *Table) Has(x Expr) bool {
	if x == nil {
		return false
	}
	for _, other := range t.rows[t.sum(x)] {
		if Equal(x, other) {
			return true
		}
	}
	return false
}

// sum is a hash that is the same for expressions that are Equal.
func (t *Table) sum(n Node) uint64 {
	x, isExpr := n.(Expr)
	if isExpr {
		if sum, ok := t.known[x]; ok {
			return sum
		}
	}
	var h maphash.Hash
	h.SetSeed(t.seed)
	t.own(&h, n)
	down(n, func(child Node) bool {
		maphash.WriteComparable(&h, t.sum(child))
		return true
	})
	sum := h.Sum64()
	if isExpr {
		t.known[x] = sum
	}
	return sum
}

// own hashes the parts of a node that Equal compares, without its children.
func (t *Table) own(h *maphash.Hash, n Node) {
	switch n := n.(type) {
	case *Literal:
		h.WriteByte(byte(n.Kind))
		h.WriteString(n.Text)
		if n.Kind == Number && n.Float != 0 { // 0 and -0 are equal
			maphash.WriteComparable(h, math.Float64bits(n.Float))
		}
	case *Parameter:
		h.WriteString("@" + n.Name)
	case *Name:
		h.WriteString("name " + n.Name)
	case *Member:
		h.WriteString("." + n.Name)
	case *Unary:
		h.WriteString("unary")
		h.WriteByte(byte(n.Op))
	case *Binary:
		h.WriteString("binary")
		h.WriteByte(byte(n.Op))
	case *Call:
		h.WriteString("call " + strings.ToUpper(strings.ToLower(n.Name)))
	case *ObjectMember:
		h.WriteString("member " + n.Name)
	default:
		h.WriteByte('?')
	}
}
