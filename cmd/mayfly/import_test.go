package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

var moved = flag.Int("moved", 20_000, "items that TestMoveKilled imports and exports")

// post sends JSON to the admin API.
func (s *server) post(t *testing.T, path, body string, want int) {
	t.Helper()
	response, err := http.Post(s.address(t, "Admin")+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != want {
		t.Fatalf("%s: %s, want %d", path, response.Status, want)
	}
}

const carts = `{"id":"carts","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1}`

func (s *server) makeCarts(t *testing.T) {
	t.Helper()
	s.post(t, "_mayfly/v1/databases", `{"id":"shop"}`, http.StatusCreated)
	s.post(t, "_mayfly/v1/databases/shop/containers", carts, http.StatusCreated)
}

// TestMoveKilled imports items in no order of their stamps, while it kills the command and the server at random
// moments. The command that runs again goes on, and in the end the export has every item once, byte for byte, with its
// life.
func TestMoveKilled(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
	want, mortal := writeCarts(t, in, *moved, now.Unix(), rng)

	args := []string{"--data=" + filepath.Join(dir, "data"), "--nosql=", "--admin=127.0.0.1:0",
		"--clock=virtual=" + now.Format(time.RFC3339)}
	s := started(t, exec.CommandContext(t.Context(), binary, args...))
	s.makeCarts(t)
	kills, watch := 0, clock.Start()
	span := time.Duration(*moved) * 30 * time.Microsecond
	for {
		cmd := exec.CommandContext(t.Context(), binary, "import", in, "--to=shop/carts", "--stamps=keep",
			"--admin="+s.address(t, "Admin"))
		var text strings.Builder
		cmd.Stdout, cmd.Stderr = &text, &text
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		server := kills%2 == 1
		if kills < 6 {
			if err := clock.Pause(t.Context(), time.Duration(rng.Int64N(int64(span)))); err != nil {
				t.Fatal(err)
			}
			victim := cmd.Process
			if server {
				victim = s.cmd.Process
			}
			if err := victim.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
		kills++
		err := cmd.Wait()
		if server && kills <= 6 {
			_ = s.cmd.Wait()
			s = started(t, exec.CommandContext(t.Context(), binary, args...))
		}
		if err == nil {
			t.Logf("%s after %v", strings.TrimSpace(text.String()), watch.Elapsed())
			break
		}
		if kills > 6 {
			t.Fatalf("%v: %s", err, text.String())
		}
	}
	if _, err := os.Stat(in + ".mayfly-import"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the checkpoint is left: %v", err)
	}
	watch = clock.Start()
	admin := "--admin=" + s.address(t, "Admin")
	code, text := patient(t, "export", "shop/carts", out, admin)
	t.Logf("%s after %v", strings.TrimSpace(text), watch.Elapsed())
	got, err := os.ReadFile(out)
	if code != 0 || err != nil {
		t.Fatalf("export: %d %s %v", code, text, err)
	}
	if string(got) != want {
		t.Errorf("%d bytes came out, %d went in", len(got), len(want))
	}
	for _, c := range []struct {
		after string
		count int
	}{{"59s", *moved}, {"1s", *moved - mortal}} {
		if code, text := patient(t, "clock", "advance", c.after, admin); code != 0 {
			t.Fatalf("%d %s", code, text)
		}
		if code, text := patient(t, "export", "shop/carts", out, admin); code != 0 ||
			!strings.Contains(text, fmt.Sprintf(" %d documents", c.count)) {
			t.Errorf("%s later: %d %s, want %d", c.after, code, text, c.count)
		}
	}
	s.stop(t, syscall.SIGTERM)
	if code, text := patient(t, "check", "--data="+filepath.Join(dir, "data")); code != 0 {
		t.Errorf("check: %d %s", code, text)
	}
}

// patient runs the program to its end, however long that takes.
func patient(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// writeCarts writes items in no order, and returns them in the order of their stamps, and how many of them end a minute
// after now.
func writeCarts(t *testing.T, path string, count int, now int64, rng *rand.Rand) (want string, mortal int) {
	t.Helper()
	type item struct {
		stamp int64
		line  string
	}
	items := make([]item, count)
	for i := range items {
		stamp, ttl := now-rng.Int64N(1_000_000), int64(-1)
		if i%10 == 0 {
			ttl = now - stamp + 60
			mortal++
		}
		items[i] = item{stamp,
			fmt.Sprintf(`{"id":"item-%d","pk":"p%d","n":%d,"tags":["red","green"],"address":{"city":"city `+
				`%d","zip":"%05d"},"text":"%s","ttl":%d,"_ts":%d}`, i, i%1000, i, i%500, i%99_999,
				strings.Repeat("lorem ipsum ", 10),
				ttl,
				stamp)}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for _, x := range items {
		fmt.Fprintln(w, x.line)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(items, func(a, b item) int { return int(a.stamp - b.stamp) })
	var sorted strings.Builder
	for _, x := range items {
		sorted.WriteString(x.line + "\n")
	}
	return sorted.String(), mortal
}

// writesTo returns a function that writes a text to a file of a folder, and gives its path.
func writesTo(t *testing.T, dir string) func(name, text string) string {
	return func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

func TestImportCommand(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	s.makeCarts(t)
	admin := "--admin=" + s.address(t, "Admin")
	dir := t.TempDir()
	write := writesTo(t, dir)
	some := write("some.jsonl", "{\"id\":\"a\",\"pk\":\"p\"}\n{\"id\":\"b\",\"ttl\":0}\n")
	rejects := filepath.Join(dir, "rejects.jsonl")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no target", []string{"import", some}, 2, "--to is missing"},
		{"no container", []string{"import", some, "--to=shop"}, 2, "names no container"},
		{"unknown container", []string{"import", some, "--to=shop/x"}, 5, "shop"},
		{"unknown stamps", []string{"import", some, "--to=shop/carts", "--stamps=old"}, 2, "neither keep nor new"},
		{"unknown file", []string{"import", some + "x", "--to=shop/carts"}, 1, "no such file"},
		{"a line is wrong", []string{"import", some, "--to=shop/carts"}, 1, "document 2: The ttl 0 is no life span"},
		{"wrong lines are collected",
			[]string{"import", some, "--to=shop/carts", "--on-conflict=skip", "--reject=" + rejects}, 0,
			"0 written, 1 skipped, as they are there, 1 rejected"},
		{"as JSON",
			[]string{"import", some, "--to=shop/carts", "--on-conflict=replace", "--reject=" + rejects, "--json"}, 0,
			`"replaced": 1`},
		{"CSV", []string{"import", write("x.csv", "id,n\nc,7\n"), "--to=shop/carts"}, 0, "1 written"},
		{"a dump of nothing", []string{"import", dir, "--to=shop"}, 1, "has no dump"},
		{"export", []string{"export", "shop/carts"}, 0, `{"id":"c","n":7,"_ts":`},
		{"export of what does not exist", []string{"export", "shop/x"}, 5, "shop"},
		{"export as CSV", []string{"export", "shop/carts", "--format=csv", "--fields=id,n"}, 0, "id,n\na,\nc,7\n"},
		{"export as an archive", []string{"export", "shop/carts", filepath.Join(dir, "x.archive")}, 0, "2 documents"},
		{"export as BSON", []string{"export", "shop/carts", dir + "/dump/", "--format=bson"}, 0, "2 documents"},
		{"import of an archive", []string{"import", filepath.Join(dir, "x.archive"), "--to=other"}, 0,
			"other/carts: 2 documents: 2 written"},
		{"import of a dump", []string{"import", dir + "/dump", "--to=third/cart"}, 0,
			"third/cart: 2 documents: 2 written"},
		{"export of that", []string{"export", "third/cart"}, 0, `"id":"a","pk":"p","$ts":`},
	} {
		code, text := mayfly(t, append(c.args, admin)...)
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s, want %d with %q", c.name, code, text, c.code, c.want)
		}
	}
	if text, err := os.ReadFile(rejects); err != nil ||
		!strings.Contains(string(text), `"line":2,"reason":"The ttl 0`) {
		t.Errorf("rejects: %s %v", text, err)
	}
}
