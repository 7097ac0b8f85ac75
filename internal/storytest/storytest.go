// Package storytest runs tests that are text: files of cases, each with the answer that is expected. The test gives the
// answers; the package reads the files, compares, and with -rewrite writes the answers that it got.
package storytest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false,
	"write the answers of now into the files of cases; read the difference before you believe it")

// Rewriting reports whether the test was called with -rewrite: answers are written, not compared.
func Rewriting() bool { return *rewrite }

// A Format says how a file is divided into cases, and a case into what is given and the answer. In both formats lines
// that begin with # are comments.
type Format struct{ between, answer string }

var (
	// Lines are cases of one line: what is given, " => ", the answer. Blank lines separate groups.
	Lines = Format{between: "\n", answer: " => "}

	// Blocks are cases with a blank line between them: lines of what is given, "----", lines of the answer.
	Blocks = Format{between: "\n\n", answer: "\n----\n"}
)

// An Answer gives the answer to what a case is given, without comments. It reports no case for what only prepares the
// cases below it in the file, such as a document that they share.
type Answer func(t *testing.T, given string) (answer string, isCase bool)

// Run runs every file that the pattern matches, as a subtest with the file's name. It calls begin once for each file,
// so that no state of one file reaches another. It fails if there is no file, or a file without a case.
func Run(t *testing.T, pattern string, f Format, begin func() Answer) {
	t.Helper()
	for _, file := range files(t, pattern) {
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			f.run(t, file, begin())
		})
	}
}

// Given lists what the cases of all files are given, as seeds of a fuzz test.
func Given(t testing.TB, pattern string, f Format) (list []string) {
	t.Helper()
	for _, file := range files(t, pattern) {
		for _, part := range f.parts(t, file) {
			if before, _, isCase := strings.Cut(part+"\n", f.answer); isCase {
				list = append(list, withoutComments(before))
			}
		}
	}
	return list
}

func files(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("no file is called %s: %v", pattern, err)
	}
	return list
}

// parts are the cases of a file, and what prepares them.
func (f Format) parts(t testing.TB, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), f.between)
}

func (f Format) run(t *testing.T, file string, answer Answer) {
	parts := f.parts(t, file)
	line, cases := 1, 0
	for i, part := range parts {
		at := line
		line += strings.Count(part+f.between, "\n")
		before, want, _ := strings.Cut(part+"\n", f.answer)
		given, want := withoutComments(before), strings.TrimRight(want, "\n")
		if given == "" {
			continue
		}
		got, isCase := answer(t, given)
		if !isCase {
			continue
		}
		cases++
		got = strings.TrimRight(got, "\n")
		parts[i] = strings.TrimRight(strings.TrimRight(before, "\n")+f.answer+got, "\n")
		if got != want && !*rewrite {
			t.Errorf("%s:%d:\n%s\ngot:\n%s\nwant:\n%s", file, at, given, got, want)
		}
	}
	if cases == 0 {
		t.Errorf("%s has no case", file)
	}
	if *rewrite {
		write(t, file, strings.Join(parts, f.between)+"\n")
	}
}

// withoutComments drops lines that begin with #, and blank lines at both ends.
func withoutComments(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			kept.WriteString(line)
		}
	}
	return strings.Trim(kept.String(), "\n")
}

// Section compares a part of a page, between the lines start and end, with what it has to be.
func Section(t *testing.T, file, start, end, want string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), start)
	got, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no %q with %q below it", file, start, end)
	case *rewrite:
		write(t, file, before+start+want+end+after)
	case got != want:
		t.Errorf("%s is not up to date: run this test again with -rewrite", file)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
