package sizing

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "put the table that is computed now into docs/cluster-sizing.md")

const page = "../../../docs/cluster-sizing.md"

// TestPage holds the table of the page to the computation.
func TestPage(t *testing.T) {
	const begin, end = "<!-- computed by conformance/cluster/sizing -->\n", "<!-- end -->\n"
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(content), begin)
	old, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", page)
	}
	want := "\n" + Table(Goal{Writes: 1e6, Bytes: 100e12, Document: 1024},
		Rates{Name: "as measured", Counter: 850, Group: 16},
		Rates{Name: "groups of 64 in 10 ms", Counter: 6400, Group: 64},
	) + "\n"
	if old == want {
		return
	}
	if !*rewrite {
		t.Fatalf("the table of %s is not what is computed (-rewrite puts it there):\n%s", page, want)
	}
	if err := os.WriteFile(page, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
