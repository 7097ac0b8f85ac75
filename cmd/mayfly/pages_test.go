package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A fence is a block of code in a page.
type fence struct{ language, text string }

// page reads a page of the repository, named from its root.
func page(t *testing.T, name string) (text string, fences []fence) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(string(content), -1) {
		fences = append(fences, fence{m[1], m[2]})
	}
	return string(content), fences
}

// after finds the block of a shell with such a text, and the block that follows it.
func after(t *testing.T, fences []fence, text string) (script, next string) {
	t.Helper()
	i := slices.IndexFunc(fences, func(f fence) bool { return f.language == "sh" && strings.Contains(f.text, text) })
	if i < 0 || i+1 == len(fences) {
		t.Fatalf("the page has no shell with %q", text)
	}
	return fences[i].text, fences[i+1].text
}

// needTools skips a test of a machine that lacks a tool. In CI, where nothing may be missing, the test fails.
func needTools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skipf("skipped: %v", err)
		}
	}
}

// TestRESTSession types the session of docs/rest.md, against a mayfly started
// with the flags of that page, and expects what the page shows, where … is anything.
func TestRESTSession(t *testing.T) {
	needTools(t, "sh", "curl", "openssl")
	_, fences := page(t, "docs/rest.md")
	command, greeting := after(t, fences, "mayfly --memory")
	flags := strings.Fields(command)[1:]
	s := serve(t, append(flags, "--nosql=127.0.0.1:0", "--admin=127.0.0.1:0")...)
	sameGreeting(t, s.block, greeting)

	function, _ := after(t, fences, "cosmos()")
	calls, want := after(t, fences, "cosmos POST")
	script := strings.NewReplacer(
		"http://localhost:8081/", s.address(t, ""),
		"http://localhost:8080/", s.address(t, "Admin"),
	).Replace(function + calls)
	shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	got, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", ".*")
	if !regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(string(got))) {
		t.Errorf("the session printed\n%s\nthe page has\n%s", got, want)
	}
	s.stop(t, os.Interrupt)
}

// TestGoProgram builds and runs the program of docs/go.md that opens a database.
func TestGoProgram(t *testing.T) {
	_, fences := page(t, "docs/go.md")
	i := slices.IndexFunc(fences, func(f fence) bool {
		return f.language == "go" && strings.HasPrefix(f.text, "package main") &&
			strings.Contains(f.text, "mayfly.Open")
	})
	if i < 0 {
		t.Fatal("docs/go.md has no program with mayfly.Open")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(fences[i].text), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, source)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), program)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "NoSQL: http") ||
		!strings.Contains(string(out), "MongoDB: mongodb://") {
		t.Errorf("%v\n%s", err, out)
	}
}

// sameGreeting compares the first words of the program with those of a page,
// apart from version, times and ports.
func sameGreeting(t *testing.T, got, want string) {
	t.Helper()
	plain := func(text string) string {
		for _, vary := range []string{`mayfly \S+, ready in \S+`, `localhost:\d+`, `\d{4}-\S+Z`} {
			text = regexp.MustCompile(vary).ReplaceAllString(text, "…")
		}
		return text
	}
	if plain(got) != plain(want) {
		t.Errorf("mayfly greets with\n%s\nthe page has\n%s", got, want)
	}
}

// TestSettingsPage holds the table of flags in docs/settings.md to the settings.
func TestSettingsPage(t *testing.T) {
	text, _ := page(t, "docs/settings.md")
	var got, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `--([^`]+)` \\| ([^|]*)\\| \\S").FindAllStringSubmatch(text, -1) {
		flag := strings.ReplaceAll(m[1], `\|`, "|")
		got = append(got, flag+", "+strings.Trim(m[2], " `"))
	}
	for _, s := range settings {
		flag, value := s.name, s.value
		if s.bare == "" {
			flag += " " + s.kind
		} else if value == "false" {
			value = "off"
		}
		want = append(want, flag+", "+value)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table in docs/settings.md has\n%s\nthe settings are\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

var (
	codeSpan    = regexp.MustCompile("`([^`\n]+)`")
	flagName    = regexp.MustCompile(`^--([a-z][a-z-]*)`)
	environment = regexp.MustCompile(`\bMAYFLY_[A-Z][A-Z0-9_]*`)
	anyFence    = regexp.MustCompile("(?ms)^```.*?^```$")
	// ourCall is a line of a shell that calls mayfly: by its name, by a path, from
	// a clone, or by running the image. What follows are its arguments.
	ourCall = regexp.MustCompile(`^(?:sudo +(?:-u +\S+ +)?)?(?:[A-Z_]+=\S+ +)*(?:mayfly|go run \./cmd/mayfly)((?: ` +
		`.*)?)$|(?:^|[ =])(?:\./|/usr/bin/|ghcr\.io/mayflydb/)mayfly(?::\S+)?( .*)?$`)
)

// TestPagesNameWhatExists holds every call of mayfly, every flag and every
// environment variable in the README and in docs to the program.
func TestPagesNameWhatExists(t *testing.T) {
	names := []string{"README.md", "CONTRIBUTING.md"}
	err := fs.WalkDir(os.DirFS("../.."), "docs", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	known := allFlags()
	for _, name := range names {
		text, fences := page(t, name)
		text = anyFence.ReplaceAllString(text, "")
		variables := environment.FindAllString(text, -1)
		for _, f := range fences {
			if f.language != "" { // else it is what a program prints, mistakes included
				variables = append(variables, environment.FindAllString(f.text, -1)...)
			}
			if f.language == "sh" || f.language == "ini" {
				for line := range strings.Lines(strings.ReplaceAll(f.text, "\\\n", " ")) {
					line, _, _ = strings.Cut(line, " #")
					if m := ourCall.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
						tryCall(t, name, m[1]+m[2])
					}
				}
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
			if args, ok := strings.CutPrefix(m[1], "mayfly "); ok {
				tryCall(t, name, args)
			} else if flag := flagName.FindStringSubmatch(m[1]); flag != nil && !slices.Contains(known, flag[1]) {
				t.Errorf("%s: mayfly has no flag --%s", name, flag[1])
			}
		}
		for _, variable := range variables {
			kubernetes := strings.HasPrefix(variable, "MAYFLY_SERVICE_") || strings.HasPrefix(variable, "MAYFLY_PORT")
			known := kubernetes || slices.Contains(copyVariables, variable) ||
				variable == "MAYFLY_TIKV" // of tests, see CONTRIBUTING.md
			if !known && !slices.ContainsFunc(settings, func(s setting) bool { return s.env() == variable }) {
				t.Errorf("%s: mayfly reads no variable %s", name, variable)
			}
		}
	}
}

// tryCall parses the arguments of a call as the program would.
func tryCall(t *testing.T, page, args string) {
	t.Helper()
	root := command{}.root()
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	root.InitDefaultCompletionCmd()
	words := strings.Fields(args)
	cmd, rest, err := root.Find(words)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: mayfly %s: %v", page, strings.Join(words, " "), err)
	}
}

// allFlags lists the flags of all commands.
func allFlags() (names []string) {
	names = []string{"help", "version"}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(command{}.root())
	return names
}
