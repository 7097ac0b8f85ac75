// Package syntax is the syntax of Cosmos DB's query language: lexer, parser, syntax tree and printer. It reports the
// positions of mistakes. It knows neither values of documents nor the meaning of names.
package syntax

// A Span is a range of the query's text in bytes: [Start, End). Nodes that were not parsed have the zero Span.
type Span struct{ Start, End int }

// Pos returns the span itself, so that every node that embeds it is a Node.
func (s Span) Pos() Span { return s }

// A Node is a node of the tree.
type Node interface{ Pos() Span }

// A Query is SELECT … FROM … WHERE … GROUP BY … ORDER BY … OFFSET … LIMIT …. A query that begins with FROM, such as
// the condition of a patch, has a Select that is Star.
type Query struct {
	Span
	Select  Select
	From    []Source // the first source, then the joined ones; empty without FROM
	Where   Expr     // nil if there is none
	GroupBy []Expr
	OrderBy []SortKey
	Rank    Expr // the expression of ORDER BY RANK, or nil
	Offset  Expr // a Literal or Parameter; nil if and only if Limit is nil
	Limit   Expr
}

// A Select describes a row. Exactly one of Star, Value and Items is set.
type Select struct {
	Span
	Distinct bool
	Top      Expr // a Literal or Parameter, nil if there is none
	Star     bool
	Value    Expr
	Items    []Item
}

// An Item is one member of a row.
type Item struct {
	Span
	Expr  Expr
	Alias string // "" if none is written
}

// Name is the name of the member that the item is in a row, or "" if the service numbers it.
func (i *Item) Name() string {
	if i.Alias != "" {
		return i.Alias
	}
	switch x := i.Expr.(type) {
	case *Name:
		return x.Name
	case *Member:
		return x.Name
	}
	return ""
}

// A Source is one part of FROM: `collection [AS] alias` or `alias IN collection`.
// Its collection is Root with Path, or Query.
type Source struct {
	Span
	Root  string // container name, ROOT, or an alias to the left; "" for a Query
	Path  []Expr // the steps below Root, each a Literal string or number
	Query *Query
	Alias string // "" if none is written
	In    bool   // iterate over the elements of the collection, an array
}

// Name is how expressions refer to the source: its alias, or the last name of its path, or the container's name, or "".
func (s *Source) Name() string {
	switch {
	case s.Alias != "":
		return s.Alias
	case len(s.Path) > 0:
		if l, ok := s.Path[len(s.Path)-1].(*Literal); ok && l.Kind == String {
			return l.Text
		}
		return ""
	}
	return s.Root
}

// A SortKey is one expression of ORDER BY.
type SortKey struct {
	Span
	Expr       Expr
	Descending bool
	Written    bool // ASC or DESC is written in the text
}

// An Expr is a scalar expression.
type Expr interface {
	Node
	expr()
}

type (
	// A Literal is a constant of one token. The Text of a String has its escapes resolved.
	Literal struct {
		Span
		Kind  LiteralKind
		Text  string  // if Kind is String
		Int   int64   // if Whole
		Float float64 // if Kind is Number
		Whole bool    // the number was written without fraction and exponent, and fits
		Big   uint64  // for such a number that only fits unsigned 64 bits, else 0
	}

	// A Parameter is `@name`; Name begins with the @.
	Parameter struct {
		Span
		Name string
	}

	// A Name is an alias or container name on its own.
	Name struct {
		Span
		Name string
	}

	// A Member is `of.name` or, Quoted, `of["name"]`.
	Member struct {
		Span
		Of     Expr
		Name   string
		Quoted bool
	}

	// An Index is `of[index]` where the index is not a string literal.
	Index struct {
		Span
		Of, Index Expr
	}

	// A Unary is NOT x, -x, +x or ~x.
	Unary struct {
		Span
		Op Op
		X  Expr
	}

	// A Binary is x op y, including AND, OR and ??.
	Binary struct {
		Span
		Op   Op
		X, Y Expr
	}

	// A Conditional is cond ? then : otherwise.
	Conditional struct {
		Span
		Cond, Then, Else Expr
	}

	// A Between is x [NOT] BETWEEN low AND high.
	Between struct {
		Span
		Not          bool
		X, Low, High Expr
	}

	// An In is x [NOT] IN (list). The list is not empty.
	In struct {
		Span
		Not  bool
		X    Expr
		List []Expr
	}

	// A Like is x [NOT] LIKE pattern [ESCAPE escape].
	Like struct {
		Span
		Not        bool
		X, Pattern Expr
		Escape     Expr // a Literal string of one character, nil if there is none
	}

	// A Call is a function call. Name is as written. Names of built-in functions are case-insensitive, those of
	// user-defined functions (udf.name) are case-sensitive.
	Call struct {
		Span
		UDF  bool
		Name string
		Args []Expr
	}

	// An Array is [a, b].
	Array struct {
		Span
		Items []Expr
	}

	// An Object is {"name": x}.
	Object struct {
		Span
		Members []ObjectMember
	}

	// A Subquery is a query in an expression, of one of several kinds.
	Subquery struct {
		Span
		Kind  SubqueryKind
		Query *Query
	}
)

// An ObjectMember is one member of an Object.
type ObjectMember struct {
	Span
	Name string
	X    Expr
}

func (*Literal) expr()     {}
func (*Parameter) expr()   {}
func (*Name) expr()        {}
func (*Member) expr()      {}
func (*Index) expr()       {}
func (*Unary) expr()       {}
func (*Binary) expr()      {}
func (*Conditional) expr() {}
func (*Between) expr()     {}
func (*In) expr()          {}
func (*Like) expr()        {}
func (*Call) expr()        {}
func (*Array) expr()       {}
func (*Object) expr()      {}
func (*Subquery) expr()    {}

// A LiteralKind is the type of a Literal.
type LiteralKind uint8

// The kinds of literals.
const (
	Undefined LiteralKind = iota
	Null
	False
	True
	Number
	String
)

// A SubqueryKind is how the rows of a subquery are used.
type SubqueryKind uint8

// The kinds of subqueries: (q) is its only row, EXISTS(q) whether there is a row, ARRAY(q) all rows; ALL, FIRST and
// LAST are those of the public grammar.
const (
	Scalar SubqueryKind = iota
	Exists
	ArrayOf
	All
	First
	Last
)

// An Op is an operator.
type Op uint8

// The operators. Their order does not imply precedence, which is in the parser.
const (
	NoOp     Op = iota
	Coalesce    // ??
	Or
	And
	Not
	Eq // =
	Ne // != and <>
	Lt
	Le
	Gt
	Ge
	Concat     // ||
	BitOr      // |
	BitXor     // ^
	BitAnd     // &
	ShiftLeft  // <<
	ShiftRight // >>
	ShiftZero  // >>>
	Add
	Sub
	Mul
	Div
	Mod
	Minus // unary
	Plus  // unary
	BitNot
)

// A Mistake is one error in a query, in the service's form.
type Mistake struct {
	Code    string // such as SC1001; "" if the service has none
	Message string
	Span    Span
}

// An Error is a list of at least one mistake in a query. Its kind is fault.Invalid, see Unwrap.
type Error struct{ Mistakes []Mistake }
