package rest

import (
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// A predicate is the condition of a patch, such as `from c where c.n > 3`. It
// covers comparisons, AND, OR, NOT, IN, BETWEEN, literals, member paths and the
// functions of the table below; the query language will take its place. What
// it does not know it refuses by name.
//
// As in the query language, comparing values of different types, or a member
// that is not there, gives neither true nor false but undefined, and so the
// condition does not hold.
type predicate struct {
	alias string
	where term // nil: no WHERE
}

// A term computes a value of a document, undefined included.
type term func(d *store.Document) doc.Value

// holds reports whether the condition is true, not false and not undefined.
func (p *predicate) holds(d *store.Document) bool {
	return p.where == nil || isTrue(p.where(d))
}

var (
	yes       = doc.Bool(true)
	no        = doc.Bool(false)
	undefined = doc.Value{}
)

func truth(b bool) doc.Value {
	if b {
		return yes
	}
	return no
}

func isTrue(v doc.Value) bool {
	b, ok := doc.AsBool(v)
	return ok && b
}

func isFalse(v doc.Value) bool {
	b, ok := doc.AsBool(v)
	return ok && !b
}

func not(a term) term {
	return func(d *store.Document) doc.Value {
		b, ok := doc.AsBool(a(d))
		if !ok {
			return undefined
		}
		return truth(!b)
	}
}

// and is false when either side is, whatever the other may be.
func and(a, b term) term {
	return func(d *store.Document) doc.Value {
		left := a(d)
		if isFalse(left) {
			return no
		}
		switch right := b(d); {
		case isFalse(right):
			return no
		case isTrue(left) && isTrue(right):
			return yes
		}
		return undefined
	}
}

// or is true when either side is, whatever the other may be.
func or(a, b term) term {
	return func(d *store.Document) doc.Value {
		left := a(d)
		if isTrue(left) {
			return yes
		}
		switch right := b(d); {
		case isTrue(right):
			return yes
		case isFalse(left) && isFalse(right):
			return no
		}
		return undefined
	}
}

// comparisons say what of an order each operator accepts.
var comparisons = map[string]func(order int) bool{
	"=":  func(o int) bool { return o == 0 },
	"!=": func(o int) bool { return o != 0 },
	"<>": func(o int) bool { return o != 0 },
	"<":  func(o int) bool { return o < 0 },
	"<=": func(o int) bool { return o <= 0 },
	">":  func(o int) bool { return o > 0 },
	">=": func(o int) bool { return o >= 0 },
}

// compare follows the table of the page "Equality and comparison operators":
// undefined across types, and objects and arrays know equality only.
func compare(operator string, a, b term) term {
	accepts := comparisons[operator]
	ordered := strings.ContainsAny(operator, "<>") && operator != "<>"
	return func(d *store.Document) doc.Value {
		left, right := a(d), b(d)
		kind := typeOf(left)
		if kind == 0 || kind != typeOf(right) || ordered && (kind == typeArray || kind == typeObject) {
			return undefined
		}
		return truth(accepts(doc.Compare(left, right)))
	}
}

// in is true when one of list equals a, and undefined when a is.
func in(a term, list []term) term {
	return func(d *store.Document) doc.Value {
		left := a(d)
		if doc.IsUndefined(left) {
			return undefined
		}
		for _, t := range list {
			if right := t(d); !doc.IsUndefined(right) && doc.Equal(left, right) {
				return yes
			}
		}
		return no
	}
}

// The types between which comparisons are defined.
const (
	typeNull = iota + 1
	typeBool
	typeNumber
	typeString
	typeArray
	typeObject
)

// typeOf is 0 for undefined and for what JSON does not have.
func typeOf(v doc.Value) int {
	switch doc.RankOf(v) {
	case doc.RankNull:
		return typeNull
	case doc.RankFalse, doc.RankTrue:
		return typeBool
	case doc.RankNumber:
		return typeNumber
	case doc.RankString:
		return typeString
	case doc.RankArray:
		return typeArray
	case doc.RankObject:
		return typeObject
	}
	return 0
}

// A function takes its arguments' values.
type function struct {
	least, most int // how many
	of          func(args []doc.Value) doc.Value
}

var functionsOfConditions = map[string]function{
	"IS_DEFINED":     {1, 1, func(a []doc.Value) doc.Value { return truth(!doc.IsUndefined(a[0])) }},
	"IS_NULL":        {1, 1, is(typeNull)},
	"IS_BOOL":        {1, 1, is(typeBool)},
	"IS_NUMBER":      {1, 1, is(typeNumber)},
	"IS_STRING":      {1, 1, is(typeString)},
	"IS_ARRAY":       {1, 1, is(typeArray)},
	"IS_OBJECT":      {1, 1, is(typeObject)},
	"STARTSWITH":     {2, 3, matching(strings.HasPrefix)},
	"ENDSWITH":       {2, 3, matching(strings.HasSuffix)},
	"CONTAINS":       {2, 3, matching(strings.Contains)},
	"ARRAY_CONTAINS": {2, 3, arrayContains},
}

func is(kind int) func([]doc.Value) doc.Value {
	return func(args []doc.Value) doc.Value { return truth(typeOf(args[0]) == kind) }
}

// matching compares two strings; a third argument of true ignores their case.
func matching(f func(s, part string) bool) func([]doc.Value) doc.Value {
	return func(args []doc.Value) doc.Value {
		s, ok := doc.AsString(args[0])
		part, also := doc.AsString(args[1])
		if !ok || !also {
			return undefined
		}
		if len(args) == 3 {
			fold, ok := doc.AsBool(args[2])
			if !ok {
				return undefined
			}
			if fold {
				s, part = strings.ToLower(s), strings.ToLower(part)
			}
		}
		return truth(f(s, part))
	}
}

// arrayContains finds an element equal to the second argument or, with a third
// one of true, an object that has all members of the second argument.
func arrayContains(args []doc.Value) doc.Value {
	if !doc.IsArray(args[0]) || doc.IsUndefined(args[1]) {
		return undefined
	}
	want, partial := doc.AsDoc(args[1])
	partial = partial && len(args) == 3 && isTrue(args[2])
	for v := range doc.Elements(args[0]) {
		have, ok := doc.AsDoc(v)
		if doc.Equal(v, args[1]) || partial && ok && hasMembers(have, want) {
			return yes
		}
	}
	return no
}

func hasMembers(have, want doc.Doc) bool {
	for name, v := range doc.Members(want) {
		if !doc.Equal(doc.Lookup(have, name), v) {
			return false
		}
	}
	return true
}

// call computes a function of terms.
func call(f function, args []term) term {
	return func(d *store.Document) doc.Value {
		values := make([]doc.Value, len(args))
		for i, a := range args {
			values[i] = a(d)
		}
		return f.of(values)
	}
}

func constant(v doc.Value) term { return func(*store.Document) doc.Value { return v } }

// root is the whole item, without its system members.
func root(d *store.Document) doc.Value { return doc.Object(d.Body) }

// system computes the system members that a condition may use.
var system = map[string]term{
	"_ts": func(d *store.Document) doc.Value { return doc.Int(d.Stamp) },
	"_etag": func(d *store.Document) doc.Value {
		return doc.String(string(appendETag(make([]byte, 0, etagLen), d.Version)))
	},
}

// member is the member of an object.
func member(of term, name string) term {
	return func(d *store.Document) doc.Value {
		object, _ := doc.AsDoc(of(d))
		return doc.Lookup(object, name)
	}
}

// element is the element of an array.
func element(of term, index int) term {
	name := strconv.Itoa(index)
	return func(d *store.Document) doc.Value {
		array := of(d)
		if !doc.IsArray(array) {
			return undefined
		}
		return doc.Lookup(array.Data, name) // an array's bytes are those of a document named 0, 1, 2, …
	}
}
