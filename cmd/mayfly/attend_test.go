package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// TestInterruptWhileWaiting interrupts an import that waits for its standard input: it ends at the first interrupt.
func TestInterruptWhileWaiting(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	cmd := exec.CommandContext(t.Context(), binary, "import", "-", "--to=shop/carts", "--admin="+s.address(t, "Admin"))
	dir := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var text strings.Builder
	cmd.Stderr = &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	for kept := int64(0); kept == 0; { // until it has read that, and waits for more
		if err := clock.Pause(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join(dir, "mayfly-import-*"))
		if err != nil || len(paths) == 0 {
			continue
		}
		if info, err := os.Stat(paths[0]); err == nil {
			kept = info.Size()
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(text.String(), "interrupted") {
		t.Errorf("%v: %s", err, text.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}
