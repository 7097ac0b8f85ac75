package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Print prints a Query or an Expr in the form in which the service writes the queries of its plans: one clause per
// line, strings in double quotes, brackets around every operator. Names are printed unchanged, so a Name can also be
// a placeholder. Parse parses the text back to the same tree. For other nodes the result is "".
func Print(n Node) string {
	text, _ := PrintWithin(n, math.MaxInt)
	return text
}

// PrintShape is Print with ? in place of every literal except null and undefined. It shows the structure of a query
// without its values.
func PrintShape(n Node) string {
	p := &printer{most: math.MaxInt, shape: true}
	p.node(n)
	return p.String()
}

// PrintWithin is Print for trees that may contain the same parts many times. ok is false, and the text is incomplete,
// if it would have more than most bytes.
func PrintWithin(n Node, most int) (text string, ok bool) {
	p := &printer{most: most}
	p.node(n)
	if p.Len() > p.most {
		return "", false
	}
	return p.String(), true
}

// A printer stops after the part with which the text becomes too long.
type printer struct {
	strings.Builder
	most  int
	shape bool // omit literals
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case *Query:
		p.query(n)
	case Expr:
		p.expr(n)
	}
}

func (p *printer) put(parts ...string) {
	for _, s := range parts {
		if p.Len() <= p.most {
			p.WriteString(s)
		}
	}
}

func (p *printer) query(q *Query) {
	p.selection(&q.Select)
	p.from(q.From)
	if q.Where != nil {
		p.put("\nWHERE ")
		p.expr(q.Where)
	}
	if len(q.GroupBy) > 0 {
		p.put("\nGROUP BY ")
		p.list(q.GroupBy)
	}
	p.order(q)
	if q.Limit != nil {
		p.put("\nOFFSET ")
		p.expr(q.Offset)
		p.put(" LIMIT ")
		p.expr(q.Limit)
	}
}

func (p *printer) selection(s *Select) {
	p.put("SELECT ")
	if s.Distinct {
		p.put("DISTINCT ")
	}
	if s.Top != nil {
		p.put("TOP ")
		p.expr(s.Top)
		p.put(" ")
	}
	switch {
	case s.Star:
		p.put("*")
	case s.Value != nil:
		p.put("VALUE ")
		p.expr(s.Value)
	}
	for i, item := range s.Items {
		p.comma(i)
		p.expr(item.Expr)
		if item.Alias != "" {
			p.put(" AS ", alias(item.Alias))
		}
	}
}

// alias quotes a name only if necessary.
func alias(name string) string {
	if Plain(name) {
		return name
	}
	return quote(name)
}

func (p *printer) from(sources []Source) {
	for i := range sources {
		p.put([]string{"\nFROM ", "\nJOIN "}[min(i, 1)])
		p.source(&sources[i])
	}
}

func (p *printer) source(s *Source) {
	if s.In {
		p.put(s.Alias, " IN ")
	}
	if s.Query != nil {
		p.put("(")
		p.query(s.Query)
		p.put(")")
	}
	p.put(s.Root)
	for _, step := range s.Path {
		p.step(step)
	}
	if !s.In && s.Alias != "" {
		p.put(" AS ", s.Alias)
	}
}

// step writes a step of a path, with a dot if the name allows it.
func (p *printer) step(x Expr) {
	if l, ok := x.(*Literal); ok && l.Kind == String && Plain(l.Text) {
		p.put(".", l.Text)
		return
	}
	p.put("[")
	p.expr(x)
	p.put("]")
}

func (p *printer) order(q *Query) {
	if q.Rank != nil {
		p.put("\nORDER BY RANK ")
		p.expr(q.Rank)
		return
	}
	for i := range q.OrderBy {
		key := &q.OrderBy[i]
		p.put([]string{"\nORDER BY ", ", "}[min(i, 1)])
		p.expr(key.Expr)
		switch {
		case key.Descending:
			p.put(" DESC")
		case key.Written:
			p.put(" ASC")
		}
	}
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.put(", ")
	}
}

func (p *printer) list(items []Expr) {
	for i, x := range items {
		if p.Len() > p.most {
			return
		}
		p.comma(i)
		p.expr(x)
	}
}

func (p *printer) expr(x Expr) {
	if p.Len() > p.most {
		return
	}
	switch x := x.(type) {
	case *Literal:
		p.literal(x)
	case *Parameter:
		p.put(x.Name)
	case *Name:
		p.put(x.Name)
	case *Member:
		p.member(x)
	case *Index:
		p.operand(x.Of)
		p.put("[")
		p.expr(x.Index)
		p.put("]")
	case *Unary, *Binary, *Conditional, *Between, *In, *Like:
		p.put("(")
		p.operator(x)
		p.put(")")
	case *Call:
		p.call(x)
	case *Array:
		p.put("[")
		p.list(x.Items)
		p.put("]")
	case *Object:
		p.object(x)
	case *Subquery:
		p.put(subqueries[x.Kind], "(")
		p.query(x.Query)
		p.put(")")
	}
}

var subqueries = [...]string{Scalar: "", Exists: "EXISTS", ArrayOf: "ARRAY", All: "ALL", First: "FIRST", Last: "LAST"}

func (p *printer) operator(x Expr) {
	switch x := x.(type) {
	case *Unary:
		p.put(operators[x.Op], " ")
		p.operand(x.X)
	case *Binary:
		p.expr(x.X)
		p.put(" ", operators[x.Op], " ")
		p.expr(x.Y)
	case *Conditional:
		p.expr(x.Cond)
		p.put(" ? ")
		p.expr(x.Then)
		p.put(" : ")
		p.expr(x.Else)
	case *Between:
		p.expr(x.X)
		p.put(not(x.Not), " BETWEEN ")
		p.expr(x.Low)
		p.put(" AND ")
		p.expr(x.High)
	case *In:
		p.expr(x.X)
		p.put(not(x.Not), " IN (")
		p.list(x.List)
		p.put(")")
	case *Like:
		p.expr(x.X)
		p.put(not(x.Not), " LIKE ")
		p.expr(x.Pattern)
		if x.Escape != nil {
			p.put(" ESCAPE ")
			p.expr(x.Escape)
		}
	}
}

func not(yes bool) string {
	if yes {
		return " NOT"
	}
	return ""
}

// operand writes the operand of a prefix or a step. A number needs brackets, or the next character would become part
// of it.
func (p *printer) operand(x Expr) {
	if l, ok := x.(*Literal); ok && l.Kind == Number {
		p.put("(")
		p.literal(l)
		p.put(")")
		return
	}
	p.expr(x)
}

var operators = [...]string{
	Coalesce: "??", Or: "OR", And: "AND", Not: "NOT",
	Eq: "=", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">=",
	Concat: "||", BitOr: "|", BitXor: "^", BitAnd: "&", ShiftLeft: "<<", ShiftRight: ">>", ShiftZero: ">>>",
	Add: "+", Sub: "-", Mul: "*", Div: "/", Mod: "%", Minus: "-", Plus: "+", BitNot: "~",
}

// String returns the operator as it is written.
func (o Op) String() string { return operators[o] }

func (p *printer) member(m *Member) {
	p.operand(m.Of)
	if m.Quoted || !identifier(m.Name) {
		p.put("[", quote(m.Name), "]")
		return
	}
	p.put(".", m.Name)
}

func (p *printer) call(c *Call) {
	if c.UDF {
		p.put("udf.")
	}
	p.put(c.Name, "(")
	p.list(c.Args)
	p.put(")")
}

func (p *printer) object(o *Object) {
	p.put("{")
	for i, m := range o.Members {
		p.comma(i)
		p.put(quote(m.Name), ": ")
		p.expr(m.X)
	}
	p.put("}")
}

func (p *printer) literal(l *Literal) {
	if p.shape && l.Kind != Undefined && l.Kind != Null {
		p.put("?")
		return
	}
	switch l.Kind {
	case Undefined:
		p.put("undefined")
	case Null:
		p.put("null")
	case False:
		p.put("false")
	case True:
		p.put("true")
	case Number:
		p.put(digits(l))
	case String:
		p.put(quote(l.Text))
	}
}

// digits writes a number. A number that is neither Whole nor Big keeps a fraction or an exponent.
func digits(l *Literal) string {
	switch {
	case l.Whole:
		return strconv.FormatInt(l.Int, 10)
	case l.Big != 0:
		return strconv.FormatUint(l.Big, 10)
	}
	s := strconv.FormatFloat(l.Float, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// quote writes a string in double quotes, as in JSON.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if c < ' ' {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
