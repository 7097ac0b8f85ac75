package internal

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

// The explorer completes exactly the names that the two languages have.
func TestExplorerNames(t *testing.T) {
	content, err := os.ReadFile("explorer/src/views/query/names.js")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := bytes.Cut(content, []byte("export const names = "))
	var page struct {
		Keywords                                               []string
		Functions                                              map[string][]string
		Stages, OtherStages, Filter, Expressions, Accumulators []string
	}
	if err := json.Unmarshal(bytes.TrimRight(text, ";\n"), &page); err != nil {
		t.Fatal(err)
	}
	for _, word := range page.Keywords {
		if !syntax.Reserved(word) {
			t.Errorf("%s is no keyword", word)
		}
	}
	families := map[string][]string{}
	for _, f := range function.All() {
		families[f.Family] = append(families[f.Family], f.Name)
	}
	if !maps.EqualFunc(page.Functions, families, sameNames) {
		t.Errorf("functions: the page has %v, the language has %v", page.Functions, families)
	}
	document, field := filter.Operators()
	for _, list := range []struct {
		what      string
		got, want []string
	}{
		{"stages", append(page.Stages, page.OtherStages...), pipeline.Names()},
		{"operators of filters", page.Filter, append(document, field...)},
		{"operators of expressions", page.Expressions, expression.Operators()},
		{"accumulators", page.Accumulators, pipeline.Accumulators()},
	} {
		if !sameNames(list.got, list.want) {
			t.Errorf("%s: the page has %v, the language has %v", list.what, list.got, list.want)
		}
	}
}

// sameNames compares names regardless of order and of repetition.
func sameNames(a, b []string) bool {
	sorted := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return slices.Equal(sorted(a), sorted(b))
}
