package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mayflydb/mayfly/internal/clock"
)

// mounted is a command that runs the program with a file system of its own at dir, which others do not see.
func mounted(t *testing.T, dir, size string, args ...string) *exec.Cmd {
	t.Helper()
	script := `mount --make-rprivate / && mount -t tmpfs -o size=` + size + ` tmpfs "$0" && exec "$@"`
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, dir, binary}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	probe := exec.Command("sh", "-c", strings.Replace(script, `exec "$@"`, "true", 1), dir)
	probe.SysProcAttr = cmd.SysProcAttr
	out, err := probe.CombinedOutput()
	switch {
	case err == nil:
	case kernelRefuses(err, out):
		t.Skipf("skipped: the kernel does not let this user mount a file system: %v %s", err, out)
	default:
		t.Fatalf("%v %s", err, out)
	}
	return cmd
}

// kernelRefuses reports whether a command failed because this user may not make namespaces or mounts, as in some
// containers. Nothing can be installed against that, in CI neither. Any other failure is one of the test.
func kernelRefuses(err error, out []byte) bool {
	for _, refusal := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EINVAL} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	text := strings.ToLower(string(out))
	return strings.Contains(text, "permission denied") || strings.Contains(text, "not permitted")
}

// TestFullFileSystem fills a file system of 40 MB, gets out by deletes, and stops.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	s := started(t,
		mounted(t, dir, "40m", "--data="+filepath.Join(dir, "data"), "--nosql=127.0.0.1:0", "--nosql-tls=off",
			"--admin=127.0.0.1:0"))
	nosql := s.address(t, "NoSQL")
	item := func(method, name, body string) (int, string) {
		path, link := "dbs/d/colls/c/docs", "dbs/d/colls/c"
		if name != "" {
			path += "/" + name
			link = path
		}
		code, text, _ := send(t, method, nosql, path, "docs", link, `["p"]`, body)
		return code, text
	}
	for _, c := range []struct{ path, kind, link, body string }{
		{"dbs", "dbs", "", `{"id":"d"}`},
		{"dbs/d/colls", "colls", "dbs/d",
			`{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash"},"defaultTtl":-1,"indexingPolicy":{"excludedPaths":[{"path":"/*"}]}}`},
	} {
		if code, text, _ := send(t, http.MethodPost, nosql, c.path, c.kind, c.link, "",
			c.body); code != http.StatusCreated {
			t.Fatalf("%s: %d %s", c.path, code, text)
		}
	}
	random := make([]byte, 100<<10)
	rand.Read(random)
	body := hex.EncodeToString(random) // half of it goes to a table
	written, refused := 0, ""
	for ; refused == "" && written < 1_000; written++ {
		code, text := item(http.MethodPost, "", fmt.Sprintf(`{"id":"%d","p":"p","x":"%d%s"}`, written, written, body))
		switch code {
		case http.StatusCreated:
		case http.StatusInsufficientStorage:
			refused = text
		default:
			t.Fatalf("write %d: %d %s", written, code, text)
		}
	}
	if !strings.Contains(refused, "Delete documents") || written < 50 {
		t.Errorf("after %d writes: %s", written, refused)
	}
	if code, text := item(http.MethodGet, "1", ""); code != http.StatusOK {
		t.Errorf("read: %d %.200s", code, text)
	}
	lifetime := `{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash"},"defaultTtl":100000,"indexingPolicy":{"excludedPaths":[{"path":"/*"}]}}`
	if code, text, _ := send(t, http.MethodPut, nosql, "dbs/d/colls/c", "colls", "dbs/d/colls/c", "",
		lifetime); code != http.StatusOK {
		t.Errorf("a shorter lifetime: %d %s", code, text)
	}
	for i := range written / 2 {
		if code, text := item(http.MethodDelete, fmt.Sprint(i), ""); code != http.StatusNoContent {
			t.Fatalf("delete %d: %d %s", i, code, text)
		}
	}
	code, text := 0, ""
	for watch := clock.Start(); code != http.StatusCreated && watch.Elapsed().Seconds() < 30; {
		if err := clock.Pause(t.Context(), 50e6); err != nil {
			t.Fatal(err)
		}
		code, text = item(http.MethodPost, "", `{"id":"again","p":"p"}`)
	}
	if code != http.StatusCreated {
		t.Errorf("write after the deletes: %d %s", code, text)
	}
	if code, text, _ := send(t, http.MethodDelete, nosql, "dbs/d", "dbs", "dbs/d", "",
		""); code != http.StatusNoContent {
		t.Errorf("drop of the database: %d %s", code, text)
	}
	s.stop(t, syscall.SIGTERM)
	if strings.Contains(s.stderr.String(), "stack") {
		t.Errorf("the log:\n%s", s.stderr)
	}
}

// TestSignalWhileOpening stops a mayfly that waits for a log: a pipe that nobody writes.
func TestSignalWhileOpening(t *testing.T) {
	dir := t.TempDir()
	serve(t, "--data="+dir, "--nosql=127.0.0.1:0", "--admin=").stop(t, syscall.SIGTERM)
	logs, err := filepath.Glob(filepath.Join(dir, "db", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs %v: %v", logs, err)
	}
	log := logs[len(logs)-1]
	for _, name := range []string{log, filepath.Join(dir, "db", "SEALED")} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(log, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "--data="+dir, "--nosql=127.0.0.1:0", "--mongo=", "--admin=")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lock := filepath.Join("/proc", fmt.Sprint(cmd.Process.Pid), "fd"); ; { // until it has the lock
		entries, _ := os.ReadDir(lock)
		if has(lock, entries, "LOCK") {
			break
		}
		if err := clock.Pause(t.Context(), 1e6); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || strings.Count(out.String(), "\n") != 1 ||
		!strings.Contains(out.String(), "stopped while data folder") {
		t.Errorf("exit %d, want 1 with one line:\n%s", code, out.String())
	}
}

func has(dir string, entries []os.DirEntry, name string) bool {
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && filepath.Base(to) == name {
			return true
		}
	}
	return false
}

// TestCheckOfDamagedLog changes a byte of the log of a mayfly that was killed.
func TestCheckOfDamagedLog(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--data="+dir, "--nosql=127.0.0.1:0", "--nosql-tls=off", "--admin=")
	for _, c := range []struct{ path, kind, link, body string }{
		{"dbs", "dbs", "", `{"id":"d"}`}, {"dbs", "dbs", "", `{"id":"e"}`}, {"dbs", "dbs", "", `{"id":"f"}`},
	} {
		if code, text, _ := send(t, http.MethodPost, s.address(t, "NoSQL"), c.path, c.kind, c.link, "",
			c.body); code != http.StatusCreated {
			t.Fatalf("%s: %d %s", c.path, code, text)
		}
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	logs, err := filepath.Glob(filepath.Join(dir, "db", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs %v: %v", logs, err)
	}
	log := logs[len(logs)-1]
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	data[40] ^= 1
	if err := os.WriteFile(log, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"check"}, {"serve", "--nosql=127.0.0.1:0", "--mongo=", "--admin="}} {
		code, out := mayfly(t, append(command, "--data="+dir)...)
		if code != exitFailed || strings.Count(out, "\n") != 1 ||
			!strings.Contains(out, "is damaged: restore a backup") || !strings.Contains(out, filepath.Base(log)) {
			t.Errorf("%s: exit %d, want 1 with one line:\n%s", command[0], code, out)
		}
	}
}
