package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportElsewhere interrupts an import of two files in the second one, and repeats it with another server, and with
// a container that was made anew. Neither has what the checkpoints speak of, so the command says so and writes nothing.
func TestImportElsewhere(t *testing.T) {
	s, other := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0"), serve(t, "--memory", "--nosql=",
		"--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	defer other.stop(t, os.Interrupt)
	s.makeCarts(t)
	other.makeCarts(t)
	dir := t.TempDir()
	one := numbered(t, filepath.Join(dir, "one.jsonl"), 10)
	two := numbered(t, filepath.Join(dir, "two.jsonl"), 12_000)
	args := []string{"import", one, two, "--to=shop/carts", "--generate-id"}
	newBreaker(t, s.address(t, "Admin")).runs(t, 2, args...)
	refuses := func(name string, s *server) {
		t.Helper()
		code, text := patient(t, append(args, "--admin="+s.address(t, "Admin"))...)
		if code == 0 || !strings.Contains(text, "one.jsonl.mayfly-import is the checkpoint of an import into another") {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	refuses("another server", other)
	path := s.address(t, "Admin") + "_mayfly/v1/databases/shop/containers"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, path+"/carts", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusNoContent {
		t.Fatal(answer, err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	s.post(t, "_mayfly/v1/databases/shop/containers", carts, http.StatusCreated)
	refuses("a container that was made anew", s)
	for _, file := range []string{one, two} {
		if err := os.Remove(file + ".mayfly-import"); err != nil {
			t.Fatal(err)
		}
	}
	text := patientOK(t, append(args, "--admin="+s.address(t, "Admin"))...)
	if !strings.Contains(text, "12000 documents: 12000 written\n") {
		t.Error(text)
	}
}

// TestImportSaysAllReasons rejects a document of one file, and breaks off in the next one: it says both.
func TestImportSaysAllReasons(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	s.makeCarts(t)
	dir := t.TempDir()
	bad, broken := filepath.Join(dir, "bad.jsonl"), filepath.Join(dir, "broken.bson")
	for path, text := range map[string]string{bad: "{\"id\":\"c\",\"ttl\":0}\n", broken: "no BSON"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, text := mayfly(t, "import", bad, broken, "--to=shop/carts", "--admin="+s.address(t, "Admin"))
	if code != 1 || !strings.Contains(text, "document 1: The ttl 0") || !strings.Contains(text, "broken.bson: ") {
		t.Errorf("%d %s", code, text)
	}
}
