package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// stories are the query stories of package rest.
const stories = "../../rest/testdata/queries/*.txt"

// TestStoriesCallEveryFunction looks for each built-in function and aggregate in the queries of the stories that
// succeed.
func TestStoriesCallEveryFunction(t *testing.T) {
	called := map[string]bool{}
	files, err := filepath.Glob(stories)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range answeredQueries(string(text)) {
			q, err := syntax.Parse(query)
			if err != nil {
				t.Errorf("%s: %s: %v", file, query, err)
				continue
			}
			syntax.Walk(q, func(n syntax.Node) bool {
				if call, ok := n.(*syntax.Call); ok && !call.UDF {
					called[strings.ToUpper(call.Name)] = true
				}
				return true
			})
		}
	}
	names := Aggregates()
	for _, f := range function.All() {
		names = append(names, f.Name)
	}
	for _, name := range names {
		if !called[name] {
			t.Errorf("no query story calls %s", name)
		}
	}
	for name := range called {
		if !slices.Contains(names, name) {
			t.Errorf("a query story calls %s, which is no function", name)
		}
	}
}

// answeredQueries extracts the successful queries from a file of stories. A query is between the line with its name
// and the first section.
func answeredQueries(text string) (queries []string) {
	for _, story := range strings.Split(text, "\n=== ")[1:] {
		_, rest, _ := strings.Cut(story, "\n")
		query, sections, _ := strings.Cut(rest, "\n--- ")
		if !strings.HasPrefix(sections, "error ") && !strings.Contains(sections, "\n--- error ") {
			queries = append(queries, query)
		}
	}
	return queries
}
