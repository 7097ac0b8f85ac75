package rest

import (
	"context"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
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
type term func(s *subject) doc.Value

// A subject is the document that a condition is held against, and how much
// work may still be done for that.
type subject struct {
	*store.Document
	ctx    context.Context
	left   int // units of work, about a byte each
	unseen int // units until ctx is looked at
	err    error
}

// Limits on the work of one condition on one item, in units of about one byte
// that is looked at. The worst of it is some tenths of a second.
const (
	maxConditionWork = 64 << 20
	workPerLook      = 256 << 10 // at the context
	workPerStep      = 16        // of anything, however small
	workPerTree      = 4         // per byte of what is sorted or copied to be compared
)

var errExpensive = fault.New(fault.Invalid, "The condition of the patch is too expensive for this item. Ask for less of a large item: fewer members, shorter arrays.")

// spend pays for n units of work, and reports whether they may be done. After
// the first refusal there is nothing left, and every term ends with undefined.
func (s *subject) spend(n int) bool {
	s.left -= n + workPerStep
	s.unseen -= n + workPerStep
	switch {
	case s.err != nil:
		return false
	case s.left < 0:
		s.err = errExpensive
	case s.unseen < 0:
		s.unseen = workPerLook
		s.err = s.ctx.Err()
	}
	return s.err == nil
}

// spendOn pays for comparing two values.
func (s *subject) spendOn(a, b doc.Value) bool {
	kind := typeOf(a)
	if kind != typeOf(b) {
		return s.spend(0)
	}
	switch kind {
	case typeString:
		return s.spend(min(len(a.Data), len(b.Data)))
	case typeArray, typeObject:
		return s.spend(workPerTree * (len(a.Data) + len(b.Data)))
	}
	return s.spend(0)
}

// holds reports whether the condition is true, not false and not undefined. It
// fails with fault.Invalid when finding that out takes too much work, and with the
// error of ctx.
func (p *predicate) holds(ctx context.Context, d *store.Document) (bool, error) {
	if p.where == nil {
		return true, nil
	}
	s := &subject{Document: d, ctx: ctx, left: maxConditionWork, unseen: workPerLook}
	holds := isTrue(p.where(s))
	return holds && s.err == nil, s.err
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
	return func(s *subject) doc.Value {
		b, ok := doc.AsBool(a(s))
		if !ok {
			return undefined
		}
		return truth(!b)
	}
}

// and is false when either side is, whatever the other may be.
func and(a, b term) term {
	return func(s *subject) doc.Value {
		left := a(s)
		if isFalse(left) {
			return no
		}
		switch right := b(s); {
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
	return func(s *subject) doc.Value {
		left := a(s)
		if isTrue(left) {
			return yes
		}
		switch right := b(s); {
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
	return func(s *subject) doc.Value { return s.compare(operator, accepts, a(s), b(s)) }
}

func (s *subject) compare(operator string, accepts func(order int) bool, left, right doc.Value) doc.Value {
	ordered := operator[0] != '=' && operator != "!=" && operator != "<>"
	kind := typeOf(left)
	if kind == 0 || kind != typeOf(right) || ordered && (kind == typeArray || kind == typeObject) || !s.spendOn(left, right) {
		return undefined
	}
	return truth(accepts(doc.Compare(left, right)))
}

// between computes a once, however deep such conditions lie in one another.
func between(a, low, high term) term {
	return func(s *subject) doc.Value {
		v := constant(a(s))
		return and(compare(">=", v, low), compare("<=", v, high))(s)
	}
}

// in is true when one of list equals a, and undefined when a is.
func in(a term, list []term) term {
	return func(s *subject) doc.Value {
		left := a(s)
		if doc.IsUndefined(left) {
			return undefined
		}
		for _, t := range list {
			right := t(s)
			if !s.spendOn(left, right) {
				return undefined
			}
			if !doc.IsUndefined(right) && doc.Equal(left, right) {
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
	of          func(s *subject, args []doc.Value) doc.Value
}

var functionsOfConditions = map[string]function{
	"IS_DEFINED":     {1, 1, func(_ *subject, a []doc.Value) doc.Value { return truth(!doc.IsUndefined(a[0])) }},
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

func is(kind int) func(*subject, []doc.Value) doc.Value {
	return func(_ *subject, args []doc.Value) doc.Value { return truth(typeOf(args[0]) == kind) }
}

// matching compares two strings; a third argument of true ignores their case.
func matching(f func(text, part string) bool) func(*subject, []doc.Value) doc.Value {
	return func(s *subject, args []doc.Value) doc.Value {
		text, ok := doc.AsString(args[0])
		part, also := doc.AsString(args[1])
		if !ok || !also || !s.spend(len(text)+len(part)) {
			return undefined
		}
		if len(args) == 3 {
			fold, ok := doc.AsBool(args[2])
			if !ok {
				return undefined
			}
			if fold && !s.spend(workPerTree*(len(text)+len(part))) {
				return undefined
			}
			if fold {
				text, part = strings.ToLower(text), strings.ToLower(part)
			}
		}
		return truth(f(text, part))
	}
}

// arrayContains finds an element equal to the second argument or, with a third
// one of true, an object that has all members of the second argument.
func arrayContains(s *subject, args []doc.Value) doc.Value {
	if !doc.IsArray(args[0]) || doc.IsUndefined(args[1]) {
		return undefined
	}
	want, partial := doc.AsDoc(args[1])
	partial = partial && len(args) == 3 && isTrue(args[2])
	for v := range doc.Elements(args[0]) {
		if !s.spendOn(v, args[1]) {
			return undefined
		}
		have, ok := doc.AsDoc(v)
		if doc.Equal(v, args[1]) || partial && ok && hasMembers(s, have, want) {
			return yes
		}
	}
	return no
}

func hasMembers(s *subject, have, want doc.Doc) bool {
	for name, v := range doc.Members(want) {
		if !s.spend(len(have)+workPerTree*len(v.Data)) || !doc.Equal(doc.Lookup(have, name), v) {
			return false
		}
	}
	return true
}

// call computes a function of terms.
func call(f function, args []term) term {
	return func(s *subject) doc.Value {
		values := make([]doc.Value, len(args))
		for i, a := range args {
			values[i] = a(s)
		}
		if !s.spend(0) {
			return undefined
		}
		return f.of(s, values)
	}
}

func constant(v doc.Value) term { return func(*subject) doc.Value { return v } }

// root is the whole item, without its system members.
func root(s *subject) doc.Value { return doc.Object(s.Body) }

// system computes the system members that a condition may use.
var system = map[string]term{
	"_ts": func(s *subject) doc.Value { return doc.Int(s.Stamp) },
	"_etag": func(s *subject) doc.Value {
		return doc.String(string(appendETag(make([]byte, 0, etagLen), s.Version)))
	},
}

// member is the member of an object.
func member(of term, name string) term {
	return func(s *subject) doc.Value {
		object, _ := doc.AsDoc(of(s))
		if !s.spend(len(object)) {
			return undefined
		}
		return doc.Lookup(object, name)
	}
}

// element is the element of an array.
func element(of term, index int) term {
	name := strconv.Itoa(index)
	return func(s *subject) doc.Value {
		array := of(s)
		if !doc.IsArray(array) || !s.spend(len(array.Data)) {
			return undefined
		}
		return doc.Lookup(array.Data, name) // an array's bytes are those of a document named 0, 1, 2, …
	}
}
