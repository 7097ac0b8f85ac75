package syntax

// from parses FROM source {JOIN source}.
func (p *parser) from(q *Query) *Error {
	if !p.take(kwFrom) {
		return nil
	}
	tallest := 0
	for {
		s, err := p.collection()
		if err != nil {
			return err
		}
		tallest = max(tallest, p.height)
		q.From = append(q.From, s)
		if p.tok.kind != kwJoin {
			p.height = tallest
			return nil
		}
		if len(q.From) > maxJoins {
			return p.beyond("has more than %d joins", maxJoins)
		}
		p.advance()
	}
}

// collection parses `alias IN input` or `input [AS] alias`.
func (p *parser) collection() (s Source, err *Error) {
	start := p.tok.Start
	if p.tok.kind == word && p.ahead(1) == kwIn {
		s.In = true
		s.Alias, _ = p.name()
		p.advance()
	}
	if err = p.input(&s); err != nil {
		return s, err
	}
	if !s.In && (p.take(kwAs) || p.tok.kind == word) {
		s.Alias, err = p.name()
	}
	s.Span = p.since(start)
	return s, err
}

// input parses a name with a path, or a subquery.
func (p *parser) input(s *Source) (err *Error) {
	p.height = 0
	if p.take(openParen) {
		if s.Query, err = p.query(); err != nil {
			return err
		}
		return p.expect(closeParen)
	}
	if s.Root, err = p.name(); err != nil {
		return err
	}
	s.Path, err = p.path()
	return err
}

func (p *parser) path() (steps []Expr, err *Error) {
	for {
		var step Expr
		switch start := p.tok.Start; {
		case p.take(dot):
			step, err = p.named()
		case p.take(openBracket):
			step, err = p.bracketed(start)
		default:
			return steps, nil
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
}

// named parses a step after its dot.
func (p *parser) named() (Expr, *Error) {
	at := p.tok.Span
	name, err := p.label()
	return &Literal{Span: at, Kind: String, Text: name}, err
}

// bracketed parses a step after its bracket.
func (p *parser) bracketed(start int) (Expr, *Error) {
	if p.tok.kind != text && p.tok.kind != number {
		return nil, p.unexpected()
	}
	step, err := p.literal()
	if err != nil {
		return nil, err
	}
	return step, p.expect(closeBracket)
}
