package script

import (
	"errors"
	"math/big"
	"reflect"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	patterns "github.com/mayflydb/mayfly/internal/cosmos/pattern"
)

// bounded is the name of a function that rejects long strings and returns everything else. Scripts cannot spell that
// name.
const bounded = "\x00bounded"

var (
	errBigInt  = errors.New("SyntaxError: integers of any size, such as 1n, are not supported")
	errPattern = errors.New("SyntaxError: a regular expression has too many nested repetitions")
	errWith    = errors.New("SyntaxError: the statement 'with' is not supported. Write the object before each of its " +
		"members")
)

// restrict limits what operators of the language can create in a single step, so that the checks between steps are in
// time. Expressions that can double a string are passed through the function bounded, and regular expressions through
// bind. It rejects integers of any size, the statement with, whose object could have members with the names of these
// functions, and trees that are too deep, because their compilation time is quadratic.
func restrict(tree *ast.Program) error {
	w := walker{}
	w.walk(reflect.ValueOf(&tree.Body).Elem())
	return w.err
}

type walker struct {
	err   error
	depth int
}

var (
	expressionType = reflect.TypeFor[ast.Expression]()
	astPath        = reflect.TypeFor[ast.Program]().PkgPath()
)

func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		w.walk(v.Elem())
		if v.Type() == expressionType && v.CanSet() {
			e := v.Interface().(ast.Expression)
			if x, ok := e.(*ast.RegExpLiteral); ok {
				if err := patterns.Check(x.Pattern); err != nil {
					w.err = errPattern
				}
				v.Set(reflect.ValueOf(passed(bind, e)))
			} else if grows(e) {
				v.Set(reflect.ValueOf(passed(bounded, e)))
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
		case *ast.NumberLiteral:
			if _, huge := n.Value.(*big.Int); huge {
				w.err = errBigInt
			}
			return
		case *ast.WithStatement:
			w.err = errWith
			return
		}
		if w.depth++; w.depth > maxTree {
			w.err = errTree
		} else {
			w.walk(v.Elem())
		}
		w.depth--
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Struct:
		w.fields(v)
	}
}

func (w *walker) fields(v reflect.Value) {
	if v.Type().PkgPath() != astPath {
		return
	}
	for i := range v.NumField() {
		// A DeclarationList has the same nodes as the body.
		if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
			w.walk(v.Field(i))
		}
	}
}

// grows reports whether an expression can create a string much longer than its operands. A literal adds only its own
// length.
func grows(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		return e.Operator == token.PLUS && !literal(e.Left) && !literal(e.Right)
	case *ast.AssignExpression:
		return e.Operator == token.PLUS && !literal(e.Right)
	case *ast.TemplateLiteral:
		return e.Tag == nil && len(e.Expressions) > 1
	}
	return false
}

func literal(e ast.Expression) bool {
	switch e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral:
		return true
	}
	return false
}

// passed is a call of a function with an expression.
func passed(function unistring.String, e ast.Expression) ast.Expression {
	return &ast.CallExpression{
		Callee:           &ast.Identifier{Name: function, Idx: e.Idx0()},
		LeftParenthesis:  e.Idx0(),
		ArgumentList:     []ast.Expression{e},
		RightParenthesis: e.Idx1(),
	}
}

// protectOperators defines bounded.
func (r *run) protectOperators(global *goja.Object) {
	f := r.put(nil, "operator", func(call goja.FunctionCall) goja.Value {
		v := call.Argument(0)
		if characters(v) > maxString {
			r.throwRange("Invalid string length")
		}
		return v
	})
	if err := global.DefineDataProperty(bounded, f, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
}
