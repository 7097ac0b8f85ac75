package pressure

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tested is the path of the mayfly under test: TESTED_BIN, or one built here.
var tested string

func TestMain(m *testing.M) {
	if config := os.Getenv(innocentConfig); config != "" {
		os.Exit(beInnocent(config))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mayfly-pressure-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if tested = os.Getenv("TESTED_BIN"); tested == "" {
		tested = filepath.Join(dir, "mayfly")
		build := exec.Command("go", "build", "-o", tested, "./cmd/mayfly")
		build.Dir = "../.."
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build mayfly: %v\n%s", err, out)
			return 1
		}
	}
	code := m.Run()
	table.print()
	return code
}

var label = flag.String("label", "now", "what the rows call this mayfly")

// table collects the rows that a run prints at its end, as they stand in docs/performance.md.
var table rows

type rows struct {
	mu    sync.Mutex
	lines []string
}

// add adds a row: what it is about, then its cells.
func (r *rows) add(what string, cells ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, "| "+strings.Join(slices.Concat([]string{what, *label}, cells), " | ")+" |")
}

func (r *rows) print() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) == 0 {
		return
	}
	fmt.Println("| load | | time | memory at most | 10 s after | others' p99 | worst | answers |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, line := range r.lines {
		fmt.Println(line)
	}
}
