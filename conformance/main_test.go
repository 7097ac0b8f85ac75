package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// binary is the path of the mayfly under test: TESTED_BIN, or one built here.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mayfly-conformance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary = os.Getenv("TESTED_BIN"); binary == "" {
		binary = filepath.Join(dir, "mayfly")
		build := exec.Command("go", "build", "-o", binary, "./cmd/mayfly")
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build mayfly: %v\n%s", err, out)
			return 1
		}
	}
	code := m.Run()
	if everyday.server != nil {
		everyday.server.stop()
	}
	figures.print()
	return code
}

// figures collects the lines that a run reports at its end, passing or not.
var figures report

type report struct {
	mu    sync.Mutex
	lines []string
}

func (r *report) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *report) print() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.lines {
		fmt.Println(line)
	}
}
