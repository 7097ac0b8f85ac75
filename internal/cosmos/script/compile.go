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
	entry string // name of the function to call; "" if it is the value of the code
	took  atomic.Int64
}

// unknownTime is the expected duration of a script that has never run.
const unknownTime = 200 * time.Millisecond

// Took records the duration of a run, for Expected.
func (p *Program) Took(d time.Duration) {
	if before := p.took.Load(); before > 0 {
		d = (time.Duration(before) + d) / 2
	}
	p.took.Store(int64(max(d, 1)))
}

// Expected is the expected duration of a run, from earlier ones.
func (p *Program) Expected() time.Duration {
	if took := p.took.Load(); took > 0 {
		return time.Duration(took)
	}
	return unknownTime
}

// Compile compiles a script called name. The source is a function declaration, an expression that is a function, a
// method in the form `f() { … }` (which the official JavaScript SDK sends for methods of objects), or statements,
// where the first function declaration counts. Errors are an *Exception, or fault.Timeout if ctx ends first.
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
		// A function without a name is not a statement, but it is an expression.
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

// parse does not look for source maps, which would be files.
func parse(name, source string) (*ast.Program, error) {
	return goja.Parse(name, source, parser.WithDisableSourceMaps)
}

// parseMethod parses one method of an object as a function. It returns nil if the source is not a method.
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

// firstFunction is the name of the first function declaration, or "".
func firstFunction(tree *ast.Program) string {
	for _, s := range tree.Body {
		if f, ok := s.(*ast.FunctionDeclaration); ok && f.Function.Name != nil {
			return f.Function.Name.Name.String()
		}
	}
	return ""
}
