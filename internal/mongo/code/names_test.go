package code

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Constants that stand for codes without a name, or are spelled as Go wants it.
var otherwise = map[string]string{
	"InvalidIDField": "InvalidIdField", "UserAlreadyExists": "Location51003", "UnknownFieldOfCommand": "Location40415",
	"MissingFieldOfCommand": "Location40414", "UnrecognizedStage": "Location40324",
}

// TestConstantsHaveTheirNumbers holds each constant to the name that MongoDB gives its number.
func TestConstantsHaveTheirNumbers(t *testing.T) {
	found := 0
	for _, file := range []string{"code.go", "stable.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for n := range ast.Preorder(parsed) {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				continue
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok {
				continue
			}
			number, err := strconv.Atoi(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found++
			want := spec.Names[0].Name
			if name, ok := otherwise[want]; ok {
				want = name
			}
			if got := Code(number).Name(); got != want {
				t.Errorf("%s is %d, which is %s", spec.Names[0].Name, number, got)
			}
		}
	}
	if found < 80 {
		t.Errorf("%d constants", found)
	}
	for c, name := range names {
		if c <= 0 || name == "" || strings.HasPrefix(name, "Location") {
			t.Errorf("%d is named %q", c, name)
		}
	}
}
