//go:build commands

// Command mayfly, in this form, writes what cobra makes of mayfly's commands: manual pages and
// completions, into the folders man and completions of its first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra/doc"
)

func main() {
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(dir, version, date string) error {
	root := command{}.root()
	root.DisableAutoGenTag = true
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, made := range []string{man, completions} {
		if err := os.Mkdir(made, 0o755); err != nil {
			return err
		}
	}
	seconds, err := strconv.ParseInt(date, 10, 64)
	if err != nil {
		return err
	}
	at := time.Unix(seconds, 0).UTC()
	header := &doc.GenManHeader{Section: "1", Date: &at, Source: "mayfly " + version, Manual: "mayfly"}
	if err := doc.GenManTree(root, header, man); err != nil {
		return err
	}
	for name, f := range map[string]func(string) error{
		"mayfly.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_mayfly":     root.GenZshCompletionFile,
		"mayfly.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		"mayfly.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := f(filepath.Join(completions, name)); err != nil {
			return err
		}
	}
	return nil
}
