package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// call is the condition of documents for which a built-in function is true. name is in upper case.
func (r *reducer) call(name string, args []syntax.Expr, s *scope) condition {
	if kinds, ok := typeChecks[name]; ok && len(args) == 1 {
		return kinds(r.place(args[0], s))
	}
	switch {
	case name == "STARTSWITH" && r.exactCase(args):
		if prefix, ok := r.text(args[1]); ok {
			return begins(r.place(args[0], s), prefix)
		}
	case name == "REGEXMATCH" && (len(args) == 2 || len(args) == 3):
		return r.regexMatch(args, s)
	case name == "STRINGEQUALS" && r.exactCase(args):
		return r.stringEquals(args[0], args[1], s)
	case name == "ARRAY_CONTAINS" && (len(args) == 2 || len(args) == 3):
		return r.arrayContains(args, s)
	case name == "ARRAY_CONTAINS_ANY" && len(args) > 1:
		return r.arrayContainsEach(args, either, s)
	case name == "ARRAY_CONTAINS_ALL" && len(args) > 1:
		return r.arrayContainsEach(args, both, s)
	}
	return unknown
}

// typeChecks are the functions that check the type of a value.
var typeChecks = map[string]func(place) condition{
	"IS_DEFINED":       defined,
	"IS_NULL":          func(p place) condition { return equals(p, doc.Null()) },
	"IS_BOOL":          func(p place) condition { return fromTo(p, doc.Bool(false), doc.Bool(true)) },
	"IS_NUMBER":        func(p place) condition { return ofType(p, doc.Int(0)) },
	"IS_FINITE_NUMBER": func(p place) condition { return ofType(p, doc.Int(0)).roughly() },
	"IS_INTEGER":       func(p place) condition { return ofType(p, doc.Int(0)).roughly() },
	"IS_STRING":        func(p place) condition { return ofType(p, aString) },
	"IS_ARRAY":         func(p place) condition { return ofType(p, anArray) },
	"IS_OBJECT":        func(p place) condition { return ofType(p, object) },
	"IS_PRIMITIVE": func(p place) condition {
		return span(p, &access.Bound{Value: doc.Null()}, &access.Bound{Value: aString, Type: true}, true)
	},
}

func fromTo(p place, low, high doc.Value) condition {
	return span(p, &access.Bound{Value: low}, &access.Bound{Value: high}, true)
}

func ofType(p place, v doc.Value) condition {
	r := typeOf(v)
	return span(p, r.Low, r.High, true)
}

// exactCase reports that a call is case-sensitive: it has two arguments, or a third that is false.
func (r *reducer) exactCase(args []syntax.Expr) bool {
	return len(args) == 2 || len(args) == 3 && r.isFalse(args[2])
}

func (r *reducer) isFalse(e syntax.Expr) bool {
	v, ok := r.constant(e)
	b, is := doc.AsBool(v)
	return ok && is && !b
}

func (r *reducer) stringEquals(x, y syntax.Expr, s *scope) condition {
	text, ok := r.text(y)
	if !ok {
		if text, ok = r.text(x); !ok {
			return unknown
		}
		x = y
	}
	return equals(r.place(x, s), doc.String(text))
}

// arrayContains treats ARRAY_CONTAINS(path, constant) as equality with an element, and ARRAY_CONTAINS(constant, path)
// as IN. A partial match only compares members of the given object.
func (r *reducer) arrayContains(args []syntax.Expr, s *scope) condition {
	if list, ok := r.constant(args[0]); ok {
		if len(args) == 3 && !r.isFalse(args[2]) {
			return unknown
		}
		return r.among(list, r.place(args[1], s))
	}
	v, ok := r.constant(args[1])
	if !ok || doc.IsUndefined(v) {
		return unknown
	}
	return contains(r.place(args[0], s).step(access.Step{Element: true}), v).roughly()
}

func (r *reducer) among(list doc.Value, p place) condition {
	if !doc.IsArray(list) {
		return unknown
	}
	values := []condition{}
	for v := range doc.Elements(list) {
		if len(values) == maxAlternatives || r.spend(1) {
			return unknown
		}
		values = append(values, equals(p, v))
	}
	return either(values...)
}

// arrayContainsEach is arrayContains for several values. join combines their conditions.
func (r *reducer) arrayContainsEach(args []syntax.Expr, join func(...condition) condition, s *scope) condition {
	element := r.place(args[0], s).step(access.Step{Element: true})
	values := make([]condition, 0, len(args)-1)
	for _, arg := range args[1:] {
		v, ok := r.constant(arg)
		if !ok || doc.IsUndefined(v) || r.spend(1) {
			return unknown
		}
		values = append(values, contains(element, v))
	}
	return join(values...).roughly()
}
