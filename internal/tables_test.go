package internal

import (
	"go/ast"
	"slices"
	"strconv"
	"testing"
)

// sortedTables lists the literal tables whose keys are sorted, by package.
var sortedTables = map[string][]string{
	"mongo/expression": {"operators"},
	"mongo/filter":     {"keywords", "onDocument", "onField"},
	"mongo/pipeline":   {"accumulators", "parsers", "windowFunctions"},
	"mongo/update":     {"operators"},
}

func TestTablesAreSorted(t *testing.T) {
	found := map[string][]string{}
	for _, s := range sources(t) {
		for name, table := range s.variables {
			if !slices.Contains(sortedTables[s.pkg], name) {
				continue
			}
			found[s.pkg] = append(found[s.pkg], name)
			keys := stringKeys(table)
			if len(keys) < 10 || !slices.IsSorted(keys) {
				t.Errorf("%s: %s has %d keys that are not sorted: %q", s.at(table.Pos()), name, len(keys), keys)
			}
		}
	}
	for room, names := range sortedTables {
		if slices.Sort(found[room]); !slices.Equal(found[room], names) {
			t.Errorf("%s has literals for %q, want %q", room, found[room], names)
		}
	}
}

// TestTablesNeedNoInit holds what registers operators to literals that a reader finds in one place.
func TestTablesNeedNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.Name == "init" && sortedTables[s.pkg] != nil && !s.isTest() {
				t.Errorf("%s: an init function: use a literal", s.at(f.Pos()))
			}
		}
	}
}

// variables yields the package-level variables of a file whose value is a composite literal.
func (s source) variables(yield func(string, *ast.CompositeLit) bool) {
	for _, d := range s.file.Decls {
		general, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || len(v.Names) != len(v.Values) {
				continue
			}
			for i, value := range v.Values {
				if table, ok := value.(*ast.CompositeLit); ok && !yield(v.Names[i].Name, table) {
					return
				}
			}
		}
	}
}

// stringKeys are the keys of a map literal, in the order of its text.
func stringKeys(table *ast.CompositeLit) (keys []string) {
	for _, e := range table.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.BasicLit); ok {
				text, _ := strconv.Unquote(key.Value)
				keys = append(keys, text)
			}
		}
	}
	return keys
}
