package syntax

// The precedence of operators, lowest first: ? :, then ?? (right-associative), OR, AND, then IN, LIKE and BETWEEN,
// then the table below, then prefix operators including NOT. Microsoft's public language service has the same for the
// service's own grammar: NOT a = b is (NOT a) = b, comparisons and shifts have the same precedence, and so have | ^ &
// + -.
type infix struct {
	op    Op
	level int
}

var infixes = [kinds]infix{
	kwOr: {Or, 1}, kwAnd: {And, 2},
	equal: {Eq, compared}, notEqual: {Ne, compared}, less: {Lt, compared}, lessEqual: {Le, compared},
	greater: {Gt, compared}, greaterEqual: {Ge, compared},
	shiftLeft: {ShiftLeft, compared}, shiftRight: {ShiftRight, compared}, shiftZero: {ShiftZero, compared},
	doublePipe: {Concat, 5},
	pipe:       {BitOr, 6}, caret: {BitXor, 6}, ampersand: {BitAnd, 6}, plus: {Add, 6}, minus: {Sub, 6},
	star: {Mul, 7}, slash: {Div, 7}, percent: {Mod, 7},
}

// Levels that the parser refers to: a predicate is between AND and comparisons.
const (
	logical   = 1
	predicate = 3
	compared  = 4
	prefixed  = 8
)

// nested parses a scalar expression inside another.
func (p *parser) nested() (Expr, *Error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.expr()
}

// expr parses any scalar expression.
func (p *parser) expr() (Expr, *Error) {
	start := p.tok.Start
	x, err := p.coalesce()
	if err != nil || !p.take(question) {
		return x, err
	}
	return p.conditional(start, x)
}

// conditional parses what follows `cond ?`.
func (p *parser) conditional(start int, cond Expr) (Expr, *Error) {
	tallest := p.height
	then, err := p.nested()
	if err != nil {
		return nil, err
	}
	tallest = max(tallest, p.height)
	if err := p.expect(colon); err != nil {
		return nil, err
	}
	otherwise, err := p.nested()
	if err != nil {
		return nil, err
	}
	x := &Conditional{Span: p.since(start), Cond: cond, Then: then, Else: otherwise}
	return x, p.grow(max(tallest, p.height))
}

func (p *parser) coalesce() (Expr, *Error) {
	start := p.tok.Start
	x, err := p.binary(logical)
	if err != nil || !p.take(coalesce) {
		return x, err
	}
	left := p.height
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	y, err := p.coalesce()
	if err != nil {
		return nil, err
	}
	return &Binary{Span: p.since(start), Op: Coalesce, X: x, Y: y}, p.grow(max(left, p.height))
}

// binary parses a chain of operators of this level. The operands have the next higher level.
func (p *parser) binary(level int) (Expr, *Error) {
	switch level {
	case predicate:
		return p.predicate()
	case prefixed:
		return p.prefix()
	}
	start := p.tok.Start
	x, err := p.binary(level + 1)
	for n := 1; err == nil && infixes[p.tok.kind].level == level; n++ {
		if n > maxChain {
			return nil, p.beyond("has more than %d operators in a row", maxChain)
		}
		op, left := infixes[p.tok.kind].op, p.height
		p.advance()
		var y Expr
		if y, err = p.binary(level + 1); err == nil {
			x = &Binary{Span: p.since(start), Op: op, X: x, Y: y}
			err = p.grow(max(left, p.height))
		}
	}
	return x, err
}

// predicate parses x [NOT] IN …, LIKE … and BETWEEN …. The service requires brackets around BETWEEN before AND or OR;
// without them it is still unambiguous.
func (p *parser) predicate() (Expr, *Error) {
	start := p.tok.Start
	x, err := p.binary(compared)
	if err != nil {
		return nil, err
	}
	not := false
	if p.tok.kind == kwNot {
		if k := p.ahead(1); k == kwIn || k == kwLike || k == kwBetween {
			not = p.take(kwNot)
		}
	}
	switch {
	case p.take(kwIn):
		return p.in(start, not, x)
	case p.take(kwLike):
		return p.like(start, not, x)
	case p.take(kwBetween):
		return p.between(start, not, x)
	}
	return x, nil
}

func (p *parser) in(start int, not bool, x Expr) (Expr, *Error) {
	left := p.height
	if err := p.expect(openParen); err != nil {
		return nil, err
	}
	in := &In{Not: not, X: x}
	err := p.list(func() *Error {
		item, err := p.nested()
		in.List = append(in.List, item)
		return err
	})
	if err == nil {
		err = p.expect(closeParen)
	}
	if err != nil {
		return nil, err
	}
	in.Span = p.since(start)
	return in, p.grow(max(left, p.height))
}

func (p *parser) like(start int, not bool, x Expr) (Expr, *Error) {
	left := p.height
	pattern, err := p.binary(compared)
	if err != nil {
		return nil, err
	}
	like := &Like{Not: not, X: x, Pattern: pattern}
	if p.take(kwEscape) {
		at := p.tok.Span
		s, err := p.quoted()
		if err != nil {
			return nil, err
		}
		like.Escape = &Literal{Span: at, Kind: String, Text: s}
	}
	like.Span = p.since(start)
	return like, p.grow(max(left, p.height))
}

func (p *parser) between(start int, not bool, x Expr) (Expr, *Error) {
	tallest := p.height
	low, err := p.binary(compared)
	if err != nil {
		return nil, err
	}
	tallest = max(tallest, p.height)
	if err := p.expect(kwAnd); err != nil {
		return nil, err
	}
	high, err := p.binary(compared)
	if err != nil {
		return nil, err
	}
	b := &Between{Span: p.since(start), Not: not, X: x, Low: low, High: high}
	return b, p.grow(max(tallest, p.height))
}

var prefixes = [kinds]Op{kwNot: Not, minus: Minus, plus: Plus, tilde: BitNot}

// prefix parses NOT x, -x, +x, ~x. A minus before a number makes a negative number.
func (p *parser) prefix() (Expr, *Error) {
	op := prefixes[p.tok.kind]
	if op == NoOp {
		return p.postfix()
	}
	start := p.tok.Start
	if op == Minus && p.ahead(1) == number {
		p.advance()
		return p.negative(start)
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.advance()
	x, err := p.prefix()
	if err != nil {
		return nil, err
	}
	return &Unary{Span: p.since(start), Op: op, X: x}, p.grow(p.height)
}

func (p *parser) negative(start int) (Expr, *Error) {
	p.height = 1
	l, ok := negated(p.source(p.tok.Span), Span{start, p.tok.End})
	if !ok {
		return nil, p.invalid()
	}
	p.advance()
	return l, nil
}
