package syntax

import "fmt"

// Limits of a query. The length, the number of operators in a chain, and the joins are the service's documented
// limits (service quotas, SQL query limits). There may be as many nested brackets as Print puts around a chain of
// operators.
const (
	MaxText     = 512 << 10 // bytes of text
	maxDepth    = 200       // nested calls, arrays, subqueries, prefixes and the like
	maxChain    = 2000      // operators in a chain of the same precedence
	maxHeight   = 2200      // nodes from the root of the tree to a leaf
	maxBrackets = maxHeight + 8
	maxJoins    = 10
)

// Parse parses a query: a SELECT, or the condition of a patch, which begins with FROM and has a Select that is Star.
// The error is an *Error.
func Parse(text string) (*Query, error) {
	if len(text) > MaxText {
		return nil, Wrong("SC3020", Span{0, len(text)}, "The query text of %d bytes exceeds the maximum of %d bytes.",
			len(text), MaxText)
	}
	p := &parser{lexer: lexer{src: text}}
	p.advance()
	q, err := p.program()
	if err != nil {
		return nil, err
	}
	return q, nil
}

// A parser is a recursive descent parser with one token of lookahead.
type parser struct {
	lexer
	tok      token // the current token
	last     int   // end of the previous token
	depth    int
	brackets int // open brackets that only group
	height   int // of the expression or query that was parsed last
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

// take consumes the current token if it is of this kind.
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

// ahead is the kind of the n-th token after the current one, from 1.
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

// since is the span from start to the last consumed token.
func (p *parser) since(start int) Span { return Span{start, p.last} }

// unexpected is the mistake for the current token, with the service's codes and texts as seen in answers of hosted
// accounts.
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

// invalid is the mistake for a token that is not valid anywhere.
func (p *parser) invalid() *Error {
	return Wrong("SC1010", p.tok.Span, "Syntax error, invalid token '%s'.", clip(p.source(p.tok.Span)))
}

// clip truncates a text for a message.
func clip(s string) string {
	const most = 256
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// enter counts a level of nesting, and leave ends it.
func (p *parser) enter() *Error {
	if p.depth++; p.depth > maxDepth {
		return p.beyond("is nested deeper than %d levels", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// grow sets the height of a node whose highest child has height below.
func (p *parser) grow(below int) *Error {
	if p.height = below + 1; p.height > maxHeight {
		return p.beyond("has more than %d expressions in one another", maxHeight)
	}
	return nil
}

// beyond is the mistake for a limit that is exceeded at the current token.
func (p *parser) beyond(format string, limit int) *Error {
	return Wrong("SC1030", p.tok.Span, "The query %s, which is the limit.", fmt.Sprintf(format, limit))
}

// name parses an identifier that is not a keyword.
func (p *parser) name() (string, *Error) {
	if p.tok.kind != word {
		return "", p.unexpected()
	}
	s := p.source(p.tok.Span)
	p.advance()
	return s, nil
}

// label parses a name where only a name is possible, so that keywords are names too.
func (p *parser) label() (string, *Error) {
	if p.tok.kind != word && p.tok.kind < kwAnd {
		return "", p.unexpected()
	}
	s := p.source(p.tok.Span)
	p.advance()
	return s, nil
}

// quoted parses a string.
func (p *parser) quoted() (string, *Error) {
	if p.tok.kind != text {
		return "", p.unexpected()
	}
	s := unquote(p.source(p.tok.Span))
	p.advance()
	return s, nil
}
