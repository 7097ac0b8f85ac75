package command_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// families are the files that have several commands, by their keys in the table. Every other command has its own file.
var families = map[string][]string{
	"auth":              {"logout"},
	"drop_indexes":      {"deleteIndexes", "dropIndexes"},
	"drop_user":         {"dropAllUsersFromDatabase", "dropUser"},
	"fail_point":        {"configureFailPoint"},
	"fsync":             {"fsync", "fsyncUnlock"},
	"get_more":          {"getMore", "killCursors"},
	"hello":             {"hello", "isMaster"},
	"kill_all_sessions": {"killAllSessions", "killAllSessionsByPattern"},
	"parameters":        {"getParameter", "setParameter"},
	"replica_set":       {"replSetGetConfig", "replSetGetStatus", "replSetInitiate"},
	"sasl":              {"saslContinue", "saslStart"},
	"sessions":          {"endSessions", "killSessions", "refreshSessions", "startSession"},
	"test_deprecation":  {"testDeprecation", "testVersion2"},
	"transaction":       {"abortTransaction", "commitTransaction"},
	"user_roles":        {"grantRolesToUser", "revokeRolesFromUser"},
}

// TestTable holds the table of commands in order: sorted, each command once, and the function of each in the file of
// its name or family.
func TestTable(t *testing.T) {
	fileOf := map[string]string{}
	for file, members := range families {
		for _, name := range members {
			fileOf[name] = file
		}
	}
	var names []string
	for name, run := range entries(t) {
		names = append(names, name)
		file := snake(name)
		if family := fileOf[name]; family != "" {
			file = family
		}
		if strings.HasPrefix(run, "refuse") {
			file = "refused"
		}
		if text, _ := os.ReadFile(file + ".go"); !strings.Contains(string(text), "\nfunc "+run+"(") {
			t.Errorf("%s.go does not declare %s, which runs %s", file, run, name)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("table.go is not sorted: %s", strings.Join(names, " "))
	}
	if commands := command.Commands(); len(names) < 80 || len(names) != len(commands) {
		t.Errorf("table.go has %d entries, and the server %d commands", len(names), len(commands))
	}
}

// entries yields the names in the table, in its order, and the functions that run them.
func entries(t *testing.T) func(yield func(name, run string) bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, 0)
	must(t, err)
	return func(yield func(name, run string) bool) {
		for _, d := range file.Decls {
			g, _ := d.(*ast.GenDecl)
			if g == nil || g.Tok != token.VAR {
				continue
			}
			v := g.Specs[0].(*ast.ValueSpec)
			if v.Names[0].Name != "table" {
				continue
			}
			for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
				entry := e.(*ast.KeyValueExpr)
				name, err := strconv.Unquote(entry.Key.(*ast.BasicLit).Value)
				must(t, err)
				first := entry.Value.(*ast.CompositeLit).Elts[0].(*ast.KeyValueExpr)
				if first.Key.(*ast.Ident).Name != "run" {
					t.Errorf("%s does not begin with run", name)
					continue
				}
				if !yield(name, first.Value.(*ast.Ident).Name) {
					return
				}
			}
		}
	}
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
