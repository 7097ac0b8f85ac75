package mongo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the path of the mayfly under test: TESTED_BIN, or one built here.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mayfly-mongo-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary = os.Getenv("TESTED_BIN"); binary == "" {
		binary = filepath.Join(dir, "mayfly")
		build := exec.Command("go", "build", "-o", binary, "./cmd/mayfly")
		build.Dir = "../.."
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build mayfly: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}
