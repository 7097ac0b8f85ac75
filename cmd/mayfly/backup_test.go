package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/remote"
)

// postJSON sends a body to the admin API and wants a status of success.
func postJSON(t *testing.T, url, body string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode/100 != 2 {
		t.Fatalf("%s: %s %s", url, response.Status, text)
	}
}

// wantRun runs the program and wants a code, and texts in its output.
func wantRun(t *testing.T, code int, args []string, texts ...string) {
	t.Helper()
	got, out := mayfly(t, args...)
	ok := got == code
	for _, text := range texts {
		ok = ok && strings.Contains(out, text)
	}
	if !ok {
		t.Errorf("mayfly %s: %d, want %d with %q:\n%s", strings.Join(args, " "), got, code, texts, out)
	}
}

// full starts a mayfly in a new data folder and stores an item that lives for 100 seconds and one that stays.
func full(t *testing.T) (s *server, admin string) {
	t.Helper()
	s = serve(t, "--data", t.TempDir(), "--nosql", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--clock",
		"virtual=2026-03-01T12:00:00Z")
	base := strings.TrimSuffix(s.address(t, "Admin"), "/") + remote.Prefix
	postJSON(t, base+"/databases", `{"id":"d"}`)
	postJSON(t, base+"/databases/d/containers",
		`{"id":"c","partitionKey":{"paths":["/id"],"kind":"Hash"},"defaultTtl":100}`)
	postJSON(t, base+"/databases/d/containers/c/items", `{"id":"brief"}`)
	postJSON(t, base+"/databases/d/containers/c/items", `{"id":"stays","ttl":-1}`)
	return s, strings.TrimPrefix(strings.TrimSuffix(s.address(t, "Admin"), "/"), "http://")
}

func TestBackupAndRestore(t *testing.T) {
	s, admin := full(t)
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	wantRun(t, 0, []string{"backup", in("one"), "--admin", admin}, "files", "clock 2026-03-01T12:00:00Z")
	wantRun(t, 0, []string{"backup", in("two"), "--base", in("one"), "--admin", admin, "--json"}, `"sentBytes"`)
	wantRun(t, 1, []string{"backup", in("one"), "--admin", admin}, "exists already")
	wantRun(t, 2, []string{"backup", "-", "--base", in("one"), "--admin", admin}, "need a folder")
	wantRun(t, 1, []string{"backup", in("three"), "--base", in("none"), "--admin", admin}, "is not a backup")

	stream, err := exec.Command(binary, "backup", "-", "--admin", admin).Output()
	if err != nil {
		t.Fatal(err)
	}
	s.stop(t, os.Interrupt)

	wantRun(t, 4, []string{"restore", in("two"), "--data", in("data")}, "1 of 2 documents have expired", "--yes",
		"--rebase-clock")
	if left, _ := os.ReadDir(in("data")); len(left) != 0 {
		t.Errorf("a restore that was not confirmed has left %v", left)
	}
	wantRun(t, 0, []string{"restore", in("two"), "--data", in("data"), "--yes"},
		"2 documents as of 2026-03-01T12:00:00Z, checked")
	wantRun(t, 0, []string{"check", "--data", in("data")}, "2 documents", "0 problems")
	wantRun(t, 1, []string{"restore", in("two"), "--data", in("data"), "--yes"}, "is not empty")
	wantRun(t, 0, []string{"restore", in("one"), "--data", in("rebased"), "--rebase-clock"}, "1 documents keep")
	wantRun(t, 1, []string{"restore", in("none"), "--data", in("x"), "--yes"}, "is not a backup")

	killed := exec.Command(binary, "restore", "-", "--data", in("killed"), "--yes")
	half, err := killed.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := half.Write(stream[:len(stream)/2]); err != nil {
		t.Fatal(err)
	}
	for entries := 0; entries == 0 && clock.Pause(t.Context(), time.Millisecond) == nil; {
		found, _ := filepath.Glob(in("killed/.restoring-*/.data.making-*/db/*"))
		entries = len(found)
	}
	wantRun(t, 1, []string{"restore", in("one"), "--data", in("killed"), "--yes"}, "another restore", "is running")
	if found, _ := filepath.Glob(in("killed/.restoring-*/.data.making-*/db/*")); len(found) == 0 {
		t.Error("a second restore has removed the folder of the first one")
	}
	if err := killed.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed.Wait()
	wantRun(t, 1, []string{"check", "--data", in("killed")}, "has no database")
	again := exec.Command(binary, "restore", "-", "--data", in("killed"), "--yes")
	again.Stdin = bytes.NewReader(stream)
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantRun(t, 0, []string{"check", "--data", in("killed")}, "2 documents", "0 problems")
	broken := exec.Command(binary, "restore", "-", "--data", in("broken"), "--yes")
	broken.Stdin = bytes.NewReader(stream[:len(stream)/2])
	if out, err := broken.CombinedOutput(); err == nil || !strings.Contains(string(out), "ends too early") {
		t.Errorf("half a stream: %v: %s", err, out)
	}
	if left, _ := os.ReadDir(in("broken")); len(left) != 0 {
		t.Errorf("half a stream has left %v", left)
	}
}

func TestSnapshotCommands(t *testing.T) {
	s, admin := full(t)
	base := "http://" + admin + remote.Prefix
	wantRun(t, 0, []string{"snapshot", "save", "start", "--admin", admin}, "start", "2026-03-01T12:00:00Z")
	wantRun(t, 1, []string{"snapshot", "save", "start", "--admin", admin}, "already")
	wantRun(t, 1, []string{"snapshot", "save", "../x", "--admin", admin}, "not a name")
	postJSON(t, base+"/databases", `{"id":"later"}`)
	postJSON(t, base+"/clock/advance", `{"duration":"24h"}`)
	wantRun(t, 0, []string{"snapshot", "list", "--admin", admin}, "NAME", "start")
	wantRun(t, 4, []string{"snapshot", "load", "start", "--admin", admin},
		"lose all later changes? there is no terminal")
	wantRun(t, 0, []string{"snapshot", "load", "start", "--yes", "--admin", admin, "--json"}, `"name": "start"`)
	if code, text := fetch(t, base+"/databases"); code != 200 || strings.Contains(text, "later") {
		t.Errorf("after the load: %d %s", code, text)
	}
	wantRun(t, 0, []string{"clock", "show", "--admin", admin}, "2026-03-01T12:00:00Z")
	wantRun(t, 4, []string{"snapshot", "delete", "start", "--admin", admin}, "Delete the snapshot start?")
	wantRun(t, 0, []string{"snapshot", "delete", "start", "--yes", "--admin", admin}, "snapshot start deleted")
	wantRun(t, 5, []string{"snapshot", "load", "start", "--yes", "--admin", admin}, "no snapshot")
	wantRun(t, 2, []string{"snapshot"}, "name a subcommand")
	s.stop(t, os.Interrupt)
}
