package plan

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// maxTests is how many conditions of a query are tested: pages test all strings within their time.
const maxTests = 8

// textFunctions are undefined unless their first argument is a string. A regular expression may take long on a string,
// so it is left to the documents.
var textFunctions = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(`CONTAINS CONTAINS_ALL_CI CONTAINS_ALL_CS CONTAINS_ANY_CI CONTAINS_ANY_CS
		ENDSWITH INDEX_OF LASTINDEXOF LASTSUBSTRINGAFTER LASTSUBSTRINGBEFORE LEFT LENGTH LOWER LTRIM REPLACE
		REVERSE RIGHT RTRIM STARTSWITH STRINGEQUALS SUBSTRING SUBSTRINGAFTER SUBSTRINGBEFORE TRIM UPPER`) {
		names[name] = true
	}
	return names
}()

// tested is the condition that the string at a path passes e, if that is all that e depends on: the strings in the
// index are fewer bytes than the documents.
func (r *reducer) tested(e syntax.Expr, want bool, s *scope) condition {
	if r.test == nil || r.tests == maxTests {
		return unknown
	}
	about, p, ok := r.about(e, s)
	if !ok || system(p.path) {
		return unknown
	}
	if test := r.test(about, want); test != nil {
		r.tests++
		in := typeOf(aString)
		in.Path = p.path
		return condition{kind: tested, test: &access.Tested{Range: in, Test: test}, exact: true}
	}
	return unknown
}

// about finds the only place on which a condition depends, and returns the condition about a text in its stead. ok is
// false if there is no such place, or if the condition is not undefined whenever no string is there.
func (r *reducer) about(e syntax.Expr, s *scope) (about syntax.Expr, p place, ok bool) {
	switch x := e.(type) {
	case *syntax.Call:
		return r.aboutCall(x, s)
	case *syntax.Like:
		of := *x
		of.X, p, ok = r.aboutText(x.X, s)
		return &of, p, ok && r.constants(x.Pattern) && (x.Escape == nil || r.constants(x.Escape))
	// The others are undefined if what they compare is. A path alone need not be a string.
	case *syntax.Binary:
		if _, compares := opposites[x.Op]; !compares {
			return nil, p, false
		}
		of := *x
		if of.X, p, ok = r.aboutCall(x.X, s); ok {
			return &of, p, r.constants(x.Y)
		}
		of.X = x.X
		of.Y, p, ok = r.aboutCall(x.Y, s)
		return &of, p, ok && r.constants(x.X)
	case *syntax.Between:
		of := *x
		of.X, p, ok = r.aboutCall(x.X, s)
		return &of, p, ok && r.constants(x.Low, x.High)
	case *syntax.In:
		of := *x
		of.X, p, ok = r.aboutCall(x.X, s)
		return &of, p, ok && r.constants(x.List...)
	}
	return nil, p, false
}

// aboutCall is about for a call of a textFunction.
func (r *reducer) aboutCall(e syntax.Expr, s *scope) (about syntax.Expr, p place, ok bool) {
	x, is := e.(*syntax.Call)
	if !is || x.UDF || len(x.Args) == 0 || !textFunctions[strings.ToUpper(x.Name)] {
		return nil, p, false
	}
	of := *x
	of.Args = slices.Clone(x.Args)
	of.Args[0], p, ok = r.aboutText(x.Args[0], s)
	return &of, p, ok && r.constants(x.Args[1:]...)
}

// aboutText is about for a path itself, or a call.
func (r *reducer) aboutText(e syntax.Expr, s *scope) (about syntax.Expr, p place, ok bool) {
	if r.spend(1) {
		return nil, p, false
	}
	switch e.(type) {
	case *syntax.Name, *syntax.Member, *syntax.Index:
		p = r.place(e, s)
		return &syntax.Name{Name: TextName}, p, p.known && len(p.path) > 0 && !repeated(p.path)
	}
	return r.aboutCall(e, s)
}

// constants reports that none of the expressions depends on a document.
func (r *reducer) constants(all ...syntax.Expr) bool {
	return !slices.ContainsFunc(all, func(e syntax.Expr) bool {
		_, ok := r.constant(e)
		return !ok || r.spend(1)
	})
}
