package syntax

import "unicode/utf8"

// A kind is the kind of a token. Each operator and keyword has its own.
type kind uint8

const (
	eof kind = iota
	word
	number
	text
	parameter
	badChar   // a character that cannot begin a token
	badText   // a string without an end, or with an unknown escape
	badNumber // digits followed by letters

	openParen
	closeParen
	openBracket
	closeBracket
	openBrace
	closeBrace
	dot
	comma
	colon
	question
	coalesce
	bang
	star
	slash
	percent
	plus
	minus
	tilde
	pipe
	caret
	ampersand
	doublePipe
	equal
	notEqual
	less
	lessEqual
	greater
	greaterEqual
	shiftLeft
	shiftRight
	shiftZero

	kwAnd
	kwArray
	kwAs
	kwAsc
	kwBetween
	kwBy
	kwDesc
	kwDistinct
	kwEscape
	kwExists
	kwFalse
	kwFrom
	kwGroup
	kwIn
	kwJoin
	kwLeft
	kwLike
	kwLimit
	kwNot
	kwNull
	kwOffset
	kwOr
	kwOrder
	kwRight
	kwSelect
	kwTop
	kwTrue
	kwUDF
	kwUndefined
	kwValue
	kwWhere
	kwReserved
	kinds
)

type token struct {
	kind
	Span
}

// A lexer splits a text into tokens, one at a time. A copy of it looks ahead.
type lexer struct {
	src string
	at  int
}

func (l *lexer) next() token {
	l.skip()
	start := l.at
	if start == len(l.src) {
		return token{eof, Span{start, start}}
	}
	k := l.scan(l.src[start])
	return token{k, Span{start, l.at}}
}

func (l *lexer) scan(c byte) kind {
	switch {
	case letter(c):
		start := l.at
		l.word()
		return keyword(l.src[start:l.at])
	case digit(c), c == '.' && digit(l.peek(1)):
		return l.number()
	case c == '"', c == '\'':
		return l.text(c)
	case c == '@' && (letter(l.peek(1)) || digit(l.peek(1))):
		l.at++
		l.word()
		return parameter
	}
	return l.operator(c)
}

// skip skips white space and comments, which extend from -- to the end of the line. The service has no other
// comments.
func (l *lexer) skip() {
	for l.at < len(l.src) {
		c := l.src[l.at]
		switch {
		case c == ' ' || '\t' <= c && c <= '\r':
			l.at++
		case c == '-' && l.peek(1) == '-':
			l.line()
		default:
			return
		}
	}
}

func (l *lexer) line() {
	for l.at < len(l.src) && l.src[l.at] != '\n' && l.src[l.at] != '\r' {
		l.at++
	}
}

// peek is the byte n positions ahead, or 0.
func (l *lexer) peek(n int) byte {
	if l.at+n < len(l.src) {
		return l.src[l.at+n]
	}
	return 0
}

func (l *lexer) word() {
	for letter(l.peek(0)) || digit(l.peek(0)) {
		l.at++
	}
}

// number scans 12, 1.5, .5, 5. and all of them with an exponent, as in the public grammar, and 0x1F ("Constants").
func (l *lexer) number() kind {
	if l.peek(0) == '0' && l.peek(1)|0x20 == 'x' && hexDigit(l.peek(2)) {
		l.hexadecimal()
	} else {
		l.decimal()
	}
	if letter(l.peek(0)) {
		l.word()
		return badNumber
	}
	return number
}

func (l *lexer) hexadecimal() {
	for l.at += 2; hexDigit(l.peek(0)); l.at++ {
	}
}

func hexDigit(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func (l *lexer) decimal() {
	l.digits()
	if l.peek(0) == '.' {
		l.at++
		l.digits()
	}
	if c := l.peek(0); c == 'e' || c == 'E' {
		sign := 0
		if s := l.peek(1); s == '+' || s == '-' {
			sign = 1
		}
		if digit(l.peek(1 + sign)) {
			l.at += 1 + sign
			l.digits()
		}
	}
}

func (l *lexer) digits() {
	for digit(l.peek(0)) {
		l.at++
	}
}

// text scans to the end of a string. Escapes are resolved later.
func (l *lexer) text(quote byte) kind {
	good := text
	for l.at++; l.at < len(l.src); l.at++ {
		switch l.src[l.at] {
		case quote:
			l.at++
			return good
		case '\\':
			n := escape(l.src[l.at:])
			if n == 0 {
				good, n = badText, min(2, len(l.src)-l.at)
			}
			l.at += n - 1
		}
	}
	return badText
}

func (l *lexer) operator(c byte) kind {
	if o, ok := l.long(c); ok {
		return o
	}
	if k := short[c]; k != eof {
		l.at++
		return k
	}
	_, n := utf8.DecodeRuneInString(l.src[l.at:])
	l.at += n
	return badChar
}

// long scans an operator of two or three characters.
func (l *lexer) long(c byte) (kind, bool) {
	d := l.peek(1)
	k := eof
	switch {
	case c == '>' && d == '>' && l.peek(2) == '>':
		l.at += 3
		return shiftZero, true
	case c == '<' && d == '=':
		k = lessEqual
	case c == '<' && d == '>', c == '!' && d == '=':
		k = notEqual
	case c == '<' && d == '<':
		k = shiftLeft
	case c == '>' && d == '=':
		k = greaterEqual
	case c == '>' && d == '>':
		k = shiftRight
	case c == '|' && d == '|':
		k = doublePipe
	case c == '?' && d == '?':
		k = coalesce
	default:
		return eof, false
	}
	l.at += 2
	return k, true
}

var short = [256]kind{
	'(': openParen, ')': closeParen, '[': openBracket, ']': closeBracket, '{': openBrace, '}': closeBrace,
	'.': dot, ',': comma, ':': colon, '?': question, '!': bang, '*': star, '/': slash, '%': percent,
	'+': plus, '-': minus, '~': tilde, '|': pipe, '^': caret, '&': ampersand, '=': equal, '<': less, '>': greater,
}
