package syntax

import "strings"

// query parses from SELECT to the end of the last clause.
func (p *parser) query() (*Query, *Error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	q := &Query{}
	start, tallest := p.tok.Start, 0
	steps := []func(*Query) *Error{p.selection, p.from, p.where, p.groupBy, p.orderBy, p.offsetLimit}
	for _, step := range steps {
		p.height = 0
		if err := step(q); err != nil {
			return nil, err
		}
		tallest = max(tallest, p.height)
	}
	q.Span = p.since(start)
	return q, p.grow(tallest)
}

// condition parses FROM and WHERE.
func (p *parser) condition() (*Query, *Error) {
	q := &Query{Select: Select{Star: true}}
	start := p.tok.Start
	if err := p.from(q); err != nil {
		return nil, err
	}
	if err := p.where(q); err != nil {
		return nil, err
	}
	q.Span = p.since(start)
	return q, nil
}

func (p *parser) selection(q *Query) *Error {
	s, start := &q.Select, p.tok.Start
	if err := p.expect(kwSelect); err != nil {
		return err
	}
	s.Distinct = p.take(kwDistinct)
	if p.take(kwTop) {
		top, err := p.count(false)
		if err != nil {
			return err
		}
		s.Top = top
	}
	err := p.specification(s)
	s.Span = p.since(start)
	return err
}

// specification parses *, VALUE x or a list.
func (p *parser) specification(s *Select) (err *Error) {
	switch {
	case p.take(star):
		s.Star = true
	case p.take(kwValue):
		err = p.value(s)
	default:
		err = p.list(func() (err *Error) {
			s.Items, err = p.item(s.Items)
			return err
		})
	}
	return err
}

// value parses an expression, and an alias that has no effect ("SELECT", syntax).
func (p *parser) value(s *Select) (err *Error) {
	if s.Value, err = p.expr(); err != nil {
		return err
	}
	if p.take(kwAs) || p.tok.kind == word {
		_, err = p.name()
	}
	return err
}

// list parses one or more elements separated by commas, and sets the height to the largest.
func (p *parser) list(one func() *Error) *Error {
	tallest := 0
	for {
		if err := one(); err != nil {
			return err
		}
		tallest = max(tallest, p.height)
		if !p.take(comma) {
			p.height = tallest
			return nil
		}
	}
}

// item parses an expression and its alias, which may be quoted. AS is optional.
func (p *parser) item(items []Item) ([]Item, *Error) {
	start := p.tok.Start
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	item := Item{Expr: x}
	as := p.take(kwAs)
	switch {
	case p.tok.kind == text && p.tok.End-p.tok.Start > 2:
		item.Alias, err = p.quoted()
	case as || p.tok.kind == word || p.tok.kind == text:
		item.Alias, err = p.name()
	}
	item.Span = p.since(start)
	return append(items, item), err
}

func (p *parser) where(q *Query) (err *Error) {
	if p.take(kwWhere) {
		q.Where, err = p.expr()
	}
	return err
}

func (p *parser) groupBy(q *Query) *Error {
	if !p.take(kwGroup) {
		return nil
	}
	if err := p.expect(kwBy); err != nil {
		return err
	}
	return p.list(func() *Error {
		x, err := p.expr()
		q.GroupBy = append(q.GroupBy, x)
		return err
	})
}

func (p *parser) orderBy(q *Query) *Error {
	if !p.take(kwOrder) {
		return nil
	}
	if err := p.expect(kwBy); err != nil {
		return err
	}
	if p.ranked() {
		return p.rank(q)
	}
	return p.list(func() *Error {
		key, err := p.sortKey()
		q.OrderBy = append(q.OrderBy, key)
		return err
	})
}

// ranked reports whether RANK and a function call come next. RANK is not a keyword.
func (p *parser) ranked() bool {
	if p.tok.kind != word || !strings.EqualFold(p.source(p.tok.Span), "RANK") {
		return false
	}
	first := p.ahead(1)
	return (first == word || first == kwLeft || first == kwRight) && p.ahead(2) == openParen
}

func (p *parser) rank(q *Query) (err *Error) {
	p.advance()
	q.Rank, err = p.primary()
	return err
}

func (p *parser) sortKey() (SortKey, *Error) {
	start := p.tok.Start
	x, err := p.expr()
	key := SortKey{Expr: x}
	switch {
	case err != nil:
		return key, err
	case p.take(kwAsc):
		key.Written = true
	case p.take(kwDesc):
		key.Written, key.Descending = true, true
	}
	key.Span = p.since(start)
	return key, nil
}

func (p *parser) offsetLimit(q *Query) (err *Error) {
	if !p.take(kwOffset) {
		return nil
	}
	if q.Offset, err = p.count(true); err != nil {
		return err
	}
	if err = p.expect(kwLimit); err != nil {
		return err
	}
	q.Limit, err = p.count(true)
	return err
}

// count parses a number or a parameter. TOP accepts any number here, because a wrong one has its own message.
func (p *parser) count(whole bool) (Expr, *Error) {
	t := p.tok
	switch t.kind {
	case parameter:
		return p.parameter(), nil
	case number:
		l, ok := numeral(p.source(t.Span), t.Span)
		if ok && (l.Whole || !whole) {
			p.advance()
			return l, nil
		}
	}
	return nil, p.unexpected()
}
