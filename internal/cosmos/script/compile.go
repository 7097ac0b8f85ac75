package script

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// A Program is a compiled script. It is safe for concurrent use.
type Program struct {
	code  *goja.Program
	entry string // the function to call; "" when the code's own value is it
	took  atomic.Int64
}

// unknownTime is how long a script is expected to run that has not run yet.
const unknownTime = 200 * time.Millisecond

// Took tells how long the script has run, for Expected.
func (p *Program) Took(d time.Duration) {
	if before := p.took.Load(); before > 0 {
		d = (time.Duration(before) + d) / 2
	}
	p.took.Store(int64(max(d, 1)))
}

// Expected is about how long the script runs, as far as is known.
func (p *Program) Expected() time.Duration {
	if took := p.took.Load(); took > 0 {
		return time.Duration(took)
	}
	return unknownTime
}

// Compile reads a script called name: a function declaration, an expression that
// gives a function, a method as JavaScript writes it out (`f() { … }`, which is what the official SDK for it sends of
// an object's), or statements of which the first function declaration counts.
// Errors are an *Exception, or fault.Timeout when ctx ends first.
func Compile(ctx context.Context, name, source string) (*Program, error) {
	if err := parseable(source); err != nil {
		return nil, refusedSource(err)
	}
	var p *Program
	err := compiles.guarded(ctx, nil, func() (err error) {
		p, err = compile(name+".js", source)
		return err
	})
	return p, err
}

func compile(name, source string) (*Program, error) {
	tree, err := parse(name, source)
	entry := ""
	if err == nil {
		entry = firstFunction(tree)
	}
	if entry == "" {
		// A function without a name is none as a statement, but is as an expression.
		if other, err2 := parse(name, "0,"+source); err2 == nil {
			tree, err = other, nil
		}
	}
	if err != nil {
		if method := parseMethod(name, source); method != nil {
			tree, err = method, nil
		}
	}
	if err == nil && len(tree.Body) == 0 {
		err = errEmpty
	}
	if err == nil {
		err = restrict(tree)
	}
	if err != nil {
		return nil, refusedSource(err)
	}
	code, err := goja.CompileAST(tree, false)
	return &Program{code: code, entry: entry}, refusedSource(err)
}

// parse never looks for source maps, which would be files.
func parse(name, source string) (*ast.Program, error) {
	return goja.Parse(name, source, parser.WithDisableSourceMaps)
}

// parseMethod reads one method of an object as a function; nil if the source is none.
func parseMethod(name, source string) *ast.Program {
	tree, err := parse(name, "0,{"+source+"\n}")
	if err != nil || len(tree.Body) != 1 {
		return nil
	}
	statement, _ := tree.Body[0].(*ast.ExpressionStatement)
	if statement == nil {
		return nil
	}
	pair, _ := statement.Expression.(*ast.SequenceExpression)
	if pair == nil {
		return nil
	}
	object, _ := pair.Sequence[len(pair.Sequence)-1].(*ast.ObjectLiteral)
	if object == nil || len(object.Value) != 1 {
		return nil
	}
	method, _ := object.Value[0].(*ast.PropertyKeyed)
	if method == nil || method.Kind != ast.PropertyKindMethod {
		return nil
	}
	statement.Expression = method.Value
	return tree
}

func refusedSource(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if !strings.HasPrefix(text, "SyntaxError") {
		text = "SyntaxError: " + text
	}
	return thrown("compiling", text, "", 0)
}

// firstFunction is the name of the first function declaration, "" if there is none.
func firstFunction(tree *ast.Program) string {
	for _, s := range tree.Body {
		if f, ok := s.(*ast.FunctionDeclaration); ok && f.Function.Name != nil {
			return f.Function.Name.Name.String()
		}
	}
	return ""
}
