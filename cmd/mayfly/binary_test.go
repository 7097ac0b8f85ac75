package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/node"
)

// binary is the program, built once for all tests here.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "mayfly")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "mayfly")
		build := exec.Command("go", "build", "-o", binary, ".")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// mayfly runs the program to its end.
func mayfly(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// A server is the program serving.
type server struct {
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	block  string // what it printed at the start
}

// serve starts the program and waits for its first words.
func serve(t *testing.T, args ...string) *server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return started(t, exec.CommandContext(ctx, binary, args...))
}

// started starts a command that serves and waits for its first words.
func started(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{cmd: cmd, stderr: new(bytes.Buffer)}
	s.cmd.Stderr = s.stderr
	s.cmd.Env = append(os.Environ(), "MAYFLY_MONGO=127.0.0.1:0") // unless a flag says otherwise
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if limit, ok := t.Deadline(); ok { // then the test program breaks off, and no cleanup runs
		kill := time.AfterFunc(time.Until(limit)-10*time.Second, func() { s.cmd.Process.Kill() })
		t.Cleanup(func() { kill.Stop() })
	}
	lines := bufio.NewReader(out)
	for !strings.Contains(s.block, "Ctrl-C") {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.cmd.Wait()
			t.Fatalf("ended before it was ready: %s%s", s.block, s.stderr)
		}
		s.block += line
	}
	return s
}

// address finds a URL of the start block by the first word of its line.
func (s *server) address(t *testing.T, word string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^  ` + word + ` +(http\S+)$`).FindStringSubmatch(s.block)
	if found == nil {
		t.Fatalf("no %s in\n%s", word, s.block)
	}
	return found[1]
}

// stop asks the program to end and wants it to do so cleanly.
func (s *server) stop(t *testing.T, with os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(with); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v: %v\n%s", with, err, s.stderr)
	}
}

func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestClusterSettings starts with settings that do not fit a cluster, which is not asked before they do.
func TestClusterSettings(t *testing.T) {
	const nobody = "--engine=tikv://127.0.0.1:1"
	for want, args := range map[string][]string{
		"give the same --key to all of them":    {"--nosql-tls=off"},
		"give --nosql-tls CERT.pem,KEY.pem, or": {"--key=a2V5"},
		"leave --clock=virtual out":             {"--key=a2V5", "--nosql-tls=off", "--clock=virtual"},
	} {
		code, out := mayfly(t, append([]string{"serve", nobody}, args...)...)
		if code != exitUsage || !strings.Contains(out, want) || strings.Contains(out, "TiKV client") {
			t.Errorf("%q: exit %d, want %d and %q\n%s", args, code, exitUsage, want, out)
		}
	}
}

func TestServeInMemory(t *testing.T) {
	s := serve(t, "--memory", "--nosql=127.0.0.1:0", "--admin=127.0.0.1:0", "--log-level=debug")
	for _, want := range []string{"the well-known emulator key", "in memory", "https://localhost:"} {
		if !strings.Contains(s.block, want) {
			t.Errorf("no %q in\n%s", want, s.block)
		}
	}
	if strings.Contains(s.address(t, "NoSQL"), ":0/") {
		t.Errorf("port 0 is no address:\n%s", s.block)
	}
	plain := s.address(t, "")
	if code, body := fetch(t, plain+"_mayfly/ca.pem"); code != 200 || !strings.Contains(body, "BEGIN CERTIFICATE") {
		t.Errorf("authority: %d %s", code, body)
	}
	if code, _ := fetch(t, plain+"dbs"); code != http.StatusUnauthorized {
		t.Errorf("without credentials: %d, want 401", code)
	}
	if code, _ := fetch(t, plain); code != 200 { // D-82: everybody knows the key
		t.Errorf("the account without credentials: %d, want 200", code)
	}
	if code, body := fetch(t, s.address(t, "Admin")+"readyz"); code != 200 {
		t.Errorf("ready: %d %s", code, body)
	}
	s.stop(t, syscall.SIGTERM)
	if all := s.block + s.stderr.String(); strings.Contains(all, node.WellKnownKey) {
		t.Errorf("the key is printed:\n%s", all)
	}
}

func TestClockCommands(t *testing.T) {
	s := serve(t, "serve", "--memory", "--nosql=", "--admin=127.0.0.1:0", "--clock=virtual=2026-03-01T12:00:00Z")
	admin := "--admin=" + strings.TrimSuffix(strings.TrimPrefix(s.address(t, "Admin"), "http://"), "/")
	steps := []struct {
		name string
		args []string
		code int
		out  string
	}{
		{"show", []string{"clock", "show"}, exitOK, "2026-03-01T12:00:00Z"},
		{"advance", []string{"clock", "advance", "24h"}, exitOK, "2026-03-02T12:00:00Z"},
		{"set", []string{"clock", "set", "2026-04-01T00:00:00Z"}, exitOK, "2026-04-01T00:00:00Z"},
		{"set back", []string{"clock", "set", "2026-03-01T00:00:00Z"}, exitFailed, "forward only"},
		{"no duration", []string{"clock", "advance", "soon"}, exitUsage, "soon"},
		{"as JSON", []string{"clock", "show", "--json"}, exitOK, `"virtual": true`},
	}
	for _, admin := range []string{s.address(t, "Admin"), strings.TrimSuffix(s.address(t, "Admin"), "/")} {
		if code, out := mayfly(t, "clock", "show", "--admin", admin); code != exitOK ||
			!strings.Contains(out, "2026-03-01T12:00:00Z") {
			t.Errorf("at %s: exit %d, %s", admin, code, out)
		}
	}
	for _, step := range steps {
		code, out := mayfly(t, append(step.args, admin)...)
		if code != step.code || !strings.Contains(out, step.out) {
			t.Errorf("%s: exit %d, %s, want %d with %q", step.name, code, out, step.code, step.out)
		}
	}
	s.stop(t, os.Interrupt)
}

func TestDataFolder(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"--data", data, "--nosql=127.0.0.1:0", "--admin=127.0.0.1:0"}
	s := serve(t, args...)
	if !strings.Contains(s.block, data) {
		t.Errorf("no data folder in\n%s", s.block)
	}
	authority := filepath.Join(data, "tls", "ca.pem")
	before, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}

	if code, out := mayfly(t, args...); code != exitFailed || !strings.Contains(out, "in use") {
		t.Errorf("second process: exit %d, %s, want %d and a reason", code, out, exitFailed)
	}
	if code, out := mayfly(t, "check", "--data", data); code != exitFailed || !strings.Contains(out, "in use") {
		t.Errorf("check of a running one: exit %d, %s, want %d and a reason", code, out, exitFailed)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()

	if code, out := mayfly(t, "check", "--data", data); code != exitOK || !strings.Contains(out, "0 problems") {
		t.Errorf("check after a kill: exit %d, %s", code, out)
	}
	if code, out := mayfly(t, "check", "--json", "--data", data); code != exitOK ||
		!strings.Contains(out, `"problems": []`) {
		t.Errorf("check as JSON: exit %d, %s", code, out)
	}
	s = serve(t, args...)
	s.stop(t, syscall.SIGTERM)
	after, err := os.ReadFile(authority)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the authority changed with a restart, error %v", err)
	}
}

func TestKeyIsMadeForOtherMachines(t *testing.T) {
	data := t.TempDir()
	s := serve(t, "--data", data, "--nosql=0.0.0.0:0", "--nosql-tls=off", "--admin=", "--log-level=debug")
	defer s.stop(t, syscall.SIGTERM)
	path := filepath.Join(data, "account.key")
	for _, want := range []string{path, "other machines can reach it, at port "} {
		if !strings.Contains(s.block, want) {
			t.Errorf("no %q in\n%s", want, s.block)
		}
	}
	key, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if all := s.block + s.stderr.String(); strings.Contains(all, strings.TrimSpace(string(key))) {
		t.Errorf("the key is printed:\n%s", all)
	}
}

func TestEmulatorSaysWhatItIs(t *testing.T) {
	everywhere := []string{"--nosql=0.0.0.0:0", "--mongo=0.0.0.0:0", "--admin=0.0.0.0:0"}
	for _, c := range []struct {
		name string
		args []string
		want []string // in the greeting
		log  string
	}{
		{"on every address", everywhere, []string{"the well-known emulator key", "needs no password",
			"This is an emulator, for development. Anyone who can reach it can read, change and delete everything."},
			"this mayfly is an emulator, for development"},
		{"with a key", append(everywhere, "--key="+strings.Repeat("k", 43)+"="),
			[]string{"as given", "any user name works",
				"This is an emulator, for development. Clients need the key."},
			"this mayfly is an emulator, for development"},
		{"on this machine", []string{"--nosql=127.0.0.1:0", "--admin="}, []string{"Only this machine can reach it."},
			"this mayfly is an emulator, for development"},
	} {
		s := serve(t, append(c.args, "serve", "--emulator", "--memory")...)
		for _, want := range c.want {
			if !strings.Contains(s.block, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, s.block)
			}
		}
		s.stop(t, syscall.SIGTERM)
		if !strings.Contains(s.stderr.String(), c.log) {
			t.Errorf("%s: no %q in\n%s", c.name, c.log, s.stderr)
		}
	}
}

func TestVirtualClockSurvivesAKill(t *testing.T) {
	args := []string{"--data", t.TempDir(), "--nosql=", "--admin=127.0.0.1:0", "--clock=virtual=2026-03-01T12:00:00Z"}
	s := serve(t, args...)
	admin := "--admin=" + strings.TrimSuffix(strings.TrimPrefix(s.address(t, "Admin"), "http://"), "/")
	if code, out := mayfly(t, "clock", "advance", "48h", admin); code != exitOK {
		t.Fatalf("advance: exit %d, %s", code, out)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
	s = serve(t, args...)
	defer s.stop(t, syscall.SIGTERM)
	if !strings.Contains(s.block, "2026-03-03T12:00:00Z") {
		t.Errorf("the clock fell back:\n%s", s.block)
	}
}

func TestRealClockThatStandsStillSaysSo(t *testing.T) {
	args := []string{"--data", t.TempDir(), "--nosql=", "--admin=127.0.0.1:0"}
	serve(t, append(args, "--clock=virtual=2150-01-01T00:00:00Z")...).stop(t, syscall.SIGTERM)
	s := serve(t, args...)
	if want := "  Clock   real, but stands still at 2150-01-01T00:00:00Z until this machine's clock reaches that time"; !strings.Contains(s.block, want) {
		t.Errorf("no %q in\n%s", want, s.block)
	}
	if code, body := fetch(t, s.address(t, "Admin")+"clock"); code != 200 ||
		!strings.Contains(body, `"standsStill":true`) {
		t.Errorf("clock: %d %s", code, body)
	}
	code, out := mayfly(t, "clock", "show", "--admin", s.address(t, "Admin"))
	if code != exitOK || !strings.Contains(out, "stands still") {
		t.Errorf("clock show: exit %d, %s", code, out)
	}
	s.stop(t, os.Interrupt)
}

func TestRefusedCredentialsSayHowToGiveThem(t *testing.T) {
	key := strings.Repeat("A", 86) + "=="
	s := serve(t, "--memory", "--nosql=", "--admin=0.0.0.0:0", "--key", key)
	defer s.stop(t, os.Interrupt)
	admin := s.address(t, "Admin")
	if code, out := mayfly(t, "clock", "show", "--admin", admin); code != exitRefused ||
		!strings.Contains(out, "--key or MAYFLY_KEY") {
		t.Errorf("without the key: exit %d, %s", code, out)
	}
	if code, out := mayfly(t, "clock", "show", "--admin", admin, "--key", key); code != exitOK {
		t.Errorf("with the key: exit %d, %s", code, out)
	}
}

// hang begins a request that does not end by itself: its body is missing.
func (s *server) hang(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.Trim(s.address(t, "Admin"), "htp:/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	io.WriteString(conn,
		"POST /clock/advance HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 18\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n') // sent when the handler asks for the body
	if err != nil || !strings.Contains(line, "100") {
		t.Fatalf("%q, error %v, want the request to be under way", line, err)
	}
	return conn
}

// TestSignalsAtOnceAreOne is what coreutils' timeout does to a program that it
// has started in a group of its own.
func TestSignalsAtOnceAreOne(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0", "--clock=virtual")
	conn := s.hang(t)
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, os.Interrupt} {
		if err := s.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	io.WriteString(conn, `{"duration": "1s"}`)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, s.stderr)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0", "--clock=virtual")
	s.hang(t)
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	for again := time.Tick(300 * time.Millisecond); ; {
		s.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-again:
			continue
		case <-ended:
		}
		break
	}
	if code := s.cmd.ProcessState.ExitCode(); code != exitFailed ||
		!strings.Contains(s.stderr.String(), "ended by a second signal") {
		t.Errorf("exit %d, want %d and why\n%s", code, exitFailed, s.stderr)
	}
}
