package rest

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits on the condition of a patch.
const (
	maxCondition      = 64 << 10 // bytes
	maxConditionDepth = 64       // parentheses, lists and NOTs inside one another
)

// parsePredicate reads `FROM alias [WHERE condition]`.
func parsePredicate(text string) (*predicate, error) {
	if len(text) > maxCondition {
		return nil, fault.New(fault.Invalid, "The condition of a patch has %d bytes, more than the limit of %d.", len(text), maxCondition)
	}
	if !utf8.ValidString(text) {
		return nil, fault.New(fault.Invalid, "The condition of a patch is not valid UTF-8.")
	}
	p := &conditionParser{text: text}
	p.next()
	return p.predicate()
}

// A lexeme is a piece of a condition.
type lexeme struct {
	kind lexemeKind
	text string // a word as it stands, the content of a string, or a sign
	at   int
}

type lexemeKind uint8

const (
	atEnd lexemeKind = iota
	aWord
	aNumber
	aString
	aSign
	aWrong // a string without an end, or a character that has no place
)

// A conditionParser reads one token ahead.
type conditionParser struct {
	text  string
	at    int // behind the token ahead
	ahead lexeme
	alias string
	depth int
	err   error // the first; terms that come after it are never run
}

func (p *conditionParser) predicate() (*predicate, error) {
	if !p.word("FROM") {
		return nil, p.unexpected("FROM was expected")
	}
	name := p.ahead
	if !p.identifier(&p.alias) {
		return nil, p.unexpected("a name was expected")
	}
	if p.word("AS") || p.ahead.kind == aWord && !isKeyword(p.ahead.text) {
		name = p.ahead
		if !p.identifier(&p.alias) {
			return nil, p.unexpected("a name was expected")
		}
	}
	result := &predicate{alias: name.text}
	if p.word("WHERE") {
		result.where = p.or()
	}
	if p.err == nil && p.ahead.kind != atEnd {
		p.unexpected("the end was expected")
	}
	if p.err != nil {
		return nil, p.err
	}
	return result, nil
}

// unexpected records the first error: what stands ahead is not what it should be.
func (p *conditionParser) unexpected(why string) error {
	found := "'" + clip(p.ahead.text) + "'"
	if p.ahead.kind == atEnd {
		found = "its end"
	}
	return p.fail(fault.Invalid, "The condition of the patch cannot be read at byte %d, at %s: %s. "+
		"A condition is like: from c where c.taskNum = 3 and c.state != \"done\".", p.ahead.at, found, why)
}

// unsupported records that something of the query language is not there yet.
func (p *conditionParser) unsupported(what string) error {
	return p.fail(fault.Unsupported, "The condition of the patch uses %s, which is not built yet. Conditions have comparisons, "+
		"AND, OR, NOT, IN, BETWEEN, literals, paths, IS_DEFINED and its like, STARTSWITH, ENDSWITH, CONTAINS and ARRAY_CONTAINS.", what)
}

func (p *conditionParser) fail(kind fault.Kind, format string, args ...any) error {
	if p.err == nil {
		p.err = fault.New(kind, format, args...)
	}
	p.ahead = lexeme{kind: atEnd, at: len(p.text)} // ends every loop
	p.at = len(p.text)
	return p.err
}

// never stands for a term that could not be read.
var never = constant(undefined)

func (p *conditionParser) or() term {
	left := p.and()
	for p.word("OR") {
		left = or(left, p.and())
	}
	return left
}

func (p *conditionParser) and() term {
	left := p.not()
	for p.word("AND") {
		left = and(left, p.not())
	}
	return left
}

func (p *conditionParser) not() term {
	if !p.word("NOT") {
		return p.comparison()
	}
	defer p.leave()
	if !p.enter() {
		return never
	}
	return not(p.not())
}

func (p *conditionParser) enter() bool {
	p.depth++
	if p.depth > maxConditionDepth {
		p.fail(fault.Invalid, "The condition of the patch is nested more than %d deep.", maxConditionDepth)
	}
	return p.err == nil
}

func (p *conditionParser) leave() { p.depth-- }

func (p *conditionParser) comparison() term {
	left := p.operand()
	if operator := p.ahead.text; p.ahead.kind == aSign && comparisons[operator] != nil {
		p.next()
		return compare(operator, left, p.operand())
	}
	if p.word("NOT") {
		switch {
		case p.word("IN"):
			return not(p.in(left))
		case p.word("BETWEEN"):
			return not(p.between(left))
		}
		return p.refuse()
	}
	switch {
	case p.word("IN"):
		return p.in(left)
	case p.word("BETWEEN"):
		return p.between(left)
	}
	return p.unless(left)
}

// unless refuses operators that stand where a comparison could.
func (p *conditionParser) unless(left term) term {
	switch p.ahead.kind {
	case aSign:
		if !strings.Contains("),]}", p.ahead.text) {
			return p.refuse()
		}
	case aWord:
		if !strings.EqualFold(p.ahead.text, "AND") && !strings.EqualFold(p.ahead.text, "OR") {
			return p.refuse()
		}
	}
	return left
}

func (p *conditionParser) refuse() term {
	if p.ahead.kind == atEnd {
		p.unexpected("more was expected")
	} else {
		p.unsupported("'" + clip(p.ahead.text) + "'")
	}
	return never
}

func (p *conditionParser) in(left term) term {
	if !p.sign("(") {
		p.unexpected("a list in parentheses was expected")
		return never
	}
	defer p.leave()
	if !p.enter() {
		return never
	}
	return in(left, p.list(")"))
}

func (p *conditionParser) between(left term) term {
	low := p.operand()
	if !p.word("AND") {
		p.unexpected("AND was expected")
		return never
	}
	return between(left, low, p.operand())
}

// list reads terms up to a closing sign.
func (p *conditionParser) list(closing string) (list []term) {
	for p.err == nil && !p.sign(closing) {
		if len(list) > 0 && !p.sign(",") {
			p.unexpected("a comma was expected")
			break
		}
		list = append(list, p.or())
	}
	return list
}

func (p *conditionParser) operand() term {
	t := p.ahead
	switch t.kind {
	case aString:
		p.next()
		return constant(doc.String(t.text))
	case aNumber:
		return p.number(1)
	case aWord:
		return p.named()
	case aSign:
		return p.signed()
	}
	p.unexpected("a value was expected")
	return never
}

func (p *conditionParser) signed() term {
	switch {
	case p.sign("("):
		defer p.leave()
		if !p.enter() {
			return never
		}
		inner := p.or()
		if !p.sign(")") {
			p.unexpected("a closing parenthesis was expected")
		}
		return inner
	case p.sign("-"):
		if p.ahead.kind == aNumber {
			return p.number(-1)
		}
	}
	return p.refuse()
}

func (p *conditionParser) number(factor float64) term {
	text := p.ahead.text
	if factor < 0 {
		text = "-" + text
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		p.next()
		return constant(doc.Int(i))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		p.unexpected("this is no number")
		return never
	}
	p.next()
	return constant(doc.Float(f))
}

// named reads what begins with a word: a literal, a function, a path.
func (p *conditionParser) named() term {
	name := p.ahead.text
	switch strings.ToLower(name) {
	case "true":
		p.next()
		return constant(yes)
	case "false":
		p.next()
		return constant(no)
	case "null":
		p.next()
		return constant(doc.Null())
	case "undefined":
		p.next()
		return constant(undefined)
	}
	if isKeyword(name) {
		return p.refuse()
	}
	at := p.ahead
	p.next()
	switch {
	case p.sign("("):
		return p.function(name)
	case name == p.alias:
		return p.path()
	}
	p.ahead, p.at = at, at.at+len(at.text)
	p.unexpected("the only name here is " + clip(p.alias) + ", as in " + clip(p.alias) + ".member")
	return never
}

func (p *conditionParser) function(name string) term {
	f, ok := functionsOfConditions[strings.ToUpper(name)]
	if !ok {
		p.unsupported("the function " + clip(name))
		return never
	}
	defer p.leave()
	if !p.enter() {
		return never
	}
	args := p.list(")")
	if p.err == nil && (len(args) < f.least || len(args) > f.most) {
		p.fail(fault.Invalid, "The function %s in the condition of the patch takes %d to %d arguments, not %d.", strings.ToUpper(name), f.least, f.most, len(args))
		return never
	}
	return call(f, args)
}

// path reads the members and indexes behind the alias.
func (p *conditionParser) path() term {
	t := term(root)
	for first := true; p.err == nil; first = false {
		var name string
		switch {
		case p.sign("."):
			if !p.identifier(&name) {
				p.unexpected("the name of a member was expected")
				return never
			}
		case p.sign("["):
			if index := p.ahead; index.kind == aNumber {
				t = p.index(t)
				continue
			}
			if name = p.ahead.text; p.ahead.kind != aString {
				p.unexpected("a string or an index was expected")
				return never
			}
			p.next()
			p.close()
		default:
			return t
		}
		t = p.step(t, name, first)
	}
	return never
}

// step goes to a member; those of the system are not in the item's body.
func (p *conditionParser) step(of term, name string, first bool) term {
	if !first || !isSystemMember([]byte(name)) {
		return member(of, name)
	}
	if t, ok := system[name]; ok {
		return t
	}
	p.unsupported("the system property " + name)
	return never
}

func (p *conditionParser) index(of term) term {
	n, err := strconv.Atoi(p.ahead.text)
	if err != nil {
		p.unexpected("a whole number was expected")
		return never
	}
	p.next()
	p.close()
	return element(of, n)
}

func (p *conditionParser) close() {
	if !p.sign("]") {
		p.unexpected("a closing bracket was expected")
	}
}

// word takes a keyword off the front, in any case of letters.
func (p *conditionParser) word(w string) bool {
	if p.ahead.kind != aWord || !strings.EqualFold(p.ahead.text, w) {
		return false
	}
	p.next()
	return true
}

// sign takes a sign off the front.
func (p *conditionParser) sign(s string) bool {
	if p.ahead.kind != aSign || p.ahead.text != s {
		return false
	}
	p.next()
	return true
}

// identifier takes any word off the front.
func (p *conditionParser) identifier(name *string) bool {
	if p.ahead.kind != aWord {
		return false
	}
	*name = p.ahead.text
	p.next()
	return true
}

func isKeyword(word string) bool {
	switch strings.ToUpper(word) {
	case "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "WHERE", "FROM", "AS", "SELECT", "JOIN", "EXISTS", "ARRAY", "ORDER", "GROUP", "OFFSET", "ESCAPE":
		return true
	}
	return false
}

// next reads the token ahead.
func (p *conditionParser) next() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	start := p.at
	p.ahead = lexeme{at: start}
	if start == len(p.text) {
		return
	}
	switch c := p.text[start]; {
	case c == '"' || c == '\'':
		p.quoted(c)
		return
	case isDigit(c) || c == '.' && start+1 < len(p.text) && isDigit(p.text[start+1]):
		p.at = start + numberLen(p.text[start:])
		p.ahead.kind = aNumber
	case isLetter(c):
		for p.at < len(p.text) && (isLetter(p.text[p.at]) || isDigit(p.text[p.at])) {
			p.at++
		}
		p.ahead.kind = aWord
	case c < utf8.RuneSelf:
		p.at = start + signLen(p.text[start:])
		p.ahead.kind = aSign
	default:
		_, n := utf8.DecodeRuneInString(p.text[start:])
		p.at += n
		p.ahead.kind = aWrong
	}
	p.ahead.text = p.text[start:p.at]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func numberLen(text string) int {
	n := 0
	digits := func() {
		for n < len(text) && isDigit(text[n]) {
			n++
		}
	}
	digits()
	if n < len(text) && text[n] == '.' {
		n++
		digits()
	}
	if n < len(text) && (text[n] == 'e' || text[n] == 'E') {
		mantissa := n
		n++
		if n < len(text) && (text[n] == '+' || text[n] == '-') {
			n++
		}
		exponent := n
		if digits(); n == exponent {
			n = mantissa
		}
	}
	return n
}

func signLen(text string) int {
	for _, long := range [...]string{"!=", "<>", "<=", ">=", "||", "??"} {
		if strings.HasPrefix(text, long) {
			return len(long)
		}
	}
	return 1
}

// quoted reads a string in either kind of quotes, with the escapes of JSON.
func (p *conditionParser) quoted(quote byte) {
	start := p.at
	for p.at++; p.at < len(p.text) && p.text[p.at] != quote; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	if p.at >= len(p.text) {
		p.at = len(p.text)
		p.ahead.kind, p.ahead.text = aWrong, p.text[start:]
		return
	}
	inside := p.text[start+1 : p.at]
	p.at++
	text, ok := unquote(inside, quote)
	if p.ahead.kind, p.ahead.text = aString, text; !ok {
		p.ahead.kind, p.ahead.text = aWrong, p.text[start:p.at]
	}
}

// unquote resolves the escapes of a string's content.
func unquote(inside string, quote byte) (string, bool) {
	if strings.IndexByte(inside, '\\') < 0 {
		return inside, true
	}
	p := partitionParser{rest: inside + string(rune(quote))}
	return p.quoted(string(rune(quote)) + `\`)
}
