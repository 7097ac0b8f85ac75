package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A fence is a block of code in the README.
type fence struct{ language, text string }

func readme(t *testing.T) (text string, fences []fence) {
	t.Helper()
	content, err := os.ReadFile("../../README.md")
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
		t.Fatalf("the README has no shell with %q", text)
	}
	return fences[i].text, fences[i+1].text
}

// TestReadmeSession types the README's session with curl, against a mayfly
// started with the README's flags, and expects what the README shows, where … is anything.
func TestReadmeSession(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	_, fences := readme(t)
	command, greeting := after(t, fences, "go run ./cmd/mayfly --memory")
	flags := strings.Fields(command)[len(strings.Fields("go run ./cmd/mayfly")):]
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
		t.Errorf("the session printed\n%s\nthe README has\n%s", got, want)
	}
	s.stop(t, os.Interrupt)
}

// sameGreeting compares the first words of the program with the README's,
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
		t.Errorf("mayfly greets with\n%s\nthe README has\n%s", got, want)
	}
}

// settingsPage is docs/settings.md.
func settingsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSettingsPage holds the table of flags in docs/settings.md to the settings.
func TestSettingsPage(t *testing.T) {
	text := settingsPage(t)
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
		t.Errorf("the table in docs/settings.md has\n%s\nthe settings are\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCommandsPage(t *testing.T) {
	text := settingsPage(t)
	for _, sub := range (command{}).root().Commands() {
		if row := "`mayfly " + sub.Name(); sub.Name() != "help" && !strings.Contains(text, row) {
			t.Errorf("the table in docs/settings.md has no row with %s`", row)
		}
	}
}
