package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportToTheStandardOutput redirects the standard output to a file, and names it: documents go behind what is
// there, and nothing else does.
func TestExportToTheStandardOutput(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	s.makeCarts(t)
	dir := t.TempDir()
	admin := "--admin=" + s.address(t, "Admin")
	patientOK(t, "import", numbered(t, filepath.Join(dir, "in.jsonl"), 1), "--to=shop/carts", "--generate-id", admin)
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := out.WriteString("before\n"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "export", "shop/carts", "/dev/stdout", admin)
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.WriteString("after\n"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) != 4 || lines[0] != "before" || !strings.HasPrefix(lines[1], `{"`) ||
		lines[2] != "after" {
		t.Errorf("%v %q", err, text)
	}
}
