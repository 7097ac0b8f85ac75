package exec

import (
	"slices"
	"strconv"
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A compiler converts syntax trees to closures over frames. It counts the slots that frames need.
type compiler struct {
	parameters map[string]doc.Value
	now        time.Time
	function   func(name string) (func(args []doc.Value) (doc.Value, error), error)
	meter      *function.Meter // uses Environment.Stop, then Limit.Stop once a page begins
	nodes      int             // number of compiled expressions

	slots int
	// into collects the aggregates of the SELECT that is being compiled. It is nil where aggregates are not allowed.
	into *grouping

	// The cost of compiling is limited, see fold.
	folding frame // for constants
	kept    int   // bytes of constants and patterns
	err     error // ends compilation

	user   bool // a user-defined function is called
	calls  []*function.Call
	passed int // bytes that passed through calls since their caches were dropped
}

// A node is a compiled expression. Exactly one of get, test and constant is set.
type node struct {
	get      eval
	test     test
	constant bool
	value    doc.Value // if constant

	document bool     // the whole document, including system properties
	path     []string // path in the document, if the value is not below a system property
	stamp    bool     // the _ts of the document
	// The parts of an object or array literal, so that rows are written without creating the value.
	object *objectNode
	array  []node
}

func constant(v doc.Value) node { return node{constant: true, value: v} }

func computed(get eval) node { return node{get: get} }

func condition(t test) node { return node{test: t} }

// eval is the node as a value.
func (n node) eval() eval {
	switch {
	case n.constant:
		v := n.value
		return func(*frame) doc.Value { return v }
	case n.get == nil:
		t := n.test
		return func(f *frame) doc.Value { return t(f).value() }
	}
	return n.get
}

// truth is the node as a condition.
func (n node) truth() test {
	switch {
	case n.constant:
		t := truth(n.value)
		return func(*frame) tri { return t }
	case n.test == nil:
		get := n.get
		return func(f *frame) tri { return truth(get(f)) }
	}
	return n.test
}

// A scope is the names introduced by one FROM, and the enclosing scope.
type scope struct {
	outer *scope
	names []binding
}

// A binding is a name for the document itself, or for a slot.
type binding struct {
	name     string
	document bool
	slot     int
}

func (s *scope) find(name string) (binding, bool) {
	for at := s; at != nil; at = at.outer {
		for _, b := range at.names {
			if b.name == name {
				return b, true
			}
		}
	}
	return binding{}, false
}

// empty reports that no name is visible, so that FROM refers to the container.
func (s *scope) empty() bool {
	for at := s; at != nil; at = at.outer {
		if len(at.names) > 0 {
			return false
		}
	}
	return true
}

// compileUnits is the cost of compiling an expression, without its parts.
const compileUnits = 32

func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

// expr compiles an expression. Constant expressions are computed immediately.
func (c *compiler) expr(e syntax.Expr, s *scope) (node, error) {
	if c.nodes++; c.err == nil && !c.meter.Spend(compileUnits) {
		c.err = c.meter.Err
	}
	if c.err != nil {
		return node{}, c.err
	}
	if c.into != nil {
		if n, ok, err := c.into.part(c, e, s); ok || err != nil {
			return n, err
		}
	}
	switch x := e.(type) {
	case *syntax.Literal:
		return constant(literal(x)), nil
	case *syntax.Parameter:
		return constant(c.parameters[x.Name]), nil
	case *syntax.Name:
		return c.name(x, s)
	case *syntax.Member:
		return c.member(x, s)
	case *syntax.Index:
		return c.index(x, s)
	case *syntax.Unary:
		return c.unary(x, s)
	case *syntax.Binary:
		return c.binary(x, s)
	case *syntax.Conditional:
		return c.conditional(x, s)
	case *syntax.Between:
		return c.between(x, s)
	case *syntax.In:
		return c.in(x, s)
	case *syntax.Like:
		return c.like(x, s)
	case *syntax.Call:
		return c.call(x, s)
	case *syntax.Array:
		return c.array(x, s)
	case *syntax.Object:
		return c.object(x, s)
	case *syntax.Subquery:
		return c.subquery(x, s)
	}
	return node{}, syntax.Wrong("", e.Pos(), "An expression of an unknown kind.")
}

func (c *compiler) list(all []syntax.Expr, s *scope) (nodes []node, err error) {
	nodes = make([]node, len(all))
	for i, e := range all {
		if nodes[i], err = c.expr(e, s); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// fold computes n immediately if everything it depends on is constant. If that fails, the error occurs only where the
// value is used, unless the query's time is up.
func (c *compiler) fold(n node, on ...node) node {
	if slices.ContainsFunc(on, func(o node) bool { return !o.constant }) || c.err != nil {
		return n
	}
	f := c.frame()
	v := n.eval()(f)
	switch {
	case c.meter.Err != nil:
		c.err = c.meter.Err
	case f.err == nil:
		n = constant(doc.Clone(v))
		c.keep(len(v.Data))
	}
	f.err = nil
	f.reset()
	return n
}

// frame is the frame for constants.
func (c *compiler) frame() *frame {
	c.folding.meter = c.meter
	return &c.folding
}

// maxConstants is how many bytes of constants a query may have.
const maxConstants = 64 << 20

var errConstants = fault.New(fault.TooLarge,
	"The query computes more than %d MiB of constants. Compute them in the client, or once.", maxConstants>>20)

// keep counts n bytes that the compiled query holds.
func (c *compiler) keep(n int) {
	if c.kept += n; c.kept > maxConstants && c.err == nil {
		c.err = errConstants
	}
}

// spend counts the cost of compiling a value of n bytes.
func (c *compiler) spend(n int) {
	if !c.meter.Spend(1+n/function.BytesPerUnit) && c.err == nil {
		c.err = c.meter.Err
	}
}

func literal(l *syntax.Literal) doc.Value {
	switch l.Kind {
	case syntax.Null:
		return doc.Null()
	case syntax.False:
		return vFalse
	case syntax.True:
		return vTrue
	case syntax.Number:
		switch {
		case l.Whole:
			return doc.Int(l.Int)
		case l.Big != 0:
			v, _ := doc.ValueFromJSON(strconv.AppendUint(nil, l.Big, 10))
			return v
		}
		return doc.Float(l.Float)
	case syntax.String:
		return doc.String(l.Text)
	}
	return doc.Value{}
}

func (c *compiler) name(x *syntax.Name, s *scope) (node, error) {
	b, ok := s.find(x.Name)
	if !ok {
		if number, ok := plan.NamedNumber(x.Name); ok {
			return constant(doc.Float(number)), nil
		}
		return node{}, syntax.Wrong("SC2001", x.Span, "Identifier '%s' could not be resolved.", x.Name)
	}
	if b.document {
		return node{document: true, get: (*frame).all}, nil
	}
	slot := b.slot
	return computed(func(f *frame) doc.Value { return f.slots[slot] }), nil
}

func (c *compiler) unary(x *syntax.Unary, s *scope) (node, error) {
	n, err := c.expr(x.X, s)
	if err != nil {
		return node{}, err
	}
	if x.Op == syntax.Not {
		return c.fold(condition(negation(n.truth())), n), nil
	}
	return c.fold(computed(unary(x.Op, n.eval())), n), nil
}

// chainOperands lists the operands of a chain of one operator, from the left: a op b op c.
func chainOperands(x *syntax.Binary) (operands []syntax.Expr) {
	var at syntax.Expr = x
	for {
		b, ok := at.(*syntax.Binary)
		if !ok || b.Op != x.Op {
			break
		}
		operands, at = append(operands, b.Y), b.X
	}
	operands = append(operands, at)
	slices.Reverse(operands)
	return operands
}

func (c *compiler) binary(x *syntax.Binary, s *scope) (node, error) {
	switch x.Op {
	case syntax.And, syntax.Or, syntax.Concat:
		return c.chain(x, s)
	}
	both, err := c.list([]syntax.Expr{x.X, x.Y}, s)
	if err != nil {
		return node{}, err
	}
	a, b := both[0], both[1]
	switch x.Op {
	case syntax.Coalesce:
		return c.fold(computed(coalesce(a.eval(), b.eval())), a, b), nil
	case syntax.Eq, syntax.Ne, syntax.Lt, syntax.Le, syntax.Gt, syntax.Ge:
		return c.fold(condition(comparison(x.Op, a, b)), a, b), nil
	}
	return c.fold(computed(arithmetic(x.Op, a.eval(), b.eval())), a, b), nil
}

// chain compiles a AND b AND …, and the like, as one node.
func (c *compiler) chain(x *syntax.Binary, s *scope) (node, error) {
	parts, err := c.list(chainOperands(x), s)
	if err != nil {
		return node{}, err
	}
	if x.Op == syntax.Concat {
		values := make([]eval, len(parts))
		for i, p := range parts {
			values[i] = p.eval()
		}
		return c.fold(computed(concat(values)), parts...), nil
	}
	conditions := make([]test, len(parts))
	for i, p := range parts {
		conditions[i] = p.truth()
	}
	if x.Op == syntax.Or {
		return c.fold(condition(some(conditions)), parts...), nil
	}
	return c.fold(condition(every(conditions)), parts...), nil
}

func (c *compiler) conditional(x *syntax.Conditional, s *scope) (node, error) {
	n, err := c.list([]syntax.Expr{x.Cond, x.Then, x.Else}, s)
	if err != nil {
		return node{}, err
	}
	return c.fold(computed(conditional(n[0].truth(), n[1].eval(), n[2].eval())), n...), nil
}

func (c *compiler) between(x *syntax.Between, s *scope) (node, error) {
	n, err := c.list([]syntax.Expr{x.X, x.Low, x.High}, s)
	if err != nil {
		return node{}, err
	}
	t := between(n[0], n[1], n[2])
	if x.Not {
		t = negation(t)
	}
	return c.fold(condition(t), n...), nil
}

func (c *compiler) in(x *syntax.In, s *scope) (node, error) {
	n, err := c.expr(x.X, s)
	if err != nil {
		return node{}, err
	}
	list, err := c.list(x.List, s)
	if err != nil {
		return node{}, err
	}
	t := c.membership(n.eval(), list)
	if x.Not {
		t = negation(t)
	}
	return c.fold(condition(t), append(list, n)...), nil
}

// aggregate reports whether e itself is a call of an aggregate function.
func aggregate(e syntax.Expr) (*syntax.Call, bool) {
	call, ok := e.(*syntax.Call)
	return call, ok && !call.UDF && plan.Aggregate(call.Name)
}
