package exec

import (
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A token is the position at which a page has ended. It has all the state that the next page needs.
//
// Its encoding is: version, mode, flags; remaining OFFSET, remaining LIMIT plus one as varints; the order's kind, and
// the path of its key if the order is implied; then, depending on the flags, position, document and rows, key.
type token struct {
	mode mode
	skip int
	take int // -1 for all

	order *plan.Order // nil for the plan's order

	// after is the position at which the walk resumes. If inside is set, it is the document of the last row, which
	// may have more rows; else all documents before it are done.
	after  access.Position
	inside bool
	// number and done are how many rows of a document have been returned, if it has more.
	number uint64
	done   int

	key []byte // key of the last row, if rows are ordered by value
}

const tokenVersion = 1

const (
	tokenOrder = 1 << iota
	tokenAfter
	tokenInside
	tokenRows
	tokenKey
)

const (
	orderTies = 1 << iota
	orderStamps
	orderImplied
	orderDescending
)

var errToken = fault.New(fault.Invalid, "Invalid Continuation Token")

func (t *token) encode() []byte {
	flags := byte(0)
	set := func(flag byte, on bool) {
		if on {
			flags |= flag
		}
	}
	set(tokenOrder, t.order != nil)
	set(tokenAfter, t.after != nil)
	set(tokenInside, t.inside)
	set(tokenRows, t.done > 0)
	set(tokenKey, t.key != nil)
	b := []byte{tokenVersion, byte(t.mode), flags}
	b = binary.AppendUvarint(b, uint64(t.skip))
	b = binary.AppendUvarint(b, uint64(t.take+1))
	if t.order != nil {
		b = appendOrder(b, t.order)
	}
	if t.after != nil {
		b = appendBytes(b, t.after)
	}
	if t.done > 0 {
		b = binary.AppendUvarint(binary.AppendUvarint(b, t.number), uint64(t.done))
	}
	if t.key != nil {
		b = appendBytes(b, t.key)
	}
	return b
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// appendOrder appends an order. Only an implied order includes its key; all other keys are in the query.
func appendOrder(dst []byte, o *plan.Order) []byte {
	flags := byte(0)
	for i, on := range []bool{o.Ties, o.Stamps, o.Implied, len(o.Keys) > 0 && o.Keys[0].Descending} {
		if on {
			flags |= 1 << i
		}
	}
	dst = append(dst, byte(o.Kind), flags)
	if !o.Implied {
		return dst
	}
	path := pathOf(o.Keys)
	dst = binary.AppendUvarint(dst, uint64(len(path)))
	for _, name := range path {
		dst = appendBytes(dst, []byte(name))
	}
	return dst
}

// pathOf lists the names of an implied key: a path in the document.
func pathOf(keys []syntax.SortKey) (path []string) {
	if len(keys) == 0 {
		return nil
	}
	e := keys[0].Expr
	for {
		m, ok := e.(*syntax.Member)
		if !ok {
			return path
		}
		path, e = append([]string{m.Name}, path...), m.Of
	}
}

// documentName is the name of the document in an implied key.
const documentName = "root"

// A reader decodes a token. bad is set if the token is malformed.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uint() uint64 {
	n, used := binary.Uvarint(r.b)
	if used <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[used:]
	return n
}

func (r *reader) count() int {
	n := r.uint()
	if n > 2*maxCount+1 {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) bytes() []byte {
	n := r.uint()
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// decodeToken decodes a token. keys are those of the query's ORDER BY.
func decodeToken(b []byte, keys []syntax.SortKey) (*token, error) {
	r := &reader{b: b}
	if r.byte() != tokenVersion {
		return nil, errToken
	}
	t := &token{mode: mode(r.byte())}
	flags := r.byte()
	t.skip, t.take = r.count(), r.count()-1
	if flags&tokenOrder != 0 {
		t.order = r.order(keys)
	}
	if flags&tokenAfter != 0 {
		t.after = r.bytes()
	}
	t.inside = flags&tokenInside != 0
	if flags&tokenRows != 0 {
		t.number, t.done = r.uint(), r.count()
	}
	if flags&tokenKey != 0 {
		t.key = r.bytes()
	}
	if r.bad || len(r.b) > 0 || t.mode >= modes || flags >= 2*tokenKey || t.inside && t.after == nil {
		return nil, errToken
	}
	return t, nil
}

func (r *reader) order(keys []syntax.SortKey) *plan.Order {
	o := &plan.Order{Kind: plan.OrderKind(r.byte())}
	flags := r.byte()
	o.Ties, o.Stamps, o.Implied = flags&orderTies != 0, flags&orderStamps != 0, flags&orderImplied != 0
	if o.Kind > plan.ByRank {
		r.bad = true
	}
	if !o.Implied {
		o.Keys = keys
		if o.Kind == plan.ByValue && len(keys) == 0 {
			r.bad = true
		}
		return o
	}
	var e syntax.Expr = &syntax.Name{Name: documentName}
	n := r.count()
	for i := 0; i < n && !r.bad; i++ {
		e = &syntax.Member{Of: e, Name: string(r.bytes())}
	}
	if n == 0 || len(keys) > 0 || o.Kind != plan.ByValue {
		r.bad = true
	}
	o.Keys = []syntax.SortKey{{Expr: e, Descending: flags&orderDescending != 0}}
	return o
}
