package script

import (
	"context"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// A Program is a compiled script. It is safe for concurrent use.
type Program struct {
	code  *goja.Program
	entry string // the function to call; "" when the code's own value is it
}

// Compile reads a script called name: a function declaration, an expression that
// gives a function, or statements of which the first function declaration counts.
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
