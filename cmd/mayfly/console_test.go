package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var rewrite = flag.Bool("rewrite", false,
	"write what the program prints now into docs/command-line.md; read the difference")

const consolePage = "docs/command-line.md"

var (
	console      = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	commandTable = regexp.MustCompile(`(?s)(<!-- commands -->\n).*(<!-- end -->)`)
)

// TestCommandLinePage types what the page shows, against one mayfly in memory with a virtual clock, and expects what
// the page shows below each command. It also holds the table of commands to the program.
func TestCommandLinePage(t *testing.T) {
	needTools(t, "sh")
	dir := t.TempDir()
	addresses, stop, err := start(dir, forStory(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop() })
	admin := strings.TrimSuffix(strings.TrimPrefix(addresses["Admin"], "http://"), "/")
	enter := func(command string) string {
		shell := exec.CommandContext(t.Context(), "sh", "-c", command)
		shell.Dir = dir
		shell.Env = append(os.Environ(), "COLUMNS=100", "PAGER=cat", "MAYFLY_ADMIN="+admin,
			"PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	old, _ := page(t, consolePage)
	text := console.ReplaceAllStringFunc(old, func(block string) string {
		var b strings.Builder
		b.WriteString("```console\n")
		for _, command := range commandsIn(console.FindStringSubmatch(block)[1]) {
			b.WriteString("$ " + strings.ReplaceAll(command, "\n", "\n> ") + "\n" + enter(command))
		}
		return b.String() + "```"
	})
	text = commandTable.ReplaceAllString(text, "${1}"+strings.ReplaceAll(tableOfCommands(), "$", "$$")+"${2}")
	if text == old {
		return
	}
	if !*rewrite {
		t.Fatalf("%s is not what the program prints: go test ./cmd/mayfly -run CommandLinePage -rewrite; it would "+
			"be\n%s", consolePage, text)
	}
	if err := os.WriteFile(filepath.Join("..", "..", consolePage), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commandsIn are the commands of a block: lines that begin with $, and lines that continue them and begin with >.
func commandsIn(block string) (commands []string) {
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, command)
		} else if more, ok := strings.CutPrefix(line, "> "); ok && len(commands) > 0 {
			commands[len(commands)-1] += "\n" + more
		}
	}
	return commands
}

// tableOfCommands lists every command that does something, in the groups of the help.
func tableOfCommands() string {
	var b strings.Builder
	root := command{}.root()
	for _, group := range groups {
		fmt.Fprintf(&b, "### %s\n\n| command | does |\n|---|---|\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				writeRows(&b, cmd)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func writeRows(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasSubCommands() {
		use := strings.ReplaceAll(strings.TrimSuffix(cmd.UseLine(), " [flags]"), "|", `\|`)
		fmt.Fprintf(b, "| `%s` | %s |\n", use, strings.ReplaceAll(cmd.Short, "|", `\|`))
	}
	for _, sub := range cmd.Commands() {
		writeRows(b, sub)
	}
}

// Every command has a line and an example or a family that has one, and --json unless it serves.
func TestCommandsAreExplained(t *testing.T) {
	var visit func(cmd *cobra.Command, examples bool)
	visit = func(cmd *cobra.Command, examples bool) {
		examples = examples || cmd.Example != "" || cmd.Long != ""
		for _, sub := range cmd.Commands() {
			visit(sub, examples)
		}
		name := cmd.CommandPath()
		switch {
		case cmd.Name() == "help":
		case cmd.Short == "" && cmd.HasParent():
			t.Errorf("%s has no line of help", name)
		case !cmd.HasSubCommands() && !examples && cmd.Name() != "version":
			t.Errorf("%s has neither an example nor a longer text", name)
		case !cmd.HasSubCommands() && cmd.Name() != "serve" && cmd.Flags().Lookup("json") == nil:
			t.Errorf("%s has no --json", name)
		}
	}
	visit(command{}.root(), false)
}
