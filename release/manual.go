package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// documentation are the modules that cobra's package doc needs beside cobra. They are among the needs of
// this module, not of mayfly's.
var documentation = []string{
	"github.com/cpuguy83/go-md2man/v2", "github.com/russross/blackfriday/v2", "go.yaml.in/yaml/v3",
}

// writeManual writes manual pages and completions to the folders man and completions of r.work.
// The commands are in a package main, which cannot be imported: commands/main.go takes the place of
// its main function, in a build whose go.mod is mayfly's and the modules of documentation.
func (r *release) writeManual(ctx context.Context) error {
	modules, overlay := filepath.Join(r.work, "commands.mod"), filepath.Join(r.work, "overlay.json")
	program := filepath.Join(r.work, "commands")
	if err := r.writeModules(modules); err != nil {
		return err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(r.root, "cmd", "mayfly", "main.go"): filepath.Join(r.root, "release", "commands", "main.go"),
	}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return err
	}
	here := platform{runtime.GOOS, runtime.GOARCH}
	build := r.goCommand(ctx, r.root, here, "build", "-trimpath", "-modfile", modules, "-tags", "commands", "-overlay",
		overlay, "-o", program, "./cmd/mayfly")
	if _, err := output(build); err != nil {
		return err
	}
	_, err = output(exec.CommandContext(ctx, program, r.work, r.version, strconv.FormatInt(r.date.Unix(), 10)))
	return err
}

// writeModules writes mayfly's go.mod and go.sum, with documentation, beside each other.
func (r *release) writeModules(path string) error {
	parse := func(name string) (*modfile.File, error) {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return modfile.Parse(name, text, nil)
	}
	mayfly, err := parse(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return err
	}
	ours, err := parse(filepath.Join(r.root, "release", "go.mod"))
	if err != nil {
		return err
	}
	for _, m := range ours.Require {
		if slices.Contains(documentation, m.Mod.Path) {
			if err := mayfly.AddRequire(m.Mod.Path, m.Mod.Version); err != nil {
				return err
			}
		}
	}
	text, err := mayfly.Format()
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(r.root, "go.sum"))
	if err != nil {
		return err
	}
	more, err := os.ReadFile(filepath.Join(r.root, "release", "go.sum"))
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(path, text, 0o600),
		os.WriteFile(strings.TrimSuffix(path, ".mod")+".sum", append(sums, more...), 0o600),
	)
}

// completions are the shells that cobra writes completions for, and the names of the files.
var completions = []struct{ shell, file string }{
	{"bash", "mayfly.bash"}, {"zsh", "_mayfly"}, {"fish", "mayfly.fish"}, {"powershell", "mayfly.ps1"},
}
