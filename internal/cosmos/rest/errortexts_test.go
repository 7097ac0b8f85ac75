package rest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

// speakers are the packages whose errors reach clients, relative to this one.
var speakers = []string{".", "../pattern", "../script", "../sql/syntax", "../sql/function", "../sql/plan",
	"../sql/exec", "../../catalog", "../../store", "../../expiry", "../../kv/pebble"}

// makers are the functions that create an error, with the index of the argument that is its text.
var makers = map[string]int{
	"fault.New": 1, "fault.Wrap": 2, "gatewayFault": 1, "syntax.Wrong": 2, "Wrong": 2, "c.wrong": 2,
}

// A spoken text is the text of an error in the sources.
type spoken struct{ kind, text, at string }

// spokenTexts returns the texts of all errors in the sources, with … for arguments.
func spokenTexts(t *testing.T) (list []spoken) {
	t.Helper()
	set := token.NewFileSet()
	for _, dir := range speakers {
		constants := map[string]string{}
		var files []*ast.File
		must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != dir:
				return fs.SkipDir
			case d.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
				return nil
			}
			f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			files = append(files, f)
			return err
		}))
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok {
					for i, name := range spec.Names {
						if i < len(spec.Values) {
							if text, ok := literalText(spec.Values[i], constants); ok {
								constants[name.Name] = text
							}
						}
					}
				}
				return true
			})
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				at, ok := makers[calleeName(call.Fun)]
				if !ok || at >= len(call.Args) {
					return true
				}
				if text, ok := literalText(call.Args[at], constants); ok {
					kind := ""
					if s, ok := call.Args[0].(*ast.SelectorExpr); ok {
						kind = s.Sel.Name
					} else if code, ok := literalText(call.Args[0], constants); ok {
						kind = code
					}
					list = append(list, spoken{kind, blanks(text), set.Position(call.Pos()).String()})
				}
				return true
			})
		}
	}
	return list
}

func calleeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if of, ok := x.X.(*ast.Ident); ok {
			return of.Name + "." + x.Sel.Name
		}
	}
	return ""
}

// literalText is the value of string literals, constants and sums of them.
func literalText(e ast.Expr, constants map[string]string) (string, bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return text, err == nil && x.Kind == token.STRING
	case *ast.Ident:
		text, ok := constants[x.Name]
		return text, ok
	case *ast.BinaryExpr:
		a, ok := literalText(x.X, constants)
		b, ok2 := literalText(x.Y, constants)
		return a + b, ok && ok2 && x.Op == token.ADD
	}
	return "", false
}

var verbsOfFormat = regexp.MustCompile(`%[sdvqT]`)

// blanks replaces the verbs of a format with ….
func blanks(format string) string {
	return strings.ReplaceAll(verbsOfFormat.ReplaceAllString(format, "…"), "%%", "%")
}

// elsewhere are files whose errors never reach a client of this API: they open the database, or belong to the MongoDB
// API or to the admin API.
var elsewhere = []string{
	"catalog/imagined.go", "store/import.go", "kv/pebble/checkpoint.go",
	"catalog/ranges.go", "catalog/split.go", "store/split.go",
	"catalog/catalog.go", "catalog/named.go", "store/build.go", "store/snapshottransaction.go", "store/log.go",
	"store/named.go", "store/namedbuild.go", "store/namedscan.go", "store/receipt.go", "store/wildcard.go",
	"kv/pebble/open.go", "kv/pebble/load.go",
}

// unseen are errors that others stand for.
var unseen = []string{"the query has mistakes", "The document has no valid id", "The resource has not changed",
	"The document has not changed",
	"The resource does not exist", "The database or container does not exist", "A resource of this name exists already",
	"The resource has changed",
	"The document does not exist", "A document with this id exists already", "The document has another version",
	"The document has another partition key than the operation", "The position is not one of this selection",
	"An indexed path is ambiguous in the document", "A life span is -1 or a whole number of seconds from 1 to …"}

var sentenceEnd = regexp.MustCompile(`\.(\s|$)`)

// firstSentence returns a text up to the end of its first sentence. The period of "e.g." is not the end.
func firstSentence(text string) string {
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		if !strings.HasSuffix(text[:at[0]], "e.g") {
			return text[:at[0]]
		}
	}
	return text
}

// Every error text of the sources is on the page, and every text of the page is in a source.
func TestSourcesSayWhatThePageSays(t *testing.T) {
	tables := errorTables(t)
	listed := map[string]bool{}
	refused := map[string]string{}
	for _, row := range tables["refused with"] {
		listed[row[1]] = false
		refused[row[1]] = row[0]
	}
	for _, row := range tables["status"] {
		listed[row[3]] = true // provoked, wherever it is written
	}
	for _, row := range tables["SC code"] {
		listed[firstSentence(row[1])] = true
	}
	for _, s := range spokenTexts(t) {
		text := firstSentence(s.text)
		if s.kind == "Internal" || s.kind == "Corrupt" || strings.Trim(text, "… ") == "" || slices.Contains(unseen,
			text) ||
			slices.ContainsFunc(elsewhere, func(file string) bool { return strings.Contains(s.at, file) }) {
			continue
		}
		if _, ok := listed[text]; !ok {
			t.Errorf("%s: %s does not list the text of kind %s: %s", s.at, errorPage, s.kind, text)
		}
		listed[text] = true
		if want, ok := refused[text]; ok && want != refusedWith(s.kind) {
			t.Errorf("%s: %s says that this is refused with %s, not %s: %s", s.at, errorPage, want,
				refusedWith(s.kind), text)
		}
	}
	for text, spoken := range listed {
		if !spoken {
			t.Errorf("%s lists %q, which no source says", errorPage, text)
		}
	}
}

// refusedWith is the status, and substatus if there is one, of the fault kind with that name. Mistakes in queries
// have a code instead of a kind.
func refusedWith(name string) string {
	for k := range fault.Kinds() {
		if strings.EqualFold(strings.ReplaceAll(k.String(), " ", ""), name) {
			o := outcomes[k]
			if o.substatus != 0 {
				return fmt.Sprintf("%d/%d", o.status, o.substatus)
			}
			return strconv.Itoa(o.status)
		}
	}
	return strconv.Itoa(outcomes[fault.Invalid].status)
}
