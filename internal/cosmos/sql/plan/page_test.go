package plan

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
)

var rewritePage = flag.Bool("rewrite-page", false, "write the tables of functions into docs/sql.md")

const (
	page      = "../../../../docs/sql.md"
	pageStart = "<!-- functions -->\n"
	pageEnd   = "<!-- end -->"
)

// TestPageListsEveryFunction compares docs/sql.md with the tables of functions.
func TestPageListsEveryFunction(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), pageStart)
	listed, after, ok2 := strings.Cut(rest, pageEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the tables", page)
	}
	want := functionTables()
	if *rewritePage {
		err = os.WriteFile(page, []byte(before+pageStart+want+pageEnd+after), 0o644)
	} else if listed != want {
		t.Errorf("%s does not list what there is; go test ./internal/cosmos/sql/plan -run Page -rewrite-page", page)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// functionTables has a table for each family, and one for the aggregates.
func functionTables() string {
	var b strings.Builder
	family := ""
	for _, f := range function.All() {
		if f.Family != family {
			family = f.Family
			fmt.Fprintf(&b, "\n### %s\n\n| function | arguments | state |\n|---|---|---|\n", family)
		}
		state := f.Note
		if state == "" {
			state = "complete"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, arity(f.Min, f.Max), state)
	}
	b.WriteString("\n### Aggregate\n\n| function | arguments | state |\n|---|---|---|\n")
	for _, name := range Aggregates() {
		fmt.Fprintf(&b, "| `%s` | 1 | complete |\n", name)
	}
	return b.String() + "\n"
}

func arity(low, high int) string {
	switch {
	case high < 0:
		return fmt.Sprintf("%d or more", low)
	case low == high:
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}
