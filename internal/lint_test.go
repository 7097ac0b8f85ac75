package internal

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// uses yields every selector of an imported package that a file uses, as
// "import/path.Name".
func (s source) uses(yield func(string, token.Pos) bool) {
	names := map[string]string{}
	for _, i := range s.file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(majorVersion.ReplaceAllString(imported, ""))
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = imported
	}
	for n := range ast.Preorder(s.file) {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		x, ok := selector.X.(*ast.Ident)
		if ok && names[x.Name] != "" && !yield(names[x.Name]+"."+selector.Sel.Name, selector.Pos()) {
			return
		}
	}
}

// majorVersion is the end of the path of a module that is not part of its packages' names.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// Functions of package time that read or await the machine's clock.
var timeFunctions = map[string]bool{
	"time.Now": true, "time.Since": true, "time.Until": true, "time.Sleep": true, "time.After": true,
	"time.AfterFunc": true, "time.NewTimer": true, "time.NewTicker": true, "time.Tick": true,
}

func TestOnlyClockTellsTheTime(t *testing.T) {
	for _, s := range sources(t) {
		for used, pos := range s.uses {
			if timeFunctions[used] && s.pkg != "clock" && !s.isTest() {
				t.Errorf("%s: %s outside clock", s.at(pos), used)
			}
		}
	}
}

func TestNoTestSleeps(t *testing.T) {
	for _, s := range sources(t) {
		for used, pos := range s.uses {
			if used == "time.Sleep" && s.isTest() {
				t.Errorf("%s: a test sleeps", s.at(pos))
			}
		}
	}
}

// What only the command line may do: end the process and write to its streams.
// Metrics belong to a node, not to the process.
var processWide = map[string]bool{
	"os.Exit": true, "log.Fatal": true, "log.Fatalf": true, "log.Print": true, "log.Printf": true, "log.Println": true,
	"fmt.Print": true, "fmt.Printf": true, "fmt.Println": true, "os.Stdout": true, "os.Stderr": true,
	"slog.Default": true, "log/slog.Default": true, "log/slog.SetDefault": true, "log/slog.Info": true,
	"log/slog.Error": true,
	"log/slog.Warn":  true, "log/slog.Debug": true, "expvar.NewInt": true, "expvar.NewMap": true,
	"expvar.Publish": true,
}

func TestNothingIsProcessWide(t *testing.T) {
	for _, s := range sources(t) {
		for used, pos := range s.uses {
			if processWide[used] && s.pkg != "cmd/mayfly" && !s.isTest() {
				t.Errorf("%s: %s outside cmd/mayfly", s.at(pos), used)
			}
		}
	}
}

// Setting a variable of another package would affect the whole process of a program that embeds mayfly.
func TestNoVariableOfAnotherPackageIsSet(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		used := map[token.Pos]string{}
		for name, pos := range s.uses {
			used[pos] = name
		}
		for n := range ast.Preorder(s.file) {
			assignment, ok := n.(*ast.AssignStmt)
			if !ok {
				continue
			}
			for _, left := range assignment.Lhs {
				if name := used[left.Pos()]; name != "" && isSelector(left, "", "") {
					t.Errorf("%s: sets %s", s.at(left.Pos()), name)
				}
			}
		}
	}
}

func TestErrorsAreNotMatchedByText(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for n := range ast.Preorder(s.file) {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isSelector(call.Fun, "strings", "") {
				continue
			}
			for _, a := range call.Args {
				if text, ok := a.(*ast.CallExpr); ok && isSelector(text.Fun, "", "Error") {
					t.Errorf("%s: an error is matched by its text", s.at(call.Pos()))
				}
			}
		}
	}
}

// isSelector reports whether e is x.name; "" matches any.
func isSelector(e ast.Expr, x, name string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || name != "" && selector.Sel.Name != name {
		return false
	}
	of, ok := selector.X.(*ast.Ident)
	return x == "" || ok && of.Name == x
}

func TestPackagesHaveOneComment(t *testing.T) {
	comments := map[string][]string{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		comments[s.pkg] = append(comments[s.pkg], nil...) // so that a package without a comment is in the map, too
		if s.file.Doc != nil {
			comments[s.pkg] = append(comments[s.pkg], s.path)
			if lines := strings.Count(s.file.Doc.Text(), "\n"); lines < 2 {
				t.Errorf("%s: a package comment of %d lines says too little", s.path, lines)
			}
		}
	}
	for pkg, found := range comments {
		if len(found) != 1 {
			t.Errorf("%s: %d package comments, in %v, want 1", pkg, len(found), found)
		}
	}
}

func TestExportedNamesAreExplained(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, d := range s.file.Decls {
			for name, doc := range exported(d) {
				if doc == "" {
					t.Errorf("%s: %s has no comment", s.at(name.Pos()), name.Name)
				}
			}
		}
	}
}

// exported yields the exported names of a declaration with what explains each:
// its own comment, one at its line's end, or that of its group.
func exported(d ast.Decl) func(yield func(*ast.Ident, string) bool) {
	return func(yield func(*ast.Ident, string) bool) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && ofExportedType(d) && !wellKnownMethods[d.Name.Name] {
				yield(d.Name, d.Doc.Text())
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				for name, doc := range specNames(spec) {
					if name.IsExported() && !yield(name, d.Doc.Text()+doc) {
						return
					}
				}
			}
		}
	}
}

func specNames(spec ast.Spec) map[*ast.Ident]string {
	names := map[*ast.Ident]string{}
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		names[spec.Name] = spec.Doc.Text() + spec.Comment.Text()
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			names[n] = spec.Doc.Text() + spec.Comment.Text()
		}
	}
	return names
}

// Methods of interfaces of the standard library need no comment.
var wellKnownMethods = map[string]bool{
	"Error": true, "Unwrap": true, "String": true, "Is": true, "As": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
	"ServeHTTP": true, "Read": true, "Write": true, "Close": true, "Len": true, "Less": true, "Swap": true, "Set": true,
	"Type": true,
}

func ofExportedType(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.IsExported()
		default:
			return false
		}
	}
}

// An intention without an issue is not a comment.
var unowned = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
var owned = regexp.MustCompile(`\b(TODO|FIXME)\(#\d+\)`)

// A row of signs is a banner.
var banner = regexp.MustCompile(`[-=*/#]{8,}`)

func TestComments(t *testing.T) {
	for _, s := range sources(t) {
		if path.Dir(s.path) == "internal" {
			continue // this file contains the patterns themselves
		}
		for _, group := range s.file.Comments {
			text := group.Text()
			if unowned.MatchString(text) && !owned.MatchString(text) {
				t.Errorf("%s: an intention without an issue: TODO(#number)", s.at(group.Pos()))
			}
			if banner.MatchString(text) {
				t.Errorf("%s: a banner", s.at(group.Pos()))
			}
		}
	}
}

func TestFoldersAreNamedForThings(t *testing.T) {
	for _, s := range sources(t) {
		for folder := range strings.SplitSeq(path.Dir(s.path), "/") {
			switch folder {
			case "util", "utils", "common", "helpers", "models", "misc", "shared":
				t.Errorf("%s: %q names nothing", s.path, folder)
			}
			if strings.Contains(folder, "_") {
				t.Errorf("%s: folders are one word", s.path)
			}
		}
	}
}
