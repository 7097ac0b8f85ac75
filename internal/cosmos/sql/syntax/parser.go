package syntax

import "fmt"

// Limits of a query. The length, how many operators may follow one another, and
// the joins are the service's documented ones (service quotas, SQL query limits). As many
// brackets may be in one another as Print puts around a chain of operators.
const (
	MaxText     = 512 << 10 // bytes of text
	maxDepth    = 200       // calls, arrays, subqueries, prefixes and the like in one another
	maxChain    = 2000      // operators of one precedence in a row
	maxHeight   = 2200      // nodes from the root of the tree to a leaf
	maxBrackets = maxHeight + 8
	maxJoins    = 10
)

// Parse reads a query: a SELECT, or the condition of a patch, which begins with
// FROM and has a Select that is Star. The error is an *Error.
func Parse(text string) (*Query, error) {
	if len(text) > MaxText {
		return nil, Wrong("SC3020", Span{0, len(text)}, "The query text of %d bytes exceeds the maximum of %d bytes.", len(text), MaxText)
	}
	p := &parser{lexer: lexer{src: text}}
	p.advance()
	q, err := p.program()
	if err != nil {
		return nil, err
	}
	return q, nil
}

// A parser reads by recursive descent with one token in hand.
type parser struct {
	lexer
	tok      token // the one in hand
	last     int   // where the token before it ends
	depth    int
	brackets int // open ones that do nothing but group
	height   int // of the expression or query that was read last
}

func (p *parser) program() (*Query, *Error) {
	read := p.query
	if p.tok.kind == kwFrom {
		read = p.condition
	}
	q, err := read()
	if err == nil && p.tok.kind != eof {
		err = p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

func (p *parser) advance() {
	p.last = p.tok.End
	p.tok = p.lexer.next()
}

// take reads a token if it is of this kind.
func (p *parser) take(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(k kind) *Error {
	if p.take(k) {
		return nil
	}
	return p.unexpected()
}

// ahead is the n-th token after the one in hand, from 1.
func (p *parser) ahead(n int) kind {
	l := p.lexer
	t := p.tok
	for range n {
		t = l.next()
	}
	return t.kind
}

// source is the text of a span.
func (p *parser) source(s Span) string { return p.src[s.Start:s.End] }

// since is the span from a start to the last token read.
func (p *parser) since(start int) Span { return Span{start, p.last} }

// unexpected is the mistake that the token in hand is, in the service's words
// (codes and texts as seen in answers of hosted accounts).
func (p *parser) unexpected() *Error {
	t := p.tok
	switch t.kind {
	case eof:
		return Wrong("SC1002", t.Span, "Syntax error, unexpected end-of-file.")
	case badChar, badNumber:
		return p.invalid()
	case badText:
		return Wrong("SC1012", t.Span, "Syntax error, invalid string literal token '%s'.", clip(p.source(t.Span)))
	}
	return Wrong("SC1001", t.Span, "Syntax error, incorrect syntax near '%s'.", clip(p.source(t.Span)))
}

// invalid is the mistake of a token that cannot stand anywhere.
func (p *parser) invalid() *Error {
	return Wrong("SC1010", p.tok.Span, "Syntax error, invalid token '%s'.", clip(p.source(p.tok.Span)))
}

// clip keeps a message short.
func clip(s string) string {
	const most = 256
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// enter counts a level of nesting; leave gives it back.
func (p *parser) enter() *Error {
	if p.depth++; p.depth > maxDepth {
		return p.beyond("is nested deeper than %d levels", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// grow says that a node stands upon others, the highest of which has this height.
func (p *parser) grow(below int) *Error {
	if p.height = below + 1; p.height > maxHeight {
		return p.beyond("has more than %d expressions in one another", maxHeight)
	}
	return nil
}

// beyond is a limit that is passed at the token in hand.
func (p *parser) beyond(format string, limit int) *Error {
	return Wrong("SC1030", p.tok.Span, "The query %s, which is the limit.", fmt.Sprintf(format, limit))
}

// name reads an identifier that is no keyword.
func (p *parser) name() (string, *Error) {
	if p.tok.kind != word {
		return "", p.unexpected()
	}
	s := p.source(p.tok.Span)
	p.advance()
	return s, nil
}

// label reads a name where nothing but a name can stand, so that keywords are
// names too.
func (p *parser) label() (string, *Error) {
	if p.tok.kind != word && p.tok.kind < kwAnd {
		return "", p.unexpected()
	}
	s := p.source(p.tok.Span)
	p.advance()
	return s, nil
}

// quoted reads a string.
func (p *parser) quoted() (string, *Error) {
	if p.tok.kind != text {
		return "", p.unexpected()
	}
	s := unquote(p.source(p.tok.Span))
	p.advance()
	return s, nil
}
