package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/transfer"
)

// A breaker stands between a command and the admin API of a mayfly. It ends the command when a certain chunk has been
// written, and before its answer arrives.
type breaker struct {
	*httptest.Server
	left    atomic.Int64 // chunks until then
	command atomic.Pointer[os.Process]
}

func newBreaker(t *testing.T, admin string) *breaker {
	t.Helper()
	to, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	b := &breaker{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(answer *http.Response) error {
		if strings.HasSuffix(answer.Request.URL.Path, "/import") && b.left.Add(-1) == 0 {
			return b.command.Load().Kill()
		}
		return nil
	}
	b.Server = httptest.NewServer(proxy)
	t.Cleanup(b.Close)
	return b
}

// runs runs a command that is killed behind so many chunks.
func (b *breaker) runs(t *testing.T, chunks int64, args ...string) string {
	t.Helper()
	var text strings.Builder
	cmd := exec.CommandContext(t.Context(), binary, append(args, "--admin="+b.URL)...)
	cmd.Stdout, cmd.Stderr = &text, &text
	b.left.Store(chunks)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.command.Store(cmd.Process)
	if err := cmd.Wait(); err == nil {
		t.Fatalf("the command came to its end: %s", text.String())
	}
	return text.String()
}

// numbered writes a file of documents without ids.
func numbered(t *testing.T, path string, count int) string {
	t.Helper()
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "{\"n\":%d}\n", i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestImportOfSeveralParts interrupts imports of several files, and of a folder of mongodump, in their second part. The
// same command goes on there, and nothing is there twice or rejected.
func TestImportOfSeveralParts(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	s.makeCarts(t)
	admin := "--admin=" + s.address(t, "Admin")
	b := newBreaker(t, s.address(t, "Admin"))
	dir := t.TempDir()
	one := numbered(t, filepath.Join(dir, "one.jsonl"), 6_000)
	two := numbered(t, filepath.Join(dir, "two.jsonl"), 12_000)
	dump := filepath.Join(dir, "dump")
	for _, c := range []struct {
		name      string
		args      []string
		container string
		want      string
		documents int
	}{
		{"files", []string{"import", one, two, "--to=shop/carts", "--generate-id"}, "shop/carts",
			"shop/carts: 6000 documents: 6000 written, by the command that was interrupted\n" +
				"shop/carts: 12000 documents: 7000 written, 5000 skipped, as they are there\n", 18_000},
		{"a folder of mongodump", []string{"import", dump, "--to=copy"}, "copy/twice",
			"copy/carts: 18000 documents: 18000 written, by the command that was interrupted\n" +
				"copy/twice: 18000 documents: 13000 written, 5000 skipped, as they are there\n", 18_000},
	} {
		chunks := int64(2 + 2)
		if c.container == "copy/twice" {
			chunks = 4 + 2
			s.post(t, "_mayfly/v1/databases/shop/containers", strings.ReplaceAll(carts, `"carts"`, `"twice"`), 201)
			patientOK(t, "export", "shop/carts", filepath.Join(dir, "all.jsonl"), admin)
			patientOK(t, "import", filepath.Join(dir, "all.jsonl"), "--to=shop/twice", admin)
			for _, name := range []string{"shop/carts", "shop/twice"} {
				patientOK(t, "export", name, dump+"/", "--format=bson", admin)
			}
		}
		b.runs(t, chunks, c.args...)
		if text := patientOK(t, append(c.args, admin)...); text != c.want {
			t.Errorf("%s: the second run says\n%swant\n%s", c.name, text, c.want)
		}
		text := patientOK(t, "export", c.container, filepath.Join(dir, "out.jsonl"), admin)
		if !strings.Contains(text, fmt.Sprintf(": %d documents", c.documents)) {
			t.Errorf("%s: %s, want %d documents", c.name, text, c.documents)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.mayfly-import"))
		if more, _ := filepath.Glob(filepath.Join(dir, "*.mayfly-import")); err != nil || len(left)+len(more) > 0 {
			t.Errorf("%s: checkpoints are left: %v %v", c.name, left, more)
		}
	}
}

// patientOK runs the program to its successful end.
func patientOK(t *testing.T, args ...string) string {
	t.Helper()
	code, text := patient(t, args...)
	if code != 0 {
		t.Fatalf("%v: %d %s", args, code, text)
	}
	return text
}

// TestCheckpointNames names the checkpoints of collections whose names are no names of files.
func TestCheckpointNames(t *testing.T) {
	dir, long := t.TempDir(), strings.Repeat("é", 110)
	seen := map[string]bool{}
	for _, c := range []struct {
		file, collection string
		format           transfer.Format
	}{
		{"x.archive", "carts", transfer.Archive}, {"x.archive", "a/b & c", transfer.Archive},
		{"x.archive", long + "1", transfer.Archive}, {"x.archive", long + "2", transfer.Archive},
		{"a%2Fb.bson", "a/b", transfer.BSON}, {long + ".bson", long, transfer.BSON},
	} {
		part := importPart{suffix: ".shop." + c.collection, source: transfer.SourceOptions{Format: c.format}}
		path := part.checkpoint(filepath.Join(dir, c.file))
		if seen[path] || filepath.Dir(path) != dir {
			t.Errorf("%s of %s: %s", c.collection, c.file, path)
		}
		seen[path] = true
		if err := os.WriteFile(path+".1234567890", nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// TestImportPartsAreCheckedFirst imports nothing when one of several parts cannot be imported, and everything else when
// some documents of a part are rejected.
func TestImportPartsAreCheckedFirst(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	s.makeCarts(t)
	admin := "--admin=" + s.address(t, "Admin")
	dir := t.TempDir()
	write := writesTo(t, dir)
	one, bad := write("one.jsonl", "{\"id\":\"a\"}\n"), write("bad.jsonl", "{\"id\":\"b\"}\n{\"id\":\"c\",\"ttl\":0}\n")
	three := write("three.jsonl", "{\"id\":\"d\"}\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"a missing file", []string{one, dir + "/none.jsonl"}, 1, "no such file"},
		{"the same file twice", []string{one, dir + "/./one.jsonl"}, 2, "is there twice"},
		{"no archive", []string{one, bad, "--format=archive"}, 2, "names no container"},
		{"no parts were imported before", []string{one, bad, three}, 1,
			"bad.jsonl: 1 documents were rejected; --reject FILE collects them\n  document 2: The ttl 0"},
		{"the others were", []string{one, bad, three, "--on-conflict=skip"}, 1,
			"shop/carts: 1 documents: 0 written, 1 skipped, as they are there\n" +
				"shop/carts: 2 documents: 0 written, 1 skipped, as they are there, 1 rejected\n" +
				"shop/carts: 1 documents: 0 written, 1 skipped, as they are there\n"},
	} {
		to := "--to=shop/carts"
		if c.code == 2 && strings.Contains(c.want, "container") {
			to = "--to=shop/"
		}
		code, text := mayfly(t, append([]string{"import", to, admin}, c.args...)...)
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s, want %d with %q", c.name, code, text, c.code, c.want)
		}
	}
}

// TestImportOfTheStandardInput interrupts imports of an archive that arrives on the standard input, which has no name
// by which an import could go on. The command says so; with a checkpoint it goes on if the input is the same.
func TestImportOfTheStandardInput(t *testing.T) {
	s := serve(t, "--memory", "--nosql=", "--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	s.makeCarts(t)
	admin := "--admin=" + s.address(t, "Admin")
	dir := t.TempDir()
	one := numbered(t, filepath.Join(dir, "one.jsonl"), 12_000)
	patientOK(t, "import", one, "--to=shop/carts", "--generate-id", admin)
	archive, other := filepath.Join(dir, "x.archive"), filepath.Join(dir, "other.archive")
	patientOK(t, "export", "shop/carts", archive, admin)
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1]++ // another archive of the same length
	if err := os.WriteFile(other, text, 0o600); err != nil {
		t.Fatal(err)
	}
	temporary := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	from, lost := newBreaker(t, s.address(t, "Admin")), newLoser(t, s.address(t, "Admin"))
	checkpoint := "--checkpoint=" + filepath.Join(dir, "checkpoint")
	for _, c := range []struct {
		name    string
		through string // the admin address
		input   string
		args    []string
		code    int
		want    string
	}{
		{"the second answer is lost", lost.URL, archive, []string{"--to=a"}, 3,
			"the same command begins anew, and would reject them, because their ids are taken: add --on-conflict skip"},
		{"skip", s.address(t, "Admin"), archive, []string{"--to=a", "--on-conflict=skip"}, 0,
			"a/carts: 12000 documents: 2000 written, 10000 skipped, as they are there\n"},
		{"with a checkpoint", lost.URL, archive, []string{"--to=b/carts", checkpoint}, 3, "run the same command again"},
		{"another archive", from.URL, other, []string{"--to=b/carts", checkpoint}, 1, "checkpoint of another import"},
		{"the same archive", from.URL, archive, []string{"--to=b/carts", checkpoint}, 0,
			"b/carts: 12000 documents: 7000 written, 5000 skipped"},
	} {
		lost.left.Store(2)
		in, err := os.Open(c.input)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"import", "-", "--format=archive",
			"--admin=" + c.through}, c.args...)...)
		cmd.Stdin, cmd.Env = in, append(os.Environ(), "TMPDIR="+temporary)
		text, _ := cmd.CombinedOutput()
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %d %s, want %d with %q", c.name, code, text, c.code, c.want)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}

// newLoser is a breaker that loses the answer instead of ending the command.
func newLoser(t *testing.T, admin string) *breaker {
	t.Helper()
	b := newBreaker(t, admin)
	proxy := b.Config.Handler.(*httputil.ReverseProxy)
	proxy.ModifyResponse = func(answer *http.Response) error {
		if strings.HasSuffix(answer.Request.URL.Path, "/import") && b.left.Add(-1) == 0 {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	return b
}
