package syntax

import "strings"

// postfix parses a primary expression and the steps that follow it.
func (p *parser) postfix() (Expr, *Error) {
	start := p.tok.Start
	x, err := p.primary()
	for n := 1; err == nil && (p.tok.kind == dot || p.tok.kind == openBracket); n++ {
		if n > maxChain {
			return nil, p.beyond("has a path of more than %d steps", maxChain)
		}
		if p.take(dot) {
			x, err = p.member(start, x)
		} else {
			x, err = p.index(start, x)
		}
	}
	return x, err
}

func (p *parser) member(start int, of Expr) (Expr, *Error) {
	name, err := p.label()
	if err != nil {
		return nil, err
	}
	return &Member{Span: p.since(start), Of: of, Name: name}, p.grow(p.height)
}

func (p *parser) index(start int, of Expr) (Expr, *Error) {
	left := p.height
	p.advance()
	i, err := p.nested()
	if err != nil {
		return nil, err
	}
	if err := p.expect(closeBracket); err != nil {
		return nil, err
	}
	if l, ok := i.(*Literal); ok && l.Kind == String {
		return &Member{Span: p.since(start), Of: of, Name: l.Text, Quoted: true}, p.grow(left)
	}
	return &Index{Span: p.since(start), Of: of, Index: i}, p.grow(max(left, p.height))
}

func (p *parser) primary() (Expr, *Error) {
	p.height = 1
	switch p.tok.kind {
	case kwUndefined, kwNull, kwFalse, kwTrue, number, text:
		return p.literal()
	case parameter:
		return p.parameter(), nil
	case openParen:
		return p.bracket()
	case openBracket:
		return p.array()
	case openBrace:
		return p.object()
	case kwExists:
		return p.subquery(Exists)
	case kwArray:
		return p.subquery(ArrayOf)
	case kwUDF:
		return p.udf()
	case kwLeft, kwRight:
		return p.call()
	case word:
		return p.word()
	}
	return nil, p.unexpected()
}

var constants = [kinds]LiteralKind{kwUndefined: Undefined, kwNull: Null, kwFalse: False, kwTrue: True, text: String}

func (p *parser) literal() (Expr, *Error) {
	t := p.tok
	if t.kind == number {
		l, ok := numeral(p.source(t.Span), t.Span)
		if !ok {
			return nil, p.invalid()
		}
		p.advance()
		return l, nil
	}
	l := &Literal{Span: t.Span, Kind: constants[t.kind]}
	if t.kind == text {
		l.Text = unquote(p.source(t.Span))
	}
	p.advance()
	return l, nil
}

func (p *parser) parameter() Expr {
	x := &Parameter{Span: p.tok.Span, Name: p.source(p.tok.Span)}
	p.advance()
	return x
}

// bracket parses (x) or (SELECT …).
func (p *parser) bracket() (Expr, *Error) {
	if p.ahead(1) == kwSelect {
		return p.enclosed(p.tok.Start, Scalar)
	}
	if p.brackets++; p.brackets > maxBrackets {
		return nil, p.beyond("has more than %d brackets in one another", maxBrackets)
	}
	p.advance()
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	p.brackets--
	return x, p.expect(closeParen)
}

// subquery parses a keyword and the query in brackets after it.
func (p *parser) subquery(kind SubqueryKind) (Expr, *Error) {
	start := p.tok.Start
	p.advance()
	return p.enclosed(start, kind)
}

func (p *parser) enclosed(start int, kind SubqueryKind) (Expr, *Error) {
	if err := p.expect(openParen); err != nil {
		return nil, err
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	if err := p.expect(closeParen); err != nil {
		return nil, err
	}
	return &Subquery{Span: p.since(start), Kind: kind, Query: q}, p.grow(p.height)
}

// word parses an alias, a call, or ALL, FIRST or LAST of a query. These three are not keywords.
func (p *parser) word() (Expr, *Error) {
	if p.ahead(1) == openParen {
		if kind, ok := aggregated(p.source(p.tok.Span)); ok && p.ahead(2) == kwSelect {
			return p.subquery(kind)
		}
		return p.call()
	}
	at := p.tok.Span
	name, err := p.name()
	return &Name{Span: at, Name: name}, err
}

func aggregated(name string) (SubqueryKind, bool) {
	switch {
	case strings.EqualFold(name, "ALL"):
		return All, true
	case strings.EqualFold(name, "FIRST"):
		return First, true
	case strings.EqualFold(name, "LAST"):
		return Last, true
	}
	return 0, false
}

func (p *parser) call() (Expr, *Error) {
	c := &Call{Name: p.source(p.tok.Span)}
	start := p.tok.Start
	p.advance()
	return p.arguments(start, c)
}

// udf parses udf.name(…).
func (p *parser) udf() (Expr, *Error) {
	start := p.tok.Start
	p.advance()
	if err := p.expect(dot); err != nil {
		return nil, err
	}
	name, err := p.label()
	if err != nil {
		return nil, err
	}
	return p.arguments(start, &Call{UDF: true, Name: name})
}

func (p *parser) arguments(start int, c *Call) (Expr, *Error) {
	if err := p.expect(openParen); err != nil {
		return nil, err
	}
	var err *Error
	if c.Args, err = p.until(closeParen); err != nil {
		return nil, err
	}
	c.Span = p.since(start)
	return c, p.grow(p.height)
}

// until parses expressions up to a closing token. The list may be empty.
func (p *parser) until(closing kind) (items []Expr, err *Error) {
	p.height = 0
	if p.take(closing) {
		return nil, nil
	}
	err = p.list(func() *Error {
		x, err := p.nested()
		items = append(items, x)
		return err
	})
	if err != nil {
		return nil, err
	}
	return items, p.expect(closing)
}

func (p *parser) array() (Expr, *Error) {
	start := p.tok.Start
	p.advance()
	items, err := p.until(closeBracket)
	if err != nil {
		return nil, err
	}
	return &Array{Span: p.since(start), Items: items}, p.grow(p.height)
}

func (p *parser) object() (Expr, *Error) {
	o, start := &Object{}, p.tok.Start
	p.advance()
	p.height = 0
	if p.tok.kind != closeBrace {
		err := p.list(func() (err *Error) {
			o.Members, err = p.property(o.Members)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := p.expect(closeBrace); err != nil {
		return nil, err
	}
	o.Span = p.since(start)
	return o, p.grow(p.height)
}

// property parses "name": x. The quotes are optional.
func (p *parser) property(members []ObjectMember) ([]ObjectMember, *Error) {
	start := p.tok.Start
	read := p.label
	if p.tok.kind == text {
		read = p.quoted
	}
	name, err := read()
	if err == nil {
		err = p.expect(colon)
	}
	if err != nil {
		return nil, err
	}
	x, err := p.nested()
	return append(members, ObjectMember{Span: p.since(start), Name: name, X: x}), err
}
