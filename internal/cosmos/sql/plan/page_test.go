package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestPageListsEveryFunction compares docs/sql.md with the tables that queries use.
func TestPageListsEveryFunction(t *testing.T) {
	storytest.Section(t, "../../../../docs/sql.md", "<!-- functions -->\n", "<!-- end -->", functionTables())
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
